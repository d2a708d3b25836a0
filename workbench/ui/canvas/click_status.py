"""State of the click model: as a line of the settings, and beside the button for its files in the option bar."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QWidget

from workbench.session.click_segmentation import ClickSegmentation
from workbench.ui.text.formatting import problem_text


class ClickModelStatus(QLabel):
    """Line with the state of the files: missing, being checked, refused with the reason, or the kind of the model."""

    def __init__(self, clicks: ClickSegmentation, parent: QWidget | None = None) -> None:
        super().__init__(parent, objectName="muted", wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._clicks = clicks
        clicks.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        clicks = self._clicks
        if not clicks.available:
            text = self.tr("Choose both files. Until then, the click segmentation is off.")
        elif clicks.working == "loading":
            text = self.tr("Checking the files…")
        elif clicks.problem is not None:
            text = problem_text(clicks.problem)[0]
        elif clicks.interface_name:
            text = self.tr("The files can be used: {name}.").format(name=clicks.interface_name)
        else:
            text = self.tr("The files are loaded at the first click.")
        self.setText(text)


class ClickModelField(QWidget):
    """Field of the option bar: button that opens the settings of the files, and what is being computed."""

    files_requested = Signal()

    def __init__(self, clicks: ClickSegmentation, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._clicks = clicks
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(7)
        self.button = QToolButton(text=self.tr("Model…"), toolTip=self.tr("Choose the ONNX files of the click model"))
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.clicked.connect(self.files_requested)
        self.state = QLabel(objectName="muted", textFormat=Qt.TextFormat.PlainText)
        row.addWidget(self.button)
        row.addWidget(self.state)
        clicks.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        clicks = self._clicks
        if not clicks.available:
            text = self.tr("No files chosen")
        elif clicks.working in ("loading", "encoding"):
            text = self.tr("Preparing the image…") if clicks.working == "encoding" else self.tr("Checking the files…")
        elif clicks.working:
            text = self.tr("Computing…")
        elif clicks.problem is not None:
            text = self.tr("Cannot be used")
        else:
            text = clicks.interface_name
        self.state.setText(text)
        self.state.setToolTip(problem_text(clicks.problem)[0] if clicks.problem is not None else "")
