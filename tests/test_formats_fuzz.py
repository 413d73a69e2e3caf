"""A short run of the fuzzer; the long one is ``python tests/fuzz_formats.py --minutes 10``."""

from __future__ import annotations

import signal

import pytest
from fuzz_formats import fuzz

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGPROF"), reason="there is no timer here")


def test_broken_texts_for_three_seconds() -> None:
    assert fuzz(3, seed=1)["texts"] > 20


@pytest.mark.slow
def test_broken_texts_for_two_minutes() -> None:
    assert fuzz(120, seed=2)["texts"] > 1000
