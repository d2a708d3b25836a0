"""Comparison of 16-bit with 32-bit arithmetic on a real batch, before a training relies on it."""

from __future__ import annotations

import math

import numpy as np
import paddle

from workbench.training.device import is_out_of_memory
from workbench.training.learner import Batch, Learner
from workbench.training.precision import Precision, PrecisionChoice

_IMAGES = 8  # of the batch
_LOSS_TOLERANCE = 0.05  # relative to a loss of 1 or more
_MIN_COSINE = 0.9  # between the gradients; about 0.999 in fp16 and 0.99 in bf16 where the arithmetic is right
_SCALES = (2.0**15, 2.0**11, 2.0**7, 2.0**3, 1.0)  # of the loss: the first at which no gradient overflows counts


def computes_alike(learner: Learner, images: Batch, truth: Batch) -> bool:
    """Return True if loss and gradients of some images of a batch are alike in the learner's precision and in fp32.

    Some GPUs return NaN from convolutions in 16 bits. Nothing is changed. True also if memory is insufficient: then
    the first step reduces what it needs.
    """
    chosen = np.arange(len(images))[:: max(1, len(images) // _IMAGES)][:_IMAGES]
    images, truth = (np.asarray(array)[chosen] for array in (images, truth))
    statistics = [p for p in learner.net.parameters() if p.stop_gradient]
    before = [p.clone() for p in statistics]
    try:
        exact = _compute(learner, images, truth, Precision(PrecisionChoice("fp32", "")), 1.0)
        for scale in _SCALES if learner.precision.scaler else (1.0,):
            reduced = _compute(learner, images, truth, learner.precision, scale)
            if not math.isfinite(reduced[0]):
                return False
            if np.isfinite(reduced[1]).all():
                return are_alike(exact, reduced)
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        return True
    finally:
        learner.net.clear_gradients(set_to_zero=False)
        with paddle.no_grad():
            for tensor, value in zip(statistics, before):
                paddle.assign(value, tensor)
    return False


def _compute(
    learner: Learner, images: np.ndarray, truth: np.ndarray, precision: Precision, scale: float
) -> tuple[float, np.ndarray]:
    """Return the loss and all gradients in one array."""
    net = learner.net
    net.train()
    net.clear_gradients(set_to_zero=False)
    with precision.cast():
        logits = net(paddle.to_tensor(images))
    loss = learner.loss(logits, paddle.to_tensor(truth))
    (loss * scale).backward()
    gradients = [p.grad.astype("float32").flatten() for p in net.parameters() if p.grad is not None]
    return loss.item(), (paddle.concat(gradients) / scale).numpy()


def are_alike(exact: tuple[float, np.ndarray], reduced: tuple[float, np.ndarray]) -> bool:
    """Compare loss and gradients of exact and of reduced precision. Return True if they agree within the tolerance."""
    if not math.isfinite(exact[0]):
        return True  # the data are at fault, not the precision
    if abs(exact[0] - reduced[0]) > _LOSS_TOLERANCE * max(1.0, abs(exact[0])):
        return False
    lengths = float(np.linalg.norm(exact[1])) * float(np.linalg.norm(reduced[1]))
    return lengths == 0 or float(exact[1] @ reduced[1]) >= _MIN_COSINE * lengths
