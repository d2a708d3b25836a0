"""Texts of the training settings and of exports: names, purposes, formatted values."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from workbench.core.runs.training_settings import TrainingSettings, concerns, value_name
from workbench.core.text_patterns import fill
from workbench.ui.text import formatting
from workbench.ui.text.formatting import number, translate_message

_USABLE_RECALL = 0.1  # share of the defects; a model that detects fewer is exported with a warning
# Engine -> name, purpose.
_FORMATS: dict[str, tuple[str, str]] = {
    "onnx": ("ONNX", QT_TRANSLATE_NOOP("export", "Runs everywhere with ONNX Runtime; the usual choice")),
    "openvino": ("OpenVINO", QT_TRANSLATE_NOOP("export", "Same file, run by OpenVINO; often faster on Intel CPUs")),
    "paddle": ("Paddle Inference", QT_TRANSLATE_NOOP("export", "For programs that already use Paddle")),
    "legacy": ("Paddle .pdmodel", QT_TRANSLATE_NOOP("export", "For Paddle Lite's converter and other older tools")),
    "tensorrt": ("TensorRT", QT_TRANSLATE_NOOP("export", "For computers with an NVIDIA GPU")),
    "lite": ("Paddle Lite", QT_TRANSLATE_NOOP("export", "For small devices")),
    "onnx-line": (
        QT_TRANSLATE_NOOP("export", "ONNX, self-contained"),
        QT_TRANSLATE_NOOP(
            "export", "For C#, C++, PLC and vision systems: one image size, all steps but the input check"
        ),
    ),
    "triton": (
        "Triton",
        QT_TRANSLATE_NOOP("export", "Model repository for NVIDIA Triton Inference Server, without the input check"),
    ),
    "mlflow": (
        "MLflow",
        QT_TRANSLATE_NOOP("export", "The export becomes an MLflow model that can be loaded and served"),
    ),
    "paddlex": (
        "PaddleSeg, PaddleX",
        QT_TRANSLATE_NOOP("export", "Model files with deploy.yaml or inference.yml for Paddle's deployment tools"),
    ),
    "int8": ("INT8 (ONNX)", QT_TRANSLATE_NOOP("export", "8-bit integers, calibrated on the project's images")),
    "bf16": ("bf16 (Paddle)", QT_TRANSLATE_NOOP("export", "Reduced precision; only for Paddle")),
}


def format_name(engine: str) -> str:
    return QCoreApplication.translate("export", _FORMATS.get(engine, (engine, ""))[0])


def format_purpose(engine: str) -> str:
    return QCoreApplication.translate("export", _FORMATS[engine][1]) if engine in _FORMATS else ""


def unavailable_text(engine: str, reason: str) -> str:
    """Return why a format cannot be created, with its visible name and without the command that installs libraries.

    reason: English sentence of the engine table, "" for "".
    """
    if not reason:
        return ""
    text = formatting.translate_message(reason.partition(": pip")[0].rstrip(".") + ".").rstrip(".。")
    return text.replace(f"'{engine}'", format_name(engine)).replace(f"“{engine}”", f"“{format_name(engine)}”")


def agreement_text(parity: dict[str, Any]) -> str:
    """Return how a format's results compare with the run's, or "" if they were not compared."""
    agreement = parity.get("mask_agreement")
    if agreement is None:
        return ""
    if agreement >= 1:
        return QCoreApplication.translate("export", "All results equal")
    return QCoreApplication.translate("export", "{share} equal").format(share=formatting.percent(agreement, 3))


def milliseconds(value: float | None) -> str:
    if value is None:
        return ""
    return QCoreApplication.translate("export", "{n} ms").format(n=formatting.number(value, 1 if value < 100 else 0))


def speed_text(result: dict[str, Any]) -> str:
    """Return the latency of the first format as a sentence, or "" if it was not measured."""
    times = [(result.get("latency") or {}).get(name) for name in result.get("formats") or []]
    if not times or times[0] is None:
        return ""
    text = QCoreApplication.translate("export", "An image of typical size takes {time} on this computer.")
    return text.format(time=milliseconds(times[0]))


def weakness_text(metrics: dict[str, Any]) -> str:
    """Return a warning that a model is not usable: it detects almost no defects or only one verdict; else "".

    metrics: of the run's best evaluation on the validation images, empty without one.
    """
    if "accuracy" in metrics:
        verdicts = {name: row["recall"] for name, row in metrics.get("per_class", {}).items() if row.get("pictures")}
        correct = [name for name, recall in verdicts.items() if recall]
        if len(verdicts) < 2 or len(correct) > 1:
            return ""
        text = QCoreApplication.translate(
            "export",
            "On the validation images, the model predicts no verdict correctly other than {verdict} ({share} of the "
            "images are correct). Set more verdicts or train longer before you use the model.",
        )
        name = correct[0] if correct else "–"
        return text.format(verdict=name, share=formatting.percent(metrics["accuracy"]))
    regions, result = metrics.get("regions") or {}, formatting.main_result(metrics)
    defects, found = regions.get("defects") or 0, regions.get("found") or 0
    if not defects or result is None or found >= _USABLE_RECALL * defects:
        return ""
    text = QCoreApplication.translate(
        "export",
        "The model detects {found} of {n} {n:defect|defects} in the validation images ({metric}). Label more "
        "defects or train longer before you use the model.",
    )
    numbers = {"found": formatting.number(found), "n": formatting.number(defects), "metric": result[1]}
    return fill(text, **numbers)


def cost_text(held_out: dict[str, Any]) -> list[str]:
    """Return the metrics before and after quantization on labeled images, one line each."""
    from workbench.core.evaluation import figure_texts  # imports OpenCV

    before, after = held_out.get("before") or {}, held_out.get("after") or {}
    lines = []
    for key, id in (("dice", "dice"), ("macro_f1", "f1")):
        name = translate_message(figure_texts.full_name(id, "mean"))
        if before.get(key) is not None and after.get(key) is not None:
            lines.append(f"{name} {formatting.number(before[key], 3)} → {formatting.number(after[key], 3)}")
    if "found" in before and "found" in after:
        text = QCoreApplication.translate("export", "Detected {before} → {after} of {all}")
        lines.append(text.format(before=before["found"], after=after["found"], all=before["defects"]))
        alarms = [entry.get("false_per_picture") for entry in (before, after)]
        if None not in alarms:
            name = translate_message(figure_texts.metric_name("false_alarms"))
            lines.append(f"{name} {formatting.number(alarms[0], 2)} → {formatting.number(alarms[1], 2)}")
    return lines


# Formats without a name of their own.
_DESCRIPTIONS = {
    "png": QT_TRANSLATE_NOOP("label_formats", "Masks as image files"),
    "regions": QT_TRANSLATE_NOOP("label_formats", "Table of regions (CSV)"),
    "verdicts": QT_TRANSLATE_NOOP("label_formats", "Table of verdicts (CSV)"),
    "folders": QT_TRANSLATE_NOOP("label_formats", "One folder per verdict"),
}


def format_title(name: str) -> str:
    """Return the name of a label format on the screen. Names of products and file formats are not translated."""
    from workbench.core.project.formats import FORMATS

    if name in _DESCRIPTIONS:
        return QCoreApplication.translate("label_formats", _DESCRIPTIONS[name])
    return (FORMATS[name].title if name in FORMATS else "") or name


def format_with_count(name: str, count: int) -> str:
    """Return a format's name with the number of labels found; 0 means that the number is not known."""
    if not count:
        return format_title(name)
    text = QCoreApplication.translate("label_formats", "{format} ({n})")
    return text.format(format=format_title(name), n=number(count))


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

_NAMES = {  # values that are proper names, or are explained here; the others: `training_settings.value_name`
    "lite0": "EfficientNet-Lite0",
    "resnet18": "ResNet-18",
    "resnet34": "ResNet-34",
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
    if (name := value_name(value)) is not None:
        text = translate_message(name)
        return text[:1].upper() + text[1:]
    text = _NAMES.get(str(value))
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
