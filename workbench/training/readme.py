"""What an export says of itself: README.md, in plain English."""

from __future__ import annotations

import importlib.metadata
import platform
from typing import Any

from workbench.core.dataset import Dataset
from workbench.core.events import Evaluated
from workbench.core.run import Run
from workbench.inference.settings import ModelSettings
from workbench.training.device import processor_name
from workbench.training.parity import Parity

_PACKAGES = ("numpy", "opencv-python-headless", "onnxruntime", "paddlepaddle", "paddlepaddle-gpu", "paddle2onnx")


def readme(run: Run, dataset: Dataset, settings: ModelSettings, parity: dict[str, Parity]) -> str:
    what = "marks defects in pictures" if settings.task == "segmentation" else "gives pictures a verdict"
    parts = [
        f"# {settings.name}: a model that {what}",
        f"Made from the run `{run.name}`. This folder needs Python 3.10 or newer and the packages in\n"
        "`requirements.txt`; it needs neither the program that made it nor a network connection.",
        "## Run it\n\n```\npip install -r requirements.txt\n"
        "python predict.py PICTURES... --out results   # files, folders or patterns\n"
        "python predict.py --self-test                 # does it still give what it gave when it was made?\n```",
        "Or from Python:\n\n```python\nfrom predict import Predictor\n\nresult = Predictor().predict(array)  "
        "# (H, W) or (H, W, 3) RGB; uint8, uint16 or float32\n"
        + ("result.mask, result.regions" if settings.task == "segmentation" else "result.verdict, result.probabilities")
        + "\n```",
        _classes(settings),
        _metrics(run, dataset),
        _parity(parity),
        "## Where it was made\n\n" + "\n".join(f"* {name}: {value}" for name, value in environment().items()),
        "## What lies here\n\n"
        "* `model.json`: how pictures are prepared and answers are read: normalisation, tiles, thresholds, areas\n"
        + "".join(f"* `{file}`: the network for {name}\n" for name, file in settings.files.items())
        + "* `inference/`, `predict.py`: the program, NumPy and OpenCV around the network\n"
        "* `golden/`: pictures with the results that they must give\n"
        "* `parity.json`: the comparison with the run, picture by picture · `checks.json`: SHA-256 of the files",
    ]
    return "\n\n".join(part.rstrip() for part in parts if part) + "\n"


def environment() -> dict[str, str]:
    """Versions that a result may depend on."""
    found = {"system": platform.platform(), "processor": processor_name(), "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _classes(settings: ModelSettings) -> str:
    if settings.task == "classification":
        return "## Verdicts\n\n" + "\n".join(f"* {name}" for name in settings.verdicts)
    rows = [
        f"| {c.id} | {_cell(c.name)} | {threshold:g} | {area} |"
        for c, threshold, area in zip(settings.classes, settings.thresholds, settings.min_area)
    ]
    head = ["| value in the mask | class | least probability | least area in pixels |", "| --- | --- | --- | --- |"]
    return "## Classes\n\n" + "\n".join([*head, *rows])


def _metrics(run: Run, dataset: Dataset) -> str:
    found: dict[str, Evaluated] = {}
    for event in run.events():
        if isinstance(event, Evaluated) and (event.best or event.split == "test"):
            found[event.split] = event
    if not found:
        return "## How good it is\n\nNot known: no labelled pictures were held out, or the run was stopped early."
    words = {
        "val": "held out while it learned; thresholds and weights were chosen on them, so expect a little less",
        "test": "looked at once, at the end: these numbers are the honest ones",
    }
    parts = ["## How good it is"]
    if dataset.held_out_note:
        parts.append(dataset.held_out_note)
    for split, event in found.items():
        rows = "\n".join(f"* {name}: {value}" for name, value in _lines(event.metrics))
        parts.append(f"On {event.metrics.get('pictures')} pictures of `{split}` ({words.get(split, split)}):\n\n{rows}")
    return "\n\n".join(parts)


def _lines(metrics: dict[str, Any]) -> list[tuple[str, str]]:
    if "macro_f1" in metrics:
        lines = [("accuracy", _number(metrics["accuracy"])), ("macro F1", _number(metrics["macro_f1"]))]
        for name, scores in metrics["per_class"].items():
            lines.append((_cell(name), f"recall {_number(scores['recall'])}, precision {_number(scores['precision'])}"))
        return lines
    regions = metrics["regions"]
    lines = [
        ("Dice, mean of the classes", _number(metrics["dice"])),
        ("Dice, any defect", _number(metrics["any_defect"]["dice"])),
        ("defects found", f"{regions['found']} of {regions['defects']}"),
        ("false alarms a picture", _number(regions["false_per_picture"])),
    ]
    for name, scores in metrics["per_class"].items():
        found = _number(scores["recall_defects"])
        lines.append((_cell(name), f"Dice {_number(scores['dice'])}, defects found {found}"))
    return lines


def _parity(parity: dict[str, Parity]) -> str:
    rows = [
        f"| {name} | {'yes' if found.passed else 'no: ' + found.why} | {found.max_abs:.2g} | "
        f"{found.mask_agreement:.4%} | {found.pictures} |"
        for name, found in parity.items()
    ]
    return (
        "## Does it give what the run gave?\n\n"
        "| network | offered | greatest difference of a probability | agreement | pictures |\n"
        "| --- | --- | --- | --- | --- |\n" + "\n".join(rows)
    )


def _number(value: float | None) -> str:
    return "not known" if value is None else f"{value:.3f}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
