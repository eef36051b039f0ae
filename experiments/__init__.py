"""The paper's experiments: a grid of cells, a store of results, and figures and claims made from it."""
