"""The label queues in the window: the image list follows the active queue, the canvas marks suspected label errors.

`LabelIssueBar` shows the current one over the canvas, `LabelIssueMarker` frames its region.

Spots on the canvas: numbered circles, and a bar below them that offers, counts and visits the spots.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QWidget

from workbench.core.geometry.drawing import Rect
from workbench.session.label_queue import LabelIssueReview, LabelQueue, Mode
from workbench.session.session import Session
from workbench.session.spot_finder import SpotFinder
from workbench.ui.canvas.canvas_items import DARK, END, HEIGHT, LIGHT, MARGIN, bar_width, draw_arrows, draw_bar
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.canvas.interactor import Interactor, PointerEvent
from workbench.ui.canvas.region_navigator import RegionNavigator
from workbench.ui.images.images_panel import ImagesPanel
from workbench.ui.shortcuts import with_key
from workbench.ui.text import image_texts
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.message_bar import MessageBar

if TYPE_CHECKING:
    from workbench.core.label_next.label_issues import LabelIssue
    from workbench.core.label_next.spot_detection import Spot

_LEAST_RADIUS = 14.0  # logical pixels, so that a circle never covers what it marks
_TAG = 16.0  # logical pixels: height of a number
_RING = QColor("#4db8ff")


def add_spots(finder: SpotFinder, navigator: RegionNavigator, canvas: Canvas) -> SpotBar:
    """Add the circles and the bar to a canvas; return the bar."""
    bar = SpotBar(finder, navigator, canvas)
    canvas.add_item(SpotMarkers(finder, canvas))
    canvas.add_item(bar)
    return bar


class SpotMarkers(QObject, Interactor):
    """Numbered circles around the spots of the open image; transparent to pointer events."""

    def __init__(self, finder: SpotFinder, canvas: Canvas) -> None:
        super().__init__(canvas)
        self._finder, self._canvas = finder, canvas
        self._drawn: QRect | None = None
        finder.changed.connect(self.refresh)
        canvas.content.changed.connect(self.refresh)

    @property
    def spots(self) -> tuple[Spot, ...]:
        """Visible spots: none while overlays are hidden or something else than the labeled image is shown."""
        scene = self._canvas.scene
        hidden = scene.image is None or scene.overlays_hidden or scene.previewing or not self._canvas.content.page_fits
        return () if hidden else self._finder.spots

    def refresh(self) -> None:
        before, self._drawn = self._drawn, self.area
        for area in (before, self._drawn):
            self._canvas.renderer.update_overlay(area)

    @property
    def area(self) -> QRect | None:
        around = QRectF()
        for spot in self.spots:
            around = around.united(self._circle(spot).adjusted(-3, -_TAG - 3, _TAG + 3, 3))
        return None if around.isEmpty() else around.toAlignedRect()

    def _circle(self, spot: Spot) -> QRectF:
        view = self._canvas.view_state
        center = view.to_widget((spot.x + 0.5, spot.y + 0.5))
        radius = max(_LEAST_RADIUS, view.to_length(spot.radius))
        return QRectF(center.x() - radius, center.y() - radius, 2 * radius, 2 * radius)

    def draw(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for number, spot in enumerate(self.spots, 1):
            circle = self._circle(spot)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            for color, width in ((DARK, 3.6), (_RING, 1.8)):
                painter.setPen(QPen(color, width))
                painter.drawEllipse(circle)
            offset = circle.width() / 2 * math.sqrt(0.5)
            tag = QRectF(circle.center().x() + offset, circle.center().y() - offset - _TAG, _TAG, _TAG)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(DARK)
            painter.drawRoundedRect(tag, 4, 4)
            painter.setPen(LIGHT)
            painter.drawText(tag, Qt.AlignmentFlag.AlignCenter, str(number))


class SpotBar(QObject, Interactor):
    """Bar at the bottom of the canvas: an offer to show spots, or their number with arrows to visit them in order.

    The right end of the offer declines it.
    """

    cursor = Qt.CursorShape.ArrowCursor

    def __init__(self, finder: SpotFinder, navigator: RegionNavigator, canvas: Canvas) -> None:
        super().__init__(canvas)
        self.finder, self._navigator, self._canvas = finder, navigator, canvas
        self._number = 0  # of the visited spot, from 1; 0 before the first
        self._spots: tuple[Spot, ...] = ()
        self._drawn: QRect | None = None
        finder.changed.connect(self.refresh)
        canvas.content.changed.connect(self.refresh)

    def refresh(self) -> None:
        if self.finder.spots != self._spots:
            self._spots, self._number = self.finder.spots, 0
        before, self._drawn = self._drawn, self.area
        for area in (before, self._drawn):
            self._canvas.renderer.update_overlay(area)

    def text(self) -> str:
        """Return the text of the bar; "" if it is hidden."""
        finder, count = self.finder, len(self._spots)
        if self._canvas.scene.image is None or self._canvas.scene.previewing:
            return ""
        if finder.offered:
            return self.tr("Suggest where to look")
        if not finder.on or not finder.possible():
            return ""
        if finder.searching:
            return self.tr("Searching for spots…")
        if not count:
            return self.tr("No spot differs from the rest of the image")
        if not self._number:
            return self.tr("Spots: {count}").format(count=count)
        return self.tr("Spot {number} of {count}").format(number=self._number, count=count)

    @property
    def _ends(self) -> int:
        return 1 if self.finder.offered else 2  # the offer can be declined only

    @property
    def area(self) -> QRect | None:
        text, view = self.text(), self._canvas.view_state
        if not text:
            return None
        width = bar_width(self._canvas.renderer.font_metrics, text, ends=self._ends)
        area = QRect((round(view.width) - width) // 2, round(view.height) - HEIGHT - MARGIN, width, HEIGHT)
        minimap = self._canvas.minimap.area
        if minimap is not None and minimap.intersects(area):
            area.moveRight(minimap.left() - MARGIN)
        return area

    def covers(self, position: QPointF) -> bool:
        area = self.area
        return area is not None and area.contains(position.toPoint())

    def press(self, event: PointerEvent) -> bool:
        area, x = self.area, event.position.x()
        if area is None or not self.covers(event.position):
            return False
        if event.button != Qt.MouseButton.LeftButton:
            return True
        if self.finder.offered:
            if x > area.right() - END:
                self.finder.decline()
            else:
                self.finder.switch(True)
        elif self._spots:
            self.go(-1 if x < area.left() + END else 1)
        return True

    def go(self, step: int) -> None:
        """Show the next (1) or previous (-1) spot in order of strength, wrapping around."""
        if not self._spots:
            return
        count = len(self._spots)
        self._number = (self._number + step - 1) % count + 1 if self._number else (1 if step > 0 else count)
        spot = self._spots[self._number - 1]
        radius = max(1, spot.radius)
        self._navigator.show(Rect(spot.x - radius, spot.y - radius, 2 * radius + 1, 2 * radius + 1))
        self.refresh()

    def draw(self, painter: QPainter) -> None:
        area = self.area
        if area is None:
            return
        draw_bar(painter, area, self.text(), ends=self._ends)
        if self.finder.offered:
            x, middle = area.right() + 1 - END / 2, area.y() + area.height() / 2
            painter.drawLine(QPointF(x - 4, middle - 4), QPointF(x + 4, middle + 4))
            painter.drawLine(QPointF(x - 4, middle + 4), QPointF(x + 4, middle - 4))
        elif self._spots:
            draw_arrows(painter, area)


_MAX_SCALE = 3.0  # device pixels per image pixel, greatest zoom on a suspected region
_SHARE = 0.35  # greatest share of the canvas width and height that the region takes then
_BOTTOM, _SIDE, _MAX_WIDTH = 14, 12, 760  # logical pixels
_GAP = 5  # logical pixels around the region
_DARK, _LIGHT = QColor(20, 22, 25, 210), QColor("#ffd24d")


class LabelIssueMarker(QObject, Interactor):
    """Frame drawn above everything; transparent to pointer events."""

    def __init__(self, canvas: Canvas) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self._rect: Rect | None = None

    def show(self, rect: Rect | None) -> None:
        """Frame a rectangle of image pixels; None hides the frame."""
        before, self._rect = self.area, rect
        for area in (before, self.area):
            self._canvas.renderer.update_overlay(area)

    @property
    def area(self) -> QRect | None:
        frame = self._frame()
        return None if frame is None else frame.toAlignedRect().adjusted(-3, -3, 3, 3)

    def _frame(self) -> QRectF | None:
        if self._rect is None or self._canvas.scene.image is None:
            return None
        return self._canvas.view_state.to_widget_rect(self._rect).adjusted(-_GAP, -_GAP, _GAP, _GAP)

    def draw(self, painter: QPainter) -> None:
        frame = self._frame()
        if frame is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(_DARK, 3.6))
        painter.drawRoundedRect(frame, 5, 5)
        pen = QPen(_LIGHT, 1.8)
        pen.setDashPattern([4, 3])
        painter.setPen(pen)
        painter.drawRoundedRect(frame, 5, 5)


class LabelIssueBar(QFrame):
    """Bar over the widget `canvas`; hidden if there is no suspected label error."""

    covered = Signal(int)  # logical pixels at the bottom of the canvas that the bar takes; 0 if it is hidden or above

    def __init__(self, session: Session, issues: LabelIssueReview, canvas: QWidget) -> None:
        super().__init__(canvas)
        self.setObjectName("message")
        self.setProperty("kind", "warning")
        self._session, self._issues = session, issues
        self._free_areas: list[QRect] = []
        self.text = QLabel(objectName="messageText", wordWrap=True)
        self.certainty = QLabel(objectName="muted", wordWrap=True)
        for label in (self.text, self.certainty):
            label.setTextFormat(Qt.TextFormat.PlainText)  # names of classes are user input
        self.accept = QPushButton(objectName="primary", toolTip=self.tr("Replace the label by the prediction"))
        self.keep = QPushButton(with_key(self.tr("Keep my label"), "keep_label"))
        self.keep.setToolTip(self.tr("Keep the label and do not flag this region again"))
        self.next = QPushButton(toolTip=self.tr("Go to the next flagged region of this image"))
        self.accept.clicked.connect(issues.accept_model)
        self.keep.clicked.connect(issues.keep_label)
        self.next.clicked.connect(lambda: issues.step(1))
        texts = in_column(self.text, self.certainty, spacing=1)
        row = in_row((texts, 1), owner=self, margins=(12, 8, 10, 8), spacing=8)
        for button in (self.accept, self.keep, self.next):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # the canvas keeps the keyboard focus
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        canvas.installEventFilter(self)
        issues.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        issue = self._issues.issue
        self.setVisible(issue is not None)
        if issue is None:
            self.covered.emit(0)
            return
        from workbench.core.label_next.label_ranking import issue_reason

        project, count = self._session.project, len(self._issues.issues)
        names = {info.id: info.name for info in project.classes} if project is not None else {}
        row = self._session.rows.get(self._session.key or "")
        good = row is not None and not row.counts
        self.text.setText(image_texts.reason_text(issue_reason(issue, names, good=good)))
        self.certainty.setText(image_texts.certainty_text(issue))
        self.next.setText(
            with_key(self.tr("{n} of {count}").format(n=self._issues.place + 1, count=count), "next_label_error")
        )
        self.accept.setText(with_key(self._accept_text(issue, names), "accept_model"))
        self.next.setVisible(count > 1)
        for button in (self.accept, self.keep):
            button.setEnabled(self._issues.possible())
        self._place()

    def _accept_text(self, issue: LabelIssue, names: dict[int, str]) -> str:
        if issue.kind == "missing":
            return self.tr("Add region")
        if issue.kind == "extra":
            return self.tr("Remove region")
        name = issue.predicted_verdict if issue.kind == "verdict" else names.get(issue.class_id, str(issue.class_id))
        return self.tr("Change to {name}").format(name=name)

    def eventFilter(self, watched, event) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.parent():
            self._place()
        return super().eventFilter(watched, event)

    def keep_free(self, areas: list[QRect]) -> None:
        """Move the bar so that as much as possible of these parts of the canvas stays visible."""
        self._free_areas = areas
        self._place()

    def _place(self) -> None:
        canvas = self.parentWidget()
        if canvas is None or not self.isVisible():
            return
        width = min(_MAX_WIDTH, canvas.width() - 2 * _SIDE)
        height = self.heightForWidth(width) if self.hasHeightForWidth() else self.sizeHint().height()
        box = QRect((canvas.width() - width) // 2, canvas.height() - height - _BOTTOM, width, height)
        above = box.translated(0, _BOTTOM - box.top())
        box = min(box, above, key=self._covered_area)
        self.setGeometry(box)
        self.raise_()
        self.covered.emit(canvas.height() - box.top() if box.top() > _BOTTOM else 0)

    def _covered_area(self, box: QRect) -> int:
        """Return the size of the parts of `_free_areas` within a rectangle."""
        parts = (area & box for area in self._free_areas)
        return sum(part.width() * part.height() for part in parts)


class LabelNextController(QObject):
    """Controller of the label queues and of suspected label errors."""

    def __init__(
        self,
        session: Session,
        queue: LabelQueue,
        errors: LabelIssueReview,
        images: ImagesPanel,
        canvas: Canvas,
        messages: MessageBar,
    ) -> None:
        super().__init__(canvas)
        self.queue, self.errors = queue, errors
        self._session, self._images, self._canvas, self._messages = session, images, canvas, messages
        self.marker = LabelIssueMarker(canvas)
        canvas.add_item(self.marker)
        self.bar = LabelIssueBar(session, errors, canvas)
        self.bar.covered.connect(canvas.minimap.keep_above)
        self._requested_from: str | None = None  # key of the image that was open when a queue was requested
        self._confirmed_key: str | None = None  # image whose message has the button to undo a kept label
        queue.changed.connect(self._open_first)
        queue.failed.connect(messages.problem)
        errors.changed.connect(self._show_issue)
        canvas.suggestions.replaced.connect(self._keep_reason_free)
        canvas.view_state.changed.connect(self._keep_reason_free)
        errors.refused.connect(canvas.refused)
        errors.confirmed.connect(self._label_confirmed)
        session.history_changed.connect(self._withdraw_undo)
        self._show_issue()

    def toggle(self, mode: Mode) -> None:
        """Activate the queue `mode`, or deactivate it if it is active."""
        self._requested_from = self._session.key if self.queue.mode != mode else None
        self.queue.activate("" if self.queue.mode == mode else mode)
        self._open_first()

    def can_answer(self) -> bool:
        """Return whether a suspected label error is shown. Nothing may be changed while a page covers the canvas."""
        return self._canvas.isVisible() and self.errors.possible()

    def accept_model(self) -> None:
        if self.can_answer():
            self.errors.accept_model()

    def keep_label(self) -> None:
        if self.can_answer():
            self.errors.keep_label()

    def _open_first(self) -> None:
        """Open the first image of a requested queue once it is computed, if the open image is unchanged and saved."""
        session, keys = self._session, self.queue.keys
        if self._requested_from is None or self.queue.result is None:
            return
        key, self._requested_from = self._requested_from, None
        if keys and session.key == key and session.autosave.state == "saved":
            self._images.open(keys[0])

    def _show_issue(self) -> None:
        issue, canvas = self.errors.issue, self._canvas
        if issue is None or issue.kind == "verdict" or canvas.scene.image is None:
            self.marker.show(None)
            self._keep_reason_free()
            return
        rect, view = issue.rect, canvas.view
        scale = min(_MAX_SCALE, _SHARE * view.width / rect.width, _SHARE * view.height / rect.height)
        canvas.set_view(view.at_scale(scale).centered(rect.x + rect.width / 2, rect.y + rect.height / 2))
        self.marker.show(rect)
        self._keep_reason_free()

    def _keep_reason_free(self, *_: object) -> None:
        """Keep the bar off the flagged region, or off the suggestions, which are the reason for a suspected verdict."""
        issue, canvas = self.errors.issue, self._canvas
        if issue is not None and issue.kind == "verdict":
            areas = (canvas.view_state.to_widget_rect(rect) for rect in canvas.scene.suggested.rects)
            self.bar.keep_free([area.toAlignedRect() for area in areas])
        elif issue is not None:
            self.bar.keep_free([area] if (area := self.marker.area) is not None else [])

    def _withdraw_undo(self) -> None:
        """Withdraw the button to undo a kept label once it would undo another change."""
        if self._confirmed_key is not None and not self.errors.can_undo(self._confirmed_key):
            self._confirmed_key = None
            self._messages.withdraw("kept label")

    def _label_confirmed(self, key: str) -> None:
        self._confirmed_key = key
        self._messages.show_message(
            "info",
            self.tr("Label kept. It will not be flagged again."),
            topic="kept label",
            button=self.tr("Undo"),
            callback=lambda: self.errors.undo(key),
        )
