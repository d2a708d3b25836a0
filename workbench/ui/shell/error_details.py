"""Details of an unexpected error: traceback and the facts needed for a bug report."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from pathlib import Path

import PySide6
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QFontInfo, QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from workbench import __version__
from workbench.session.error_log import ErrorReport
from workbench.ui.widgets.screen_fit import resize_for_text, text_scale


def report_text(report: ErrorReport) -> str:
    """Return the text of a report: versions, system, time, traceback. The text is not translated."""
    facts = (
        f"Defect Workbench {__version__}",
        f"Python {platform.python_version()}, Qt {PySide6.__version__}, {platform.platform()}",
        time.strftime("%Y-%m-%d %H:%M:%S %z"),
    )
    return "\n".join((*facts, "", report.summary, "", report.details.rstrip(), ""))


def copy_report(report: ErrorReport) -> None:
    """Copy the text of a report to the clipboard."""
    QGuiApplication.clipboard().setText(report_text(report))


class ErrorDetails(QDialog):
    """Dialog with the text of a report, to read and copy."""

    def __init__(
        self, report: ErrorReport, folder: Path, show_folder: Callable[[Path], None], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Unexpected error"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(22, 20, 22, 18)
        layout.setSpacing(14)
        title = QLabel(report.summary, objectName="heading", wordWrap=True)
        title.setTextFormat(Qt.TextFormat.PlainText)  # the text may quote a file
        layout.addWidget(title)
        self.text = QPlainTextEdit(report_text(report), readOnly=True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(QFontInfo(font).pointSizeF() * text_scale())
        self.text.setFont(font)
        self.text.setAccessibleName(self.tr("Details of the error"))
        layout.addWidget(self.text, 1)
        location = QLabel(self.tr("Log folder: {path}").format(path=folder), objectName="muted", wordWrap=True)
        location.setTextFormat(Qt.TextFormat.PlainText)
        location.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout.addWidget(location)
        buttons = QHBoxLayout()
        self.folder_button = QPushButton(self.tr("Show log folder"))
        self.folder_button.clicked.connect(lambda: show_folder(folder))
        self.copy_button = QPushButton(self.tr("Copy report"), objectName="primary")
        self.copy_button.clicked.connect(lambda: copy_report(report))
        close = QPushButton(self.tr("Close"))
        close.clicked.connect(self.accept)
        buttons.addWidget(self.folder_button)
        buttons.addStretch(1)
        buttons.addWidget(close)
        buttons.addWidget(self.copy_button)
        layout.addLayout(buttons)
        self.copy_button.setDefault(True)
        resize_for_text(self, 720, 440)
