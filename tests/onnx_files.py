"""Files of ONNX with our plain networks."""

from pathlib import Path
from typing import Any

import pytest


def write_onnx(
    path: Path, policy: Any, says: dict[str, str] | None = None, rows: int | str = "rows",
    type_: int = 1, outputs: int = 2,
) -> None:  # fmt: skip
    """Write a plain network as a graph of ONNX."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from onnx import helper, numpy_helper

    nodes, arrays, shown = [helper.make_node("Cast", ["observation"], ["x"], to=1)], [], []
    for head in ("policy", "value")[:outputs]:
        before, layer = "x", 0
        while f"{head}.{layer}.w" in policy.arrays:
            names = [f"{head}.{layer}.{part}" for part in "wb"]
            arrays += [numpy_helper.from_array(policy.arrays[name], name) for name in names]
            after = f"{head}.{layer}"
            nodes.append(helper.make_node("Gemm", [before, *names], [after]))
            if f"{head}.{layer + 1}.w" in policy.arrays:
                nodes.append(helper.make_node("Tanh", [after], [after + ".t"]))
                after += ".t"
            elif head == "value":  # the last layer has no activation
                nodes.append(helper.make_node("Identity", [after], ["values"]))
            before, layer = after, layer + 1
        shown.append("values" if head == "value" else before)
    width = policy.arrays["policy.0.w"].shape[0]
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info("observation", type_, [rows, width])],
        [helper.make_tensor_value_info(name, 1, [rows, None]) for name in shown],
        arrays,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    if says is not None:
        helper.set_model_props(model, says)
    onnx.save(model, path)
