"""Texts of the training settings: names, purposes, formatted values."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from workbench.core.runs.training_settings import TrainingSettings, concerns
from workbench.ui.text import formatting

# Setting -> name, purpose.
_SETTINGS: dict[str, tuple[str, str]] = {
    "quality": (
        QT_TRANSLATE_NOOP("recipe", "Quality"),
        QT_TRANSLATE_NOOP("recipe", "Network size. Larger networks need more training time."),
    ),
    "start_from": (
        QT_TRANSLATE_NOOP("recipe", "Initial run"),
        QT_TRANSLATE_NOOP(
            "recipe", "Training starts from the weights of that run. Outputs for new classes start untrained."
        ),
    ),
    "prune": (
        QT_TRANSLATE_NOOP("recipe", "Prune"),
        QT_TRANSLATE_NOOP("recipe", "Share of the initial run's channels to remove, for a smaller network."),
    ),
    "encoder": (
        QT_TRANSLATE_NOOP("recipe", "Encoder"),
        QT_TRANSLATE_NOOP(
            "recipe",
            "First part of the network: plain convolutions (for verdicts a ResNet), EfficientNet-Lite0 with its "
            "pretrained weights, or the ResNet of a UNet.",
        ),
    ),
    "weights": (
        QT_TRANSLATE_NOOP("recipe", "Pretrained weights"),
        QT_TRANSLATE_NOOP("recipe", "Start from the weights of a network that was trained on other images."),
    ),
    "channels": (
        QT_TRANSLATE_NOOP("recipe", "Channels"),
        QT_TRANSLATE_NOOP("recipe", "1: gray, 3: color."),
    ),
    "full_scale": (
        QT_TRANSLATE_NOOP("recipe", "Full scale"),
        QT_TRANSLATE_NOOP("recipe", "Largest possible pixel value."),
    ),
    "low": (
        QT_TRANSLATE_NOOP("recipe", "Darkest value"),
        QT_TRANSLATE_NOOP("recipe", "Gray value that is mapped to 0."),
    ),
    "high": (
        QT_TRANSLATE_NOOP("recipe", "Brightest value"),
        QT_TRANSLATE_NOOP("recipe", "Gray value that is mapped to 1."),
    ),
    "mean": (
        QT_TRANSLATE_NOOP("recipe", "Mean"),
        QT_TRANSLATE_NOOP("recipe", "Subtracted from each channel, so that values are centered at 0."),
    ),
    "std": (
        QT_TRANSLATE_NOOP("recipe", "Standard deviation"),
        QT_TRANSLATE_NOOP("recipe", "Divisor of each channel, so that values have unit variance."),
    ),
    "scale": (
        QT_TRANSLATE_NOOP("recipe", "Image scale"),
        QT_TRANSLATE_NOOP("recipe", "Factor by which images are resized for the network."),
    ),
    "local_contrast": (
        QT_TRANSLATE_NOOP("recipe", "Local contrast"),
        QT_TRANSLATE_NOOP("recipe", "Additional input: contrast of each pixel to its surroundings."),
    ),
    "widths": (
        QT_TRANSLATE_NOOP("recipe", "Widths"),
        QT_TRANSLATE_NOOP("recipe", "Channels at each level of the UNet. The number of levels is its depth."),
    ),
    "stem": (
        QT_TRANSLATE_NOOP("recipe", "Stem"),
        QT_TRANSLATE_NOOP("recipe", "2 or 4: the first layer reduces the resolution to 1/2 or 1/4."),
    ),
    "depth": (QT_TRANSLATE_NOOP("recipe", "Depth"), QT_TRANSLATE_NOOP("recipe", "Number of layers of the ResNet.")),
    "width": (
        QT_TRANSLATE_NOOP("recipe", "Width"),
        QT_TRANSLATE_NOOP("recipe", "Factor for the channels of every layer of the ResNet."),
    ),
    "input_size": (
        QT_TRANSLATE_NOOP("recipe", "Input size"),
        QT_TRANSLATE_NOOP("recipe", "Side of the square to which images are resized, in pixels."),
    ),
    "standardize": (
        QT_TRANSLATE_NOOP("recipe", "Standardized input"),
        QT_TRANSLATE_NOOP(
            "recipe",
            "Input, or additional input of a ResNet: the image with a fixed mean and contrast, independent of its "
            "exposure.",
        ),
    ),
    "patch": (
        QT_TRANSLATE_NOOP("recipe", "Patch size"),
        QT_TRANSLATE_NOOP("recipe", "Side of the training patches in pixels."),
    ),
    "overlap": (
        QT_TRANSLATE_NOOP("recipe", "Tile overlap"),
        QT_TRANSLATE_NOOP("recipe", "Overlap of neighboring tiles in a prediction, in pixels."),
    ),
    "foreground_share": (
        QT_TRANSLATE_NOOP("recipe", "Patches with defects"),
        QT_TRANSLATE_NOOP("recipe", "Share of patches that are centered on a defect."),
    ),
    "mirror": (
        QT_TRANSLATE_NOOP("recipe", "Test-time augmentation (flips)"),
        QT_TRANSLATE_NOOP("recipe", "Predictions are averaged over the image and its mirror image."),
    ),
    "min_area": (
        QT_TRANSLATE_NOOP("recipe", "Minimum area"),
        QT_TRANSLATE_NOOP("recipe", "Smaller predicted regions are dropped. In image pixels."),
    ),
    "dice_weight": (
        QT_TRANSLATE_NOOP("recipe", "Dice weight"),
        QT_TRANSLATE_NOOP("recipe", "Weight of the Dice loss."),
    ),
    "cross_entropy_weight": (
        QT_TRANSLATE_NOOP("recipe", "Cross-entropy weight"),
        QT_TRANSLATE_NOOP("recipe", "Weight of the cross-entropy loss."),
    ),
    "class_weight": (
        QT_TRANSLATE_NOOP("recipe", "Class weight"),
        QT_TRANSLATE_NOOP(
            "recipe",
            "Weight of the term that separates the classes, while the defects of all classes are trained together. "
            "0: each class is trained separately.",
        ),
    ),
    "train_further": (
        QT_TRANSLATE_NOOP("recipe", "Train further"),
        QT_TRANSLATE_NOOP(
            "recipe", "Train the whole network after its last layer was fitted to features of the images."
        ),
    ),
    "label_smoothing": (
        QT_TRANSLATE_NOOP("recipe", "Label smoothing"),
        QT_TRANSLATE_NOOP("recipe", "Prevents overconfident predictions."),
    ),
    "batch": (
        QT_TRANSLATE_NOOP("recipe", "Batch size"),
        QT_TRANSLATE_NOOP("recipe", "Patches or images per training step."),
    ),
    "optimizer": (
        QT_TRANSLATE_NOOP("recipe", "Optimizer"),
        QT_TRANSLATE_NOOP("recipe", "Optimization algorithm: AdamW or Muon."),
    ),
    "rate": (
        QT_TRANSLATE_NOOP("recipe", "Learning rate"),
        QT_TRANSLATE_NOOP("recipe", "Peak value of the learning rate."),
    ),
    "weight_decay": (
        QT_TRANSLATE_NOOP("recipe", "Weight decay"),
        QT_TRANSLATE_NOOP("recipe", "Keeps weights small to reduce overfitting."),
    ),
    "warm_up": (
        QT_TRANSLATE_NOOP("recipe", "Warm-up"),
        QT_TRANSLATE_NOOP(
            "recipe", "Fraction of the training during which the learning rate rises. It then falls to 0."
        ),
    ),
    "grad_clip": (
        QT_TRANSLATE_NOOP("recipe", "Gradient clipping"),
        QT_TRANSLATE_NOOP("recipe", "Gradients with a larger norm are scaled down to this norm."),
    ),
    "average": (
        QT_TRANSLATE_NOOP("recipe", "Weight averaging"),
        QT_TRANSLATE_NOOP("recipe", "Decay of the moving average of the weights. 0 turns it off."),
    ),
    "validations": (
        QT_TRANSLATE_NOOP("recipe", "Validations"),
        QT_TRANSLATE_NOOP("recipe", "Number of validations during the training."),
    ),
    "epochs": (
        QT_TRANSLATE_NOOP("recipe", "Epochs"),
        QT_TRANSLATE_NOOP("recipe", "Train for this number of epochs instead of a fixed time."),
    ),
    "seed": (
        QT_TRANSLATE_NOOP("recipe", "Seed"),
        QT_TRANSLATE_NOOP("recipe", "The same seed gives the same patches and initial weights."),
    ),
    "augment": (
        QT_TRANSLATE_NOOP("recipe", "Augmentation"),
        QT_TRANSLATE_NOOP("recipe", "Random changes of the training patches."),
    ),
    "precision": (
        QT_TRANSLATE_NOOP("recipe", "Precision"),
        QT_TRANSLATE_NOOP("recipe", "16-bit numbers are faster on GPUs. CPUs compute in 32 bits."),
    ),
    "threads": (
        QT_TRANSLATE_NOOP("recipe", "Threads"),
        QT_TRANSLATE_NOOP("recipe", "Number of threads that prepare patches during training."),
    ),
    "workers": (
        QT_TRANSLATE_NOOP("recipe", "Workers"),
        QT_TRANSLATE_NOOP("recipe", "Model replicas that share each batch, one per CPU core."),
    ),
    "profile": (
        QT_TRANSLATE_NOOP("recipe", "Profiling"),
        QT_TRANSLATE_NOOP("recipe", "Measure the time of each part of a training step."),
    ),
    "minutes": (QT_TRANSLATE_NOOP("recipe", "Minutes"), QT_TRANSLATE_NOOP("recipe", "Training time.")),
    "device": (QT_TRANSLATE_NOOP("recipe", "Device"), QT_TRANSLATE_NOOP("recipe", "Device used for training.")),
}

# Title, its settings. Settings that the model does not use are omitted, those in no group come last.
_GROUPS: list[tuple[str, tuple[str, ...]]] = [
    (
        QT_TRANSLATE_NOOP("recipe", "Network"),
        ("quality", "encoder", "widths", "stem", "depth", "width", "local_contrast", "standardize", "train_further"),
    ),
    (QT_TRANSLATE_NOOP("recipe", "Initial weights"), ("start_from", "prune", "weights")),
    (
        QT_TRANSLATE_NOOP("recipe", "Input"),
        ("scale", "input_size", "patch", "overlap", "mirror", "foreground_share", "augment"),
    ),
    (
        QT_TRANSLATE_NOOP("recipe", "Optimization"),
        (
            "batch",
            "optimizer",
            "rate",
            "warm_up",
            "dice_weight",
            "cross_entropy_weight",
            "class_weight",
            "label_smoothing",
            "weight_decay",
            "grad_clip",
            "average",
            "validations",
            "epochs",
            "min_area",
            "seed",
        ),
    ),
    (QT_TRANSLATE_NOOP("recipe", "Hardware"), ("precision", "threads", "workers", "profile")),
    (QT_TRANSLATE_NOOP("recipe", "Gray values"), ("channels", "full_scale", "low", "high", "mean", "std")),
]
_HIDDEN = {"model", "minutes", "device"}
# For experts of the training code: in training.json and `--set`, in the dialog only where their value was changed.
_OF_EXPERTS = frozenset(
    "full_scale low high mean std warm_up grad_clip average class_weight validations threads workers profile".split()
)
_WITHOUT_EFFECT = {"plain": {"width", "weights"}, "lite0": {"widths", "stem", "width"}}  # others: of ResNets
_OF_RESNET = {"widths", "stem"}

_VALUES: dict[str, str] = {
    "fast": QT_TRANSLATE_NOOP("recipe", "Fast"),
    "balanced": QT_TRANSLATE_NOOP("recipe", "Balanced"),
    "best": QT_TRANSLATE_NOOP("recipe", "Best"),
    "plain": QT_TRANSLATE_NOOP("recipe", "Plain"),
    "lite0": "EfficientNet-Lite0",
    "resnet18": "ResNet-18",
    "resnet34": "ResNet-34",
    "auto": QT_TRANSLATE_NOOP("recipe", "Automatic"),
    "flip_horizontal": QT_TRANSLATE_NOOP("recipe", "Horizontal flip"),
    "flip_vertical": QT_TRANSLATE_NOOP("recipe", "Vertical flip"),
    "rotate_90": QT_TRANSLATE_NOOP("recipe", "90° rotations"),
    "rotate": QT_TRANSLATE_NOOP("recipe", "Rotation"),
    "zoom": QT_TRANSLATE_NOOP("recipe", "Zoom"),
    "brightness": QT_TRANSLATE_NOOP("recipe", "Brightness"),
    "contrast": QT_TRANSLATE_NOOP("recipe", "Contrast"),
    "noise": QT_TRANSLATE_NOOP("recipe", "Noise"),
    "lighting": QT_TRANSLATE_NOOP("recipe", "Lighting and sharpness"),
    "cpu": QT_TRANSLATE_NOOP("recipe", "CPU"),
    "gpu": QT_TRANSLATE_NOOP("recipe", "GPU"),
    "adamw": "AdamW",
    "muon": "Muon",
    "imagenet": QT_TRANSLATE_NOOP("recipe", "ImageNet (of a ResNet: downloaded once)"),
}


def groups(model: str, changed: Container[str] = ()) -> list[tuple[str, list[str]]]:
    """Return the translated group titles with the settings of each that the dialog shows for a model.

    changed: settings that are shown even if only experts use them.
    """
    settings = [key for key in concerns(model) if key not in _OF_EXPERTS or key in changed]
    named = {key for _, keys in _GROUPS for key in keys}
    others = [key for key in settings if key not in named | _HIDDEN]
    groups_of_model = [
        (QCoreApplication.translate("recipe", title), [key for key in keys if key in settings])
        for title, keys in _GROUPS
    ]
    if others:
        groups_of_model.append((QCoreApplication.translate("recipe", "More"), others))
    return [(title, keys) for title, keys in groups_of_model if keys]


def without_effect(model: str, encoder: str) -> set[str]:
    """Return the settings that have no effect with an encoder."""
    if model != "unet":
        return {"depth", "width"} if encoder == "lite0" else {"train_further"}
    return _WITHOUT_EFFECT.get(encoder, _OF_RESNET)


def name(key: str) -> str:
    return QCoreApplication.translate("recipe", _SETTINGS[key][0]) if key in _SETTINGS else key


def purpose(key: str) -> str:
    return QCoreApplication.translate("recipe", _SETTINGS[key][1]) if key in _SETTINGS else ""


def reason(key: str, settings: TrainingSettings | None) -> str:
    """Return the reason for a setting's value, or its purpose if no reason is known."""
    text = (settings.reasons if settings is not None else {}).get(key, "")
    return formatting.translate_message(text) if text else purpose(key)


def option(value: Any) -> str:
    """Return the text of one value of an enumeration."""
    text = _VALUES.get(str(value))
    return QCoreApplication.translate("recipe", text) if text is not None else str(value)


def written(value: Any) -> str:
    """Return any value as text, as it is shown and typed."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return QCoreApplication.translate("recipe", "yes") if value else QCoreApplication.translate("recipe", "no")
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(option(entry) if isinstance(entry, str) else written(entry) for entry in value)
    return option(value)
