"""Benchmarks: the aims against a yardstick in the same process (`python -m experiments.benchmarks`), and an asv suite."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))      # asv imports this folder alone, under another name
