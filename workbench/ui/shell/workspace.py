"""Layout of the panels while a project is open, and the bar above the canvas."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QCoreApplication, QEvent, QSettings, QSize, Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSplitter,
    QToolBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from workbench.session.session import Session
from workbench.ui.actions.actions import Actions
from workbench.ui.actions.menus import NAVIGATION, OVERLAYS, TOOL_STRIP, Table, fill_tool_bar
from workbench.ui.images.images_panel import ImagesPanel
from workbench.ui.widgets.collapsible_section import CollapsibleSection
from workbench.ui.widgets.elided_label import ElidedLabel


class Workspace(QSplitter):
    """Image list, canvas and side panel above the training panel. The positions of the splitters are saved."""

    def __init__(
        self, images: QWidget, header: QWidget, options: QWidget, canvas: QWidget, side: QWidget, training: QWidget
    ) -> None:
        super().__init__(Qt.Orientation.Vertical, childrenCollapsible=False)
        self._tools = QToolBar(objectName="tools", orientation=Qt.Orientation.Vertical, iconSize=QSize(20, 20))
        center = QWidget()
        column = without_margins(QVBoxLayout(center))
        column.addWidget(header)
        column.addWidget(options)
        row = without_margins(QHBoxLayout())
        row.addWidget(self._tools)
        row.addWidget(canvas, 1)
        column.addLayout(row, 1)
        self._surroundings = (images, header, options, side, self._tools)  # hidden during an evaluation
        self._hidden: list[QWidget] = []
        self._training = training
        self._sizes_before_fold: list[int] = []  # heights of the splitter
        self._columns = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        images.setMinimumWidth(220)  # wide enough to distinguish image names
        for widget in (images, center, side):
            self._columns.addWidget(widget)
        self._columns.setStretchFactor(1, 1)
        self._columns.setSizes([230, 800, 250])
        self.addWidget(self._columns)
        self.addWidget(training)
        self.setStretchFactor(0, 1)
        self.setSizes([560, 250])

    def fill_tools(self, actions: Actions) -> None:
        fill_tool_bar(self._tools, TOOL_STRIP, actions)
        buttons = [button for button in self._tools.findChildren(QToolButton) if button.focusPolicy()]
        self._tools.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # Qt orders only widgets that take the focus
        for before, after in zip([self._tools, *buttons], buttons):
            self.setTabOrder(before, after)  # created last, but reached before the canvas
        self._tools.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def show_center_only(self, on: bool) -> None:
        """Hide all panels except the central one, or show them again."""
        if on:
            self._hidden = [widget for widget in self._surroundings if not widget.isHidden()]
        for widget in self._hidden:
            widget.setVisible(not on)

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._resize_folded()
        return handled

    def _resize_folded(self) -> None:
        """Resize on folding: a splitter alone would keep the height of a folded panel as a gap."""
        maximum, sizes = self._training.maximumHeight(), self.sizes()
        if sizes[1] > maximum:
            self._sizes_before_fold = sizes
            self.setSizes([sum(sizes) - maximum, maximum])
        elif self._sizes_before_fold and maximum > sum(sizes):
            lower = self._sizes_before_fold[1]
            self._sizes_before_fold = []
            self.setSizes([sum(sizes) - lower, lower])

    def restore(self, settings: QSettings) -> None:
        for name, splitter in (("across", self._columns), ("down", self)):
            state = settings.value(f"geometry/{name}")
            if isinstance(state, QByteArray):
                splitter.restoreState(state)

    def save(self, settings: QSettings) -> None:
        settings.setValue("geometry/across", self._columns.saveState())
        settings.setValue("geometry/down", self.saveState())


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


def side_panel(sections: list[CollapsibleSection]) -> QScrollArea:
    """Return a scroll area with the sections one below another."""
    body = QWidget(objectName="sideBody")
    column = without_margins(QVBoxLayout(body))
    column.setContentsMargins(0, 4, 0, 8)
    for section in sections:
        column.addWidget(section)
    column.addStretch(1)
    area = QScrollArea(objectName="side", widgetResizable=True)
    area.setAccessibleName(QCoreApplication.translate("Window", "Side panel"))
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setMinimumWidth(240)
    area.setWidget(body)
    return area


def without_margins(layout: QBoxLayout) -> QBoxLayout:
    """Remove margins and spacing from a layout, and return it."""
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    return layout
