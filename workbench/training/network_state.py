"""Weights of a network and state of its optimizer, by names of the network's structure."""

from __future__ import annotations

import numpy as np
import paddle

from workbench.core.messages import Message
from workbench.core.problems import RunBroken

Arrays = dict[str, np.ndarray]


def weights(net: paddle.nn.Layer) -> Arrays:
    """Return all parameters and statistics by structured name, fp32."""
    return {name: to_array(tensor) for name, tensor in net.state_dict().items()}


def load_weights(net: paddle.nn.Layer, arrays: Arrays, path: str, *, strict: bool = True) -> int:
    """Load arrays into a network. Return the number that fitted. With `strict`, raise RunBroken unless all fit."""
    fitted = 0
    tensors = net.state_dict()
    for name, tensor in tensors.items():
        array = arrays.get(name)
        if array is not None and list(array.shape) == list(tensor.shape):
            tensor.set_value(paddle.to_tensor(array).astype(tensor.dtype))
            fitted += 1
        elif strict:
            raise RunBroken(path=path, why=Message("checkpoint.array_missing", name=name))
    return fitted


def to_array(tensor: paddle.Tensor) -> np.ndarray:
    """Return a fp32 host array: exact for 16-bit tensors, whose types NumPy or safetensors may not support."""
    return np.ascontiguousarray(tensor.detach().astype("float32").numpy())


def optimizer_tensors(net: paddle.nn.Layer, optimizer: paddle.optimizer.AdamW) -> dict[str, paddle.Tensor]:
    """Return the optimizer's tensors by their names in a checkpoint: the kind and the name of the weight.

    Paddle's own names count all layers created in the process, so they differ in the next process. The accumulators of
    a 16-bit weight are listed under the name of its 32-bit master.
    """
    names = {p.name: name for name, p in net.named_parameters()}
    masters = optimizer._master_weights
    names |= {masters[name].name: structured for name, structured in names.items() if name in masters}
    tables = {"master": masters, **optimizer._accumulators}
    return {f"{kind}/{names[owner]}": t for kind, table in tables.items() for owner, t in table.items()}
