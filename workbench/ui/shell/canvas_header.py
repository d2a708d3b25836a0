"""Bar above the canvas: image name and position, prediction, overlay switches."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolBar, QWidget

from workbench.session.session import Session
from workbench.ui.actions.actions import Actions
from workbench.ui.actions.menus import NAVIGATION, OVERLAYS, Table, fill_tool_bar
from workbench.ui.images.images_panel import ImagesPanel
from workbench.ui.widgets.elided_label import ElidedLabel


class CanvasHeader(QWidget):
    """Header of the current image."""

    def __init__(self, session: Session, images: ImagesPanel, actions: Actions) -> None:
        super().__init__()
        self.setObjectName("header")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._session, self._images = session, images
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 0, 4, 1)
        row.setSpacing(6)
        self.name = ElidedLabel(Qt.TextElideMode.ElideMiddle, tip=False)
        self.name.setObjectName("heading")
        self.name.setMinimumWidth(120)
        self.position = QLabel(objectName="muted")
        self.prediction = QLabel()
        self.prediction.setTextFormat(Qt.TextFormat.PlainText)
        row.addWidget(_tool_bar(NAVIGATION, actions, {}))
        row.addWidget(self.position)
        row.addWidget(self.name, 1)
        row.addWidget(self.prediction)
        row.addWidget(
            _tool_bar(OVERLAYS, actions, {"labels": self.tr("Labels"), "predictions": self.tr("Predictions")})
        )
        for signal in (session.image_opened, session.image_failed, session.project_closed, session.images_listed):
            signal.connect(self.refresh)
        self.refresh()

    def show_model_text(self, text: str) -> None:
        self.prediction.setText(text)

    def refresh(self, *_: object) -> None:
        number, count = self._images.position()
        self.position.setText(self.tr("{number} of {count}").format(number=number, count=count) if number else "")
        key = self._session.key or ""
        self.name.set_text(key.rpartition("/")[2])
        self.name.setToolTip(key)


def _tool_bar(table: Table, actions: Actions, texts: dict[str, str]) -> QToolBar:
    bar = QToolBar()
    bar.setIconSize(QSize(18, 18))
    fill_tool_bar(bar, table, actions, texts)
    return bar
