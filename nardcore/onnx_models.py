"""Evaluators from ONNX files, run by ``onnxruntime`` in batches (extra ``onnx``)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["OnnxEvaluator"]

_BATCH = 1 << 15


class OnnxEvaluator:
    """A model as an evaluator or a policy: results of rolls in, ten chances or scores out.

    The model has one input of shape ``[n, 32]`` (int8, float32 or another type of number; boards as
    `nardcore.rollout` gives them to functions, in the view of the side that has just moved) and as
    its first output ``[n, 10]`` chances of the outcome classes for that side, or ``[n]`` or
    ``[n, 1]`` scores, which can play but not evaluate.

    Parameters
    ----------
    path
        The file.
    providers
        As for ``onnxruntime.InferenceSession``; the CPU by default, with one thread, so that the
        same request gives the same answer.

    Examples
    --------
    >>> OnnxEvaluator("no such model.onnx")
    Traceback (most recent call last):
        ...
    FileNotFoundError: no such model.onnx
    """

    def __init__(
        self, path: str | os.PathLike[str], providers: tuple[str, ...] = ("CPUExecutionProvider",)
    ) -> None:
        self.path = os.fspath(path)
        self.providers = providers
        self.__qualname__ = Path(self.path).stem  # what results call it
        if not Path(self.path).is_file():
            raise FileNotFoundError(self.path)
        try:
            import onnxruntime  # type: ignore[import-not-found,import-untyped,unused-ignore]
        except ImportError as error:
            msg = "ONNX models need onnxruntime: pip install 'nardcore[onnx]'"
            raise ImportError(msg) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(self.path, options, providers=list(providers))
        inputs = session.get_inputs()
        if len(inputs) != 1 or len(inputs[0].shape) != 2 or inputs[0].shape[1] not in (32, None):
            found = ", ".join(f"{i.name} {i.shape}" for i in inputs)
            msg = f"{self.path}: a model has one input of shape [n, 32], not {found}"
            raise ValueError(msg)
        kinds = {"tensor(float)": "float32", "tensor(double)": "float64"}
        kind = inputs[0].type
        self._dtype = np.dtype(kinds.get(kind, kind.removeprefix("tensor(").removesuffix(")")))
        self._input = inputs[0].name
        self._output = session.get_outputs()[0].name
        self._session: Any = session

    def __call__(self, boards: NDArray[np.int8]) -> NDArray[np.float32]:
        """Rate results of rolls."""
        parts = []
        for at in range(0, len(boards), _BATCH):
            rows = np.ascontiguousarray(boards[at : at + _BATCH], dtype=self._dtype)
            parts.append(np.asarray(self._session.run([self._output], {self._input: rows})[0]))
        found = np.concatenate(parts) if parts else np.zeros((0, 10), np.float32)
        return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found

    def __reduce__(self) -> tuple[Any, ...]:
        return OnnxEvaluator, (self.path, self.providers)

    def __repr__(self) -> str:
        return f"OnnxEvaluator({self.path!r})"
