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

    def __init__(self, room: RunEvaluation, style: ThemeManager) -> None:
        super().__init__()
        self._room, self._style = room, style
        self._alerts: Sequence[Alert] = ()
        self._shown: tuple[list[tuple[str, str]], Theme | None] = ([], None)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(12, 8, 12, 8)
        self._column.setSpacing(6)
        room.changed.connect(self._refresh)
        style.changed.connect(self._refresh)
        self._refresh()

    @property
    def texts(self) -> list[str]:
        return [text for _, text in self._lines()]

    def show_alerts(self, alerts: Sequence[Alert]) -> None:
        self._alerts = tuple(alerts)
        self._refresh()

    def _refresh(self) -> None:
        lines, theme = self._lines(), self._style.theme
        if (lines, theme) == self._shown:
            return
        self._shown = lines, theme
        while self._column.count():
            widget = self._column.takeAt(0).widget()
            if widget is not None:
                widget.deleteLater()
        for kind, text in lines:
            self._column.addWidget(self._line(kind, text))
        self.setVisible(bool(lines))

    def _lines(self) -> list[tuple[str, str]]:
        room = self._room
        if room.stage != "ready":
            return []
        return [*(("problem", self._alert(alert)) for alert in self._alerts), self._origin(), *self._others()]

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
                "There is a false alarm on every good picture: the model does not tell good from bad here."
            ),
            "one_class": self.tr(
                "The model calls everything by the same class, although there are several: it does not tell them apart."
            ),
        }[alert]

    def _origin(self) -> tuple[str, str]:
        """Return kind and text of the notice on whether the images influenced the training or the operating point."""
        room = self._room
        parts = len({each.group for each in room.looked.evidence})
        many = self.tr("{n} pictures of {parts} parts.").format(
            n=formatting.number(len(room.looked.evidence)), parts=formatting.number(parts)
        )
        if room.chosen is not None and room.split in room.chosen.chosen_on:
            text = self.tr("The operating point was chosen on these images, so the metrics are slightly optimistic.")
            return "warning", f"{many} {text}"
        if room.moved:
            text = self.tr("This point is being tried on these very pictures, so its figures are somewhat too good.")
            return "warning", f"{many} {text}"
        if room.split == "val":
            text = self.tr(
                "The training chose its thresholds and its best moment on these pictures, so the figures are somewhat "
                "too good."
            )
            more = self.tr("Test pictures had no say.") if "test" in room.splits else ""
            return "warning", " ".join(filter(None, (many, text, more)))
        text = self.tr("These images were not used in training. Expect similar results on new parts.")
        moved = self.tr("Choose an operating point on the validation pictures, so that this stays true.")
        return "info", " ".join(filter(None, (many, text, moved if "val" in room.splits else "")))

    def _others(self) -> list[tuple[str, str]]:
        room, found = self._room, []
        if room.leaks:
            text = self.tr(
                "Data leakage: {n} images show parts that were used in training, so the metrics are too high."
            )
            found.append(("warning", text.format(n=formatting.number(len(room.leaks)))))
        if room.looked.changed:
            text = self.tr("Labels changed since the training: {n}. The present ones are counted.")
            found.append(("info", text.format(n=formatting.number(room.looked.changed))))
        if room.looked.skipped:
            text = self.tr("Pictures that could not be used: {n} ({names})")
            names = formatting.listed(list(room.looked.skipped)[:3])
            found.append(("warning", text.format(n=formatting.number(len(room.looked.skipped)), names=names)))
        return found

    def _line(self, kind: str, text: str) -> QFrame:
        frame = QFrame(objectName="message")
        frame.setProperty("kind", kind)
        row = QHBoxLayout(frame)
        row.setContentsMargins(10, 5, 10, 5)
        row.setSpacing(8)
        icon = QLabel()
        icon.setPixmap(self._style.theme.pixmap(*_sized(kind), ratio=self.devicePixelRatioF()))
        label = QLabel(text, wordWrap=True)
        row.addWidget(icon)
        row.addWidget(label, 1)
        return frame


def _sized(kind: str) -> tuple[str, int, str]:
    name, role = _ICONS[kind]
    return name, 16, role
