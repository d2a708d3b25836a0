"""Notices above the evaluation about the reliability of its metrics."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from workbench.core.evaluation.evaluation_summary import Alert
from workbench.session.run_evaluation import RunEvaluation
from workbench.ui.text import formatting
from workbench.ui.widgets.theme import Theme, ThemeManager

_ICONS = {"info": ("info", "accent"), "warning": ("warning", "warning"), "problem": ("error", "danger")}


class EvaluationNotices(QWidget):
    """Notices about the source of the images, their influence on training and thresholds, degenerate predictions."""

    def __init__(self, evaluation: RunEvaluation, style: ThemeManager) -> None:
        super().__init__()
        self._evaluation, self._style = evaluation, style
        self._alerts: Sequence[Alert] = ()
        self._shown: tuple[list[tuple[str, str]], Theme | None] = ([], None)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(12, 8, 12, 8)
        self._column.setSpacing(6)
        evaluation.changed.connect(self._refresh)
        style.changed.connect(self._refresh)
        self._refresh()

    @property
    def texts(self) -> list[str]:
        return [text for _, text in self._notices()]

    def show_alerts(self, alerts: Sequence[Alert]) -> None:
        self._alerts = tuple(alerts)
        self._refresh()

    def _refresh(self) -> None:
        notices, theme = self._notices(), self._style.theme
        if (notices, theme) == self._shown:
            return
        self._shown = notices, theme
        while self._column.count():
            widget = self._column.takeAt(0).widget()
            if widget is not None:
                widget.deleteLater()
        for kind, text in notices:
            self._column.addWidget(self._frame(kind, text))
        self.setVisible(bool(notices))

    def _notices(self) -> list[tuple[str, str]]:
        """Return kind and text of each notice."""
        if self._evaluation.stage != "ready":
            return []
        return [*(("problem", self._alert(alert)) for alert in self._alerts), self._independence(), *self._data()]

    def _alert(self, alert: Alert) -> str:
        return {
            "only_background": self.tr(
                "No defects are predicted although the images contain defects. Train longer or label more "
                "defects. The metrics below are not meaningful."
            ),
            "everything": self.tr(
                "More than half of all pixels are predicted as defects, so the recall is not meaningful. "
                "Raise the threshold or train longer."
            ),
            "every_good_picture": self.tr(
                "Every good image has a false alarm, so the model does not separate good images from defective ones. "
                "Raise the threshold or train longer."
            ),
            "one_class": self.tr(
                "All predictions have the same class although the images contain several classes. Train longer or "
                "label more defects of the other classes."
            ),
        }[alert]

    def _independence(self) -> tuple[str, str]:
        """Return the notice on whether the images influenced the training or the operating point."""
        evaluation = self._evaluation
        images, parts = (
            len(evaluation.pass_result.predictions),
            {entry.group for entry in evaluation.pass_result.predictions},
        )
        counts = self.tr("{n} images of {parts} parts.").format(
            n=formatting.number(images), parts=formatting.number(len(parts))
        )
        if evaluation.chosen is not None and evaluation.split in evaluation.chosen.chosen_on:
            text = self.tr("The operating point was chosen on these images, so the metrics are slightly optimistic.")
            return "warning", formatting.sentences(counts, text)
        if evaluation.moved:
            text = self.tr(
                "The operating point is being adjusted on these images, so the metrics are slightly optimistic."
            )
            return "warning", formatting.sentences(counts, text)
        if evaluation.split == "val":
            text = self.tr(
                "The best checkpoint and the thresholds were chosen on these images, so the metrics are slightly "
                "optimistic."
            )
            more = self.tr("Test images were not used for any choice.") if "test" in evaluation.splits else ""
            return "warning", formatting.sentences(counts, text, more)
        if evaluation.run is not None and evaluation.run.adopted:
            text = self.tr("The model was added from a file. Whether it was trained on these images is not known.")
            return "warning", formatting.sentences(counts, text)
        text = self.tr("These images were not used in training or for any choice.")
        advice = self.tr("Choose the operating point on validation images; otherwise test metrics become optimistic.")
        return "info", formatting.sentences(counts, text, advice if "val" in evaluation.splits else "")

    def _data(self) -> list[tuple[str, str]]:
        """Return the notices about leaks, changed labels and skipped images."""
        evaluation, notices = self._evaluation, []
        if evaluation.leaks:
            text = self.tr(
                "Data leakage: {n} images show parts that were used in training, so the metrics are too high."
            )
            notices.append(("warning", text.format(n=formatting.number(len(evaluation.leaks)))))
        if evaluation.pass_result.changed:
            text = self.tr("Labels changed since the training: {n}. The current labels are used.")
            notices.append(("info", text.format(n=formatting.number(evaluation.pass_result.changed))))
        if evaluation.pass_result.skipped:
            text = self.tr("Skipped images: {n} ({names})")
            names = formatting.listed(list(evaluation.pass_result.skipped)[:3])
            notices.append(
                ("warning", text.format(n=formatting.number(len(evaluation.pass_result.skipped)), names=names))
            )
        return notices

    def _frame(self, kind: str, text: str) -> QFrame:
        frame = QFrame(objectName="message")
        frame.setProperty("kind", kind)
        row = QHBoxLayout(frame)
        row.setContentsMargins(10, 5, 10, 5)
        row.setSpacing(8)
        icon, (name, role) = QLabel(), _ICONS[kind]
        icon.setPixmap(self._style.theme.pixmap(name, 16, role, self.devicePixelRatioF()))
        row.addWidget(icon)
        row.addWidget(QLabel(text, wordWrap=True), 1)
        return frame
