"""The one rule: which sets of rows may be published as a QI-group."""

from ldiv._kernels.types cimport count_t


cdef inline count_t rows_for(count_t l, count_t k, count_t height) noexcept nogil:
    """How many rows a group of this height has at the least: l times its height, and k. An empty one needs none."""
    if height == 0:
        return 0
    return l * height if l * height > k else k
