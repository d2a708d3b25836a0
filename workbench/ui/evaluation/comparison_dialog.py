"""Comparison of two runs side by side: metrics with differences, and the images on which the runs differ."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFrame,
    QGridLayout,
    QHeaderView,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSplitter,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from workbench.core.documents.comparison_report import comparison_rows
from workbench.core.documents.document import DocumentImage
from workbench.core.evaluation import figure_texts
from workbench.core.evaluation.intervals import MIN_PARTS
from workbench.core.messages import Message
from workbench.core.problems import Problem
from workbench.core.runs.release import exported_run
from workbench.core.runs.run import Run
from workbench.core.runs.run_series import RunDifference
from workbench.core.text_patterns import fill
from workbench.session.project_jobs import ComparedEvaluations
from workbench.session.tasks import TaskRunner, ignore_failure
from workbench.ui.evaluation.defect_browser import outline_legend
from workbench.ui.services import Services
from workbench.ui.text import formatting
from workbench.ui.text.formatting import translate_message
from workbench.ui.text.run_texts import comparison_text
from workbench.ui.widgets.box_layouts import add_items, in_column, in_row
from workbench.ui.widgets.item_views import show_as_rows
from workbench.ui.widgets.text_labels import resize_for_text
from workbench.ui.widgets.theme import ThemeManager

_WIDTH = 300  # of an image, logical px
_MARGIN = 5  # px above and below a cell
_ICONS = {"better": ("success", "success"), "worse": ("warning", "warning")}


class ReportWriter(Protocol):
    """Writer of a comparison, after asking for a file."""

    def save_comparison(self, compared: ComparedEvaluations, parent: QWidget) -> None: ...


class MetricTable(QTableWidget):
    """Metrics of both runs, their difference, and whether it is larger than chance, in words and with an icon."""

    def __init__(self, style: ThemeManager) -> None:
        super().__init__(0, 5)
        self._style = style
        header = self.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        show_as_rows(self, self.tr("Metrics of both runs"))
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.setWordWrap(True)  # an interval, or the reason why there is none, is longer than a column
        header.sectionResized.connect(self.resizeRowsToContents)

    def sizeHintForRow(self, row: int) -> int:
        """Return the height of a row in px with room above and below its lines."""
        return super().sizeHintForRow(row) + 2 * _MARGIN

    def show_metrics(self, compared: ComparedEvaluations) -> None:
        names = [formatting.run_name(each.run) for each in (compared.first, compared.second)]
        self.setHorizontalHeaderLabels(
            [self.tr("Metric"), *names, self.tr("Difference (95% CI)"), self.tr("Second run is")]
        )
        rows = comparison_rows(compared.comparison)
        self.setRowCount(len(rows))
        for row, (cells, outcome) in enumerate(rows):
            self._show_cells(row, cells, outcome)
        self.resizeRowsToContents()

    def _show_cells(self, row: int, cells: list[str], outcome: str) -> None:
        for column, text in enumerate(cells):
            item = QTableWidgetItem(translate_message(figure_texts.brief(text)))
            if not outcome:
                item.setToolTip(translate_message(Message("compare.own_images")))
            if column == 4 and outcome in _ICONS:
                name, role = _ICONS[outcome]
                item.setIcon(self._style.icon(name, role))
            self.setItem(row, column, item)


class PairView(QScrollArea):
    """Images on which the runs differ, a row for each, the prediction of the first run on the left."""

    image_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__(widgetResizable=True, frameShape=QFrame.Shape.NoFrame)
        self.setObjectName("side")
        self.setAccessibleName(self.tr("Images on which the runs differ"))
        self.buttons: list[QPushButton] = []

    def show_pairs(self, compared: ComparedEvaluations) -> None:
        body = QWidget(objectName="panel")
        grid = QGridLayout(body)
        grid.setContentsMargins(10, 8, 10, 10)
        grid.setHorizontalSpacing(16)
        self.buttons = []
        for number, (key, *sides) in enumerate(compared.images):
            button = QPushButton(key, objectName="link")
            button.setAutoDefault(False)
            button.setToolTip(self.tr("Open this image"))
            button.clicked.connect(lambda _=False, key=key: self.image_chosen.emit(key))
            self.buttons.append(button)
            grid.addWidget(button, 3 * number, 0, 1, 2, Qt.AlignmentFlag.AlignLeft)
            for column, image in enumerate(sides):
                grid.addWidget(_image_label(image), 3 * number + 1, column, Qt.AlignmentFlag.AlignLeft)
                caption = QLabel(translate_message(image.caption), objectName="muted", wordWrap=True)
                grid.addWidget(caption, 3 * number + 2, column, Qt.AlignmentFlag.AlignTop)
        grid.setColumnStretch(2, 1)
        grid.setRowStretch(3 * len(compared.images), 1)
        self.setWidget(body)


def _of_second(difference: RunDifference) -> RunDifference:
    """Return a difference of the data as that of the second run to the first one; others have no direction."""
    fields = difference.fields
    turned = {"more": fields["fewer"], "fewer": fields["more"]} if difference.kind == "train" else {}
    return RunDifference(difference.kind, {**fields, **turned})


def _image_label(image: DocumentImage) -> QLabel:
    pixmap = QPixmap()
    pixmap.loadFromData(image.jpeg)
    label = QLabel()
    label.setPixmap(pixmap.scaledToWidth(_WIDTH, Qt.TransformationMode.SmoothTransformation))
    label.setAccessibleName(f"{image.name}: {translate_message(image.caption)}")
    return label


class ComparisonDialog(QDialog):
    """Non-modal dialog; both runs are chosen in it.

    `image_requested` carries the key of an image to open, `export_requested` the second run.
    """

    image_requested = Signal(str)
    export_requested = Signal(object)

    def __init__(self, services: Services, style: ThemeManager, writer: ReportWriter, parent: QWidget) -> None:
        super().__init__(parent)
        self._services, self._writer = services, writer
        self._job = services.evaluation_comparison
        self._compared: ComparedEvaluations | None = None
        self._exported: str | None = None  # run of the newest export
        self._tasks = TaskRunner(1, self)
        self.setWindowTitle(self.tr("Compare runs"))
        resize_for_text(self, 980, 680)
        self.first, self.second = QComboBox(), QComboBox()
        self.status = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.status.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.bar = QProgressBar(textVisible=False)
        self.bar.setAccessibleName(self.tr("Progress"))
        self.table, self.pairs = MetricTable(style), PairView()
        self.pairs_heading = QLabel(wordWrap=True)
        self.cancel_button = self._button(self.tr("Cancel"), self._job.cancel)
        self.save_button = self._button(self.tr("&Save report…"), self._save)
        self.export_button = self._button(self.tr("&Export second run"), self._export)
        self.close_button = self._button(self.tr("Close"), self.close)
        self._build()
        self._job.compared.connect(self._show_result)
        self._job.progressed.connect(self._progressed)
        self._job.failed.connect(self._failed)
        self._job.state_changed.connect(self._refresh)
        self.pairs.image_chosen.connect(self.image_requested)
        services.run_list.listed.connect(self._list_runs)
        services.session.project_closed.connect(self.close)
        self._list_runs()
        self._refresh()

    def _build(self) -> None:
        row = in_row()
        for text, box in ((self.tr("&First run"), self.first), (self.tr("Sec&ond run"), self.second)):
            label = QLabel(text)
            label.setBuddy(box)
            box.setAccessibleName(text.replace("&", ""))
            box.activated.connect(self._start)
            add_items(row, label, (box, 1))
        self.results = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        below, self.legend = QWidget(), outline_legend()
        heading = in_row((self.pairs_heading, 1), self.legend)
        in_column(heading, (self.pairs, 1), owner=below, margins=(0, 6, 0, 0))
        self.results.addWidget(self.table)
        self.results.addWidget(below)
        self.results.setSizes([220, 380])
        buttons = in_row(1, self.cancel_button, self.export_button, self.save_button, self.close_button)
        items = row, self.status, self.bar, (self.results, 1), 0, buttons
        in_column(*items, owner=self, margins=(16, 14, 16, 14), spacing=10)

    @staticmethod
    def _button(text: str, callback: Callable[[], object]) -> QPushButton:
        button = QPushButton(text)
        button.setAutoDefault(False)
        button.clicked.connect(lambda: callback())
        return button

    # --- runs -------------------------------------------------------------------------------------

    def choose(self, first: Run | None, second: Run | None) -> None:
        """Compare two runs; a missing second one is the newest other run of the same kind of model.

        If `first` is not the run of the newest export, the exported one is compared with it.
        """
        self._list_runs()
        project = self._services.session.project
        if project is not None:  # its drive may be slow
            root = project.root
            found = partial(self._choose, root, first, second)
            self._tasks.submit(lambda _: exported_run(root), found, ignore_failure, key="exported")

    def _choose(self, root: Path, first: Run | None, second: Run | None, exported_name: str | None) -> None:
        project = self._services.session.project
        if project is None or project.root != root:
            return
        self._exported = exported_name
        self._list_runs()
        lines = self._services.run_list.usable()
        by_name = {line.run.name: line for line in lines}
        shown = by_name.get(first.name) if first is not None else None
        if shown is None:
            kinds = [line.model for line in lines]
            shown = next((line for line in lines if kinds.count(line.model) > 1), None)
        if shown is None:
            return
        exported = by_name.get(self._exported or "")
        if second is None and exported is not None and exported.model == shown.model and exported.run != shown.run:
            shown, second = exported, shown.run
        others = [line for line in lines if line.model == shown.model and line.run.name != shown.run.name]
        other = by_name.get(second.name) if second is not None else next(iter(others), None)
        self.first.setCurrentIndex(self.first.findData(shown.run.name))
        self.second.setCurrentIndex(self.second.findData(other.run.name) if other is not None else -1)
        self._start()

    def _list_runs(self) -> None:
        for box in (self.first, self.second):
            with QSignalBlocker(box):
                name = box.currentData()
                box.clear()
                for line in self._services.run_list.usable():
                    name_shown = formatting.run_name(line.run)
                    if line.run.name == self._exported:
                        name_shown = self.tr("{run} (last export)").format(run=name_shown)
                    box.addItem(name_shown, line.run.name)
                box.setCurrentIndex(box.findData(name))

    def _start(self, *_: object) -> None:
        project, names = self._services.session.project, (self.first.currentData(), self.second.currentData())
        if project is None:
            return
        self._compared = None
        self._job.close()
        if None in names or names[0] == names[1]:
            self.status.setText(self.tr("Choose two different runs."))
            self._refresh()
            return
        self.status.setText(self.tr("Evaluating both runs on the same images…"))
        self.bar.setMaximum(0)
        self._services.session.flush()
        runs = project.root / "runs"
        self._job.start(project, Run(runs / names[0]), Run(runs / names[1]))

    # --- result -----------------------------------------------------------------------------------

    def _show_result(self, compared: ComparedEvaluations | None) -> None:
        self._compared = compared
        if compared is None:
            self.status.setText(self.tr("Canceled."))
            return
        comparison = compared.comparison
        measured = fill(
            self.tr("Measured on {n} {n:image|images} of {parts} {parts:part|parts} that neither run was trained on."),
            n=formatting.number(comparison.images),
            parts=formatting.number(comparison.parts),
        )
        runs = [difference for difference in compared.runs.differences if difference.kind in ("train", "recipe")]
        about = comparison_text(type(compared.runs)(True, True, tuple(map(_of_second, runs))))
        left_out = translate_message(Message("compare.left_out", n=comparison.left_out)) if comparison.left_out else ""
        few = Message("compare.few_parts", m=comparison.parts) if comparison.parts < MIN_PARTS else ""
        self.status.setText(formatting.sentences(measured, translate_message(few), left_out, about))
        self.table.show_metrics(compared)
        one_right = sum(pair.weight[0] for pair in comparison.pairs)
        if comparison.pairs:
            text = Message("compare.differing", n=len(comparison.pairs), m=one_right, k=comparison.images)
        else:
            text = Message("compare.no_differences")
        self.pairs_heading.setText(translate_message(text))
        self.legend.setVisible(bool(comparison.pairs) and compared.first.dataset.model == "unet")
        self.pairs.show_pairs(compared)

    def _failed(self, problem: Problem) -> None:
        self.status.setText(formatting.sentences(*formatting.problem_text(problem)))

    def _progressed(self, done: int, total: int) -> None:
        self.bar.setMaximum(max(1, total))
        self.bar.setValue(done)

    def _refresh(self) -> None:
        running = self._job.running
        self.bar.setVisible(running)
        self.cancel_button.setVisible(running)
        self.results.setVisible(self._compared is not None)
        self.save_button.setEnabled(self._compared is not None)
        self.export_button.setEnabled(self._compared is not None and self._services.session.writable)

    def _export(self) -> None:
        if self._compared is not None:
            self.export_requested.emit(self._compared.second.run)
            self.close()  # the window shows the question, the progress and the result

    def _save(self) -> None:
        if self._compared is not None:
            self._writer.save_comparison(self._compared, self)
