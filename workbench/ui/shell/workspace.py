"""Layout of the panels while a project is open."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QEvent, QSettings, QSize, Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QScrollArea, QSplitter, QToolBar, QVBoxLayout, QWidget

from workbench.ui.actions.actions import Actions
from workbench.ui.actions.menus import TOOLS, fill_tool_bar
from workbench.ui.widgets.collapsible_section import CollapsibleSection


class Workspace(QSplitter):
    """Image list, canvas and side panel above the training panel. The positions of the splitters are saved."""

    def __init__(
        self, images: QWidget, header: QWidget, options: QWidget, canvas: QWidget, side: QWidget, training: QWidget
    ) -> None:
        super().__init__(Qt.Orientation.Vertical, childrenCollapsible=False)
        self._tools = QToolBar(objectName="tools", orientation=Qt.Orientation.Vertical, iconSize=QSize(20, 20))
        center = QWidget()
        column = tight(QVBoxLayout(center))
        column.addWidget(header)
        column.addWidget(options)
        row = tight(QHBoxLayout())
        row.addWidget(self._tools)
        row.addWidget(canvas, 1)
        column.addLayout(row, 1)
        self._around = (images, header, options, side, self._tools)  # hidden during an evaluation
        self._hidden: list[QWidget] = []
        self._training = training
        self._unfolded: list[int] = []  # heights before the training panel was folded
        self._across = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        images.setMinimumWidth(220)  # wide enough to distinguish image names
        for widget in (images, center, side):
            self._across.addWidget(widget)
        self._across.setStretchFactor(1, 1)
        self._across.setSizes([230, 800, 250])
        self.addWidget(self._across)
        self.addWidget(training)
        self.setStretchFactor(0, 1)
        self.setSizes([560, 250])

    def fill_tools(self, actions: Actions) -> None:
        fill_tool_bar(self._tools, TOOLS, actions)

    def make_room(self, on: bool) -> None:
        """Hide all panels except the central one, or show them again."""
        if on:
            self._hidden = [widget for widget in self._around if not widget.isHidden()]
        for widget in self._hidden:
            widget.setVisible(not on)

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._follow_fold()
        return done

    def _follow_fold(self) -> None:
        """Resize on folding: a splitter alone would keep the height of a folded panel as a gap."""
        most, sizes = self._training.maximumHeight(), self.sizes()
        if sizes[1] > most:
            self._unfolded = sizes
            self.setSizes([sum(sizes) - most, most])
        elif self._unfolded and most > sum(sizes):
            lower = self._unfolded[1]
            self._unfolded = []
            self.setSizes([sum(sizes) - lower, lower])

    def restore(self, memory: QSettings) -> None:
        for name, splitter in (("across", self._across), ("down", self)):
            state = memory.value(f"geometry/{name}")
            if isinstance(state, QByteArray):
                splitter.restoreState(state)

    def remember(self, memory: QSettings) -> None:
        memory.setValue("geometry/across", self._across.saveState())
        memory.setValue("geometry/down", self.saveState())


def side_panel(sections: list[CollapsibleSection]) -> QScrollArea:
    """Return a scroll area with the sections one below another."""
    body = QWidget(objectName="sideBody")
    column = tight(QVBoxLayout(body))
    column.setContentsMargins(0, 4, 0, 8)
    for section in sections:
        column.addWidget(section)
    column.addStretch(1)
    area = QScrollArea(objectName="side", widgetResizable=True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setMinimumWidth(240)
    area.setWidget(body)
    return area


def tight(layout: QBoxLayout) -> QBoxLayout:
    """Remove margins and spacing from a layout, and return it."""
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    return layout
