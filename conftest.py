"""Tests and benchmarks import the installed package, never the unbuilt source tree."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path[:] = [p for p in sys.path if Path(p or ".").resolve() != ROOT]
