"""Texts of the training panel: progress, hint in place of the curves, reason why no training can start."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from workbench.core.runs.events import Progress
from workbench.session.session import Session
from workbench.session.training.training_control import TrainingControl
from workbench.ui.shortcuts import key_text
from workbench.ui.text import formatting


def reason_not_to_train(session: Session, training: TrainingControl) -> str:
    """Return why training can neither be started nor stopped; "" if it can."""
    if training.busy:
        return ""
    if session.project is None:
        return QCoreApplication.translate("TrainingPanel", "Open or create a project first")
    if not session.writable:
        return QCoreApplication.translate("TrainingPanel", "The project is read-only")
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
