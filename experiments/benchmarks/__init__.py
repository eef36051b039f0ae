"""Benchmarks: the aims against a yardstick in the same process (`python -m experiments.benchmarks`), and an asv suite."""
