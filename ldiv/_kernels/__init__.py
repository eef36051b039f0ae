"""The Cython kernels, built from ext/ldiv/_kernels. Each is imported by its own name; what it takes stands in the .pyi beside it."""

from importlib.util import find_spec

if find_spec(f"{__name__}.tp") is None:
    raise ImportError("the kernels of ldiv are not built: run 'make build' in the checkout, or 'pip install .'")
