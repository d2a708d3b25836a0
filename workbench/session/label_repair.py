"""Removal of tiny regions and filling of tiny holes in the masks of some images, one undo step per image."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import QObject, Signal

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import EMPTY, Selection
from workbench.session.session import Session

Repair = Literal["remove specks", "fill tiny holes"]


class LabelRepair(QObject):
    """Repair of masks through the editor: each image is opened, changed and saved like a stroke."""

    progressed = Signal(int, int)
    ended = Signal(int)  # number of changed images

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._repair: Repair = "remove specks"
        self._waiting: deque[str] = deque()
        self._total = self._changed = 0
        session.image_opened.connect(self._opened)
        session.image_failed.connect(self._next)
        session.project_closed.connect(self._waiting.clear)

    @property
    def running(self) -> bool:
        return bool(self._waiting)

    def start(self, repair: Repair, keys: Sequence[str]) -> None:
        """Repair the masks of images, in order. `ended` follows."""
        if self.running or not keys:
            return
        self._repair, self._waiting = repair, deque(dict.fromkeys(keys))
        self._total, self._changed = len(self._waiting), 0
        self._session.open_image(self._waiting[0])

    def cancel(self) -> None:
        """End after the images done so far."""
        if self.running:
            self._waiting.clear()
            self.ended.emit(self._changed)

    def _opened(self, key: str) -> None:
        if self._waiting and self._waiting[0] == key:
            self._changed += self._repair_image()
            self._next(key)

    def _next(self, key: str, _: object = None) -> None:
        if not self._waiting or self._waiting[0] != key:
            return
        self._waiting.popleft()
        self.progressed.emit(self._total - len(self._waiting), self._total)
        if self._waiting:
            self._session.open_image(self._waiting[0])
        else:
            self.ended.emit(self._changed)

    def _repair_image(self) -> bool:
        """Repair the open image. Return True if its mask changed."""
        from workbench.core.check.project_check import specks, tiny_holes

        editor, mask = self._session.editor, self._session.mask
        if mask is None or not editor.begin(self._repair):
            editor.commit()
            return False
        if self._repair == "remove specks":
            for part in list(specks(mask)):
                (x, y), (height, width) = part.corner, part.inside.shape
                speck = Selection(Rect(x, y, width, height), part.inside)
                editor.replace_region(speck, EMPTY, editor.background_id)
        else:
            for part in list(tiny_holes(mask)):
                editor.paint_region(part.inside, part.corner, part.id)
        return editor.commit()
