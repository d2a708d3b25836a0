"""Welcome page: create or open a project, or try the sample project."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from workbench.core import resources
from workbench.ui.actions.actions import Actions
from workbench.ui.widgets.theme import ThemeManager


class Welcome(QWidget):
    """Page shown while no project is open."""

    chosen = Signal(object)  # Path of a recent project

    def __init__(self, actions: Actions, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        outer = QVBoxLayout(self)
        outer.addStretch(2)
        row = QHBoxLayout()
        row.addStretch(1)
        card = QFrame(objectName="card")
        card.setFixedWidth(560)
        row.addWidget(card)
        row.addStretch(1)
        outer.addLayout(row)
        outer.addStretch(3)
        column = QVBoxLayout(card)
        column.setContentsMargins(36, 30, 36, 28)
        column.setSpacing(6)
        column.addLayout(self._make_header())
        column.addSpacing(18)
        column.addLayout(self._make_buttons(actions))
        column.addSpacing(4)
        column.addWidget(self.import_button)
        column.addSpacing(8)
        self._recent_title = QLabel(self.tr("Recent projects"), objectName="heading")
        column.addWidget(self._recent_title)
        self._recent = QVBoxLayout()
        self._recent.setSpacing(0)
        column.addLayout(self._recent)
        unpack = QPushButton(self.tr("Unpack a packed project (.zip)…"), objectName="link")
        unpack.setCursor(Qt.CursorShape.PointingHandCursor)
        unpack.setToolTip(actions["unpack"].toolTip())
        unpack.clicked.connect(actions["unpack"].trigger)
        column.addWidget(unpack)
        self._first_steps = QLabel(
            self.tr(
                "New to Defect Workbench? The sample project contains labeled images of a scratched surface. "
                "Click Train and watch the predictions improve within minutes."
            ),
            wordWrap=True,
        )
        self._first_steps.setObjectName("muted")
        column.addWidget(self._first_steps)

    def _make_header(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(18)
        logo = QLabel()
        logo.setPixmap(QIcon(str(resources.path("icons/app.svg"))).pixmap(QSize(64, 64), self.devicePixelRatioF()))
        row.addWidget(logo)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        title = QLabel("Defect Workbench", objectName="title")
        subtitle = QLabel(self.tr("Label defects, train a model, export it"), objectName="subtitle")
        texts.addStretch(1)
        texts.addWidget(title)
        texts.addWidget(subtitle)
        texts.addStretch(1)
        row.addLayout(texts, 1)
        return row

    def _make_buttons(self, actions: Actions) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(10)
        self.buttons: list[QPushButton] = []
        for id, name, icon in (
            ("new_project", self.tr("New project"), "new"),
            ("open_project", self.tr("Open project"), "open"),
            ("make_sample", self.tr("Sample project"), "sample"),
        ):
            button = QPushButton(name)
            button.setMinimumHeight(36)
            button.setProperty("icon-name", icon)
            if id == "new_project":
                button.setObjectName("primary")
            button.setToolTip(actions[id].toolTip())
            button.clicked.connect(actions[id].trigger)
            row.addWidget(button, 1)
            self.buttons.append(button)
        self._style.changed.connect(self._restyle)
        self._restyle()
        self.import_button = QPushButton(self.tr("Import labels (labelme, CVAT, YOLO, COCO, …)"), objectName="link")
        self.import_button.setCursor(Qt.CursorShape.PointingHandCursor)
        self.import_button.setToolTip(actions["import_labels"].toolTip())
        self.import_button.clicked.connect(actions["import_labels"].trigger)
        return row

    def show_recent(self, paths: list[Path]) -> None:
        while self._recent.count():
            self._recent.takeAt(0).widget().deleteLater()
        for path in paths[:5]:
            button = QPushButton(f"{path.name}   {_shortened(path.parent)}".replace("&", "&&"), objectName="link")
            button.setToolTip(str(path))
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            button.clicked.connect(lambda _=False, path=path: self.chosen.emit(path))
            self._recent.addWidget(button)
        self._recent_title.setVisible(bool(paths))
        self._first_steps.setVisible(not paths)

    def _restyle(self) -> None:
        for button in self.buttons:
            role = "accent_text" if button.objectName() == "primary" else "text"
            button.setIcon(self._style.theme.icon(button.property("icon-name"), role))


def _shortened(path: Path) -> str:
    text = str(path)
    home = str(Path.home())
    text = "~" + text[len(home) :] if text.startswith(home) else text
    return text if len(text) <= 48 else "…" + text[-47:]
