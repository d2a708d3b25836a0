"""Pages shown in place of an empty image list: getting started, or hints about the search."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from workbench.ui.images.search_field import search_help


class EmptyProjectPage(QWidget):
    """Page of a project without images."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 12, 18, 12)
        column.setSpacing(8)
        column.addStretch(1)
        self.icon = QLabel(alignment=Qt.AlignmentFlag.AlignCenter)
        text = QLabel(self.tr("Drop images or folders here"), alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        text.setObjectName("heading")
        note = QLabel(
            self.tr("Images are copied into the project. The original files are not changed."),
            alignment=Qt.AlignmentFlag.AlignCenter,
            wordWrap=True,
        )
        note.setObjectName("muted")
        self.files = QPushButton(self.tr("Add images…"), objectName="primary")
        self.folder = QPushButton(self.tr("Add folder…"))
        for widget in (self.icon, text, note):
            column.addWidget(widget)
        column.addSpacing(6)
        column.addWidget(self.files)
        column.addWidget(self.folder)
        column.addStretch(2)

    def sizeHint(self) -> QSize:
        return QSize(200, 300)


class NoMatchPage(QWidget):
    """Page shown if the filters hide all images."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 12, 18, 12)
        column.addStretch(1)
        text = QLabel(self.tr("No matching images"), alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        text.setObjectName("heading")
        self.clear = QPushButton(self.tr("Show all images"))
        self.help = QLabel(search_help(), wordWrap=True, objectName="muted")
        self.help.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.setSpacing(10)
        column.addWidget(text)
        column.addWidget(self.clear, 0, Qt.AlignmentFlag.AlignCenter)
        column.addWidget(self.help)
        column.addStretch(2)


class EmptyQueuePage(QWidget):
    """Page shown while the active queue is empty or not built yet."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 12, 18, 12)
        column.setSpacing(10)
        column.addStretch(1)
        self.text = QLabel(alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True, objectName="heading")
        self.all = QPushButton(self.tr("Show all images"))
        column.addWidget(self.text)
        column.addWidget(self.all, 0, Qt.AlignmentFlag.AlignCenter)
        column.addStretch(2)

    def show_state(self, *, running: bool) -> None:
        self.text.setText(
            self.tr("Analyzing images. The list appears when the analysis is complete.")
            if running
            else self.tr("No images left in this list")
        )
