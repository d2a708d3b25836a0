"""First panel of the evaluation of a UNet: OK and NG images by label and verdict, their errors, and what these cost."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from workbench.core.evaluation.image_confusion import ImageConfusion
from workbench.core.evaluation.image_ranking import GroupedProportion
from workbench.core.text_patterns import fill
from workbench.inference.verdict_rule import BAD, GOOD, UNSURE
from workbench.ui.evaluation.headline_metrics import HeadlineMetric
from workbench.ui.text import evaluation_texts, formatting
from workbench.ui.widgets.text_labels import set_disabled_reason

_VERDICTS = (GOOD, UNSURE, BAD)
_CELL = 40  # px, least width of a cell: three fit into the panel


class ImageConfusionPanel(QWidget):
    """Confusion of OK and NG per image. `cell_chosen`: whether a defect is labeled, and the verdict of the images."""

    cell_chosen = Signal(bool, str)

    def __init__(self) -> None:
        super().__init__()
        self.confusion: ImageConfusion | None = None
        self._ratio: float | None = None
        self.cells: dict[tuple[bool, str], QPushButton] = {}
        self._heads: dict[str, QLabel] = {}
        self.missed = HeadlineMetric(self.tr("Missed defective images"))
        self.missed.setToolTip(self.tr("Images with a labeled defect that get the verdict of a good image"))
        self.false = HeadlineMetric(self.tr("False alarms on good images"))
        self.false.setToolTip(self.tr("Images without a labeled defect that are rejected"))
        self.note = QLabel(objectName="muted", wordWrap=True)
        self.cost = QLabel(objectName="muted", wordWrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(9)
        column.addLayout(self._grid())
        for widget in (self.note, self.missed, self.false, self.cost):
            column.addWidget(widget)
        self.cost.hide()  # until the cost of a missed image is known

    def _grid(self) -> QGridLayout:
        grid = self._cells = QGridLayout()
        grid.setSpacing(4)
        grid.addWidget(QLabel(self.tr("Label ↓  Verdict →"), objectName="muted"), 0, 0)
        names = {GOOD: self.tr("OK"), UNSURE: self.tr("Unsure"), BAD: self.tr("NG")}
        group = QButtonGroup(self)
        for column, verdict in enumerate(_VERDICTS, start=1):
            head = self._heads[verdict] = QLabel(names[verdict], alignment=Qt.AlignmentFlag.AlignCenter)
            grid.addWidget(head, 0, column)
            grid.setColumnStretch(column, 1)
            for row, defective in enumerate((False, True), start=1):
                right = verdict == (BAD if defective else GOOD)
                name = "cellUnsure" if verdict == UNSURE else "cellRight" if right else "cellWrong"
                button = self.cells[defective, verdict] = QPushButton("–", objectName=name, checkable=True)
                button.setMinimumWidth(_CELL)
                button.clicked.connect(lambda _=False, cell=(defective, verdict): self.cell_chosen.emit(*cell))
                group.addButton(button)
                grid.addWidget(button, row, column)
        grid.addWidget(QLabel(self.tr("Good")), 1, 0)
        grid.addWidget(QLabel(self.tr("Defective")), 2, 0)
        return grid

    def clear(self) -> None:
        self.confusion = None
        for metric in (self.missed, self.false):
            metric.set_value(evaluation_texts.NOTHING, "")
        self.setEnabled(False)

    def show_confusion(self, confusion: ImageConfusion, *, ruled: bool) -> None:
        """Show the images of an evaluation. ruled: the verdicts are those of a rule."""
        self.confusion = confusion
        self.setEnabled(True)
        unsure = any(verdict == UNSURE for _, verdict in confusion.cells)
        for (defective, verdict), button in self.cells.items():
            count = len(confusion.cells.get((defective, verdict), ()))
            button.setText(formatting.number(count))
            pattern = self.tr("{n} defective {n:image|images}") if defective else self.tr("{n} good {n:image|images}")
            name = f"{fill(pattern, n=count)}: {self._heads[verdict].text()}"
            button.setAccessibleName(name)
            button.setToolTip(self.tr("{images}. Click to see them.").format(images=name) if count else name)
            set_disabled_reason(button, "" if count else self.tr("No such images at this operating point"))
            button.setVisible(verdict != UNSURE or unsure)
        self._heads[UNSURE].setVisible(unsure)
        self._cells.setColumnStretch(1 + _VERDICTS.index(UNSURE), int(unsure))
        self.note.setText(self.tr("Without a verdict rule an image with a region is NG."))
        self.note.setVisible(not ruled)
        self._show_errors(self.missed, confusion.missed, self.tr("no defective image held out"))
        self._show_errors(self.false, confusion.false, self.tr("no good image held out"))
        if self._ratio is not None:
            self.show_cost(self._ratio)

    def _show_errors(self, metric: HeadlineMetric, errors: GroupedProportion, none: str) -> None:
        if errors.value is None:
            metric.set_value(self.tr("Not measured"), none)
            return
        number = self.tr("{n} of {total}  ·  {share}").format(
            n=formatting.number(errors.hits),
            total=formatting.number(errors.total),
            share=formatting.percent(errors.value),
        )
        metric.set_value(number, evaluation_texts.stated(errors.stated, evaluation_texts.between))

    def show_cost(self, ratio: float) -> None:
        """Show the cost of the errors. ratio: cost of a missed defective image in false alarms."""
        self._ratio = ratio
        if self.confusion is not None:
            text = self.tr("Cost of these errors: {cost} false {cost:alarm|alarms}; a missed image counts as {ratio}")
            shown = {"cost": round(self.confusion.cost(ratio), 1), "ratio": ratio}
            self.cost.show()
            self.cost.setText(fill(text, **{name: formatting.number(n, n % 1 > 0) for name, n in shown.items()}))


def cell_text(defective: bool, verdict: str, images: int) -> str:
    """Return the name of a cell with its number of images, such as "Defective → NG  6"."""
    translate = QCoreApplication.translate
    label = translate("DefectBrowser", "Defective") if defective else translate("DefectBrowser", "Good")
    name = translate("DefectBrowser", "Unsure").lower() if verdict == UNSURE else verdict
    text = translate("DefectBrowser", "{label} → {verdict}  {n}")
    return text.format(label=label, verdict=name, n=formatting.number(images))
