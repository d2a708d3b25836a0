"""Automatic mixed precision on GPUs that are faster with 16-bit numbers.

Paddle's mixed precision has no effect on CPUs, and its state is global: the type named by the first `auto_cast` is
kept, and scaling a loss under another type disables the scaler permanently. So a process uses one type, and
everything outside a training step (validation, previews, export) runs in plain fp32.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import paddle
from paddle.amp.auto_cast import amp_global_state

from workbench.core.messages import Message
from workbench.core.problems import BadSettings
from workbench.core.runs.gpu_facts import has_tensor_cores
from workbench.training.device import Device
from workbench.training.optimizers import clip_gradients

_DTYPES = {"fp16": "float16", "bf16": "bfloat16"}
_MIN_CAPABILITY = {"fp16": (7, 0), "bf16": (8, 0)}
# Operations in 16 bits in addition to Paddle's own list. Without this one, the decoder of a UNet runs in 32 bits.
_WHITE_LIST = frozenset({"conv2d_transpose"})


@dataclass(frozen=True)
class PrecisionChoice:
    """Number type of a training. name: "fp32", "fp16" or "bf16". reason: explanation for the user."""

    name: str
    reason: str


def choose(request: str, device: Device) -> PrecisionChoice:
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
