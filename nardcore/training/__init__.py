"""Training of nets from nothing but our own games."""

from __future__ import annotations

from nardcore.training._data import Labelled
from nardcore.training._fit import Fit, Metrics, fit, measure, points_by_class
from nardcore.training._floats import FloatNet, feature_set, rows_of
from nardcore.training._player import Score, make_player, plain_player, quantised, score
from nardcore.training._positions import Games, label, play, unlike_itself
from nardcore.training._recipe import NetPlan, Recipe, Round, Source
from nardcore.training._run import Run

__all__ = [
    "Fit",
    "FloatNet",
    "Games",
    "Labelled",
    "Metrics",
    "NetPlan",
    "Recipe",
    "Round",
    "Run",
    "Score",
    "Source",
    "feature_set",
    "fit",
    "label",
    "make_player",
    "measure",
    "plain_player",
    "play",
    "points_by_class",
    "quantised",
    "rows_of",
    "score",
    "unlike_itself",
]
