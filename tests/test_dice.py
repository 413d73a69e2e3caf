"""Dice streams against NumPy's generator, openings, sequences of rolls."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nardcore as nc
from nardcore import _dice

DATA = Path(__file__).parent / "data"
words64 = st.integers(0, 2**64 - 1)


def numpy_words(key: tuple[int, ...], counter: tuple[int, ...]) -> list[int]:
    """The four words of a counter by NumPy, which counts up before its first block."""
    number = sum(word << 64 * i for i, word in enumerate(counter))
    before = (number - 1) % 2**256
    words = [before >> 64 * i & 2**64 - 1 for i in range(4)]
    generator = np.random.Philox(key=np.array(key, np.uint64), counter=np.array(words, np.uint64))
    return [int(word) for word in generator.random_raw(4)]


def below(key: tuple[int, ...], ply: int, trial: int, stream: int, n: int) -> int:
    """An unbiased number below n for a ply, as the streams are defined."""
    attempt = 0
    while True:
        word = numpy_words(key, (ply // 4, trial, stream, attempt))[ply % 4]
        if (word * n) % 2**64 >= 2**64 % n:
            return (word * n) >> 64
        attempt += 1


@given(st.tuples(words64, words64), st.tuples(words64, words64, words64, words64))
def test_words_are_those_of_numpys_philox(
    key: tuple[int, int], counter: tuple[int, int, int, int]
) -> None:
    assert _dice.words(np.array(key, np.uint64), *counter) == numpy_words(key, counter)


def test_the_key_is_that_of_numpys_seed_sequence() -> None:
    for seed in (0, 7, 2**32, 2**64 + 1, [1, 2, 3]):
        expected = np.random.SeedSequence(seed).generate_state(2, np.uint64)
        assert (nc.dice.key(seed) == expected).all()


@given(st.integers(0, 2**70), st.integers(0, 2**64 - 1))
def test_a_roll_is_a_word_of_its_ply_brought_below_36(seed: int, trial: int) -> None:
    key = tuple(int(word) for word in nc.dice.key(seed))
    found = nc.dice.rolls(seed, trial, 9).tolist()
    numbers = [below(key, ply, trial, 0, 36) for ply in range(9)]
    assert found == [[n // 6 + 1, n % 6 + 1] for n in numbers]
    first, *rest = nc.dice.rolls(seed, trial, 9, opening=True).tolist()
    assert rest == found[1:]
    white, black = divmod(below(key, 0, trial, 0, 30), 5)
    assert first == [white + 1, black + (black >= white) + 1]


def test_streams_are_those_of_the_golden_file() -> None:
    """A difference here breaks every recorded rollout."""
    with (DATA / "philox.csv").open(newline="") as file:
        rows = list(csv.DictReader(row for row in file if not row.startswith("#")))
    seeds = sorted({int(row["seed"]) for row in rows})
    assert len(seeds) == 2
    for seed in seeds:
        dice = [int(row["die"]) for row in rows if int(row["seed"]) == seed]
        assert len(dice) == 1000
        assert nc.dice.rolls(seed, 0, 500).ravel().tolist() == dice


def test_seeds_of_any_size_differ() -> None:
    seeds = (0, 2**32, 2**64, 2**64 + 1, 1, [3, 4], [4, 3])
    streams = {nc.dice.rolls(seed, 0, 50).tobytes() for seed in seeds}
    assert len(streams) == len(seeds)


def test_trials_and_plies_differ() -> None:
    assert len({nc.dice.rolls(3, trial, 40).tobytes() for trial in range(200)}) == 200
    many = _dice.rolls_of_ply(nc.dice.key(3), np.arange(20, dtype=np.uint64), 5, False)
    assert many.tolist() == [nc.dice.rolls(3, trial, 6)[5].tolist() for trial in range(20)]
    assert nc.dice.rolls(3, 0, 0).shape == (0, 2)


def chi_square(counts: np.ndarray) -> float:
    expected = counts.sum() / len(counts)
    return float(((counts - expected) ** 2 / expected).sum())


def test_all_36_throws_are_equally_likely() -> None:
    trials = np.arange(200_000, dtype=np.uint64)
    for ply in (0, 1, 6, 63):
        dice = _dice.rolls_of_ply(nc.dice.key(11), trials, ply, False).astype(int)
        counts = np.bincount(6 * (dice[:, 0] - 1) + dice[:, 1] - 1, minlength=36)
        assert chi_square(counts) < 66.6  # 99.9 % of 35 degrees of freedom


def test_all_30_opening_throws_are_equally_likely_and_no_double_occurs() -> None:
    trials = np.arange(200_000, dtype=np.uint64)
    dice = _dice.rolls_of_ply(nc.dice.key(12), trials, 0, True).astype(int)
    assert (dice[:, 0] != dice[:, 1]).all()
    counts = np.bincount(6 * (dice[:, 0] - 1) + dice[:, 1] - 1, minlength=36)
    counts = counts[counts > 0]
    assert len(counts) == 30
    assert chi_square(counts) < 58.3  # 99.9 % of 29 degrees of freedom


def test_random_choices_are_equally_likely() -> None:
    trials = np.arange(100_000, dtype=np.uint64)
    counts = np.full(len(trials), 7)
    chosen = _dice.choices_of_ply(nc.dice.key(13), trials, 3, counts)
    assert chi_square(np.bincount(chosen, minlength=7)) < 22.5  # 99.9 % of 6 degrees of freedom
    key = tuple(int(word) for word in nc.dice.key(13))
    assert chosen[:20].tolist() == [below(key, 3, trial, 1, 7) for trial in range(20)]


def test_rolls_and_throws_are_all_there_are() -> None:
    assert len(set(nc.dice.ROLLS)) == 21
    assert len(set(nc.dice.THROWS)) == 36
    assert sum(nc.dice.WEIGHTS) == 36
    for roll, weight in zip(nc.dice.ROLLS, nc.dice.WEIGHTS, strict=True):
        assert roll[0] >= roll[1]
        assert weight == len({roll, roll[::-1]})


def test_a_double_has_one_order_of_four_steps() -> None:
    assert nc.dice.orders((2, 5)) == ((5, 2), (2, 5))
    assert nc.dice.orders((4, 4)) == ((4, 4, 4, 4),)


@pytest.mark.parametrize("name", nc.PRESETS)
def test_weights_of_an_expansion_are_all_throws_and_its_sizes_those_of_perft(name: str) -> None:
    start = nc.Position.start(nc.PRESETS[name])
    for depth in (1, 2):
        found = start.expand(depth=depth)
        assert len(found) == 21**depth
        assert found.rolls.shape == (21**depth, depth, 2)
        assert found.weights.sum() == 36**depth
        assert found.indptr[-1] == len(found.boards) == start.perft(depth)
        sizes = np.diff(found.indptr)
        assert (sizes @ found.weights) == start.perft(depth, weighted=True)
    roll = (6, 4)
    twice = start.expand(depth=2).of(roll, (3, 3))
    below_ = [play.result.plays((3, 3)).boards for play in start.plays(roll)]
    assert (twice == np.concatenate(below_)).all()
    assert (start.expand().of(roll) == start.plays(roll).boards).all()


def test_games_that_end_have_no_further_results() -> None:
    near = nc.Position({1: 1}, {1: 2, 6: 3})
    assert near.perft(1) == len(near.expand().boards) == 21
    assert near.perft(2) == len(near.expand(depth=2).boards) == 0
    assert near.expand(depth=2).weights.sum() == 36**2


def test_an_expansion_without_end_is_refused() -> None:
    start = nc.Position.start()
    for depth in (0, -1):
        with pytest.raises(ValueError, match="depth"):
            start.expand(depth=depth)
    for depth in (1.0, "1", None):
        with pytest.raises(TypeError, match="depth"):
            start.expand(depth=depth)
