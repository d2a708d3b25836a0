"""The middle of the window: the open picture, or all of them."""

from __future__ import annotations

from PySide6.QtWidgets import QStackedWidget, QWidget

from workbench.ui.panels.pictures import PicturesPanel


class Centre(QStackedWidget):
    """Changes between the canvas and the contact sheet as the panel of pictures wants it."""

    def __init__(self, canvas: QWidget, pictures: PicturesPanel) -> None:
        super().__init__()
        self._canvas, self._sheet = canvas, pictures.sheet
        self.addWidget(canvas)
        self.addWidget(self._sheet)
        pictures.sheet_wanted.connect(self._show)

    def _show(self, sheet: bool) -> None:
        if sheet:
            self.setCurrentWidget(self._sheet)
            self._sheet.find_open()
        else:
            self.setCurrentWidget(self._canvas)
            self._canvas.setFocus()
