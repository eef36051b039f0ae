"""Comparison studies: tables times algorithms times l, k and seeds, every measure of each release, one tidy table and a page to compare them on."""
