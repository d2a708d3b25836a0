"""Loss functions. All arithmetic in fp32, whatever precision the network uses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import paddle
from paddle.nn import functional as F

from workbench.core.runs.training_settings import TrainingSettings

# Truth value of pixels without influence on the loss (don't care, not labeled, beyond the image).
IGNORED = 255


def make_loss(settings: TrainingSettings) -> Callable[[paddle.Tensor, paddle.Tensor], paddle.Tensor]:
    """Return the loss of a run: a function of logits and truth."""
    if settings.model == "resnet":
        return partial(verdict_loss, label_smoothing=settings.label_smoothing)
    return partial(
        segmentation_loss,
        dice_weight=settings.dice_weight,
        cross_entropy_weight=settings.cross_entropy_weight,
        class_weight=settings.class_weight,
    )


def segmentation_loss(
    logits: paddle.Tensor,
    truth: paddle.Tensor,
    *,
    dice_weight: float,
    cross_entropy_weight: float,
    class_weight: float = 0.0,
) -> paddle.Tensor:
    """Return cross entropy plus Dice loss (Milletari et al. 2016) over whole batches.

    logits: (N, K, H, W), channel 0 being the background. truth: integer (N, H, W), channels or IGNORED. Half of the
    Dice is pooled over the batch, half is the mean over patches: if only pooled, a pinhole would have no weight in a
    batch with a large stain. Both are means over the foreground channels that occur; elsewhere there is no Dice.

    class_weight: if above 0 and there are several foreground channels, both losses are those of any defect against
    background, and the cross entropy between the classes, a mean over the defect pixels, is added with this weight.
    """
    log_probabilities = _log_softmax(logits.astype("float32"))
    channels = log_probabilities.shape[1]
    valid = (truth != IGNORED).astype("float32")
    # One plane per channel, by comparison: an ignored pixel is in none of them.
    targets = paddle.stack([(truth == c).astype("float32") for c in range(channels)], axis=1)
    class_entropy = None
    if class_weight and channels > 2:
        log_probabilities, targets, class_entropy = _detection_and_class(log_probabilities, targets)
        channels = 2
    entropy = -(targets * log_probabilities).sum() / valid.sum().clip(min=1.0)
    if not dice_weight:
        loss = cross_entropy_weight * entropy
        return loss if class_entropy is None else loss + class_weight * class_entropy
    predictions = log_probabilities.exp() * broadcast_plane(valid.unsqueeze(1), channels)
    # (N, foreground channels), used by both kinds of Dice.
    intersection, predictions, target_sum = (
        (plane.sum(axis=(2, 3)))[:, 1:] for plane in (predictions * targets, predictions, targets)
    )
    per_image = _dice_loss(intersection, predictions, target_sum)
    whole_batch = _dice_loss(intersection.sum(axis=0), predictions.sum(axis=0), target_sum.sum(axis=0))
    loss = cross_entropy_weight * entropy + dice_weight * (per_image + whole_batch) / 2
    return loss if class_entropy is None else loss + class_weight * class_entropy


def _detection_and_class(
    log_probabilities: paddle.Tensor, targets: paddle.Tensor
) -> tuple[paddle.Tensor, paddle.Tensor, paddle.Tensor]:
    """Return log probabilities and targets of background and any defect, and the cross entropy between classes.

    log_probabilities, targets: (N, K, H, W), channel 0 being the background; returned as (N, 2, H, W).
    """
    classes, defects = log_probabilities[:, 1:], targets[:, 1:]
    highest = classes.detach().max(axis=1, keepdim=True)
    of_class = classes - broadcast_plane(highest, classes.shape[1])
    any_defect = of_class.exp().sum(axis=1, keepdim=True).log()
    of_class = of_class - broadcast_plane(any_defect, classes.shape[1])  # given that there is a defect
    entropy = -(defects * of_class).sum() / defects.sum().clip(min=1.0)
    return (
        paddle.concat([log_probabilities[:, :1], any_defect + highest], axis=1),
        paddle.concat([targets[:, :1], defects.sum(axis=1, keepdim=True)], axis=1),
        entropy,
    )


def _log_softmax(logits: paddle.Tensor) -> paddle.Tensor:
    """Log-softmax over channels of (N, K, H, W). Paddle's own takes three times as long along this axis on a CPU."""
    channels = logits.shape[1]
    shifted = logits - broadcast_plane(logits.detach().max(axis=1, keepdim=True), channels)
    return shifted - broadcast_plane(shifted.exp().sum(axis=1, keepdim=True).log(), channels)


def broadcast_plane(plane: paddle.Tensor, channels: int) -> paddle.Tensor:
    """Copy (N, 1, H, W) to (N, channels, H, W): ten times faster than broadcasting inside an operation."""
    return plane if channels == 1 else paddle.concat([plane] * channels, axis=1)


def _dice_loss(intersection: paddle.Tensor, prediction: paddle.Tensor, target: paddle.Tensor) -> paddle.Tensor:
    """Return 1 - Dice, averaged over the entries with true pixels; 0 if there are none."""
    present = (target > 0).astype("float32")
    dice = (2 * intersection + 1.0) / (prediction + target + 1.0)
    return ((1 - dice) * present).sum() / present.sum().clip(min=1.0)


def verdict_loss(logits: paddle.Tensor, truth: paddle.Tensor, *, label_smoothing: float) -> paddle.Tensor:
    """Return cross entropy with smoothed labels (Szegedy et al. 2016). logits: (N, V). truth: int64 (N,)."""
    logs = F.log_softmax(logits.astype("float32"), axis=1)
    one_hot = F.one_hot(truth, logs.shape[1])
    targets = one_hot * (1 - label_smoothing) + label_smoothing / logs.shape[1]
    return -(targets * logs).sum(axis=1).mean()
