"""Conditions of a training on several GPUs, checked before the run is created."""

from __future__ import annotations

import platform

from workbench.core.messages import Message
from workbench.core.problems import DeviceMissing
from workbench.core.runs.launch import processes
from workbench.core.runs.training_settings import TrainingSettings


def check_several_gpus(device: str) -> None:
    """Raise DeviceMissing for several GPUs on Windows, where PaddlePaddle has no NCCL."""
    if device.strip().lower().startswith("gpu") and processes(device) > 1 and platform.system() == "Windows":
        raise DeviceMissing(device=device, why=Message("device.no_nccl"))


def divide_batch(request: TrainingSettings) -> TrainingSettings:
    """Round a batch size chosen by the user up to a multiple of the processes, and state it as the setting's reason.

    With unequal parts, the normalization over all GPUs would weight their images unequally.
    """
    count = processes(request.device)
    if "batch" not in request.model_fields_set or not request.batch % count:
        return request
    why = Message("plan.batch_divided", asked=request.batch, n=count)
    batch = -(-request.batch // count) * count
    return request.model_copy(update={"batch": batch, "reasons": {**request.reasons, "batch": why}})
