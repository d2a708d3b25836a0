"""Filter and order of the image list."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from workbench.core.image_list.image_table import SORTS
from workbench.ui.images.image_model import FILTERS, ImageListModel
from workbench.ui.widgets.theme import Theme


class ImageFilters(QWidget):
    """Widget with filter, order, and access to the label queue, which has its own order."""

    changed = Signal()
    queue_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        self.filter = QComboBox()
        self.filter.setAccessibleName(self.tr("Which pictures are listed"))
        self.filter.setToolTip(self.tr("Which pictures are listed"))
        for name, text in zip(FILTERS, self._filter_texts(), strict=True):
            self.filter.addItem(text, name)
        self.sort = QComboBox()
        self.sort.setAccessibleName(self.tr("What the pictures are sorted by"))
        self.sort.setToolTip(self.tr("What the pictures are sorted by"))
        for name, text in zip(SORTS, self._sort_texts(), strict=True):
            self.sort.addItem(text, name)
        self.turn = QToolButton(checkable=True)
        self.turn.setAccessibleName(self.tr("Greatest first"))
        self.turn.setToolTip(self.tr("Greatest first"))
        self.lead = QToolButton()
        self.lead.setAccessibleName(self.tr("What to label next"))
        self.lead.setToolTip(self.tr("What to label next: pictures from which the model would learn most"))
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addWidget(self.sort, 1)
        row.addWidget(self.turn)
        row.addWidget(self.lead)
        column.addWidget(self.filter)
        column.addLayout(row)
        self.filter.currentIndexChanged.connect(self.changed)
        self.sort.currentIndexChanged.connect(self.changed)
        self.turn.toggled.connect(self.changed)
        self.lead.clicked.connect(self.queue_wanted)

    def put_into(self, model: ImageListModel) -> None:
        """Apply the choice to the list model."""
        model.wanted = self.filter.currentData()
        model.sort_by, model.descending = self.sort.currentData(), self.turn.isChecked()

    def sort_by(self, name: str, *, descending: bool) -> None:
        """Sort by `name`, one of SORTS."""
        self.turn.setChecked(descending)
        self.sort.setCurrentIndex(SORTS.index(name))

    def restyle(self, theme: Theme) -> None:
        self.turn.setIcon(theme.icon("chevron-down" if self.turn.isChecked() else "chevron-up", "muted"))
        self.lead.setIcon(theme.icon("queue", "text"))

    def _filter_texts(self) -> tuple[str, ...]:
        return (
            self.tr("All pictures"),
            self.tr("Not done yet"),
            self.tr("Started"),
            self.tr("Done"),
            self.tr("With defects"),
            self.tr("Done, without defects"),
            self.tr("Cannot be read"),
        )

    def _sort_texts(self) -> tuple[str, ...]:
        return (
            self.tr("By name"),
            self.tr("By status"),
            self.tr("By verdict"),
            self.tr("By number of classes"),
            self.tr("By number of regions"),
            self.tr("By painted area"),
            self.tr("By model score"),
            self.tr("By date"),
        )
