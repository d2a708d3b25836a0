"""New project dialog: folder, image folder, classes and verdicts.

Number of images in a folder that was chosen for a new project.

Dialog that makes a project of a folder of images with one question: the classes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from PySide6.QtCore import QCoreApplication, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from workbench.core.project.sources import walk
from workbench.core.text_patterns import free_path
from workbench.inference.io.image_io import IMAGE_SUFFIXES
from workbench.session.tasks import Task, TaskRunner, ignore_failure
from workbench.ui.label_files.label_files_controller import detect
from workbench.ui.label_files.path_choices import choose_label_file
from workbench.ui.text.formatting import listed, number
from workbench.ui.text.settings_texts import format_with_count
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.text_labels import center_text, fit_height, set_width_for_text

_MAX_COUNTED = 100_000  # images
_REPORT_EVERY = 500  # images


class ImageCount(QLabel):
    """Number of images in a folder, counted in a worker thread. Hidden until it is known."""

    def __init__(self) -> None:
        super().__init__(objectName="muted")
        self._tasks = TaskRunner(parent=self)
        self.hide()

    def show_folder(self, folder: Path | None) -> None:
        """Count the images of a folder; None, or a folder that does not exist: show nothing."""
        self._tasks.cancel()
        self.hide()
        if folder is not None and folder.is_dir():
            count = partial(count_images, folder)
            self._tasks.submit(count, self._show_count, ignore_failure, on_progress=self._show_count)

    def stop(self) -> None:
        self._tasks.stop()

    def _show_count(self, count: int) -> None:
        self.setText(image_count_text(count))
        self.show()


def count_images(folder: Path, task: Task) -> int:
    """Count the images in a folder and its subfolders, in a worker thread; at most 100,000."""
    count = 0
    for path, _ in walk(folder):
        if task.cancelled() or count >= _MAX_COUNTED:
            break
        if PurePosixPath(path).suffix.lower() in IMAGE_SUFFIXES:
            count += 1
            if count % _REPORT_EVERY == 0:
                task.report(count)
    return count


def image_count_text(count: int) -> str:
    """Return the text of a number of images in a folder; "100,000+" if counting ended there."""
    if count == 0:
        return QCoreApplication.translate(
            "QuickProjectDialog", "This folder contains no images. Images can be added later."
        )
    if count == 1:
        return QCoreApplication.translate("QuickProjectDialog", "1 image")
    return QCoreApplication.translate("QuickProjectDialog", "{n} images").format(
        n=number(count) + ("+" if count >= _MAX_COUNTED else "")
    )


_SEARCH_DELAY = 400  # ms


@dataclass(frozen=True)
class NewProject:
    """Choices for a new project. images: folder of images. labels: folder or file of labels to import."""

    root: Path
    images: Path | None
    labels: Path | None
    classes: list[str]
    verdicts: list[str]


class NewProjectDialog(QDialog):
    """Dialog for a new project. Labels in the image folder are found and offered for import."""

    chosen = Signal(object)  # NewProject

    def __init__(self, parent_folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("New project"))
        set_width_for_text(self, 560)
        self.name = QLineEdit(self.tr("my-project"))
        self._suggested_name = self.name.text()
        self.location = QLineEdit(str(parent_folder))
        self.images = QLineEdit(placeholderText=self.tr("Optional. Images can be added later."))
        self.labels = QLineEdit(placeholderText=self.tr("Optional. Labels made with another tool."))
        self._tasks = TaskRunner(parent=self)
        self._search_timer = QTimer(self, singleShot=True, interval=_SEARCH_DELAY, timeout=self._search)
        self.classes = QLineEdit(placeholderText=self.tr("scratch, pit, stain"))
        self.verdicts = QLineEdit(placeholderText=self.tr("OK, NG"))
        for field in (self.name, self.classes, self.verdicts):
            center_text(field)
        form = QFormLayout(horizontalSpacing=14, verticalSpacing=10)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        form.addRow(_label(self.tr("&Name"), self.name), self.name)
        title = self.tr("Folder for the project")
        browse = self._with_browse(self.location, self.tr("Folder in which the project folder is created"), title)
        form.addRow(_label(self.tr("&Folder"), self.location), browse)
        title = self.tr("Folder with the images")
        browse = self._with_browse(self.images, self.tr("Image folder. The images are not copied."), title)
        form.addRow(_label(self.tr("&Images"), self.images), browse)
        self.count = ImageCount()
        form.addRow("", self.count)
        tip = self.tr("Labels to import. The images beside them are imported too.")
        browse = self._with_browse(self.labels, tip, self.tr("Folder with labels"), file=True)
        form.addRow(_label(self.tr("La&bels"), self.labels), browse)
        self.found = _muted("")
        self.found.hide()
        form.addRow("", self.found)
        for label, field, hint in (
            (self.tr("&Classes"), self.classes, self.tr("Types of defects to paint, for UNet. Add more at any time.")),
            (self.tr("&Verdicts"), self.verdicts, self.tr("Optional. Results for a whole image, for ResNet.")),
        ):
            form.addRow(_label(label, field), _with_hint(field, hint))
        self.message = QLabel(objectName="muted", wordWrap=True)
        cancel = QPushButton(self.tr("Cancel"), clicked=self.reject)
        self.create = QPushButton(self.tr("Create project"), objectName="primary", default=True, clicked=self.accept)
        buttons = in_row(1, cancel, self.create)
        in_column(form, self.message, buttons, owner=self, margins=(22, 20, 22, 18), spacing=14)
        for field in (self.name, self.location, self.images, self.labels):
            field.textChanged.connect(self._check)
        for field in (self.images, self.labels):
            field.textChanged.connect(self._search_later)
            field.textChanged.connect(self._suggest_name)
        self.labels.textChanged.connect(self._show_label_names)
        self._check()
        self.name.selectAll()

    def set_images(self, folder: Path) -> None:
        """Fill in the image folder, and a project name made from it."""
        self.images.setText(str(folder))
        self.name.selectAll()

    def set_labels(self, path: Path) -> None:
        """Fill in the labels to import, and a project name made from them."""
        self.labels.setText(str(path))
        self.name.selectAll()

    def _show_label_names(self) -> None:
        """Show whether the classes and verdicts come from labels."""
        from_labels = self.tr("From the labels") if self.labels.text().strip() else ""
        self.classes.setPlaceholderText(from_labels or self.tr("scratch, pit, stain"))
        self.verdicts.setPlaceholderText(from_labels or self.tr("OK, NG"))

    def _suggest_name(self) -> None:
        """Set the project name to that of the image folder, or else of the labels, unless the user has changed it."""
        path = _path(self.images) or _path(self.labels)
        if path is None or not path.exists() or self.name.text() != self._suggested_name:
            return
        name = path.name if path.is_dir() else path.stem if path.suffix.lower() == ".zip" else path.parent.name
        if name:
            self._suggested_name = free_path(Path(self.location.text()), f"{name}-project").name
            self.name.setText(self._suggested_name)

    def _search_later(self) -> None:
        """Search when the user has stopped typing; a running search is canceled."""
        self._tasks.cancel()
        self.found.hide()
        self.count.show_folder(None)
        self._search_timer.start()

    def _search(self) -> None:
        """Count the images, and search the labels, or else the images, for known label formats.

        Labels beside the images are filled in.
        """
        labels, images = self.labels.text().strip(), self.images.text().strip()
        self.count.show_folder(_path(self.images))
        path = Path(labels or images).expanduser()
        if not (labels or images) or not path.exists():
            return

        def show(found: dict[str, int]) -> None:
            if not found:
                return
            names = [format_with_count(name, count) for name, count in found.items() if name not in ("zip", "file")]
            if names:
                self.found.setText(self.tr("Labels found: {formats}").format(formats=listed(names)))
                self.found.show()
                fit_height(self)
            if not labels and not self.labels.text():
                self.labels.setText(images)

        detect(self._tasks, [path], show)

    def done(self, result: int) -> None:
        """End the search for labels."""
        self._search_timer.stop()
        self._tasks.stop()
        self.count.stop()
        super().done(result)

    @property
    def root(self) -> Path:
        return Path(self.location.text().strip()).expanduser() / self.name.text().strip()

    def accept(self) -> None:
        if self._problem()[1]:
            return
        super().accept()
        entered = names(self.classes.text()), names(self.verdicts.text())
        self.chosen.emit(NewProject(self.root, _path(self.images), _path(self.labels), *entered))

    def _check(self) -> None:
        """Show the first problem in red, and its field with a red border."""
        wrong, problem = self._problem()
        self.create.setEnabled(not problem)
        self.message.setText(problem or self.tr("Project folder: {path}").format(path=self.root))
        self.message.setObjectName("wrong" if problem else "muted")
        for widget in (self.message, self.name, self.location, self.images, self.labels):
            widget.setProperty("wrong", widget is wrong)
            widget.style().unpolish(widget)
            widget.style().polish(widget)

    def _problem(self) -> tuple[QLineEdit | None, str]:
        name, images = self.name.text().strip(), self.images.text().strip()
        if not name or name in (".", "..") or re.search(r'[<>:"/\\|?*]', name):
            return self.name, self.tr('The project name must not be empty or contain any of < > : " / \\ | ? *')
        if not self.location.text().strip():
            return self.location, self.tr("Choose the folder in which the project folder is created.")
        if (self.root / "project.json").exists():
            return self.name, self.tr("A project with this name exists. Choose another name, or open that project.")
        if images and not Path(images).expanduser().is_dir():
            return self.images, self.tr("The image folder does not exist.")
        labels = _path(self.labels)
        if labels is not None and not labels.exists():
            return self.labels, self.tr("The labels do not exist.")
        return None, ""

    def _with_browse(self, field: QLineEdit, tip: str, title: str, *, file: bool = False) -> QHBoxLayout:
        """Return a row of a field and a button that chooses a folder. file: another button chooses a label file."""
        field.setToolTip(tip)
        field.setAccessibleName(tip)
        button = QPushButton(self.tr("Browse…"), toolTip=tip)
        button.setAutoDefault(False)  # after the choice of a file, Enter creates the project
        button.clicked.connect(lambda: self._browse(field, title))
        row = in_row((field, 1), button, spacing=6)
        if file:
            button.setText(self.tr("Folder…"))
            other = QPushButton(self.tr("File or zip…"), toolTip=tip, autoDefault=False)
            other.clicked.connect(lambda: self._browse_file(field))
            row.addWidget(other)
        return row

    def _browse_file(self, field: QLineEdit) -> None:
        path = choose_label_file(self, field.text() or str(Path.home()))
        if path is not None:
            field.setText(str(path))

    def _browse(self, field: QLineEdit, title: str) -> None:
        folder = QFileDialog.getExistingDirectory(self, title, field.text() or str(Path.home()))
        if folder:
            field.setText(folder)


def names(text: str) -> list[str]:
    """Split names at commas (ASCII, full-width, enumeration) and semicolons. Duplicates are dropped."""
    return list(dict.fromkeys(filter(None, (part.strip() for part in re.split(r"[,;，；、]", text)))))


def _path(field: QLineEdit) -> Path | None:
    text = field.text().strip()
    return Path(text).expanduser() if text else None


def _label(text: str, field: QLineEdit) -> QLabel:
    label = QLabel(text)
    label.setBuddy(field)
    label.setFixedHeight(field.sizeHint().height())  # centers the label vertically beside its field
    return label


def _with_hint(field: QWidget, hint: str) -> QVBoxLayout:
    return in_column(field, _muted(hint), spacing=4)


def _muted(text: str) -> QLabel:
    return QLabel(text, wordWrap=True, objectName="muted")


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
        column = in_column(owner=self, margins=(24, 20, 24, 18), spacing=6)
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
        self.details = QPushButton(self.tr("More options…"), autoDefault=False, clicked=self._ask_details)
        cancel = QPushButton(self.tr("Cancel"), autoDefault=False, clicked=self.reject)
        self.create = QPushButton(self.tr("Create project"), objectName="primary", default=True, clicked=self.accept)
        return in_row(self.details, 1, cancel, self.create, spacing=8)

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
