"""Dialog with the version of the application and of what it runs on."""

from __future__ import annotations

import platform

import PySide6
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from workbench import __version__
from workbench.core import resources


class AboutDialog(QDialog):
    """About dialog."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("About Defect Workbench"))
        column = QVBoxLayout(self)
        column.setContentsMargins(26, 22, 26, 18)
        column.setSpacing(12)
        row = QHBoxLayout()
        row.setSpacing(18)
        logo = QLabel()
        logo.setPixmap(QIcon(str(resources.path("icons/app.svg"))).pixmap(QSize(64, 64), self.devicePixelRatioF()))
        row.addWidget(logo)
        texts = QVBoxLayout()
        texts.addWidget(QLabel("Defect Workbench", objectName="title"))
        texts.addWidget(QLabel(self.tr("Version {version}").format(version=__version__), objectName="muted"))
        row.addLayout(texts, 1)
        column.addLayout(row)
        column.addWidget(
            QLabel(
                self.tr(
                    "Label surface defects, train UNet and ResNet models on this workstation, review the "
                    "results and export a model for the production line. No data leaves this computer."
                ),
                wordWrap=True,
            )
        )
        machine = f"Python {platform.python_version()} · Qt {PySide6.__version__} · {platform.platform()}"
        label = QLabel(machine, objectName="muted", wordWrap=True)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column.addWidget(label)
        close = QPushButton(self.tr("Close"))
        close.clicked.connect(self.accept)
        column.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)
        self.setMinimumWidth(460)
