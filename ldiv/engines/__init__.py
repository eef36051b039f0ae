"""Where cells are counted and releases written: memory, DuckDB for tables larger than it, Spark for those larger than a machine.

An engine counts the combinations of values, writes the release by a plan that says which rows take which form, and counts again what it wrote; algorithms
work on the cells in between, so that each makes the same release on every engine.
"""

from ldiv.engines.checking import check_files, verify_files
from ldiv.engines.files import ENGINES, Written, bytes_of_memory, chosen, run
from ldiv.engines.frames import anonymize_frame
from ldiv.engines.lazy import anonymize_query, is_query
from ldiv.engines.sources import Sources
from ldiv.engines.spark import is_spark

__all__ = [
    "ENGINES",
    "Sources",
    "Written",
    "anonymize_frame",
    "anonymize_query",
    "bytes_of_memory",
    "check_files",
    "chosen",
    "is_query",
    "is_spark",
    "run",
    "verify_files",
]
