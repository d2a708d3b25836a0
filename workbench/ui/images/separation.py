"""Separation of good and defective images: large view of one thumbnail, and decisions by single keys.

A good image is marked as done without a mask that is painted; a defective one is in progress until it is painted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QWidget

from workbench.core.project.annotation import Status
from workbench.core.project.image_row import ImageRow
from workbench.core.text_patterns import fill
from workbench.session.session import Session
from workbench.session.workflow_monitor import LabelCounts, is_painted
from workbench.ui.images.image_delegate import thumbnail_or_icon
from workbench.ui.images.image_model import ThumbnailProvider
from workbench.ui.shortcuts import key_sequences, with_key
from workbench.ui.text.formatting import number
from workbench.ui.widgets.box_layouts import Gap, in_row
from workbench.ui.widgets.item_views import fit_rect
from workbench.ui.widgets.text_labels import ElidedLabel
from workbench.ui.widgets.theme import ThemeManager

_EDGE, _KEPT = 1024, 24  # pixels of the longer side, and number, of the large views
_AHEAD = 3  # large views that are prepared
_PAUSE = 0.4  # seconds without a key after which stopped keys are obeyed again


class ImagePreview(QWidget):
    """Large view of one image, or of its thumbnail until it is ready."""

    def __init__(self, session: Session, thumbnails: ThumbnailProvider, style: ThemeManager) -> None:
        super().__init__(accessibleName=self.tr("Large view"))
        self._session, self._thumbnails, self._style = session, thumbnails, style
        self.large = ThumbnailProvider(self, edge=_EDGE, kept=_KEPT)
        self.key: str | None = None
        self.painted: str | None = None  # key of the image that the user sees
        self.setMinimumSize(160, 120)
        for provider in (thumbnails, self.large):
            provider.arrived.connect(self._arrived)

    def show_image(self, key: str | None, following: Sequence[str]) -> None:
        """Show an image, and prepare those that follow it."""
        self.key = key
        for other in (*following[:_AHEAD][::-1], key):  # the last request is the first to be read
            if other is not None:
                self.large.get(other)
        self.update()

    def _arrived(self, key: str) -> None:
        if key == self.key:
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._style.theme.color("canvas"))
        if self.key is not None:
            row, box = self._session.rows.get(self.key) or ImageRow(self.key), self.rect().adjusted(8, 8, -8, -8)
            pixmap = self.large.get(self.key) or thumbnail_or_icon(
                painter, box, row, self._thumbnails, self._style, icon_size=48
            )
            if pixmap is not None:
                painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
                painter.drawPixmap(fit_rect(pixmap.size(), box), pixmap)
            self.painted = self.key if pixmap is not None or row.broken else None
        painter.end()


class SeparationBar(QWidget):
    """Buttons below the thumbnails for the decision on the selected images, and the numbers of decided images.

    A decision moves on to the next image. The keys act on images that the user sees: the first one whose image does
    not appear in time stops those typed after it.

    shown: returns whether the user sees an image. chosen: returns the keys of the selected images. advance: selects the
    image behind them.
    """

    paint_requested = Signal()
    stopped = Signal(str)  # key of an image that was not shown
    left_out = Signal(int)  # number of images with painted defects that cannot be good ones

    def __init__(
        self,
        session: Session,
        style: ThemeManager,
        *,
        shown: Callable[[str], bool],
        chosen: Callable[[], list[str]],
        advance: Callable[[], None],
    ) -> None:
        super().__init__()
        self._session, self._shown, self._chosen, self._advance = session, shown, chosen, advance
        self.clock = time.monotonic  # returns seconds; can be replaced
        self._stopped_at = -_PAUSE
        self._counts = LabelCounts()
        self.good = QPushButton(icon=style.icon("success", "success"))
        self.defective = QPushButton(icon=style.icon("brush", "warning"))
        self.skip = QPushButton()
        self._buttons: dict[str, tuple[QPushButton, Callable[[], None]]] = {
            "good_image": (self.good, lambda: self.decide("done")),
            "defective_image": (self.defective, lambda: self.decide("started")),
            "skip_image": (self.skip, lambda: self.decide(None)),
        }
        texts = self.tr("Good"), self.tr("Defective"), self.tr("Skip")
        tips = (
            self.tr("The selected images have no defects: they are marked as done, without painting"),
            self.tr("The selected images have defects, to be painted later"),
            self.tr("Go to the next image without a decision"),
        )
        for (id, (button, run)), text, tip in zip(self._buttons.items(), texts, tips, strict=True):
            button.setText(with_key(text, id))
            button.setToolTip(tip)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # the thumbnails keep the keyboard
            button.clicked.connect(run)
        self.counts = ElidedLabel()
        self.counts.setObjectName("muted")
        self.paint = QPushButton(clicked=lambda: self.paint_requested.emit())
        self.paint.setToolTip(self.tr("Open the images with defects that are not painted yet, one after the other"))
        in_row(
            *(button for button, _ in self._buttons.values()), Gap(6), (self.counts, 1), self.paint,
            owner=self, margins=(10, 7, 10, 7), spacing=6,
        )  # fmt: skip
        session.image_list.listed.connect(self._recount)
        session.image_list.rows_changed.connect(self._update)
        for signal in (session.project_opened, session.project_closed):
            signal.connect(self._recount)
        self._recount()

    def press(self, event: QKeyEvent) -> bool:
        """Obey a key of the buttons. Return whether it was one; a held key counts once."""
        keys = QKeySequence(event.keyCombination())
        run = next((run for id, (_, run) in self._buttons.items() if keys in key_sequences(id)), None)
        if run is not None and event.type() == QEvent.Type.KeyPress and not event.isAutoRepeat():
            run()
        return run is not None

    def decide(self, status: Status | None) -> None:
        """Set the status of the selected images, and select the next one. None: no change."""
        keys, rows = self._chosen(), self._session.rows
        if not keys or self._stops(keys):
            return
        if status is not None:
            painted = [key for key in keys if key in rows and is_painted(rows[key])]
            self._session.verdict_steps.set_statuses([key for key in keys if key not in set(painted)], status)
            if not self._session.writable:
                return
            if painted and status == "done":
                self.left_out.emit(len(painted))
        self._advance()

    def _stops(self, keys: list[str]) -> bool:
        """Return whether a decision comes too early: its image, or one shortly before, is not shown yet."""
        now, unseen = self.clock(), len(keys) == 1 and not self._shown(keys[0])
        if not unseen and now - self._stopped_at >= _PAUSE:
            return False
        if now - self._stopped_at >= _PAUSE:
            self.stopped.emit(keys[0])
        self._stopped_at = now
        return True

    def _recount(self, *_: object) -> None:
        self._counts.replace(self._session.rows.values())
        self._update(())

    def _update(self, rows: Iterable[ImageRow]) -> None:
        self._counts.update(rows)
        counts, total = self._counts, len(self._session.keys)
        undecided = total - counts.decided
        text = self.tr("Good: {good} · Defects to paint: {to_paint} · Not decided: {undecided}")
        text = text.format(good=number(counts.good), to_paint=number(counts.to_paint), undecided=number(undecided))
        short = self.tr("Not decided: {undecided}").format(undecided=number(undecided))
        parts = [text]
        if counts.with_defects:
            parts.append(self.tr("Painted: {n}").format(n=number(counts.with_defects)))
        if other := counts.decided - counts.good - counts.to_paint - counts.with_defects:
            parts.append(self.tr("Otherwise done: {n}").format(n=number(other)))
        self.counts.set_text(" · ".join(parts), short=[text, short])
        pattern = self.tr("Paint {n} defective {n:image|images}")
        self.paint.setText(fill(pattern, n=number(counts.to_paint)))
        self.paint.setVisible(counts.to_paint > 0)
        for button in (self.good, self.defective):
            button.setEnabled(self._session.writable)
