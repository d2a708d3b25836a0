"""What happened, said to a person: problems, events and numbers as sentences of the chosen language.

`core` carries English patterns, which are the message ids; see `sentences` for what runs and files say.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import QCoreApplication, QLocale

from workbench.core import problems
from workbench.core.events import Failed, Finished, Started, Step, Trouble
from workbench.core.run import Run, RunName
from workbench.ui.sentences import sentence


def problem_words(problem: Exception) -> tuple[str, str]:
    """What happened, and what to do."""
    if not isinstance(problem, problems.Problem):
        says = QCoreApplication.translate("words", "Something unexpected happened: {why}")
        return says.format(why=f"{type(problem).__name__}: {problem}"), ""
    fields = {name: _field(name, value) for name, value in problem.fields.items()}
    return _filled(problem.says, fields), _filled(problem.advice, fields)


def failure_words(failed: Failed) -> tuple[str, str]:
    """The same for a run that failed; known problems are said in their own words."""
    kind = getattr(problems, failed.problem, None) if failed.problem.isidentifier() else None
    if isinstance(kind, type) and issubclass(kind, problems.Problem):
        try:
            return problem_words(kind(**failed.fields))
        except (LookupError, TypeError, ValueError, AttributeError):
            pass  # written by another version, with other fields
    advice = QCoreApplication.translate("words", "Details are in {log}.").format(log=failed.log) if failed.log else ""
    return sentence(failed.why), advice


def _filled(pattern: str, fields: dict[str, Any]) -> str:
    if not pattern:
        return ""
    try:
        return QCoreApplication.translate("problems", pattern).format(**fields)
    except (KeyError, IndexError, ValueError):
        return pattern.format(**fields)


def _field(name: str, value: Any) -> Any:
    # Reasons are parts of sentences that lower rooms wrote in English; names and paths are nobody's business.
    return sentence(value) if name in ("why", "what") and isinstance(value, str) else value


def plain(text: str) -> str:
    """A command's name without its mnemonic: "&Undo" and "撤销(&U)"."""
    return re.sub(r"\(&\w\)", "", text).replace("&", "")


# --- numbers ---------------------------------------------------------------------------------------


def number(value: float, digits: int = 0) -> str:
    return QLocale().toString(float(value), "f", digits)


def percent(share: float, digits: int = 0) -> str:
    return QCoreApplication.translate("words", "{number} %").format(number=number(100 * share, digits))


def duration(seconds: float) -> str:
    """A length of time as a person says it: "40 s", "3 min 20 s", "2 h 5 min"."""
    seconds = max(0, round(seconds))
    if seconds < 60:
        return QCoreApplication.translate("words", "{s} s").format(s=seconds)
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        if minutes >= 10 or not seconds:
            return QCoreApplication.translate("words", "{m} min").format(m=minutes)
        return QCoreApplication.translate("words", "{m} min {s} s").format(m=minutes, s=seconds)
    hours, minutes = divmod(minutes, 60)
    return QCoreApplication.translate("words", "{h} h {m} min").format(h=hours, m=minutes)


def size(megabytes: float) -> str:
    if megabytes >= 1024:
        return QCoreApplication.translate("words", "{n} GB").format(n=number(megabytes / 1024, 1))
    return QCoreApplication.translate("words", "{n} MB").format(n=number(megabytes))


def length(pixels: float, um_per_pixel: float | None = None) -> str:
    """A length in a picture: "12.4 px", and "310 µm" where the scale is known."""
    text = QCoreApplication.translate("words", "{n} px").format(n=number(pixels, 1))
    if um_per_pixel is None:
        return text
    um = pixels * um_per_pixel
    small, large = QCoreApplication.translate("words", "{n} µm"), QCoreApplication.translate("words", "{n} mm")
    return f"{text}  ·  {_metric(um, 1000, small, large)}"


def place(x: int, y: int, um_per_pixel: float) -> str:
    """Where a pixel lies, from the picture's corner."""
    say = QCoreApplication.translate("words", "({x}, {y}) µm")
    return say.format(x=number(x * um_per_pixel), y=number(y * um_per_pixel))


def area(pixels: float, um_per_pixel: float | None = None) -> str:
    """The same for an area."""
    text = QCoreApplication.translate("words", "{n} px²").format(n=number(pixels))
    if um_per_pixel is None:
        return text
    um = pixels * um_per_pixel**2
    small, large = QCoreApplication.translate("words", "{n} µm²"), QCoreApplication.translate("words", "{n} mm²")
    return f"{text}  ·  {_metric(um, 1e6, small, large)}"


def _metric(um: float, thousand: float, small: str, large: str) -> str:
    """In the unit that leaves few digits, three of them telling."""
    value, pattern = (um, small) if um < thousand else (um / thousand, large)
    digits = max(0, 2 - int(math.floor(math.log10(value)))) if value > 0 else 0
    return pattern.format(n=number(value, min(digits, 3)))


def listed(names: Iterable[str]) -> str:
    return QCoreApplication.translate("words", ", ").join(names)


# --- runs ------------------------------------------------------------------------------------------


def model_name(model: str) -> str:
    return {"unet": "UNet", "resnet": "ResNet"}.get(model, model)


def run_name(run: Run) -> str:
    """A run as its list names it: when, and which model."""
    name = RunName.parse(run.name)
    return run.name if name.when is None else f"{model_name(name.model)}  {name.when:%Y-%m-%d %H:%M}"


def started_words(event: Started) -> str:
    pictures = event.pictures
    text = QCoreApplication.translate("words", "Learning from {train} pictures, checked on {held}.").format(
        train=pictures.get("train", 0), held=pictures.get("val", 0)
    )
    return " ".join(filter(None, (text, sentence(event.held_out_note))))


def device_words(event: Started) -> str:
    device = QCoreApplication.translate("words", "Processor") if event.device == "cpu" else event.device.upper()
    name = f"{device} ({event.device_name})" if event.device_name else device
    return f"{name}, {event.precision}"


def step_words(event: Step, device: str) -> str:
    """How the run goes, in one line."""
    speed = QCoreApplication.translate("words", "{n} pictures a second.").format(
        n=number(event.images_per_second, 0 if event.images_per_second >= 10 else 1)
    )
    if event.data_wait >= 0.2:
        if device.startswith("gpu"):
            wait = QCoreApplication.translate("words", "The GPU waits for pictures {share} of the time.")
        else:
            wait = QCoreApplication.translate("words", "Training waits for pictures {share} of the time.")
        return f"{speed} {wait.format(share=percent(event.data_wait))}"
    return speed


def trouble_words(event: Trouble) -> str:
    where = f" ({event.picture})" if event.picture else ""
    return " ".join(filter(None, (sentence(event.what) + where, sentence(event.done))))


def ending_words(event: Finished) -> str:
    if event.result.get("usable") is False:
        return QCoreApplication.translate("words", "It ended without a usable model.")
    if event.why == "stopped":
        return QCoreApplication.translate("words", "Stopped. The best model so far is kept.")
    return QCoreApplication.translate("words", "Finished after {time}.").format(time=duration(event.time))


def result_words(metrics: dict[str, Any]) -> str:
    """What a model can do, from its best evaluation: per defect for a UNet, per picture for a ResNet."""
    if "accuracy" in metrics:
        return _verdict_result(metrics)
    regions = metrics.get("regions") or {}
    if metrics.get("only_background"):
        return QCoreApplication.translate("words", "It marks nothing yet on the held-out pictures.")
    if not regions.get("defects"):
        return QCoreApplication.translate("words", "No held-out picture has a defect, so there is no score.")
    text = QCoreApplication.translate("words", "Found {found} of {defects} held-out defects").format(
        found=regions.get("found", 0), defects=regions["defects"]
    )
    false = regions.get("false_per_picture")
    if false is not None:
        alarms = QCoreApplication.translate("words", "{n} false alarms a picture").format(
            n=number(false, 1 if false < 10 else 0)
        )
        text = listed((text, alarms))
    dice = metrics.get("dice")
    return text + (f" (Dice {number(dice, 2)})" if dice is not None else "")


def _verdict_result(metrics: dict[str, Any]) -> str:
    total, accuracy = metrics.get("pictures", 0), metrics.get("accuracy")
    if accuracy is None:
        return QCoreApplication.translate("words", "No picture is held out, so there is no score.")
    return QCoreApplication.translate("words", "Judged {right} of {total} held-out pictures right ({share})").format(
        right=round(accuracy * total), total=total, share=percent(accuracy)
    )


def parity_words(parity: dict[str, Any]) -> str:
    """How exactly an export repeats its run."""
    agreements = [
        p["mask_agreement"] for p in parity.values() if isinstance(p, dict) and p.get("mask_agreement") is not None
    ]
    if not agreements:
        return ""
    worst = min(agreements)
    if worst >= 1:
        return QCoreApplication.translate("words", "It gives exactly the results that you saw here.")
    return QCoreApplication.translate("words", "It agrees with what you saw here on {share} of all pixels.").format(
        share=percent(worst, 3)
    )
