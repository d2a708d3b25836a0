"""Texts about exports: formats, agreement with the run, latency, accuracy lost by quantization."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

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
        QT_TRANSLATE_NOOP("export", "For C#, C++, PLC and vision systems: one image size, all steps included"),
    ),
    "triton": ("Triton", QT_TRANSLATE_NOOP("export", "Model repository for NVIDIA Triton Inference Server")),
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
