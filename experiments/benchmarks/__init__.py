"""Speed and memory: `python -m experiments.benchmarks` for the aims, and the asv suite in suite.py.

The checkout's ldiv may have no kernels and is not the commit that asv measures: ldiv is imported from what is installed.
"""

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_path = sys.path[:]
sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != _ROOT]
try:
    import ldiv  # noqa: F401
except ImportError:  # a build in place, without an installation
    pass
finally:
    sys.path[:] = _path if str(_ROOT) in _path else [*_path, str(_ROOT)]  # for `experiments`; asv imports this folder alone
