"""Texts of problems, events and numbers in the language of the user interface.

`core` holds English patterns, which are the source texts of the translations.

Language of the user interface.
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QLibraryInfo, QLocale, QTranslator

from workbench.core import messages, problems, resources
from workbench.core.resources import LANGUAGES, SOURCE_LANGUAGE, matching_language
from workbench.core.runs.child_process import failed_problem
from workbench.core.runs.events import Failed, Finished, Profiled, Started, Trouble
from workbench.core.runs.run import Run, RunName
from workbench.core.text_patterns import fill
from workbench.session.image_list import Added


def translate_message(text: str) -> str:
    """Return a message in the language of the user interface; any other text unchanged."""
    return messages.render(text, QCoreApplication.translate)


# Texts of Qt, with their context, that the translations of the application replace.
QT_TEXTS = (
    QT_TRANSLATE_NOOP("QKeySequenceEdit", "Press shortcut"),
    QT_TRANSLATE_NOOP("QLineEdit", "&Undo"),
    QT_TRANSLATE_NOOP("QWidgetTextControl", "&Undo"),
    QT_TRANSLATE_NOOP("QAbstractSpinBox", "&Step up"),
    QT_TRANSLATE_NOOP("QAbstractSpinBox", "Step &down"),
    QT_TRANSLATE_NOOP("QShortcut", "Left"),
    QT_TRANSLATE_NOOP("QShortcut", "Right"),
    QT_TRANSLATE_NOOP("QShortcut", "Up"),
    QT_TRANSLATE_NOOP("QShortcut", "Down"),
)


def chosen(request: str) -> str:
    """Return the language for a request of "system" or one of LANGUAGES."""
    return request if request in LANGUAGES else matching_language(QLocale.system().name())


def install(app: QCoreApplication, request: str) -> list[QTranslator]:
    """Install the translators of Qt and of the application.

    Return them, so that they can be removed for another language.
    """
    language = chosen(request)
    QLocale.setDefault(QLocale(language))
    installed = []
    for file, folder in (
        (f"qtbase_{language}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)),
        (f"workbench_{language}", str(resources.path("i18n"))),
    ):
        translator = QTranslator(app)
        if language != SOURCE_LANGUAGE and translator.load(file, folder):
            app.installTranslator(translator)
            installed.append(translator)
    return installed


@cache
def _command_texts(language: str) -> tuple[tuple[str, str], ...]:
    """Return (English text, translation) of the commands, menus and tools."""
    try:
        root = ElementTree.parse(resources.path(f"i18n/workbench_{language}.ts")).getroot()
    except (OSError, ElementTree.ParseError):
        return ()  # the search then finds the window's language only
    return tuple(
        (message.findtext("source", ""), message.findtext("translation", ""))
        for context in root.iter("context")
        if context.findtext("name", "").endswith("Menu") or context.findtext("name") == "tools"
        for message in context.iter("message")
    )


def counterparts() -> list[dict[str, str]]:
    """Return, for each other language, a table from command texts of the window's language to that language."""
    current = matching_language(QLocale().name())
    to_source = {} if current == SOURCE_LANGUAGE else {text: source for source, text in _command_texts(current)}
    tables: list[dict[str, str]] = []
    for language in LANGUAGES:
        if language == current:
            continue
        texts = dict(_command_texts(language)) if language != SOURCE_LANGUAGE else {}
        if to_source:
            tables.append({text: texts.get(source, source) for text, source in to_source.items()})
        else:
            tables.append(texts)
    return tables


def problem_text(problem: Exception) -> tuple[str, str]:
    """Return the description of a problem, and advice."""
    if not isinstance(problem, problems.Problem):
        text = QCoreApplication.translate("words", "Unexpected error: {why}")
        return text.format(why=f"{type(problem).__name__}: {problem}"), ""
    fields = messages.render_fields(problem.fields, QCoreApplication.translate)
    return _filled(problem.message, fields), _filled(problem.advice, fields)


def failure_text(failed: Failed) -> tuple[str, str]:
    """Return the description of a failed run, and advice. Problem classes of `core` are recognized by name."""
    problem = failed_problem(failed)
    if problem is not None:
        return problem_text(problem)
    advice = QCoreApplication.translate("words", "Details are in {log}.").format(log=failed.log) if failed.log else ""
    return translate_message(failed.why), advice


def _filled(pattern: str, fields: dict[str, Any]) -> str:
    if not pattern:
        return ""
    try:
        return fill(QCoreApplication.translate("problems", pattern), **fields)
    except (KeyError, IndexError, ValueError):
        return fill(pattern, **fields)


def plain(text: str) -> str:
    """Return a command's name without its mnemonic, as in "&Undo" and "撤销(&U)"."""
    return re.sub(r"&(.)", r"\1", re.sub(r"\(&\w\)", "", text)) if "&" in text else text


# --- numbers ---------------------------------------------------------------------------------------


def number(value: float, digits: int = 0) -> str:
    return QLocale().toString(float(value), "f", digits)


def percent(share: float, digits: int = 0) -> str:
    return QCoreApplication.translate("words", "{number}%").format(number=number(100 * share, digits))


def duration(seconds: float) -> str:
    """Return a duration, such as "40 s", "3 min 20 s", "2 h 5 min"."""
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
    """Return the size of a file, such as "12 MB"; no line breaks before the unit."""
    if megabytes >= 1024:
        text = QCoreApplication.translate("words", "{n} GB").format(n=number(megabytes / 1024, 1))
    else:
        text = QCoreApplication.translate("words", "{n} MB").format(n=number(megabytes))
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def length(pixels: float, um_per_pixel: float | None = None) -> str:
    """Return a length in an image, such as "12.4 px", with µm or mm if the scale is known."""
    text = QCoreApplication.translate("words", "{n} px").format(n=number(pixels, 1))
    return text if um_per_pixel is None else f"{text}  ·  {_metric(pixels * um_per_pixel, 1)}"


def position_text(x: int, y: int, um_per_pixel: float) -> str:
    """Return the position of a pixel in µm, from the image's top left corner."""
    pattern = QCoreApplication.translate("words", "({x}, {y}) µm")
    return pattern.format(x=number(x * um_per_pixel), y=number(y * um_per_pixel))


def area(pixels: float, um_per_pixel: float | None = None) -> str:
    """Return an area in px², with µm² or mm² if the scale is known."""
    text = QCoreApplication.translate("words", "{n} px²").format(n=number(pixels))
    return text if um_per_pixel is None else f"{text}  ·  {_metric(pixels * um_per_pixel**2, 2)}"


def region_area(pixels: float, um2: float | None, largest: float | None = None) -> str:
    """Return an area in the metric unit that suits it; in px² if the scale is unknown, um2 None.

    largest: area in µm² of those that are stated together, whose unit all have.
    """
    return area(pixels) if um2 is None else _metric(um2, 2, largest)


_UNITS = (
    QT_TRANSLATE_NOOP("words", "µm"),
    QT_TRANSLATE_NOOP("words", "mm"),
    QT_TRANSLATE_NOOP("words", "µm²"),
    QT_TRANSLATE_NOOP("words", "mm²"),
)


def metric_unit(largest: float, power: int) -> tuple[str, float]:
    """Return the unit of `core.messages` in the language of the window, and its size in µm or µm²."""
    unit, size = messages.metric_unit(largest, power)
    return QCoreApplication.translate("words", unit), size


def significant(value: float) -> str:
    """Return a value with three significant digits, and at most three decimals."""
    digits = max(0, 2 - int(math.floor(math.log10(value)))) if value > 0 else 0
    return number(value, min(digits, 3))


def _metric(value: float, power: int, largest: float | None = None) -> str:
    unit, factor = metric_unit(value if largest is None else largest, power)
    return QCoreApplication.translate("words", "{n} {unit}").format(n=significant(value / factor), unit=unit)


def listed(names: Iterable[str]) -> str:
    return QCoreApplication.translate("words", ", ").join(names)


def clauses(*texts: str) -> str:
    """Join parts of a sentence, those that are empty left out."""
    return QCoreApplication.translate("words", "; ").join(filter(None, texts))


def with_note(text: str, note: str) -> str:
    """Return a text with a note in parentheses."""
    return QCoreApplication.translate("words", "{text} ({note})").format(text=text, note=note)


def sentences(*texts: str) -> str:
    """Join sentences, those that are empty left out. No space follows a full-width stop."""
    return " ".join(filter(None, texts)).replace("。 ", "。")


def capitalized(text: str) -> str:
    """Return a text with a capital first letter, as in a row of a table."""
    return text[:1].upper() + text[1:]


def first_sentences(text: str) -> list[str]:
    """Return the beginnings of a text that end with a sentence, the longest first."""
    return [text[: match.end()].rstrip() for match in re.finditer(r"\. |。(?=.)", text)][::-1]


# --- runs ------------------------------------------------------------------------------------------


def model_name(model: str) -> str:
    if model == "good":
        return QCoreApplication.translate("words", "Good images")
    return {"unet": "UNet", "resnet": "ResNet", "onnx": "ONNX"}.get(model, model)


def run_name(run: Run) -> str:
    """Return the title of a run: model and start time."""
    name = RunName.parse(run.name)
    return run.name if name.when is None else f"{model_name(name.model)}  {name.when:%Y-%m-%d %H:%M}"


def short_run_name(run: Run) -> str:
    """Return a short title of a run: model and time, with the date of another day."""
    name = RunName.parse(run.name)
    if name.when is None:
        return run.name
    today = name.when.date() == datetime.now().date()
    return f"{model_name(name.model)} {name.when:{'%H:%M' if today else '%m-%d %H:%M'}}"


def started_text(event: Started) -> str:
    images = event.pictures
    pattern = QCoreApplication.translate(
        "words", "{train} training {train:image|images}, {held} validation {held:image|images}."
    )
    if not images.get("val"):
        pattern = QCoreApplication.translate("words", "{train} training {train:image|images}.")
    text = fill(pattern, train=images.get("train", 0), held=images.get("val", 0))
    return sentences(text, translate_message(event.held_out_note))


def device_text(event: Started) -> str:
    """Return device and number type of a run as a sentence."""
    device = QCoreApplication.translate("words", "CPU") if event.device == "cpu" else event.device.upper()
    pattern = QCoreApplication.translate("words", "{device}, {precision}.")
    if event.device_name:
        pattern = QCoreApplication.translate("words", "{device} ({name}), {precision}.")
    return pattern.format(device=device, name=event.device_name, precision=event.precision)


def precision_text(event: Started) -> str:
    """Return the reason for the number type of a run as a sentence; "" if it is unknown."""
    return translate_message(event.precision_reason)


def profile_text(event: Profiled) -> str:
    """Return the summary of a profile; on a GPU with the times of the host and of the GPU, which overlap."""
    text = translate_message(event.what)
    if event.operator_ms is None or event.device_ms is None:
        return text
    times = QCoreApplication.translate(
        "words", "In each step, the CPU launches operations for {operators} ms and the GPU computes for {kernels} ms."
    )
    times = times.format(operators=number(event.operator_ms, 1), kernels=number(event.device_ms, 1))
    return sentences(text, times)


def trouble_text(event: Trouble) -> str:
    what = translate_message(event.what)
    return sentences(with_note(what, event.picture) if event.picture else what, translate_message(event.done))


def ending_text(event: Finished) -> str:
    if event.result.get("adopted"):
        return QCoreApplication.translate("words", "Model from the file {name}.").format(name=event.result["adopted"])
    if event.result.get("usable") is False:
        return QCoreApplication.translate("words", "Training ended without a usable model.")
    if check := event.result.get("good"):
        from workbench.core.runs.good_images import check_text

        return translate_message(check_text(check))
    if event.why == "stopped":
        return QCoreApplication.translate("words", "Stopped. The best model so far is kept.")
    return QCoreApplication.translate("words", "Finished after {time}.").format(time=duration(event.time))


def main_result(metrics: dict[str, Any]) -> tuple[float, str] | None:
    """Return value and text, such as "Dice, any defect 0.85", of the figure that stands for stored metrics; or None."""
    from workbench.core.evaluation import figure_texts  # imports OpenCV
    from workbench.core.evaluation.figure_texts import stored_figures

    for figure in stored_figures(metrics):
        if figure.id in ("dice", "accuracy") and figure.value is not None:
            shown = figure_texts.number(figure, figure.value)
            return figure.value, f"{translate_message(figure_texts.name(figure))} {shown}"
    return None


def short_results(metrics: dict[str, Any]) -> list[str]:
    """Return texts like `result_text` for less space."""
    result = main_result(metrics)
    return [] if result is None else [result[1]]


def result_text(metrics: dict[str, Any]) -> str:
    """Return the quality of a model from its best evaluation: per defect for a UNet, per image for a ResNet."""
    if "accuracy" in metrics:
        return _verdict_result_text(metrics)
    regions = metrics.get("regions") or {}
    if metrics.get("only_background"):
        return QCoreApplication.translate("words", "No defects detected on the validation images yet.")
    if not regions.get("defects"):
        return QCoreApplication.translate("words", "No validation image has a defect, so there are no metrics.")
    text = fill(
        QCoreApplication.translate("words", "{found} of {defects} {defects:defect|defects} detected (validation)"),
        found=regions.get("found", 0),
        defects=regions["defects"],
    )
    false = regions.get("false_per_picture")
    if metrics.get("false_alarm_images", false) is None and false is not None:
        unknown = QCoreApplication.translate("words", "false alarms not measured (no good validation image)")
        text = listed((text, unknown))
    elif false is not None:
        alarms = fill(
            QCoreApplication.translate("words", "{n} false {n:alarm|alarms} per image"),
            n=number(false, 1 if false < 10 else 0),
        )
        text = listed((text, alarms))
    notes = short_results(metrics)
    if metrics.get("chosen_on") == "cross_fitted":
        notes.append(QCoreApplication.translate("words", "cross-fitted thresholds"))
    return with_note(text, listed(notes)) if notes else text


def _verdict_result_text(metrics: dict[str, Any]) -> str:
    total, accuracy = metrics.get("pictures", 0), metrics.get("accuracy")
    if accuracy is None:
        return QCoreApplication.translate("words", "There are no validation images, so there are no metrics.")
    return fill(
        QCoreApplication.translate("words", "{right} of {total} validation {total:image|images} correct ({share})"),
        right=round(accuracy * total),
        total=total,
        share=percent(accuracy),
    )


def parity_text(parity: dict[str, Any]) -> str:
    """Return how exactly an export reproduces its run."""
    agreements = [
        p["mask_agreement"] for p in parity.values() if isinstance(p, dict) and p.get("mask_agreement") is not None
    ]
    if not agreements:
        return ""
    worst = min(agreements)
    if worst >= 1:
        return QCoreApplication.translate("words", "The export gives exactly the same results as the run.")
    return QCoreApplication.translate("words", "The export agrees with the run on {share} of all pixels.").format(
        share=percent(worst, 3)
    )


_MAX_NAMED = 3  # rejected files that a text names


def added_text(added: Added) -> str:
    """Return the number of images copied into the project, and the rejected files with the reasons."""
    if added.copied:
        pattern = QCoreApplication.translate("Notifications", "{n} {n:image|images} copied into the project")
        parts = [fill(pattern, n=number(added.copied))]
    else:
        parts = [QCoreApplication.translate("Notifications", "No image was copied into the project")]
    if added.there:
        present = QCoreApplication.translate("Notifications", "already in the project: {n}")
        parts.append(present.format(n=number(added.there)))
    return clauses(*parts, left_out_text(added.left_out))


def left_out_text(left_out: Sequence[tuple[str, str]]) -> str:
    """Return the rejected files with the reasons; "" for none. left_out: (name, reason) as in `Added`."""
    patterns = {
        "kind": QCoreApplication.translate("Notifications", "{name} is not an image"),
        "empty": QCoreApplication.translate("Notifications", "{name} contains no image"),
        "project": QCoreApplication.translate("Notifications", "{name} is a project (drop it alone to open it)"),
        "remote": QCoreApplication.translate("Notifications", "{name} is not on this computer"),
    }
    parts = [patterns[reason].format(name=name) for name, reason in left_out[:_MAX_NAMED]]
    more = len(left_out) - _MAX_NAMED
    if more > 0:
        parts.append(QCoreApplication.translate("Notifications", "{n} more skipped").format(n=number(more)))
    return clauses(*parts)
