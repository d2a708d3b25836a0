"""Weights of a network and state of its optimizer, by names of the network's structure; optimizers and mixed precision.

The optimizers are AdamW, and Muon, whose steps have equal length in all directions.

Mixed precision is automatic on GPUs that are faster with 16-bit numbers. Paddle's mixed precision has no effect on
CPUs, and its state is global: the type named by the first `auto_cast` is kept, and scaling a loss under another type
disables the scaler permanently. So a process uses one type, and everything outside a training step (validation,
previews, export) runs in plain fp32.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import paddle
from paddle.amp.auto_cast import amp_global_state

from workbench.core.messages import Message
from workbench.core.problems import BadSettings, RunBroken
from workbench.core.runs.gpu_facts import has_tensor_cores
from workbench.training.device import Device

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


# --- optimizers -----------------------------------------------------------------------------------


MOMENTUM = 0.95
ADAM_SCALE = 0.2  # root mean square of AdamW's steps, so that one learning rate fits both
_MIN_CHANNELS = 16  # minimum input and output channels; smaller layers have too few directions
_ROUNDS = 3  # the usual five cost more without better training
_QUINTIC = 3.4445, -4.7750, 2.0315  # drives singular values toward 1


def make_optimizer(
    net: paddle.nn.Layer, kind: str, *, weight_decay: float, masters: bool = False
) -> paddle.optimizer.AdamW:
    """Return an optimizer. kind: "adamw" or "muon". masters: keep 32-bit copies of 16-bit weights."""
    # Norms and biases have few values; decay only harms them.
    decayed = {p.name for p in net.parameters() if len(p.shape) > 1}
    options = {
        "learning_rate": 1e-3,
        "weight_decay": weight_decay,
        "multi_precision": masters,
        "apply_decay_param_fun": decayed.__contains__,
    }
    return Muon(net, **options) if kind == "muon" else paddle.optimizer.AdamW(parameters=net.parameters(), **options)


@paddle.no_grad()
def clip_gradients(parameters: Sequence[paddle.Tensor], limit: float) -> float:
    """Scale all gradients together to the norm `limit` if it is larger.

    Return the norm before scaling; inf or NaN if a gradient is. Paddle's own way to that number takes a twentieth
    of a small network's step on a CPU.
    """
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    squares = [gradient.astype("float32").square().sum() for gradient in gradients]
    norm = paddle.stack(squares).sum().sqrt().item()
    if norm > limit:
        for gradient in gradients:
            gradient.scale_(limit / (norm + 1e-6))
    return norm


def _exact(tensor: paddle.Tensor) -> paddle.Tensor:
    """Return a tensor in 32 bits, without an operation if it has them."""
    return tensor if tensor.dtype == paddle.float32 else tensor.astype("float32")


class Muon(paddle.optimizer.AdamW):
    """AdamW for first and last layer, norms and biases; orthogonalized momentum for the convolutions between.

    The momentum of such a layer, as a matrix of outputs by inputs, is replaced by the nearest orthogonal matrix (Jordan
    et al. 2024, "Muon: an optimizer for hidden layers in neural networks"), scaled to a step of AdamW (Liu et al. 2025,
    "Muon is scalable for LLM training"). Directions with small gradients are learned as fast as those with large ones.

    net: its last layer is named `head`. Other arguments as for AdamW. hidden: names of the parameters between.
    """

    def __init__(self, net: paddle.nn.Layer, **options: Any) -> None:
        self.hidden = {
            parameter.name
            for name, parameter in net.named_parameters()
            if len(parameter.shape) == 4 and min(parameter.shape[:2]) >= _MIN_CHANNELS and not name.startswith("head")
        }
        super().__init__(parameters=net.parameters(), **options)

    def _append_optimize_op(self, block: Any, param_and_grad: Any) -> None:
        parameter, gradient = param_and_grad
        if parameter.name not in self.hidden:
            super()._append_optimize_op(block, param_and_grad)
            return
        weight = self._master_weights.get(parameter.name, parameter)  # 32-bit copy if the network has 16 bits
        momentum = self._get_accumulator_master(self._moment1_acc_str, parameter)
        gradient = _exact(gradient)
        momentum.scale_(MOMENTUM)
        momentum.add_(gradient * (1 - MOMENTUM))
        update = momentum * MOMENTUM + gradient * (1 - MOMENTUM)  # Nesterov momentum
        matrix = update.reshape([update.shape[0], -1])
        rate = self.get_lr()
        size = ADAM_SCALE * max(matrix.shape) ** 0.5
        weight.scale_(1 - rate * self._weight_decay)
        direction = orthogonal(matrix).reshape(update.shape)
        weight.subtract_((rate * size) * direction)
        if weight is not parameter:
            paddle.assign(weight.astype(parameter.dtype), parameter)


def orthogonal(matrix: paddle.Tensor) -> paddle.Tensor:
    """Return approximately the orthogonal matrix nearest to `matrix`, float32 (m, n); 0 for zeros.

    Singular values of 0.03 of the norm and more become 0.6 to 1.2, smaller ones forty times as large.

    Newton-Schulz iteration (Higham 2008, "Functions of matrices"), which needs matrix products only. Each round
    multiplies by a polynomial of the matrix times its transpose, so all rounds use that small square, and the matrix
    itself, usually nine times as wide as high, is multiplied once.
    """
    transposed = matrix.shape[0] > matrix.shape[1]
    x = matrix.t() if transposed else matrix
    first, third, fifth = _QUINTIC
    square, product = paddle.matmul(x, x, transpose_y=True), None
    shrink = 1 / (square.trace() + 1e-14)  # squared norm; Paddle's norm takes as long as all the rest
    square = square * shrink
    unit = paddle.eye(len(square))
    for remaining in reversed(range(_ROUNDS)):
        factor = first * unit + third * square + fifth * paddle.matmul(square, square)
        product = factor if product is None else paddle.matmul(factor, product)
        if remaining:
            square = paddle.matmul(factor, paddle.matmul(square, factor))
    x = paddle.matmul(product * shrink.sqrt(), x)
    return x.t() if transposed else x


_DTYPES = {"fp16": "float16", "bf16": "bfloat16"}
_MIN_CAPABILITY = {"fp16": (7, 0), "bf16": (8, 0)}
# Operations in 16 bits in addition to Paddle's own list. Without this one, the decoder of a UNet runs in 32 bits.
_WHITE_LIST = frozenset({"conv2d_transpose"})


@dataclass(frozen=True)
class PrecisionChoice:
    """Number type of a training. name: "fp32", "fp16" or "bf16". reason: explanation for the user."""

    name: str
    reason: str


def choose_precision(request: str, device: Device) -> PrecisionChoice:
    """Return the number type for a requested precision on this device. Raises BadSettings if it is not supported."""
    if not device.is_gpu:
        if request in ("auto", "fp32"):
            return PrecisionChoice("fp32", Message("precision.cpu"))
        return PrecisionChoice("fp32", Message("precision.cpu_asked", asked=request))
    if request == "fp32":
        return PrecisionChoice("fp32", Message("plan.manual"))
    if request == "auto":
        if device.capability < _MIN_CAPABILITY["fp16"]:
            return PrecisionChoice("fp32", Message("precision.gpu_old"))
        if not has_tensor_cores(device.title, device.capability):
            return PrecisionChoice("fp32", Message("precision.no_tensor_cores"))
        return PrecisionChoice("fp16", Message("precision.gpu_fp16"))
    least = _MIN_CAPABILITY[request]
    if device.capability < least:
        have = ".".join(map(str, device.capability))
        need = ".".join(map(str, least))
        raise BadSettings(key="precision", value=request, why=Message("precision.capability", need=need, have=have))
    return PrecisionChoice(request, Message("plan.manual"))


class LossScaler(paddle.amp.GradScaler):
    """Paddle's loss scaler, without its failure at the first overflow with NumPy 2.4 and its output to stdout.

    It converts an array of one element to float, which NumPy no longer allows (fixed in Paddle after 3.3.1).
    """

    @property
    def value(self) -> float:
        return self._scale.item() if self._enable else 1.0

    @property
    def skipped(self) -> bool:
        """True if the last step was skipped because a gradient overflowed."""
        return self._enable and bool(self._cache_found_inf)

    def scale(self, var: paddle.Tensor) -> paddle.Tensor:
        # Paddle would disable the scaler if the last `auto_cast` had named another type, or if there was none yet.
        amp_global_state().amp_dtype = "float16"
        return super().scale(var)

    def reset(self) -> None:
        """Reset after an aborted step; otherwise its gradients and all later ones would count as unscaled."""
        self._optimizer_states.clear()

    def _update(self) -> None:
        if not self.skipped:
            super()._update()
            return
        self._incr_count = 0
        self._scale = self._scale * self._decr_ratio


class Precision:
    """Part of a training step that depends on the number type."""

    def __init__(self, choice: PrecisionChoice, level: str = "O1", scaler: LossScaler | None = None) -> None:
        self.choice = choice
        self.level = level
        if choice.name == "fp16" and scaler is None:
            # Doubled every 500 steps without overflow: a run of minutes may not reach Paddle's 2000.
            scaler = LossScaler(init_loss_scaling=2.0**15, incr_every_n_steps=500)
        self.scaler = scaler

    def prepare(self, net: paddle.nn.Layer, optimizer: paddle.optimizer.Optimizer) -> None:
        """Level O2: convert the network's weights to 16 bits; the optimizer keeps 32-bit masters.

        Gradients are converted to 32 bits after the backward pass: unscaled in 16 bits, those below 6e-8 become 0.
        """
        if self.choice.name != "fp32" and self.level == "O2":
            dtype = _DTYPES[self.choice.name]
            paddle.amp.decorate(models=net, optimizers=optimizer, level="O2", dtype=dtype, master_grad=True)

    def cast(self) -> contextlib.AbstractContextManager:
        if self.choice.name == "fp32":
            return contextlib.nullcontext()
        dtype = _DTYPES[self.choice.name]
        return paddle.amp.auto_cast(custom_white_list=_WHITE_LIST, level=self.level, dtype=dtype)

    def backward(self, loss: paddle.Tensor) -> None:
        (self.scaler.scale(loss) if self.scaler else loss).backward()

    def step(
        self, optimizer: paddle.optimizer.Optimizer, parameters: list[paddle.Tensor], clip: float
    ) -> tuple[float, bool]:
        """Unscale, clip, step. Return the gradient norm before clipping, and True if the step was skipped."""
        if self.scaler:
            try:
                self.scaler.unscale_(optimizer)
                norm = clip_gradients(parameters, clip)
                self.scaler.step(optimizer)
                self.scaler.update()
            except BaseException:
                self.scaler.reset()
                raise
            return norm, self.scaler.skipped
        norm = clip_gradients(parameters, clip)
        if not math.isfinite(norm):
            return norm, True
        optimizer.step()
        return norm, False

    @property
    def loss_scale(self) -> float | None:
        return self.scaler.value if self.scaler else None

    def state(self) -> dict[str, Any]:
        """Return the JSON-ready state of the scaler; empty without one."""
        state = self.scaler.state_dict() if self.scaler else {}
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in state.items()}

    def load(self, state: dict[str, Any]) -> None:
        if self.scaler and state:
            self.scaler.load_state_dict({**state, "scale": np.asarray(state["scale"], np.float32)})
