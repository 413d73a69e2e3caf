"""Evaluators from ONNX files: they rate what they hold, play, evaluate, and travel to processes."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import nardcore as nc
from nardcore.onnx_models import OnnxEvaluator

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

START = nc.Position.start()
RACE = nc.Position({1: 2, 2: 1, 5: 1}, {1: 2, 3: 2, 4: 1})
RNG = np.random.default_rng(3)
WEIGHTS = RNG.normal(scale=0.05, size=(32, 10)).astype(np.float32)


def write(path: Path, *, outputs: int = 10, inputs: int = 32, softmax: bool = True) -> Path:
    """A linear model with a softmax."""
    from onnx import TensorProto, helper, numpy_helper

    weights = numpy_helper.from_array(WEIGHTS[:inputs, :outputs].copy(), "w")
    nodes = [helper.make_node("MatMul", ["boards", "w"], ["raw"])]
    last = "Softmax" if softmax else "Identity"
    nodes.append(helper.make_node(last, ["raw"], ["out"], **({"axis": 1} if softmax else {})))
    graph = helper.make_graph(
        nodes,
        "model",
        [helper.make_tensor_value_info("boards", TensorProto.FLOAT, ["n", inputs])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, ["n", outputs])],
        [weights],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, path)
    return path


def by_hand(boards: np.ndarray) -> np.ndarray:
    raw = boards.astype(np.float32) @ WEIGHTS
    raw = np.exp(raw - raw.max(axis=1, keepdims=True))
    return raw / raw.sum(axis=1, keepdims=True)


def test_a_model_evaluates_and_plays(tmp_path: Path) -> None:
    model = OnnxEvaluator(write(tmp_path / "mine.onnx"))
    boards = START.plays((3, 1)).boards
    assert np.abs(model(boards) - by_hand(boards)).max() < 1e-6
    for plies in (0, 1):
        found = nc.evaluate(START, evaluator=model, plies=plies)
        expected = nc.evaluate(START, evaluator=by_hand, plies=plies)
        assert np.abs(found.probabilities - expected.probabilities).max() < 1e-5
    result = nc.rollout(RACE, games=300, seed=1, policy=model, variance_reduction=True)
    assert result.policies == ("mine", "mine")
    assert result == nc.rollout(RACE, games=300, seed=1, policy=model, variance_reduction=True)
    again = pickle.loads(pickle.dumps(model))
    assert (again(boards) == model(boards)).all()
    assert "mine.onnx" in repr(model)


def test_a_model_of_scores_plays_but_does_not_evaluate(tmp_path: Path) -> None:
    model = OnnxEvaluator(write(tmp_path / "scores.onnx", outputs=1, softmax=False))
    assert nc.rollout(RACE, games=100, seed=1, policy=model).games == 100
    with pytest.raises(ValueError, match="shape"):
        nc.evaluate(START, evaluator=model)


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\[n, 32\]"):
        OnnxEvaluator(write(tmp_path / "narrow.onnx", inputs=20))
    with pytest.raises(FileNotFoundError):
        OnnxEvaluator(tmp_path / "nothing.onnx")
