"""Running a recipe: rounds of games, labels and fits, with files to resume from."""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardcore import _labels, _movegen, batch
from nardcore._rollout import Evaluator
from nardcore._whole_file import write_whole
from nardcore.bearoff import OneSided
from nardcore.nets import save
from nardcore.policies import linear_evaluator
from nardcore.training._data import Labelled
from nardcore.training._fit import fit, measure, points_by_class
from nardcore.training._floats import FloatNet
from nardcore.training._player import make_player, quantised, score
from nardcore.training._positions import label, play, unlike_itself
from nardcore.training._recipe import Recipe, Source
from nardcore.typing import Boards

__all__ = ["Run"]

Report = Callable[[str], None]


def _quiet(_: str) -> None:
    """Say nothing."""


@dataclass
class Run:
    """A recipe at work in a folder.

    What is there is not done again: labels and nets of each round are files, written whole. So a
    run that was stopped goes on where it was, up to the fit of one net.

    Attributes
    ----------
    recipe : Recipe
    out : Path
        The folder.
    threads : int or None
        All processors by default.
    report : callable
        Takes a line of text now and then.
    nets : dict of str to FloatNet
        The newest nets.

    Examples
    --------
    >>> import tempfile
    >>> raw = {
    ...     "name": "small",
    ...     "holdout": 100,
    ...     "duel": 32,
    ...     "nets": {"prune": {"features": "plain", "hidden": 64}},
    ...     "rounds": [{"labels": "outcomes", "sources": [{"positions": 1000}]}],
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = Run(Recipe.of(raw), Path(folder))
    ...     nets = run.run()
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['round-00.json', 'round-00.labels.npz', 'round-00.prune.npz']
    """

    recipe: Recipe
    out: Path
    threads: int | None = None
    report: Report = _quiet
    nets: dict[str, FloatNet] = field(default_factory=dict)

    def run(self, rounds: int | None = None) -> dict[str, FloatNet]:
        """Run the rounds that are not yet done, and give the newest nets.

        Examples
        --------
        >>> callable(Run.run)
        True
        """
        planned = len(self.recipe.rounds)
        if rounds is not None and not 0 <= rounds <= planned:
            msg = f"the recipe has {planned} rounds, so 0 to {planned} can be run, not {rounds}"
            raise ValueError(msg)
        self.out.mkdir(parents=True, exist_ok=True)
        if not os.access(self.out, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self.out))
        for number in range(planned if rounds is None else rounds):
            done = self._path(number, "json")
            if not done.exists():
                about = self._round(number)
                write_whole(done, json.dumps(about, indent=1).encode())
            for part in self.recipe.rounds[number].nets:
                self.nets[part] = FloatNet.open(self._path(number, f"{part}.npz"))
        return self.nets

    def player(self, full: bool = False) -> Evaluator:
        """Make an evaluator of the newest nets; the linear one before there are any.

        Examples
        --------
        >>> plan = {"positions": 10}
        >>> raw = {
        ...     "name": "x",
        ...     "holdout": 1,
        ...     "nets": {"prune": {"features": "plain", "hidden": 64}},
        ... }
        >>> recipe = Recipe.of(raw | {"rounds": [{"labels": "outcomes", "sources": [plan]}]})
        >>> Run(recipe, Path("nowhere")).player().name
        'linear'
        """
        rules, recipe = self.recipe.rules, self.recipe
        if not self.nets:
            return linear_evaluator(rules.movement)
        return make_player(self.nets, rules, keep=recipe.keep, name=recipe.name, full=full)

    def save_player(self, path: Path) -> None:
        """Write the newest nets as integers: a player that `nardcore.Evaluator.net` opens.

        Examples
        --------
        >>> callable(Run.save_player)
        True
        """
        recipe = self.recipe
        part = path.with_name(f".{path.name}")
        fits = {part: net.about for part, net in self.nets.items()}
        about = {"recipe": f"{recipe.name}.toml", "training": fits}
        player = quantised(self.nets, recipe.rules, keep=recipe.keep, name=recipe.name, **about)
        save(player, part)
        part.replace(path)

    # ------------------------------------------------------------------------------------- rounds

    def _path(self, number: int, kind: str) -> Path:
        return self.out / f"round-{number:02}.{kind}"

    def _round(self, number: int) -> dict[str, Any]:
        began = time.perf_counter()
        plan, recipe, player = self.recipe.rounds[number], self.recipe, self.player()
        self._labels(number, player)
        labelled = time.perf_counter()
        window = range(max(0, number + 1 - plan.window), number + 1)
        data = [Labelled.open(self._path(k, "labels.npz")) for k in window]
        held = data[-1].take(slice(0, recipe.holdout))
        learned = [part.take(slice(recipe.holdout, None)) for part in data]
        before = dict(self.nets)
        about: dict[str, Any] = {"round": number, "labels": plan.labels, "nets": {}}
        for part in plan.nets:
            path = self._path(number, f"{part}.npz")
            if not path.exists():
                self._fit(part, number, learned).save(path)
            self.nets[part] = FloatNet.open(path)
            about["nets"][part] = self._measure(part, before.get(part), held)
        if "contact" in self.nets:
            self.save_player(self._path(number, "player.npz"))
        about["samples"] = sum(len(part) for part in learned)
        about["seconds"] = {
            "labels": labelled - began,
            "fits": time.perf_counter() - labelled,
        }
        new = self.player()
        yardsticks = {"linear": linear_evaluator(recipe.rules.movement), "the round before": player}
        for name, other in yardsticks.items():
            result = score(new, other, recipe.rules, recipe.duel, threads=self.threads)
            about[f"against {name}"] = [result.mean, result.half, result.games]
            self.report(f"round {number}: against {name} {result}")
        return about

    def _labels(self, number: int, player: Evaluator) -> None:
        """Play the games of a round and label their positions, in an order of chance."""
        path = self._path(number, "labels.npz")
        if path.exists():
            return
        recipe, plan = self.recipe, self.recipe.rounds[number]
        rules, found = recipe.rules, []
        traced = plan.labels == "look_ahead_trace"
        for k, source in enumerate(plan.sources):
            starts = self._mine(number, source) if source.mined else None
            data = play(
                rules,
                player,
                source.positions,
                source.games,
                seed=[recipe.seed, number, k],
                starts=starts,
                judge=self.player(full=True) if traced or plan.labels == "trace" else None,
                ahead=traced,
                contact=traced and source.phase == "contact",
                threads=self.threads,
                progress=self._every(f"round {number}: played"),
            )
            if source.phase:
                data = self._of_phase(source.phase, data)
            if plan.labels == "look_ahead":
                data = self._look_ahead(number, player, data.boards)
            elif recipe.races:
                data = self._with_races(data)
            found.append(data)
        if plan.start_copies:
            start = _movegen.flip(batch.start(1, rules), rules)
            one = self._look_ahead(number, player, start)
            found.append(one.take(np.zeros(plan.start_copies, np.int64)))
        data = Labelled.join(found)
        order = np.random.default_rng([recipe.seed, number]).permutation(len(data))
        data.take(order).save(path)

    def _every(self, what: str) -> Callable[[int, int], None]:
        """Report progress, a tenth at a time."""
        began, last = time.perf_counter(), 0

        def progress(done: int, total: int) -> None:
            nonlocal last
            if done * 10 // total > last:
                last = done * 10 // total
                seconds = time.perf_counter() - began
                self.report(f"{what} {done:,} of {total:,}, {seconds:.0f} s")

        return progress

    def _look_ahead(self, number: int, player: Evaluator, boards: Boards) -> Labelled:
        exact = self._races(boards)
        open_ = np.isnan(exact[:, 0])
        labels = label(
            self.recipe.rules,
            player,
            boards[open_],
            judge=self.player(full=True) if "contact" in self.nets else player,
            threads=self.threads,
            progress=self._every(f"round {number}: labelled"),
        )
        chances = np.empty((len(boards), 10), np.int16)
        chances[open_] = labels.chances
        chances[~open_] = Labelled.of(boards[~open_], exact[~open_]).chances
        return Labelled(boards, chances)

    def _with_races(self, data: Labelled) -> Labelled:
        """Put what the one-sided table says in the place of other labels."""
        exact = self._races(data.boards)
        known = ~np.isnan(exact[:, 0])
        chances = data.chances.copy()
        chances[known] = Labelled.of(data.boards[known], exact[known]).chances
        return Labelled(data.boards, chances)

    def _races(self, boards: Boards) -> NDArray[np.float64]:
        """Rate races by the one-sided table; NaN where it does not cover them."""
        rules, found = self.recipe.rules, np.full((len(boards), 10), np.nan)
        if not self.recipe.races:
            return found
        race = np.flatnonzero(_labels.past_each_other(boards, rules))
        if len(race):
            table = _table(self.recipe)
            chances = table.outcomes_batch(_movegen.flip(boards[race], rules), rules=rules)
            found[race] = np.roll(chances, 5, axis=1)
        return found

    def _mine(self, number: int, source: Source) -> Boards:
        """Find where the player and its newest look-ahead disagree most."""
        recipe, judge = self.recipe, self.player(full=True)
        value = points_by_class(recipe.rules.points)
        for k in reversed(range(number)):
            if recipe.rounds[k].labels != "look_ahead":
                continue
            data = Labelled.open(self._path(k, "labels.npz")).take(slice(recipe.holdout, None))
            if source.phase:
                data = self._of_phase(source.phase, data)
            if len(data):
                return unlike_itself(judge, data, value, source.mined, recipe.rules)
        msg = f"round {number} has no labels to mine in"
        raise ValueError(msg)

    def _fit(self, part: str, number: int, data: list[Labelled]) -> FloatNet:
        recipe, plan, net = self.recipe, self.recipe.rounds[number], self.nets.get(part)
        hidden = recipe.hidden(part, number)
        if net is None or plan.fresh:
            net = FloatNet.fresh(recipe.nets[part].features, hidden, seed=recipe.seed)
        elif hidden > net.hidden:
            net = net.widened(hidden, seed=recipe.seed)

        def progress(step: int, steps: int, loss: float) -> None:
            self.report(f"{part}: step {step:,} of {steps:,}, loss {loss:.5f}")

        mine = [self._of_phase(part, one) for one in data]
        return fit(
            net,
            mine,
            recipe.rules,
            plan.fit,
            masked=part != "prune",
            threads=self.threads,
            progress=progress,
        )

    def _of_phase(self, part: str, data: Labelled) -> Labelled:
        """Give what a net is there for; the net that prunes sees all."""
        if part == "prune":
            return data
        race = _labels.past_each_other(data.boards, self.recipe.rules)
        return data.take(race if part == "race" else ~race)

    def _measure(self, part: str, before: FloatNet | None, held: Labelled) -> dict[str, Any]:
        held = self._of_phase(part, held)
        if not len(held):
            return {}
        rules, masked = self.recipe.rules, part != "prune"
        now = measure(self.nets[part], held, rules, masked=masked)
        about = {"n": now.n, "entropy": now.entropy, "mae": now.mae, "rms": now.rms}
        self.report(f"{part}: held out {now}")
        if before is not None:
            then = measure(before, held, rules, masked=masked)
            about["mae before"] = then.mae
            self.report(f"{part}: before {then}")
        return about


_TABLES: dict[tuple[int, str], OneSided] = {}


def _table(recipe: Recipe) -> OneSided:
    at = recipe.races, recipe.rules.name
    if at not in _TABLES:
        _TABLES[at] = OneSided.build(points=recipe.races, rules=recipe.rules)
    return _TABLES[at]
