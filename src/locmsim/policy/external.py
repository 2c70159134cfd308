"""Policies that are run by other libraries: ONNX files, your own objects.

A policy needs the names of its rule set and its layout. An ONNX file may contain both, as the
metadata ``locmsim.rules`` and ``locmsim.layout``. Otherwise they must be given, unless the sizes of
input and output fit only one pair.
"""

import os
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from locmsim.game.layouts import CHOICE, LAYOUTS, get_layout
from locmsim.options.texts import describe_error
from locmsim.policy.base import RatingPolicy
from locmsim.policy.contract import check_policy
from locmsim.policy.policy import Policy
from locmsim.rules.rulesets import RULES
from locmsim.support.identity import digest
from locmsim.support.plugins import Registry

#: Keys of the metadata in a file.
_KEYS = ("locmsim.rules", "locmsim.layout")
_Array = NDArray[np.float32]
#: Of observations; its outputs, the logits first.
_Run: TypeAlias = Callable[[_Array], list[NDArray[Any]]]

_OBJECTS = Registry("policy", "locmsim.policies", {})


def load_policy(path: str | os.PathLike[str], *, rules: str = "", layout: str = "") -> Any:
    """Load the policy of a file, or one of your own.

    Parameters
    ----------
    path : str or path
        A file that `Policy.save` has written; an ``.onnx`` file; ``module:NAME`` or
        ``file.py:NAME``, a class or a function that is called without arguments. Its result must be
        a `BatchPolicy`.
    rules, layout : str
        Its rule set and layout, if the file does not name them; otherwise they must agree.

    Returns
    -------
    RatingPolicy
        The policy, or the result of your class or function.

    Raises
    ------
    OSError
        The file cannot be read.
    ValueError
        The file is not a valid policy, or needs a package that is not installed.
    """
    name = os.fspath(path)
    if name.endswith(".onnx"):
        return OnnxPolicy(name, rules=rules, layout=layout)
    policy = _object(name) if _OBJECTS.describes(name) else Policy.load(name)
    for key, wanted in (("rules", rules), ("layout", layout)):
        if wanted and getattr(policy, key) != wanted:
            raise ValueError(f"{name}: {key}: expected {wanted}, got {getattr(policy, key)}")
    return policy


def _object(name: str) -> Any:
    try:
        policy = _OBJECTS.find(name)()
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(f"policy {name}: {describe_error(error)}") from error
    return check_policy(policy, name)


def _fitting(run: _Run, size: int | None, rules: str, layout: str) -> tuple[str, str]:
    """Return rule set and layout, derived from the sizes where they are not given."""
    if rules and layout:
        return rules, layout
    pairs = []
    for r in [rules] if rules else RULES:
        for name in [layout] if layout else (*LAYOUTS, CHOICE):
            try:
                known = get_layout(name, r)
            except ValueError:
                if layout:
                    raise
                continue  # it has no such layout
            if size in (None, known.shape[0]) and _gives(run, *known.shape, known.actions):
                pairs.append((r, name))
    if len(pairs) == 1:
        return pairs[0]
    if not pairs:
        raise ValueError(f"its sizes fit no layout and rule set{_sizes(run, size)}")
    fitting = ", ".join(f"rules={r} layout={name}" for r, name in pairs)
    raise ValueError(f"its rule set and layout are ambiguous, give one of {fitting}")


def _sizes(run: _Run, size: int | None) -> str:
    """Describe the sizes of input and output for a message; empty if they are unknown."""
    try:
        assert size is not None
        ratings = run(np.zeros((2, size), np.float32))[0].shape[1]
    except Exception:  # whatever the library raises
        return ""
    return f": {size} numbers in, {ratings} ratings out"


def _gives(run: _Run, size: int, actions: int) -> bool:
    """Return whether the network fits this size of observations and number of actions."""
    try:
        return run(np.zeros((2, size), np.float32))[0].shape == (2, actions)
    except Exception:  # whatever the library raises for a size that it refuses
        return False


def _load_again(path: str, rules: str, layout: str, before: str) -> "OnnxPolicy":
    if digest([path]) != before:
        raise ValueError(f"{path} has changed since the policy was loaded")
    return OnnxPolicy(path, rules=rules, layout=layout)


class OnnxPolicy(RatingPolicy):
    """A policy from an ONNX file or session, run by onnxruntime on one core.

    Its only input is observations, (rows, size of the layout), of any numeric type. Its first
    output, or the one called "logits", contains logits of all actions, (rows, actions), and the
    next output, if any, values of positions, (rows,) or (rows, 1).

    Parameters
    ----------
    source : str or onnxruntime.InferenceSession
        A path or a session; a policy of a session cannot be pickled.
    rules, layout : str
        Its rule set and layout, if the file does not name them.

    Raises
    ------
    OSError
        The file cannot be read.
    ValueError
        It is not an ONNX file, or onnxruntime is not installed.
    """

    def __init__(self, source: Any, *, rules: str = "", layout: str = "") -> None:
        is_path = isinstance(source, str | os.PathLike)
        path = os.fspath(source) if is_path else "ONNX session"
        session = _onnx_session(path) if is_path else source
        inputs, outputs = session.get_inputs(), session.get_outputs()
        if len(inputs) != 1 or len(inputs[0].shape) != 2:
            shown = ", ".join(f"{i.name} {i.shape}" for i in inputs)
            raise ValueError(f"{path}: expected one input, (rows, numbers), got {shown}")
        name, (rows, size) = inputs[0].name, inputs[0].shape
        if isinstance(rows, int):
            raise ValueError(
                f"{path}: it accepts only batches of {rows}: export it with a dynamic axis"
            )
        type_ = _ONNX_TYPES.get(inputs[0].type)
        if type_ is None:
            raise ValueError(f"{path}: input {name}: observations cannot be {inputs[0].type}")
        names = [output.name for output in outputs]
        if "logits" in names:
            names.sort(key=lambda output: output != "logits")

        def run(observations: _Array) -> list[NDArray[Any]]:
            found: list[NDArray[Any]] = session.run(names, {name: observations.astype(type_)})
            return found

        size = size if isinstance(size, int) else None
        metadata = session.get_modelmeta().custom_metadata_map
        self.path = path
        self._digest = digest([path])
        for value, key in zip((rules, layout), _KEYS, strict=True):
            if value and metadata.get(key, value) != value:
                raise ValueError(f"{path}: {key} in the file is {metadata[key]!r}, not {value!r}")
        rules, layout = metadata.get(_KEYS[0], rules), metadata.get(_KEYS[1], layout)
        try:
            super().__init__(*_fitting(run, size, rules, layout))
            self._run = run
            (wanted,) = self._layout.shape
            if size not in (None, wanted):
                raise ValueError(f"layout {self.layout!r} has {wanted} numbers, the input {size}")
            self.evaluate(np.zeros((2, *self._layout.shape), np.float32))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        except Exception as error:  # of the library that runs it
            raise ValueError(f"{path}: {describe_error(error)}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        return (
            _load_again,
            (self.path, self.rules, self.layout, self._digest),
            {"temperature": self.temperature},
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path!r} layout={self.layout!r} rules={self.rules}>"

    def rate(self, observations: _Array) -> tuple[_Array, _Array]:
        rows = len(observations)
        outputs = self._run(observations)
        shape = (rows, self._layout.actions)
        if outputs[0].shape != shape:
            raise ValueError(
                f"ratings: expected shape (rows, {shape[1]}), got {outputs[0].shape} of {rows}"
            )
        values = np.full(rows, np.nan, np.float32)
        if len(outputs) > 1:
            if outputs[1].size != rows:
                raise ValueError(
                    f"values: expected one for each row, got {outputs[1].shape} of {rows}"
                )
            values = np.asarray(outputs[1], np.float32).reshape(rows)
        return np.asarray(outputs[0], np.float32), values


def _onnx_session(path: str) -> Any:
    try:
        import onnxruntime
    except ImportError:
        raise ValueError(
            f"{path}: it needs onnxruntime, which is not installed: pip install 'locmsim[onnx]'"
        ) from None
    with open(path, "rb"):  # onnxruntime's own error has no errno
        pass
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what is wrong is raised
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ValueError(f"{path}: onnxruntime cannot run it: {describe_error(error)}") from None
    return session


_ONNX_TYPES = {
    "tensor(int8)": np.int8,
    "tensor(float16)": np.float16,
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
}
