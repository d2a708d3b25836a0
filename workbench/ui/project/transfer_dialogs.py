"""Dialogs for packing a project into a zip file, unpacking one, and merging another project.

Dialog with the image folders of a project, and the images that were removed from it.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from workbench.core.problems import NotPacked
from workbench.core.project import trash
from workbench.core.project.label_merge import MergeReport
from workbench.core.project.packing import PackReport, packed_name
from workbench.core.project.project import SourceReport, source_reports
from workbench.core.project.trash import Removal
from workbench.core.text_patterns import fill
from workbench.session.project_jobs import PackingJob
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner, ignore_failure
from workbench.ui.text.formatting import listed, number, problem_text, size, translate_message
from workbench.ui.widgets.box_layouts import Gap, in_column, in_row
from workbench.ui.widgets.dialogs import JobDialog, PathField, open_path
from workbench.ui.widgets.item_views import show_as_rows
from workbench.ui.widgets.text_labels import resize_for_text

Reports = tuple[list[SourceReport], list[Removal]]


_NUMBERS = 2  # column of the numbers of images
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class SourcesDialog(QDialog):
    """Image folders with their state, and removals that can be restored."""

    add_requested = Signal()
    locate_requested = Signal(str)  # name of the source
    removal_requested = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._session = session
        self._tasks = TaskRunner(parent=self)
        self._sources: list[SourceReport] = []
        self._removals: list[Removal] = []
        self.setWindowTitle(self.tr("Image folders"))
        resize_for_text(self, 820, 480)
        self.table = _table([self.tr("Name"), self.tr("Folder"), self.tr("Images")], self.tr("Image folders"))
        self.table.itemSelectionChanged.connect(self._update_buttons)
        self.add, self.locate, self.remove = (
            QPushButton(text) for text in (self.tr("Add folder…"), self.tr("Locate folder…"), self.tr("Remove…"))
        )
        self.add.clicked.connect(self.add_requested)
        self.locate.clicked.connect(lambda: self.locate_requested.emit(self._selected().name))
        self.remove.clicked.connect(lambda: self.removal_requested.emit(self._selected().name))
        hint = self.tr("Removed images and folders can be restored with their labels.")
        self.trash = _table([self.tr("Removed on"), self.tr("Content"), self.tr("Images")], self.tr("Removed images"))
        self.trash.itemSelectionChanged.connect(self._update_buttons)
        self.restore, self.delete = QPushButton(self.tr("Restore")), QPushButton(self.tr("Delete permanently"))
        self.restore.clicked.connect(lambda: session.removal.restore(self._removals[self.trash.currentRow()]))
        self.delete.clicked.connect(self._delete)
        close = QPushButton(self.tr("Close"), clicked=self.accept)
        row = _row(self.restore, self.delete)
        row.addWidget(close)
        close.setAutoDefault(False)
        in_column(
            (self.table, 3),
            _row(self.add, self.locate, self.remove),
            Gap(6),
            QLabel(self.tr("Removed from the project"), objectName="heading"),
            QLabel(hint, objectName="muted", wordWrap=True),
            (self.trash, 2),
            row,
            owner=self,
            margins=(22, 18, 22, 16),
            spacing=10,
        )
        for signal in (session.sources_changed, session.image_list.listed, session.removal.state_changed):
            signal.connect(self._load)
        session.project_closed.connect(self.reject)
        self._load()

    def done(self, result: int) -> None:
        self._tasks.stop()
        super().done(result)

    # --- data ------------------------------------------------------------------------------------

    def _load(self, *_: object) -> None:
        """List the folders in a thread: they may be on slow drives."""
        project = self._session.project
        if project is None or self._session.removal.running:
            return

        def work(_: Task) -> Reports:
            return source_reports(project), trash.removals(project)

        self._tasks.submit(work, self._show, ignore_failure, key="list")

    def _show(self, reports: Reports) -> None:
        self._sources, self._removals = reports
        rows = []
        for report in self._sources:
            name = report.name or self.tr("Project")
            count = self.tr("Not available") if report.missing else number(report.images)
            rows.append((name, str(report.path), count))
        _fill(self.table, rows)
        rows = []
        for plan in self._removals:
            content = self.tr("Label files")
            if plan.source is not None:
                content = self.tr("Image folder “{name}”").format(name=plan.source.name)
            elif plan.keys:
                content = plan.keys[0] if len(plan.keys) == 1 else self.tr("{name}, …").format(name=plan.keys[0])
            rows.append((plan.when.replace("T", " "), content, number(len(plan.keys))))
        _fill(self.trash, rows)
        self._update_buttons()

    def _selected(self) -> SourceReport | None:
        row = self.table.currentRow()
        chosen = self.table.selectionModel().hasSelection() and 0 <= row < len(self._sources)
        return self._sources[row] if chosen else None

    def _update_buttons(self) -> None:
        source, writable = self._selected(), self._session.writable
        self.add.setEnabled(writable)
        for button in (self.locate, self.remove):
            button.setEnabled(writable and source is not None and bool(source.name))
        for button in (self.restore, self.delete):
            button.setEnabled(writable and self.trash.selectionModel().hasSelection())

    def _delete(self) -> None:
        project, plan = self._session.project, self._removals[self.trash.currentRow()]
        self.delete.setEnabled(False)

        def work(_: Task) -> None:
            trash.delete_permanently(project, plan.name)

        self._tasks.submit(work, lambda _: self._deleted(plan), self._session.problem_met.emit)

    def _deleted(self, plan: Removal) -> None:
        self._session.removal.forget(plan)
        self._load()


def _table(titles: list[str], name: str) -> QTableWidget:
    table = QTableWidget(0, len(titles))
    table.setHorizontalHeaderLabels(titles)
    show_as_rows(table, name, stretch=1)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.verticalHeader().setDefaultSectionSize(26)
    header = table.horizontalHeader()
    table.horizontalHeaderItem(_NUMBERS).setTextAlignment(_RIGHT)
    header.resizeSection(0, 170)
    header.resizeSection(2, 120)
    return table


def _fill(table: QTableWidget, rows: list[tuple[str, ...]]) -> None:
    selected = table.currentRow()
    table.clearSelection()
    table.setRowCount(len(rows))
    for row, texts in enumerate(rows):
        for column, text in enumerate(texts):
            item = QTableWidgetItem(text)
            item.setToolTip(text)
            if column == _NUMBERS:
                item.setTextAlignment(_RIGHT)
            table.setItem(row, column, item)
    if 0 <= selected < len(rows):
        table.selectRow(selected)


def _row(*buttons: QPushButton) -> QHBoxLayout:
    for button in buttons:
        button.setAutoDefault(False)
    return in_row(*buttons, 1, spacing=8)


_NAMED = 5  # files


class PackDialog(JobDialog):
    """Dialog for packing the open project. path: proposed zip file."""

    def __init__(self, session: Session, job: PackingJob, path: Path, parent: QWidget | None = None) -> None:
        super().__init__(job, parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._session = session
        self.setWindowTitle(self.tr("Pack project"))
        self.action = self.tr("Pack")
        self.file = PathField(self.tr("Zip file to write"), "save", path)
        self.runs = QCheckBox(self.tr("Include &trained models"), checked=True)
        self.add_field(self.tr("&File"), self.file)
        self.form.addRow("", self.runs)
        self.show_status(
            self.tr(
                "Writes the project with the images of all its folders to one file. It can be unpacked and opened on "
                "another computer. Exports and the history for undo are left out."
            )
        )
        self.open_button = self.add_button(self.tr("Open folder"), lambda: open_path(self._written.parent), link=True)
        self.open_button.hide()
        job.packed.connect(self._show_end)
        self.refresh()

    def begin(self) -> None:
        if self._session.flush():
            path = self.file.path
            self._written = path if path.suffix else path.with_suffix(".zip")
            self.job.pack(self._session.project, self._written, runs=self.runs.isChecked())

    def complete(self) -> bool:
        return self.file.path is not None

    def progress_text(self, done: str, total: str) -> str:
        return fill(self.tr("Packing: {done} of {total} {total:file|files}"), done=done, total=total)

    def _show_end(self, report: PackReport | None) -> None:
        if report is None:
            self.show_status(self.tr("Canceled. No file was written."))
            return
        text = self.tr("{n} {n:image|images} packed into {path} ({size}).")
        text = fill(text, n=number(report.images), path=report.path, size=size(max(1, report.nbytes / (1 << 20))))
        if report.missing:
            missing = self.tr("Left out, because their folders are not available: {names}")
            text += " " + missing.format(names=listed(report.missing))
        if report.skipped:
            skipped = self.tr(
                "{n} {n:file|files} left out, removed meanwhile or with a name that is not UTF-8: {names}"
            )
            text += " " + fill(skipped, n=number(len(report.skipped)), names=listed(report.skipped[:_NAMED]))
        self.show_status(text)
        self.open_button.show()


class UnpackDialog(JobDialog):
    """Dialog for unpacking a project. path: zip file, None if it is still to be chosen."""

    unpacked = Signal(object)  # path of the project

    def __init__(self, job: PackingJob, path: Path | None, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(job, parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Unpack project"))
        self.action = self.tr("Unpack and open")
        self.file = PathField(self.tr("Packed project"), "open", path)
        self.folder = PathField(self.tr("Folder for the new project folder"), "folder", folder)
        self.add_field(self.tr("&File"), self.file)
        self.add_field(self.tr("Unpack &to"), self.folder)
        self.file.line.textChanged.connect(self._describe)
        job.unpacked.connect(self._show_end)
        self._describe()
        self.refresh()

    def begin(self) -> None:
        self.job.unpack(self.file.path, self.folder.path)

    def complete(self) -> bool:
        return self.file.path is not None and self.file.path.is_file() and self.folder.path is not None

    def progress_text(self, done: str, total: str) -> str:
        return fill(self.tr("Unpacking: {done} of {total} {total:file|files}"), done=done, total=total)

    def _describe(self) -> None:
        path = self.file.path
        if path is None or not path.is_file():
            self.show_status(self.tr("Choose a .zip file that was written with “Pack project…”."))
            return
        try:
            self.show_status(self.tr("Project: {name}").format(name=packed_name(path)))
        except NotPacked as problem:
            self.show_status(" ".join(problem_text(problem)))

    def _show_end(self, root: Path | None) -> None:
        if root is None:
            self.show_status(self.tr("Canceled. Nothing was unpacked."))
            return
        self.accept()
        self.unpacked.emit(root)


_DELAY = 400  # ms without input until the preview is computed
_NAMED = 5  # conflicts that are named


class MergeDialog(JobDialog):
    """Dialog for merging a project, such as a copy that a colleague has labeled, into the open one."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        job = session.label_import
        super().__init__(job, parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Merge project"))
        self.action = self.tr("Merge")
        self._session = session
        self._preview: MergeReport | None = None
        self.folder = PathField(self.tr("Project folder to merge"), "folder")
        self.keep = QComboBox()
        for name, text in (
            ("newer", self.tr("Keep the newer label")),
            ("mine", self.tr("Keep the label of this project")),
            ("theirs", self.tr("Take the label of the other project")),
        ):
            self.keep.addItem(text, name)
        self.add_field(self.tr("&Project"), self.folder)
        self.add_field(self.tr("If &both differ"), self.keep)
        self._timer = QTimer(self, singleShot=True, interval=_DELAY, timeout=self._compute_preview)
        self.folder.line.textChanged.connect(self._changed)
        self.keep.currentIndexChanged.connect(self._changed)
        job.merge_planned.connect(self._show_preview)
        job.merged.connect(self._show_end)
        self._changed()

    def begin(self) -> None:
        self._session.label_import.merge(self.folder.path, self.keep.currentData())

    def complete(self) -> bool:
        report = self._preview
        return self._session.writable and report is not None and bool(report.taken or report.copied or report.conflicts)

    def progress_text(self, done: str, total: str) -> str:
        comparing = self.tr("Comparing: {done} of {total} {total:image|images}")
        writing = self.tr("Merging: {done} of {total} {total:image|images}")
        text = writing if self._session.label_import.activity == "importing" else comparing
        return fill(text, done=done, total=total)

    def _changed(self, *_: object) -> None:
        self._preview = None
        path = self.folder.path
        if path is not None and (path / "project.json").is_file():
            self._timer.start()
            self.show_status("")
        else:
            self._timer.stop()
            self.show_status(
                self.tr(
                    "Adds the labels and new images of another project, for example of a copy that a colleague has "
                    "labeled. Images are matched by content, classes by name. The other project is not changed."
                )
            )
        self.refresh()

    def _compute_preview(self) -> None:
        if self.folder.path is not None:
            self._session.label_import.preview_merge(Path(self.folder.path), self.keep.currentData())

    def _show_preview(self, report: MergeReport) -> None:
        self._preview = report if report.complete else None
        if report.complete:
            self.show_status(self._text(report, self.tr("Labels to merge: {n}")))
        self.refresh()

    def _show_end(self, report: MergeReport) -> None:
        self._preview = None
        text = self._text(report, self.tr("Labels merged: {n}"))
        if not report.complete:
            text = self.tr("Canceled. Nothing was merged.") + "\n" + text
        self.show_status(text)
        self.refresh()

    def _text(self, report: MergeReport, taken: str) -> str:
        lines = [
            self.tr("Images: {n}, of which {copied} are new").format(
                n=number(report.pictures), copied=number(report.copied)
            ),
            taken.format(n=number(report.taken)),
            self.tr("Labels kept: {kept}; equal labels: {equal}").format(
                kept=number(report.kept), equal=number(report.equal)
            ),
        ]
        if report.added_classes:
            lines.append(self.tr("New classes: {names}").format(names=listed(report.added_classes)))
        if report.conflicts:
            names = [key for key, _ in report.conflicts[:_NAMED]] + ["…"] * (len(report.conflicts) > _NAMED)
            text = self.tr("Labels that differ: {n} ({names})")
            lines.append(text.format(n=number(len(report.conflicts)), names=listed(names)))
        if report.skipped:
            text = self.tr("Skipped: {n} ({why})")
            why = translate_message(report.skipped[0][1])
            lines.append(text.format(n=number(len(report.skipped)), why=why))
        return "\n".join(lines)
