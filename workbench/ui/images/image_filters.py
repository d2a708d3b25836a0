"""Filter and sort order of the image list."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from workbench.ui.images.image_model import ImageListModel
from workbench.ui.widgets.key_tips import set_key_tip
from workbench.ui.widgets.theme import Theme


class ImageFilters(QWidget):
    """Widget with filter, sort order, and access to the label queue, which has its own order."""

    changed = Signal()
    queue_requested = Signal()
    thumbnails_requested = Signal()

    def __init__(self, model: ImageListModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        self.filter = QComboBox()
        for entry in model.filters:
            self.filter.addItem(entry.title, entry.name)
        self.sort = QComboBox()
        for entry in model.columns:
            self.sort.addItem(entry.sort_text, entry.sort)
        self.descending = QToolButton(checkable=True)
        self.label_next = QToolButton()
        self.thumbnails = QToolButton(checkable=True)
        for widget, name, tip in (
            (self.filter, self.tr("Image filter"), self.tr("Filter the image list")),
            (self.sort, self.tr("Sort order"), self.tr("Sort order of the image list")),
            (self.descending, self.tr("Descending"), self.tr("Sort in descending order")),
            (
                self.label_next,
                self.tr("Label next"),
                self.tr("Images that would improve the model most, with the reason for each"),
            ),
        ):
            widget.setAccessibleName(name)
            widget.setToolTip(tip)
        self.thumbnails.setAccessibleName(self.tr("Thumbnail view"))
        set_key_tip(self.thumbnails, self.tr("Show all listed images as thumbnails"), "sheet")
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addWidget(self.sort, 1)
        row.addWidget(self.descending)
        row.addWidget(self.label_next)
        first = QHBoxLayout()
        first.setSpacing(4)
        first.addWidget(self.filter, 1)
        first.addWidget(self.thumbnails)
        column.addLayout(first)
        column.addLayout(row)
        self.filter.currentIndexChanged.connect(self.changed)
        self.sort.currentIndexChanged.connect(self.changed)
        self.descending.toggled.connect(self.changed)
        self.label_next.clicked.connect(self.queue_requested)
        self.thumbnails.clicked.connect(self.thumbnails_requested)

    def apply(self) -> None:
        """Set filter and sort order of the model."""
        self._model.filter_name = self.filter.currentData()
        self._model.sort_by, self._model.descending = self.sort.currentData(), self.descending.isChecked()

    def sort_by(self, name: str, *, descending: bool) -> None:
        """Choose a sort order of `ImageListModel.columns`."""
        self.descending.setChecked(descending)
        self.sort.setCurrentIndex(self._model.column_of(name))

    def restyle(self, theme: Theme) -> None:
        self.descending.setIcon(theme.icon("chevron-down" if self.descending.isChecked() else "chevron-up", "muted"))
        self.thumbnails.setIcon(theme.icon("grid"))
        self.label_next.setIcon(theme.icon("queue", "text"))
