# The integer types of every kernel. No bare int anywhere else.
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

ctypedef int32_t code_t      # the code of a QI or SA value; -1 a star
ctypedef int64_t count_t     # a number of rows
ctypedef int32_t index_t     # of a cell or a QI-group: there are at most as many as rows, and rows fit memory
ctypedef int64_t row_t       # of a row, or a position in CSR storage
ctypedef uint64_t key_t      # a packed tuple of codes

ctypedef fused packed_t:     # the same, as short as it fits
    uint32_t
    uint64_t

ctypedef fused narrow_t:     # the codes of a table's rows, as narrow as its domains allow
    uint8_t
    uint16_t
    code_t
