# A binary min-heap of int64 keys in a caller's buffer. Inline, so that each kernel compiles its own copy.
from ldiv._kernels.types cimport count_t, row_t


cdef inline int sift(count_t[::1] heap, row_t length, row_t at) except -1 nogil:
    """Restore the order below `at` after its key grew."""
    cdef row_t child
    cdef count_t key
    if length == 0:
        return 0
    key = heap[at]
    while True:
        child = 2 * at + 1
        if child >= length:
            break
        if child + 1 < length and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = key
    return 0


cdef inline row_t push(count_t[::1] heap, row_t length, count_t key) except -1 nogil:
    """Add a key; returns the new length."""
    cdef row_t at = length
    while at > 0 and heap[(at - 1) // 2] > key:
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = key
    return length + 1


cdef inline row_t pop(count_t[::1] heap, row_t length) except -1 nogil:
    """Drop the least key; returns the new length."""
    heap[0] = heap[length - 1]
    sift(heap, length - 1, 0)
    return length - 1
