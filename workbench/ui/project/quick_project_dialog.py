"""Dialog that makes a project of a folder of images with one question: the classes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from workbench.core.text_patterns import free_path
from workbench.session.tasks import TaskRunner, ignore_failure
from workbench.ui.label_files.label_files_controller import detect
from workbench.ui.project.image_count import count_images, image_count_text
from workbench.ui.project.new_project_dialog import NewProject, names
from workbench.ui.text.export_texts import format_with_count
from workbench.ui.text.formatting import listed
from workbench.ui.widgets.screen_fit import fit_height, set_width_for_text
from workbench.ui.widgets.text_labels import center_text


class QuickProjectDialog(QDialog):
    """Dialog for a new project with the images of `folder`, which stay there. Labels beside the images are imported."""

    chosen = Signal(object)  # NewProject
    details_requested = Signal(object)  # folder: the dialog with all fields is wanted

    def __init__(self, folder: Path, projects_folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("New project from folder"))
        set_width_for_text(self, 480)
        self._folder = folder
        self.root = free_path(projects_folder, f"{folder.name or 'my'}-project")
        self._labels: Path | None = None
        self._tasks = TaskRunner(parent=self)
        title = QLabel(folder.name or str(folder), objectName="title", wordWrap=True)
        self.count = QLabel(self.tr("Counting images…"), objectName="subtitle", wordWrap=True)
        self.found = QLabel(objectName="muted", wordWrap=True)
        self.found.hide()
        self.classes = QLineEdit(self.tr("defect"))
        self.classes.selectAll()
        center_text(self.classes)
        question = QLabel(self.tr("&What do you want to find?"), objectName="heading")
        question.setBuddy(self.classes)
        note = QLabel(
            self.tr("One or more types of defects, separated by commas. Classes can be added and renamed at any time."),
            objectName="muted",
            wordWrap=True,
        )
        place = QLabel(
            self.tr("The images stay where they are. Project folder: {path}").format(path=self.root),
            objectName="muted",
            wordWrap=True,
        )
        for label in (title, self.found, place):
            label.setTextFormat(Qt.TextFormat.PlainText)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 18)
        column.setSpacing(6)
        for widget in (title, self.count, self.found):
            column.addWidget(widget)
        column.addSpacing(10)
        for widget in (question, self.classes, note):
            column.addWidget(widget)
        column.addSpacing(10)
        column.addWidget(place)
        column.addSpacing(8)
        column.addLayout(self._buttons())
        self._tasks.submit(
            partial(count_images, folder), self._show_count, ignore_failure, on_progress=self._show_count
        )
        detect(self._tasks, [folder], self._show_labels)

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self.details = QPushButton(self.tr("More options…"), autoDefault=False)
        self.details.clicked.connect(self._ask_details)
        cancel = QPushButton(self.tr("Cancel"), autoDefault=False)
        cancel.clicked.connect(self.reject)
        self.create = QPushButton(self.tr("Create project"), objectName="primary")
        self.create.setDefault(True)
        self.create.clicked.connect(self.accept)
        row.addWidget(self.details)
        row.addStretch(1)
        row.addWidget(cancel)
        row.addWidget(self.create)
        return row

    def accept(self) -> None:
        super().accept()
        self.chosen.emit(NewProject(self.root, self._folder, self._labels, names(self.classes.text()), []))

    def done(self, result: int) -> None:
        """End the count and the search for labels."""
        self._tasks.stop()
        super().done(result)

    def _ask_details(self) -> None:
        self.reject()
        self.details_requested.emit(self._folder)

    def _show_count(self, count: int) -> None:
        self.count.setText(image_count_text(count))

    def _show_labels(self, found: dict[str, int]) -> None:
        formats = [format_with_count(name, count) for name, count in found.items() if name not in ("zip", "file")]
        if formats:
            self._labels = self._folder
            if not self.classes.isModified():
                self.classes.clear()  # an unused class beside those of the labels is not wanted
                self.classes.setPlaceholderText(self.tr("Classes of the labels"))
            self.found.setText(
                self.tr("Labels found: {formats}. Their import is shown after the project is created.").format(
                    formats=listed(formats)
                )
            )
            self.found.show()
            fit_height(self)
