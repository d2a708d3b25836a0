"""Choice of label files, and of the folder of images that were not found beside their labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QFileDialog, QLabel, QLineEdit, QPushButton, QWidget

from workbench.core.project.import_images import common_folder
from workbench.core.text_patterns import fill
from workbench.ui.text.formatting import number, sentences
from workbench.ui.widgets.box_layouts import in_row
from workbench.ui.widgets.file_drop import LABEL_SUFFIXES

_SHOWN_PATHS = 20  # in the tooltip of the files


def choose_label_file(parent: QWidget, start: str) -> Path | None:
    """Let the user choose a label file or zip archive. start: path that is shown first."""
    title = QCoreApplication.translate("MissingImages", "Label file or zip archive")
    file, _ = QFileDialog.getOpenFileName(parent, title, start, _filters())
    return Path(file) if file else None


def choose_label_files(parent: QWidget, start: str) -> list[Path]:
    """Let the user choose a zip archive or one or more label files. start: path that is shown first."""
    title = QCoreApplication.translate("MissingImages", "Label files or zip archive")
    files, _ = QFileDialog.getOpenFileNames(parent, title, start, _filters())
    return [Path(file) for file in files]


def _filters() -> str:
    patterns = " ".join(f"*{suffix}" for suffix in LABEL_SUFFIXES)
    labels = QCoreApplication.translate("MissingImages", "Labels ({patterns})").format(patterns=patterns)
    return ";;".join([labels, QCoreApplication.translate("MissingImages", "All files (*)")])


class LabelPathField(QWidget):
    """Line for a folder, archive or label file, typed or chosen with one of two buttons."""

    chosen = Signal(list)  # of Path: existing ones
    edited = Signal()  # the text no longer shows the chosen files
    not_found = Signal()  # nothing is at the typed path

    def __init__(self) -> None:
        super().__init__()
        self._paths: Sequence[Path] = ()
        self.line = QLineEdit(accessibleName=self.tr("Labels to import"))
        self.line.setPlaceholderText(self.tr("Folder, zip archive or label file of another tool"))
        self.line.textEdited.connect(self.edited)
        self.line.editingFinished.connect(self._use_typed)
        row = in_row((self.line, 1), owner=self, margins=0, spacing=6)
        for text, choose in ((self.tr("Folder…"), self._choose_folder), (self.tr("File or zip…"), self._choose_files)):
            button = QPushButton(text, autoDefault=False)
            button.clicked.connect(choose)
            row.addWidget(button)

    def show_paths(self, paths: Sequence[Path]) -> None:
        """Show files and folders that were chosen together."""
        self._paths = paths
        text = self.tr("{n} {n:file or folder|files and folders} in {folder}")
        several = fill(text, n=number(len(paths)), folder=common_folder(paths)) if len(paths) > 1 else ""
        self.line.setText(several or str(paths[0]))
        self.line.setToolTip("\n".join(map(str, paths[:_SHOWN_PATHS])))

    def _use_typed(self) -> None:
        text = self.line.text().strip()
        if not self.line.isModified() or not text:
            return
        self.line.setModified(False)  # Enter and the loss of the focus both end the editing
        path = Path(text).expanduser()
        if path.exists():
            self.chosen.emit([path])
        else:
            self.not_found.emit()

    def _choose_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, self.tr("Folder with labels"), self._start())
        if folder:
            self.chosen.emit([Path(folder)])

    def _choose_files(self) -> None:
        files = choose_label_files(self, self._start())
        if files:
            self.chosen.emit(files)

    def _start(self) -> str:
        """Return the path that a file dialog shows first."""
        return str(self._paths[0] if self._paths else Path.home())


class MissingImages(QWidget):
    """Number of labels without an image, and a button that lets the user choose the folder of the images."""

    located = Signal(object)  # Path of a folder
    not_found = Signal()  # none of the images is in the folder that was chosen last

    def __init__(self) -> None:
        super().__init__()
        self._start = Path.home()
        self._missing, self._searched = 0, None  # number of the images, folder that was chosen last
        self.text = QLabel(wordWrap=True)
        self.button = QPushButton(self.tr("Locate images…"), autoDefault=False)
        self.button.setToolTip(self.tr("Choose the folder of the images. They are used where they are."))
        in_row((self.text, 1), self.button, owner=self, margins=0, spacing=12)
        self.button.clicked.connect(self._locate)
        self.hide()

    def show_count(self, missing: int, path: Path | None) -> None:
        """Show the number of labels without an image in the files at `path`; hidden if there are none."""
        self._start = Path.home() if path is None else path.parent
        text = self.tr("Labels without an image: {n}. Their images are neither beside the labels nor in the project.")
        text = text.format(n=number(missing))
        searched, self._searched = self._searched, None
        not_found = searched is not None and 0 < missing == self._missing
        if not_found:
            other = self.tr("None of them is in {folder}. Choose another folder.").format(folder=searched)
            text = sentences(text, other)
        self._missing = missing
        self.text.setText(text)
        self.setVisible(missing > 0)
        if not_found:
            self.not_found.emit()

    def _locate(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, self.tr("Folder with the images"), str(self._start))
        if folder:
            self._searched = Path(folder)
            self.located.emit(Path(folder))
