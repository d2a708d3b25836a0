"""Texts of the training settings: names, purposes, formatted values."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from workbench.core.runs.training_settings import TrainingSettings, concerns
from workbench.ui.text import formatting

# Setting -> name, purpose.
_SETTINGS: dict[str, tuple[str, str]] = {
    "quality": (
        QT_TRANSLATE_NOOP("recipe", "Quality"),
        QT_TRANSLATE_NOOP("recipe", "How large the network may be: larger ones need more minutes."),
    ),
    "start_from": (
        QT_TRANSLATE_NOOP("recipe", "Begin with the run"),
        QT_TRANSLATE_NOOP(
            "recipe", ("Training starts from the weights of that run. Outputs for new classes start untrained.")
        ),
    ),
    "prune": (
        QT_TRANSLATE_NOOP("recipe", "Prune"),
        QT_TRANSLATE_NOOP("recipe", "The share of that run's channels that is taken out: a smaller network."),
    ),
    "encoder": (
        QT_TRANSLATE_NOOP("recipe", "Encoder"),
        QT_TRANSLATE_NOOP("recipe", "Encoder of the UNet: plain convolutions or a ResNet backbone."),
    ),
    "weights": (
        QT_TRANSLATE_NOOP("recipe", "Weights"),
        QT_TRANSLATE_NOOP("recipe", "Weights of a ResNet that others have trained are the start."),
    ),
    "channels": (
        QT_TRANSLATE_NOOP("recipe", "Channels"),
        QT_TRANSLATE_NOOP("recipe", "1: the network sees grey, 3: colour."),
    ),
    "full_scale": (
        QT_TRANSLATE_NOOP("recipe", "Full scale"),
        QT_TRANSLATE_NOOP("recipe", "The greatest value that a pixel can have."),
    ),
    "low": (
        QT_TRANSLATE_NOOP("recipe", "Darkest value"),
        QT_TRANSLATE_NOOP("recipe", "The grey value that becomes 0."),
    ),
    "high": (
        QT_TRANSLATE_NOOP("recipe", "Brightest value"),
        QT_TRANSLATE_NOOP("recipe", "The grey value that becomes 1."),
    ),
    "mean": (
        QT_TRANSLATE_NOOP("recipe", "Mean"),
        QT_TRANSLATE_NOOP("recipe", "Taken off each channel, so that values lie around 0."),
    ),
    "std": (
        QT_TRANSLATE_NOOP("recipe", "Spread"),
        QT_TRANSLATE_NOOP("recipe", "Each channel is divided by it, so that values are about 1."),
    ),
    "scale": (
        QT_TRANSLATE_NOOP("recipe", "Picture scale"),
        QT_TRANSLATE_NOOP("recipe", "Pictures are resized by this before the network sees them."),
    ),
    "local_contrast": (
        QT_TRANSLATE_NOOP("recipe", "Local contrast"),
        QT_TRANSLATE_NOOP("recipe", "Also show the network each pixel against its surroundings."),
    ),
    "widths": (
        QT_TRANSLATE_NOOP("recipe", "Width and depth"),
        QT_TRANSLATE_NOOP("recipe", "Channels of each level of the UNet; their number is its depth."),
    ),
    "stem": (
        QT_TRANSLATE_NOOP("recipe", "Stem"),
        QT_TRANSLATE_NOOP("recipe", "2 or 4: the first layer reduces the resolution to 1/2 or 1/4."),
    ),
    "depth": (QT_TRANSLATE_NOOP("recipe", "Depth"), QT_TRANSLATE_NOOP("recipe", "Layers of the ResNet.")),
    "width": (
        QT_TRANSLATE_NOOP("recipe", "Width"),
        QT_TRANSLATE_NOOP("recipe", "Multiplies the channels of every layer of the ResNet."),
    ),
    "input_size": (
        QT_TRANSLATE_NOOP("recipe", "Picture size"),
        QT_TRANSLATE_NOOP("recipe", "Pictures become squares with sides of so many pixels."),
    ),
    "patch": (
        QT_TRANSLATE_NOOP("recipe", "Patch"),
        QT_TRANSLATE_NOOP("recipe", "The network learns from squares with sides of so many pixels."),
    ),
    "overlap": (
        QT_TRANSLATE_NOOP("recipe", "Overlap"),
        QT_TRANSLATE_NOOP("recipe", "Pixels that neighbouring tiles share when a picture is predicted."),
    ),
    "foreground_share": (
        QT_TRANSLATE_NOOP("recipe", "Share with defects"),
        QT_TRANSLATE_NOOP("recipe", "The share of patches that is centred on a defect."),
    ),
    "mirror": (
        QT_TRANSLATE_NOOP("recipe", "Test-time augmentation (flips)"),
        QT_TRANSLATE_NOOP("recipe", "A prediction is the mean of those for the picture as it is and mirrored."),
    ),
    "min_area": (
        QT_TRANSLATE_NOOP("recipe", "Least area"),
        QT_TRANSLATE_NOOP("recipe", "Smaller predicted regions are dropped; in pixels of the picture."),
    ),
    "dice_weight": (
        QT_TRANSLATE_NOOP("recipe", "Weight of Dice"),
        QT_TRANSLATE_NOOP("recipe", "How much the overlap with the labels counts in the loss."),
    ),
    "cross_entropy_weight": (
        QT_TRANSLATE_NOOP("recipe", "Weight of cross-entropy"),
        QT_TRANSLATE_NOOP("recipe", "How much each pixel counts in the loss."),
    ),
    "label_smoothing": (
        QT_TRANSLATE_NOOP("recipe", "Label smoothing"),
        QT_TRANSLATE_NOOP("recipe", "Keeps the network from being surer than the labels deserve."),
    ),
    "batch": (
        QT_TRANSLATE_NOOP("recipe", "Batch"),
        QT_TRANSLATE_NOOP("recipe", "Patches or pictures in one step of learning."),
    ),
    "optimizer": (
        QT_TRANSLATE_NOOP("recipe", "Optimiser"),
        QT_TRANSLATE_NOOP("recipe", "Optimization algorithm: AdamW or Muon."),
    ),
    "rate": (
        QT_TRANSLATE_NOOP("recipe", "Learning rate"),
        QT_TRANSLATE_NOOP("recipe", "Peak value of the learning rate."),
    ),
    "weight_decay": (
        QT_TRANSLATE_NOOP("recipe", "Weight decay"),
        QT_TRANSLATE_NOOP("recipe", "Keeps weights small, against learning by heart."),
    ),
    "warm_up": (
        QT_TRANSLATE_NOOP("recipe", "Warm-up"),
        QT_TRANSLATE_NOOP(
            "recipe", ("Fraction of the training during which the learning rate rises. It then falls to 0.")
        ),
    ),
    "grad_clip": (
        QT_TRANSLATE_NOOP("recipe", "Gradient clipping"),
        QT_TRANSLATE_NOOP("recipe", "Gradients with a larger norm are scaled down to this norm."),
    ),
    "average": (
        QT_TRANSLATE_NOOP("recipe", "Averaging"),
        QT_TRANSLATE_NOOP("recipe", "Decay of the moving average of the weights. 0 turns it off."),
    ),
    "validations": (
        QT_TRANSLATE_NOOP("recipe", "Validations"),
        QT_TRANSLATE_NOOP("recipe", "How often in a run the held-out pictures are looked at."),
    ),
    "epochs": (
        QT_TRANSLATE_NOOP("recipe", "Epochs"),
        QT_TRANSLATE_NOOP("recipe", "Train for this number of epochs instead of a fixed time."),
    ),
    "seed": (
        QT_TRANSLATE_NOOP("recipe", "Seed"),
        QT_TRANSLATE_NOOP("recipe", "The same seed draws the same patches and the same first weights."),
    ),
    "augment": (
        QT_TRANSLATE_NOOP("recipe", "Variation"),
        QT_TRANSLATE_NOOP("recipe", "How patches are varied, to learn what does not matter."),
    ),
    "precision": (
        QT_TRANSLATE_NOOP("recipe", "Precision"),
        QT_TRANSLATE_NOOP("recipe", "16 bits are quicker on a card; a processor computes with 32."),
    ),
    "amp_level": (
        QT_TRANSLATE_NOOP("recipe", "Mixed precision"),
        QT_TRANSLATE_NOOP("recipe", "O1: only layers that gain by it use 16 bits; O2: nearly all."),
    ),
    "threads": (
        QT_TRANSLATE_NOOP("recipe", "Threads"),
        QT_TRANSLATE_NOOP("recipe", "How many prepare patches while the network learns."),
    ),
    "workers": (
        QT_TRANSLATE_NOOP("recipe", "Workers"),
        QT_TRANSLATE_NOOP("recipe", "Model replicas that share each batch, one per CPU core."),
    ),
    "profile": (
        QT_TRANSLATE_NOOP("recipe", "Profile"),
        QT_TRANSLATE_NOOP("recipe", "Measure where the time of a step goes."),
    ),
    "minutes": (QT_TRANSLATE_NOOP("recipe", "Minutes"), QT_TRANSLATE_NOOP("recipe", "How long the run may take.")),
    "device": (QT_TRANSLATE_NOOP("recipe", "Device"), QT_TRANSLATE_NOOP("recipe", "Where it learns.")),
}

# Title, its settings. Settings that the model does not use are omitted, those in no group come last.
_GROUPS: list[tuple[str, tuple[str, ...]]] = [
    (QT_TRANSLATE_NOOP("recipe", "Initial weights"), ("quality", "start_from", "prune", "encoder", "weights")),
    (QT_TRANSLATE_NOOP("recipe", "The network"), ("widths", "stem", "depth", "width", "local_contrast")),
    (
        QT_TRANSLATE_NOOP("recipe", "Input"),
        ("scale", "input_size", "patch", "overlap", "mirror", "foreground_share", "augment"),
    ),
    (
        QT_TRANSLATE_NOOP("recipe", "How it learns"),
        (
            "batch",
            "optimizer",
            "rate",
            "warm_up",
            "dice_weight",
            "cross_entropy_weight",
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
    (QT_TRANSLATE_NOOP("recipe", "On this machine"), ("precision", "amp_level", "threads", "workers", "profile")),
    (QT_TRANSLATE_NOOP("recipe", "Grey values"), ("channels", "full_scale", "low", "high", "mean", "std")),
]
_HIDDEN = {"model", "minutes", "device"}

_VALUES: dict[str, str] = {
    "fast": QT_TRANSLATE_NOOP("recipe", "Fast"),
    "balanced": QT_TRANSLATE_NOOP("recipe", "Balanced"),
    "best": QT_TRANSLATE_NOOP("recipe", "Best"),
    "plain": QT_TRANSLATE_NOOP("recipe", "Plain"),
    "resnet18": "ResNet-18",
    "resnet34": "ResNet-34",
    "auto": QT_TRANSLATE_NOOP("recipe", "Automatic"),
    "flip_horizontal": QT_TRANSLATE_NOOP("recipe", "Left and right"),
    "flip_vertical": QT_TRANSLATE_NOOP("recipe", "Up and down"),
    "rotate_90": QT_TRANSLATE_NOOP("recipe", "Quarter turns"),
    "rotate": QT_TRANSLATE_NOOP("recipe", "Small turns"),
    "zoom": QT_TRANSLATE_NOOP("recipe", "Zoom"),
    "brightness": QT_TRANSLATE_NOOP("recipe", "Brightness"),
    "contrast": QT_TRANSLATE_NOOP("recipe", "Contrast"),
    "noise": QT_TRANSLATE_NOOP("recipe", "Noise"),
    "cpu": QT_TRANSLATE_NOOP("recipe", "Processor"),
    "gpu": QT_TRANSLATE_NOOP("recipe", "GPU"),
    "adamw": "AdamW",
    "muon": "Muon",
    "imagenet": QT_TRANSLATE_NOOP("recipe", "ImageNet (fetched once)"),
}


def groups(model: str) -> list[tuple[str, list[str]]]:
    """Return the translated group titles with the settings of each that a model has."""
    own = concerns(model)
    named = {key for _, keys in _GROUPS for key in keys}
    rest = [key for key in own if key not in named | _HIDDEN]
    found = [
        (QCoreApplication.translate("recipe", title), [key for key in keys if key in own]) for title, keys in _GROUPS
    ]
    if rest:
        found.append((QCoreApplication.translate("recipe", "More"), rest))
    return [(title, keys) for title, keys in found if keys]


def name(key: str) -> str:
    return QCoreApplication.translate("recipe", _SETTINGS[key][0]) if key in _SETTINGS else key


def purpose(key: str) -> str:
    return QCoreApplication.translate("recipe", _SETTINGS[key][1]) if key in _SETTINGS else ""


def reason(key: str, settings: TrainingSettings | None) -> str:
    """Return the reason for a setting's value, or its purpose if no reason is known."""
    told = (settings.reasons if settings is not None else {}).get(key, "")
    return formatting.translate_message(told) if told else purpose(key)


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
