"""New project dialog: folder, image folder, classes and verdicts."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtCore import Signal
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


class NewProjectDialog(QDialog):
    """Dialog for a new project. `chosen` carries the folder, the image folder or None, class names and verdicts."""

    chosen = Signal(object, object, object, object)

    def __init__(self, parent_folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("New project"))
        self.setMinimumWidth(560)
        self.name = QLineEdit(self.tr("my-project"))
        self.location = QLineEdit(str(parent_folder))
        self.images = QLineEdit(placeholderText=self.tr("Optional. Images can be added later."))
        self.classes = QLineEdit(placeholderText=self.tr("scratch, pit, stain"))
        self.verdicts = QLineEdit(placeholderText=self.tr("OK, NG"))
        column = QVBoxLayout(self)
        column.setContentsMargins(22, 20, 22, 18)
        column.setSpacing(14)
        form = QFormLayout()
        form.setHorizontalSpacing(14)
        form.setVerticalSpacing(10)
        form.addRow(self.tr("&Name"), self.name)
        browse = self._with_browse(self.location, self.tr("Folder in which the project folder is created"))
        form.addRow(_label(self.tr("&Folder"), self.location), browse)
        browse = self._with_browse(self.images, self.tr("Image folder. The images are not copied."))
        form.addRow(_label(self.tr("&Images"), self.images), browse)
        form.addRow(self.tr("&Classes"), self.classes)
        form.addRow("", _muted(self.tr("Types of defects to paint, for UNet. More can be added at any time.")))
        form.addRow(self.tr("&Verdicts"), self.verdicts)
        form.addRow("", _muted(self.tr("Results for a whole image, for ResNet. Optional.")))
        column.addLayout(form)
        self.message = QLabel(wordWrap=True)
        self.message.setObjectName("muted")
        column.addWidget(self.message)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        cancel = QPushButton(self.tr("Cancel"))
        cancel.clicked.connect(self.reject)
        self.create = QPushButton(self.tr("Create project"), objectName="primary")
        self.create.setDefault(True)
        self.create.clicked.connect(self.accept)
        buttons.addWidget(cancel)
        buttons.addWidget(self.create)
        column.addLayout(buttons)
        for field in (self.name, self.location, self.images):
            field.textChanged.connect(self._check)
        self._check()
        self.name.selectAll()

    @property
    def root(self) -> Path:
        return Path(self.location.text().strip()).expanduser() / self.name.text().strip()

    def accept(self) -> None:
        if self._problem():
            return
        images = self.images.text().strip()
        super().accept()
        self.chosen.emit(
            self.root,
            Path(images).expanduser() if images else None,
            names(self.classes.text()),
            names(self.verdicts.text()),
        )

    def _check(self) -> None:
        problem = self._problem()
        self.create.setEnabled(not problem)
        self.message.setText(problem or self.tr("Project folder: {path}").format(path=self.root))

    def _problem(self) -> str:
        name, images = self.name.text().strip(), self.images.text().strip()
        if not name or name in (".", "..") or re.search(r'[<>:"/\\|?*]', name):
            return self.tr('The project name must not be empty or contain any of < > : " / \\ | ? *')
        if not self.location.text().strip():
            return self.tr("Choose the folder in which the project folder is created.")
        if (self.root / "project.json").exists():
            return self.tr("A project with this name exists. Choose another name, or open that project.")
        if images and not Path(images).expanduser().is_dir():
            return self.tr("The image folder does not exist.")
        return ""

    def _with_browse(self, field: QLineEdit, tip: str) -> QHBoxLayout:
        field.setToolTip(tip)
        field.setAccessibleName(tip)
        row = QHBoxLayout()
        row.setSpacing(6)
        button = QPushButton(self.tr("Browse…"))
        button.setToolTip(tip)
        button.clicked.connect(lambda: self._browse(field, tip))
        row.addWidget(field, 1)
        row.addWidget(button)
        return row

    def _browse(self, field: QLineEdit, title: str) -> None:
        folder = QFileDialog.getExistingDirectory(self, title, field.text() or str(Path.home()))
        if folder:
            field.setText(folder)


def names(text: str) -> list[str]:
    """Split names at commas (ASCII, full-width, enumeration) and semicolons. Duplicates are dropped."""
    return list(dict.fromkeys(filter(None, (part.strip() for part in re.split(r"[,;，；、]", text)))))


def _label(text: str, field: QLineEdit) -> QLabel:
    label = QLabel(text)
    label.setBuddy(field)
    return label


def _muted(text: str) -> QLabel:
    label = QLabel(text, wordWrap=True)
    label.setObjectName("muted")
    return label
