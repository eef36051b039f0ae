"""Scripts of the project itself: made data, fuzzing, mutants."""
