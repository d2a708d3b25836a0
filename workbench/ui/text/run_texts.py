"""Texts about runs: findings of one run, differences between several."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from workbench.core.messages import Message
from workbench.core.runs.events import Progress
from workbench.core.runs.run import Run
from workbench.core.runs.run_history import HealthFinding, RunLine
from workbench.core.runs.run_series import RunComparison, RunDifference
from workbench.core.text_patterns import fill
from workbench.session.next_step import Remark
from workbench.session.session import Session
from workbench.session.training.training_control import TrainingControl
from workbench.ui.shortcuts import key_text
from workbench.ui.text import formatting, settings_texts
from workbench.ui.text.formatting import translate_message

if TYPE_CHECKING:
    from workbench.core.evaluation.evaluation_comparison import EvaluationComparison
    from workbench.session.training.shown_runs import RunList

QUIET = ("starting", "learning", "well")  # findings without meaning for a finished run

_FINDINGS: dict[str, str] = {
    "starting": QT_TRANSLATE_NOOP("findings", "Preparing: building the network and reading the images."),
    "paused": QT_TRANSLATE_NOOP("findings", "Paused. Progress is saved and the time limit is on hold."),
    "silent": QT_TRANSLATE_NOOP(
        "findings",
        "The training process has not responded for {seconds}. Stop training to keep the best model so far.",
    ),
    "diverged": QT_TRANSLATE_NOOP(
        "findings", "Training diverged {times}. It was rolled back and the learning rate was reduced."
    ),
    "overflows": QT_TRANSLATE_NOOP(
        "findings",
        "The loss scale dropped {times} because fp16 values overflowed. Set the precision to bf16 or fp32.",
    ),
    "rises": QT_TRANSLATE_NOOP("findings", "The loss rises again, from {least} to {now}. Reduce the learning rate."),
    "no_validation": QT_TRANSLATE_NOOP(
        "findings", "No validation images, so model quality is unknown. Label more images, also of other parts."
    ),
    "no_defects_held_out": QT_TRANSLATE_NOOP(
        "findings", "No validation image has a defect, so there are no metrics. Label more images with defects."
    ),
    "only_background": QT_TRANSLATE_NOOP(
        "findings", "The model predicts only background. Train longer or label more defects."
    ),
    "poor": QT_TRANSLATE_NOOP(
        "findings",
        "Almost no defects are detected yet. Train longer or label more defects.",
    ),
    "waits": QT_TRANSLATE_NOOP("findings", "Training waits for images {share} of the time."),
    "waits disk": QT_TRANSLATE_NOOP(
        "findings", "Training waits for images {share} of the time because the disk is slow."
    ),
    "waits processor": QT_TRANSLATE_NOOP(
        "findings", "Training waits for images {share} of the time because the CPU is busy."
    ),
    "waits gpu": QT_TRANSLATE_NOOP("findings", "The GPU waits for images {share} of the time."),
    "waits gpu disk": QT_TRANSLATE_NOOP(
        "findings",
        "The GPU is idle {share} of the time because the disk is too slow. Move the project to a faster disk.",
    ),
    "waits gpu processor": QT_TRANSLATE_NOOP(
        "findings", "The GPU waits for images {share} of the time because the CPU is busy."
    ),
    "memory_full": QT_TRANSLATE_NOOP(
        "findings", "The memory of this computer is nearly full ({used} of {total}). Close other programs."
    ),
    "gpu_memory_full": QT_TRANSLATE_NOOP(
        "findings",
        "The memory of {card} is full ({used} of {total}). Windows then uses main memory, which is several times "
        "slower. Reduce the batch size or close other programs.",
    ),
    "hot": QT_TRANSLATE_NOOP("findings", "{card} is throttling at {temperature} °C. Check its cooling."),
    "idle_gpu": QT_TRANSLATE_NOOP("findings", "The GPU is busy only {load} of the time. Increase the batch size."),
    "worse": QT_TRANSLATE_NOOP(
        "findings",
        "Possible overfitting: validation results have been getting worse since {moment}. More labels may help, "
        "training longer will not.",
    ),
    "improving": QT_TRANSLATE_NOOP("findings", "Training is improving."),
    "improving over": QT_TRANSLATE_NOOP(
        "findings", "The metrics were still improving when the time was up: a longer training may be better."
    ),
    "level": QT_TRANSLATE_NOOP(
        "findings", "No improvement since {moment}. More labels may help, training longer will not."
    ),
    "learning": QT_TRANSLATE_NOOP("findings", "Training is running normally: the loss fell from {first} to {now}."),
    "learning slowly": QT_TRANSLATE_NOOP("findings", "The first training steps are done."),
    "well": QT_TRANSLATE_NOOP("findings", "Training is running normally."),
}

_DIFFERENCES: dict[str, str] = {
    "model": QT_TRANSLATE_NOOP("findings", "A UNet run and a ResNet run cannot be compared."),
    "classes": QT_TRANSLATE_NOOP("findings", "The classes differ, so the metrics are not compared."),
    "labels": QT_TRANSLATE_NOOP(
        "findings",
        "The labels of {count} validation {count:image differs|images differ}, so the metrics are not compared.",
    ),
    "held_out": QT_TRANSLATE_NOOP(
        "findings", "Different validation images ({same} in common), so the metrics are not compared."
    ),
    "train": QT_TRANSLATE_NOOP("findings", "The data differ: {parts}."),
    "recipe": QT_TRANSLATE_NOOP("findings", "Different settings: {settings}."),
    "more": QT_TRANSLATE_NOOP("findings", "{n} more training {n:image|images}"),
    "fewer": QT_TRANSLATE_NOOP("findings", "{n} fewer training {n:image|images}"),
    "changed": QT_TRANSLATE_NOOP("findings", "{n} {n:image|images} with changed labels"),
}


def finding_text(finding: HealthFinding) -> str:
    """Return a finding as one or two sentences."""
    kind, fields = finding.kind, finding.fields
    if kind == "few_held_out":
        return translate_message(fields["note"])  # wording stored by the run
    if kind == "waits":
        kind = " ".join(filter(None, (kind, "gpu" if fields["gpu"] else "", fields["cause"])))
    elif kind == "improving" and fields["over"]:
        kind = "improving over"
    elif kind == "learning" and fields["now"] >= fields["first"]:
        kind = "learning slowly"
    pattern = _FINDINGS.get(kind)
    if pattern is None:
        return ""
    values = {name: _field(name, value) for name, value in fields.items()}
    if "seconds" in fields:
        values["moment"] = _moment(fields["seconds"])
    return fill(QCoreApplication.translate("findings", pattern), **values)


def _field(name: str, value: Any) -> str:
    if name == "share":
        return formatting.percent(value)
    if name == "load":
        return formatting.percent(value / 100)
    if name in ("used", "total"):
        return formatting.size(value / 2**20)
    if name == "times":
        return _times(value)
    if name == "seconds":
        return formatting.duration(value)
    if name == "temperature":
        return "?" if value is None else f"{value:.0f}"
    return formatting.number(value, 2) if isinstance(value, float) else str(value)


def _times(count: int) -> str:
    if count == 1:
        return QCoreApplication.translate("findings", "once")
    return QCoreApplication.translate("findings", "{n} times").format(n=formatting.number(count))


def _moment(seconds: float) -> str:
    if seconds < 60:
        return QCoreApplication.translate("findings", "second {n}").format(n=round(seconds))
    return QCoreApplication.translate("findings", "minute {n}").format(n=round(seconds / 60))


# --- several runs ------------------------------------------------------------------------------------


def comparison_text(comparison: RunComparison) -> str:
    """Return the differences to another run, and what is not shown for that reason."""
    if not comparison.differences:
        return QCoreApplication.translate("findings", "Same images, labels and settings.")
    return formatting.sentences(*(difference_text(difference) for difference in comparison.differences))


def difference_text(difference: RunDifference) -> str:
    fields = dict(difference.fields)
    if "settings" in fields:
        pattern = QCoreApplication.translate("findings", "{setting} {value} ↔ {other}")
        fields["settings"] = formatting.listed(
            pattern.format(setting=settings_texts.name(name), value=_setting(mine), other=_setting(its))
            for name, (mine, its) in fields["settings"].items()
        )
    if difference.kind == "train":
        parts = [_translated(_DIFFERENCES[name], n=count) for name, count in fields.items() if count]
        return _translated(_DIFFERENCES["train"], parts=formatting.listed(parts))
    return _translated(_DIFFERENCES[difference.kind], **fields)


def _translated(pattern: str, **fields: Any) -> str:
    return fill(QCoreApplication.translate("findings", pattern), **fields)


def _setting(value: Any) -> str:
    return settings_texts.written(value) or "–"


def other_run_used_text(used: RunLine, ended: RunLine) -> tuple[str, str]:
    """Return why the model in use, which was not chosen, is another run than the one that has just ended; two parts."""
    name = formatting.short_run_name(used.run)
    stays = QCoreApplication.translate("findings", "{run} stays in use.").format(run=name)
    if ended.interrupted:
        return QCoreApplication.translate("findings", "This run was stopped early."), stays
    text = QCoreApplication.translate("findings", "{run} is better on the validation images{results}.")
    return text.format(run=name, results=_better_results(used, ended)), stays


def _better_results(used: RunLine, ended: RunLine) -> str:
    """Return the shown metrics of two runs; "" if another mean decides between them, as with several classes."""
    results = [formatting.main_result(line.metrics) for line in (used, ended)]
    if None in results or results[0][0] <= results[1][0]:
        return ""
    return QCoreApplication.translate("findings", " ({best} instead of {other})").format(
        best=results[0][1], other=results[1][1]
    )


def paired_difference_text(comparison: EvaluationComparison) -> str:
    """Return the differences of a second run to the first one on the images of both, with their intervals."""
    from workbench.core.documents.comparison_report import metric_cells
    from workbench.core.evaluation import figure_texts
    from workbench.core.evaluation.intervals import MIN_PARTS

    measured = fill(
        QCoreApplication.translate("findings", "Difference on {n} {n:image|images} of {parts} {parts:part|parts}"),
        n=formatting.number(comparison.images),
        parts=formatting.number(comparison.parts),
    )
    rows = [metric_cells(metric) for metric in comparison.metrics if not metric.figures[0].name]
    differences = [
        f"{translate_message(cells[0])} {translate_message(figure_texts.brief(cells[3]))}"
        for cells in rows
        if cells[3] != figure_texts.NOTHING
    ]
    few = Message("compare.few_parts", m=comparison.parts) if comparison.parts < MIN_PARTS else ""
    values = QCoreApplication.translate("findings", "{what}: {values}.")
    values = values.format(what=measured, values=formatting.clauses(*differences))
    return formatting.sentences(values, translate_message(few))


def _on_validation_images(metric: str) -> str:
    return QCoreApplication.translate("findings", "{metric} (validation images)").format(metric=metric)


def in_use_texts(run: Run, metrics: dict[str, Any], *, chosen: bool) -> tuple[str, ...]:
    """Return the text of the model in use, and five shorter ones, at last its name.

    chosen: by the user. metrics: empty without any.
    """
    result, name = formatting.main_result(metrics), formatting.short_run_name(run)
    automatic = "" if chosen else QCoreApplication.translate("findings", "automatic")
    values = [""] * 4
    if result is not None:
        short, value = QCoreApplication.translate("findings", "{metric} (validation)"), result[1].rpartition(" ")[2]
        values = [_on_validation_images(result[1]), short.format(metric=value), value, ""]
    models = [" · ".join(filter(None, (name, value, automatic))) for value in values]
    pattern = QCoreApplication.translate("findings", "Model in use: {model}")
    return *(pattern.format(model=model) for model in models), models[-1], name


_REMARKS = {
    "unmeasured": QT_TRANSLATE_NOOP(
        "findings", "The errors of this model are not measured: no validation image shows a defect."
    ),
    "good_unmeasured": QT_TRANSLATE_NOOP(
        "findings",
        "False alarms are not measured: there is no good validation image. The model may alarm on every good part.",
    ),
    "no_good_images": QT_TRANSLATE_NOOP(
        "findings", "False alarms are not measured, as this project has no good images."
    ),
    "alarms": QT_TRANSLATE_NOOP(
        "findings", "{count} of {n} good validation {n:image|images} {count:has|have} a false alarm."
    ),
    "test_alarms": QT_TRANSLATE_NOOP(
        "findings", "{count} of {n} good test {n:image|images} {count:has|have} a false alarm."
    ),
    "missed": QT_TRANSLATE_NOOP(
        "findings", "{count} of {n} {n:defect|defects} in the validation images {count:is|are} missed."
    ),
    "wrong_verdicts": QT_TRANSLATE_NOOP(
        "findings", "{count} of {n} validation {n:image|images} {count:has|have} a wrong verdict."
    ),
    "adopted": QT_TRANSLATE_NOOP(
        "findings", "Another program has trained this model. No metrics are stored with it; see Evaluation."
    ),
}
# At thresholds that Evaluate does not show, and which therefore must not contradict it.
_CROSS_FITTED = {
    "alarms": QT_TRANSLATE_NOOP(
        "findings",
        "{count} of {n} good validation {n:image|images} {count:has|have} a false alarm at a threshold chosen on other "
        "parts.",
    ),
    "missed": QT_TRANSLATE_NOOP(
        "findings",
        "{count} of {n} {n:defect|defects} in the validation images {count:is|are} missed at a threshold chosen on "
        "other parts.",
    ),
}


def remark_text(remark: Remark) -> str:
    """Return what is wrong with a model, or not known about it, as a sentence."""
    pattern = _CROSS_FITTED.get(remark.id, "") if remark.cross_fitted else ""
    return _translated(pattern or _REMARKS[remark.id], count=remark.count, n=remark.n)


def finished_text(result: dict[str, Any]) -> tuple[str, tuple[str, ...], str]:
    """Return the quality of a finished run in one line, shorter lines for less space, and details.

    details: counts, reason of the expected range, changed lighting. The last two are empty for earlier versions.
    """
    from workbench.core.evaluation.expectation import Expectation

    metrics = result["metrics"]
    counts = formatting.result_text(metrics)
    expectation = Expectation.of_result(result, "resnet" if "accuracy" in metrics else "unet")
    lines = [result[name] for name in ("rule", "fitted") if result.get(name)]
    details = "\n".join(map(translate_message, [*lines, *(expectation.lines() if expectation else ())]))
    if expectation is None:
        return counts, (), details
    result, images = formatting.main_result(metrics), metrics.get("pictures")
    if result is None or not images or metrics.get("only_background") or expectation.forecast is None:
        return counts, (), details
    short = result[1]
    text = QCoreApplication.translate("findings", "{metric} on {n} validation {n:image|images}")
    text = fill(text, metric=short, n=formatting.number(images))
    if expectation.limits is None:
        rest = QCoreApplication.translate("findings", "range on other parts unknown")
    else:
        low, high = map(expectation.number, expectation.limits)
        rest = QCoreApplication.translate("findings", "expect {low} to {high} on other parts")
        rest = rest.format(low=low, high=high)
    joined = QCoreApplication.translate("findings", "{metric}; {expected}")
    long, shorter = (joined.format(metric=each, expected=rest) for each in (text, short))
    return long, (shorter, short), f"{counts}\n{details}"


def run_line_details(line: RunLine) -> str:
    """Return the tooltip of a run in a list: the expected range with its reason, and the worst change of lighting."""
    from workbench.core.evaluation.expectation import Expectation

    expectation = Expectation.of_result(line.expectation, line.model)
    return "\n".join(map(translate_message, expectation.lines())) if expectation is not None else ""


def run_line_text(line: RunLine, *, score: bool = True, split: bool = False) -> str:
    """Return the entry of a run in a list: model, date, metric. split: name the images of the metric."""
    parts, results = [formatting.run_name(line.run)], formatting.short_results(line.metrics) if score else []
    if results and split:
        results[-1] = _on_validation_images(results[-1])
    parts += results
    if line.ended == "Failed":
        parts.append(QCoreApplication.translate("findings", "Failed"))
    return "  ·  ".join(parts)


def model_names(run_list: RunList) -> dict[Path, str]:
    """Return the folders of the model in use, see `RunList.models`, with the names that a list shows."""
    names = {line.run.root: run_line_text(line) for line in run_list.lines}
    export = QCoreApplication.translate("findings", "Export {name}")
    return {path: names.get(path) or export.format(name=path.name) for path in run_list.models()}


def reason_not_to_train(session: Session, training: TrainingControl) -> str:
    """Return why training can neither be started nor stopped; "" if it can."""
    if session.project is None:
        return QCoreApplication.translate("TrainingPanel", "Open or create a project first")
    if not session.writable:
        return QCoreApplication.translate("TrainingPanel", "The project is read-only")
    if training.busy:
        return ""
    return "" if session.keys else QCoreApplication.translate("TrainingPanel", "The project has no images yet")


def export_text(progress: Progress | None, eta: float | None) -> str:
    """Return the progress of an export with the remaining time, if it is known. progress: None before the first one."""
    if progress is None:
        return QCoreApplication.translate("TrainingPanel", "Starting…")
    what = formatting.translate_message(progress.what)
    if eta is None:
        return what
    text = QCoreApplication.translate("TrainingPanel", "{what}, {time} left")
    return text.format(what=what, time=formatting.duration(eta))


def hint_text(session: Session, training: TrainingControl, *, runs: bool) -> str:
    """Return the text that is shown in place of the curves. runs: there are earlier runs."""
    if session.project is None:
        return QCoreApplication.translate("TrainingPanel", "Open a project to train.")
    if training.busy:
        return QCoreApplication.translate("TrainingPanel", "The curves appear after the first steps.")
    if training.run is not None:
        return QCoreApplication.translate("TrainingPanel", "This run has no curves.")
    if runs:
        return QCoreApplication.translate(
            "TrainingPanel", "Select a run above to view its curves, or train a new model."
        )
    if any(row.status == "done" for row in session.rows.values()):
        return QCoreApplication.translate(
            "TrainingPanel",
            "To train on the images marked as done, click Train. Curves and predictions update during training.",
        )
    return QCoreApplication.translate(
        "TrainingPanel",
        "Paint a few defects and mark the images as done ({key}), or set verdicts. Then click Train. Curves and "
        "predictions update during training.",
    ).format(key=key_text("done_next"))


def progress_texts(training: TrainingControl, final_work: Progress | None) -> tuple[str, ...]:
    """Return the remaining time of the whole run, including the work after the last step, and the time limit.

    Shorter texts for narrow windows follow.
    """
    eta, planned = training.eta_seconds, training.progress.planned_seconds
    if training.progress.kept_open_event is not None:
        if training.progress.kept_open_event.waiting:
            return (QCoreApplication.translate("TrainingPanel", "Time limit reached. Waiting for new labels."),)
        return (QCoreApplication.translate("TrainingPanel", "Time limit reached. Training continues."),)
    if final_work is not None and not 0 < training.progress.steps < 1:
        text = QCoreApplication.translate("TrainingPanel", "{what}: {done} of {total}")
        what = formatting.translate_message(final_work.what)
        short = QCoreApplication.translate("TrainingPanel", "Finishing…")
        return text.format(what=what, done=final_work.done, total=final_work.total), short
    if eta is None or training.progress.steps <= 0:
        return (QCoreApplication.translate("TrainingPanel", "Starting…"),)
    left = QCoreApplication.translate("TrainingPanel", "{time} left").format(time=formatting.duration(max(0.0, eta)))
    if planned is None:
        text = QCoreApplication.translate("TrainingPanel", "{share} done, {time} left")
        share = formatting.percent(training.progress.steps)
        return text.format(share=share, time=formatting.duration(eta)), left
    if eta <= 0:
        text = QCoreApplication.translate("TrainingPanel", "Finishing, {time} over the time limit")
        over = formatting.duration(training.progress.seconds - planned)
        return text.format(time=over), QCoreApplication.translate("TrainingPanel", "Finishing…")
    text = QCoreApplication.translate("TrainingPanel", "{time} left of {planned}")
    return text.format(time=formatting.duration(eta), planned=formatting.duration(planned)), left
