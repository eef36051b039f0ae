"""The Cython kernels, built from ext/ldiv/_kernels. Each is imported by its own name; what it takes stands in the .pyi beside it."""
