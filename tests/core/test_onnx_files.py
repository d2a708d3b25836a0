"""Opening of ONNX files, with weights in the file or beside it."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from workbench.core.runs.onnx_files import NetworkRefused, open_session


def test_both_reasons_are_reported_if_the_path_fails_too(tmp_path):
    """From its bytes, a network cannot find a second file; by its path, the missing file is named."""
    weights = onnx.numpy_helper.from_array(np.ones((64, 64), np.float32), "weights")
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["x", "weights"], ["y"])],
        "network",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 64])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 64])],
        [weights],
    )
    network = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path / "network.onnx"
    onnx.save(network, str(path), save_as_external_data=True, location="weights.bin", size_threshold=0)
    assert open_session(path).get_outputs()[0].name == "y"
    with pytest.raises(NetworkRefused) as from_bytes:
        open_session(path.read_bytes())
    (tmp_path / "weights.bin").unlink()
    with pytest.raises(NetworkRefused, match="weights") as refused:
        open_session(path)
    assert from_bytes.value.why.removesuffix(")") in refused.value.why
    assert len(refused.value.why) > len(from_bytes.value.why)
