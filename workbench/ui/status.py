"""The line at the bottom: is everything saved, what is under the pointer, how large, how big is the brush."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QProgressBar, QStatusBar

from workbench.core.project import DONT_CARE, NOT_LABELLED
from workbench.session.session import Session
from workbench.ui import words
from workbench.ui.canvas.canvas import Canvas


class Status(QStatusBar):
    """Follows the session and the canvas."""

    def __init__(self, session: Session, canvas: Canvas) -> None:
        super().__init__()
        self._session, self._canvas = session, canvas
        self.setSizeGripEnabled(False)
        self.saved, self.reading, self.bar = (
            QLabel(objectName="plain"),
            QLabel(objectName="muted"),
            QProgressBar(textVisible=False),
        )
        self.bar.setFixedWidth(120)
        self.spot, self.brush, self.zoom = (QLabel(objectName="muted") for _ in range(3))
        for widget in (self.saved, self.reading, self.bar):
            self.addWidget(widget)
        for widget in (self.spot, self.brush, self.zoom):
            self.addPermanentWidget(widget)
        session.project_opened.connect(self._save_state)
        session.project_closed.connect(self._save_state)
        session.save_state_changed.connect(self._save_state)
        session.index_progress.connect(self._index)
        session.picture_opened.connect(self._zoomed)
        canvas.hovered.connect(self._hover)
        canvas.view_changed.connect(self._zoomed)
        canvas.brush_changed.connect(self._brush_changed)
        canvas.tool_changed.connect(self._brush_changed)
        session.picture_opened.connect(self._brush_changed)
        session.project_closed.connect(self._brush_changed)
        self._save_state()
        self._index(1, 1)
        self._zoomed()
        self._brush_changed()

    def _save_state(self, *_: object) -> None:
        session = self._session
        if session.project is None:
            text = ""
        elif not session.writable:
            text = self.tr("Read-only")
        else:
            text = {
                "saved": self.tr("All saved"), "dirty": self.tr("Saving…"),
                "failed": self.tr("Not saved, trying again"),
            }[session.save_state]  # fmt: skip
        self.saved.setText(text)

    def _index(self, done: int, total: int) -> None:
        busy = done < total
        self.reading.setVisible(busy)
        self.bar.setVisible(busy)
        self.bar.setMaximum(max(total, 1))
        self.bar.setValue(done)
        self.reading.setText(self.tr("Looking through {total} pictures").format(total=total))

    def _hover(self, spot: tuple[int, int] | None) -> None:
        picture = self._session.picture
        if spot is None or picture is None:
            self.spot.setText("")
            return
        x, y = spot
        if not (0 <= x < picture.shape[1] and 0 <= y < picture.shape[0]):
            self.spot.setText(f"{x}, {y}")
            return
        value = picture[y, x]
        grey = " ".join(f"{v:g}" for v in value) if picture.ndim == 3 else f"{value:g}"
        self.spot.setText(
            self.tr("{x}, {y}   grey {value}   {what}").format(x=x, y=y, value=grey, what=self._class_at(x, y))
        )

    def _class_at(self, x: int, y: int) -> str:
        mask, project = self._session.mask, self._session.project
        if mask is None or project is None:
            return ""
        id = int(mask[y, x])
        names = {info.id: info.name for info in project.classes}
        names |= {0: "", DONT_CARE: self.tr("don't care"), NOT_LABELLED: self.tr("not labelled")}
        return names.get(id, str(id))

    def _zoomed(self, *_: object) -> None:
        shown = self._session.picture is not None
        self.zoom.setText(
            words.percent(self._canvas.view.scale, 0 if self._canvas.view.scale >= 0.1 else 1) if shown else ""
        )

    def _brush_changed(self, *_: object) -> None:
        shown = self._session.picture is not None and self._canvas.tool in ("brush", "eraser")
        self.brush.setText(self.tr("Brush {n} px").format(n=self._canvas.diameter) if shown else "")
