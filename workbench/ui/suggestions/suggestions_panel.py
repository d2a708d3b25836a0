"""Suggestions for the current image, highest probability first, their filter by probability and size, and the progress
over all images.

List of suggestions: one row each, with buttons that accept and reject it.
"""

from __future__ import annotations

import time

from PySide6.QtCore import QEvent, QModelIndex, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QLabel,
    QListView,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QStyledItemDelegate,
    QToolTip,
    QWidget,
)

from workbench.core.suggestions.suggestions import Suggestion
from workbench.core.text_patterns import fill
from workbench.session.image_suggestions import ImageSuggestions
from workbench.session.session import Session
from workbench.ui.shortcuts import key_text, with_key
from workbench.ui.suggestions.suggestions_controller import SuggestionsController
from workbench.ui.text import formatting
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.item_views import ItemRole, ListModel, draw_background, draw_row_background, state_color
from workbench.ui.widgets.keyboard import set_key_tip
from workbench.ui.widgets.text_labels import align_text, set_disabled_reason
from workbench.ui.widgets.theme import ThemeManager

ROW = 26  # px: least height of a row
_BUTTON, _ICON, _RIGHT = 24, 15, 4  # px: width of a button, its icon, space on the right
ColorRole, ProbabilityRole, EditedRole = (ItemRole + i for i in range(1, 4))


def button_rects(row: QRect) -> dict[str, QRect]:
    """Return the rectangles of the buttons "accept" and "reject" in a row."""
    left = row.right() + 1 - _RIGHT - 2 * _BUTTON
    return {
        name: QRect(left + i * _BUTTON, row.y() + 1, _BUTTON, row.height() - 2)
        for i, name in enumerate(("accept", "reject"))
    }


class SuggestionDelegate(QStyledItemDelegate):
    """Delegate that draws a dashed swatch, the class, the probability and the buttons."""

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self.hovered: tuple[int, str] = (-1, "")  # row and button under the pointer
        self.enabled = True  # the image can be changed

    def sizeHint(self, option, index) -> QSize:
        return QSize(120, max(ROW, option.fontMetrics.height() + 8))

    def paint(self, painter: QPainter, option, index) -> None:
        theme, rect = self._style.theme, option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_row_background(painter, rect, theme, fill=state_color(option))
        color = QColor(index.data(ColorRole))
        swatch = QRectF(rect.x() + 8, rect.y() + (rect.height() - 12) / 2, 17, 12)
        fill = QColor(color)
        fill.setAlpha(60)
        pen = QPen(color, 1.6)
        pen.setDashPattern([2.4, 1.8])
        painter.setPen(pen)
        painter.setBrush(fill)
        painter.drawRoundedRect(swatch, 3, 3)
        box = rect.adjusted(33, 0, -(_RIGHT + 2 * _BUTTON + 4), 0)
        probability = index.data(ProbabilityRole)
        painter.setPen(theme.color("muted"))
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, probability)
        box.setRight(box.right() - option.fontMetrics.horizontalAdvance(probability) - 8)
        name = index.data() + (" *" if index.data(EditedRole) else "")
        painter.setPen(theme.color("text"))
        text = option.fontMetrics.elidedText(name, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)
        self._draw_buttons(painter, rect, index.row())
        painter.restore()

    def _draw_buttons(self, painter: QPainter, row: QRect, number: int) -> None:
        theme, ratio = self._style.theme, painter.device().devicePixelRatioF()
        icons = {"accept": ("done", "success"), "reject": ("close", "danger")}
        for name, rect in button_rects(row).items():
            if self.enabled and self.hovered == (number, name):
                draw_background(painter, rect, theme, fill="raised", line="border", radius=4)
            icon, role = icons[name]
            pixmap = theme.pixmap(icon, _ICON, role if self.enabled else "disabled", ratio)
            painter.drawPixmap(rect.center() - QPoint(_ICON // 2, _ICON // 2), pixmap)


class SuggestionListView(QListView):
    """List view whose rows have buttons; Space accepts the current row and Delete rejects it, as on the canvas."""

    def __init__(self, controller: SuggestionsController, model: ListModel[Suggestion], style: ThemeManager) -> None:
        super().__init__(objectName="history")
        self._controller = controller
        self._pressed: tuple[int, str] = (-1, "")
        self._delegate = SuggestionDelegate(style)
        self.setModel(model)
        self.setItemDelegate(self._delegate)
        self.setAccessibleName(self.tr("Suggestions"))
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        style.changed.connect(self.viewport().update)

    def set_changeable(self, on: bool) -> None:
        """Enable or disable the buttons of the rows."""
        if on != self._delegate.enabled:
            self._delegate.enabled = on
            self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        interaction, suggestion = self._controller.interaction, self.currentIndex().data(ItemRole)
        if suggestion is not None and event.key() == Qt.Key.Key_Space:
            interaction.accepted.emit([suggestion])
        elif suggestion is None or not interaction.key(event, suggestion):
            super().keyPressEvent(event)

    # --- buttons of the rows ---------------------------------------------------------------------

    def button_at(self, position: QPoint) -> tuple[QModelIndex, str]:
        """Return the row at a position of the viewport and its button there, "" if there is none."""
        index = self.indexAt(position)
        if not index.isValid():
            return index, ""
        rects = button_rects(self.visualRect(index))
        return index, next((name for name, rect in rects.items() if rect.contains(position)), "")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index, button = self.button_at(event.position().toPoint())
        self._pressed = (index.row(), button) if button and event.button() == Qt.MouseButton.LeftButton else (-1, "")
        if not self._pressed[1]:
            super().mousePressEvent(event)  # selects the row, which moves the view to the suggestion

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, (-1, "")
        if not pressed[1]:
            super().mouseReleaseEvent(event)
            return
        index, button = self.button_at(event.position().toPoint())
        if (index.row(), button) == pressed and self._delegate.enabled:
            interaction, suggestion = self._controller.interaction, index.data(ItemRole)
            (interaction.accepted if button == "accept" else interaction.rejected).emit([suggestion])

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.mousePressEvent(event)  # the second of two quick clicks decides on the next row

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        index, button = self.button_at(event.position().toPoint())
        self._hover((index.row(), button) if button else (-1, ""))
        if not self._pressed[1]:
            super().mouseMoveEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            _, button = self.button_at(event.pos())
            texts = {
                "accept": with_key(self.tr("Accept"), "accept_suggestion"),
                "reject": with_key(self.tr("Reject"), "reject_suggestion"),
            }
            QToolTip.showText(event.globalPos(), texts.get(button, ""), self.viewport())
            return True
        if event.type() == QEvent.Type.Leave:
            self._hover((-1, ""))
        return super().viewportEvent(event)

    def _hover(self, hovered: tuple[int, str]) -> None:
        if hovered != self._delegate.hovered:
            self._delegate.hovered = hovered
            self.viewport().update()


_MAX_AREA = 10_000_000  # px
_MAX_ROWS = 8


class SuggestionFilter(QWidget):
    """Least probability and least size of the suggestions that are shown; it applies to all images."""

    def __init__(self, suggestions: ImageSuggestions) -> None:
        super().__init__()
        self._suggestions = suggestions
        grid = QGridLayout(self)
        grid.setContentsMargins(6, 0, 4, 0)
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(4)
        self.probability = QSpinBox(maximum=100, singleStep=5, suffix="%", keyboardTracking=False)
        self.area = QSpinBox(maximum=_MAX_AREA, singleStep=10, suffix=self.tr(" px²"), keyboardTracking=False)
        for row, (spin, text, tip) in enumerate(
            (
                (self.probability, self.tr("Min. probability"), self.tr("Hide suggestions of lower probability")),
                (self.area, self.tr("Min. area"), self.tr("Hide smaller suggestions")),
            )
        ):
            label = QLabel(text, objectName="muted")
            label.setBuddy(spin)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            spin.setAccessibleName(text)
            spin.setToolTip(tip)
            align_text(spin)
            spin.setMaximumWidth(96)  # the panel may be narrow
            spin.setValue(round(100 * suggestions.min_probability) if row == 0 else suggestions.min_area)
            spin.valueChanged.connect(self._apply)
            grid.addWidget(label, row, 0)
            grid.addWidget(spin, row, 1)
        grid.setColumnStretch(0, 1)
        self.clear = QPushButton(objectName="link", toolTip=self.tr("Show all suggestions"), clicked=self._clear)
        grid.addWidget(self.clear, 2, 0, 1, 2)
        self.refresh()

    def refresh(self) -> None:
        """Show how many suggestions are hidden, and the filter only if there is something to filter."""
        suggestions = self._suggestions
        hidden, active = suggestions.hidden_by_filter, suggestions.min_probability > 0 or suggestions.min_area > 0
        self.setVisible(active or bool(suggestions.shown))
        self.clear.setVisible(active)
        self.clear.setText(self.tr("{n} hidden · Show all").format(n=formatting.number(hidden)))

    def _apply(self) -> None:
        self._suggestions.set_filter(self.probability.value() / 100, self.area.value())

    def _clear(self) -> None:
        for spin in (self.probability, self.area):
            blocked = spin.blockSignals(True)
            spin.setValue(0)
            spin.blockSignals(blocked)
        self._apply()


class SuggestionsPanel(QWidget):
    """Suggestion panel; follows the current image."""

    def __init__(self, session: Session, controller: SuggestionsController, style: ThemeManager) -> None:
        super().__init__()
        self._session, self._controller = session, controller
        self._classes: dict[int, tuple[str, str]] = {}  # name and "#rrggbb" by class id
        self.model: ListModel[Suggestion] = ListModel(
            {
                Qt.ItemDataRole.DisplayRole: lambda suggestion: self._class(suggestion)[0],
                Qt.ItemDataRole.AccessibleTextRole: lambda suggestion: (
                    f"{self._class(suggestion)[0]} {formatting.percent(suggestion.score)}"
                ),
                ColorRole: lambda suggestion: self._class(suggestion)[1],
                ProbabilityRole: lambda suggestion: formatting.percent(suggestion.score),
                EditedRole: lambda suggestion: suggestion.edited,
            },
            self,
        )
        self.view = SuggestionListView(controller, self.model, style)
        self.view.selectionModel().currentChanged.connect(self._select)
        self.view.clicked.connect(self._select)
        self.hint = QLabel(wordWrap=True, objectName="muted")
        self.hint.setContentsMargins(6, 0, 6, 4)
        self.filter = SuggestionFilter(controller.suggestions)
        row = in_row(margins=(4, 0, 4, 0), spacing=6)
        self.accept_all, self.reject_all = QPushButton(self.tr("Accept all")), QPushButton(self.tr("Reject all"))
        set_key_tip(self.accept_all, self.tr("Accept all suggestions in this image"), "accept_all")
        self.reject_all.setToolTip(self.tr("This model will not suggest these regions again. Can be undone."))
        self.accept_all.clicked.connect(controller.accept_all)
        self.reject_all.clicked.connect(controller.reject_all)
        for button in (self.accept_all, self.reject_all):
            # The buttons shrink in a narrow panel instead of widening it.
            button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            row.addWidget(button, 1)
        self.restore = QPushButton(objectName="link", clicked=controller.suggestions.restore_rejected)
        self.progress = SuggestAllCard(controller)
        in_column(self.hint, self.filter, self.view, row, self.restore, self.progress, owner=self, margins=0, spacing=4)
        for signal in (controller.changed, session.note_changed, session.current.opened, session.project_closed):
            signal.connect(self.refresh)
        self.refresh()

    def refresh(self, *_: object) -> None:
        controller, project = self._controller, self._session.project
        suggestions = controller.interaction.suggestions
        if suggestions != self.model.items:
            row = self.view.currentIndex().row()
            self._classes = {info.id: (info.name, info.color) for info in project.classes} if project else {}
            self.model.set_items(suggestions)
            if self.view.hasFocus() and suggestions:
                self.view.setCurrentIndex(self.model.index(min(max(row, 0), len(suggestions) - 1)))
        count, left_out, rejected = len(suggestions), controller.suggestions.left_out, controller.suggestions.rejected
        if not count and any(widget.hasFocus() for widget in (self.view, self.accept_all, self.reject_all)):
            controller.focus_canvas()  # otherwise "Restore" gets the focus, and the next Space undoes the rejections
        self.view.setVisible(bool(count))
        self.view.setFixedHeight(min(max(count, 1), _MAX_ROWS) * max(self.view.sizeHintForRow(0), ROW) + 2)
        self.view.set_changeable(controller.any())
        self.filter.refresh()
        self.hint.setText(self._hint(count, left_out))
        self.hint.setVisible(bool(self.hint.text()))
        read_only = "" if controller.any() or not count else self.tr("The project is read-only")
        for button in (self.accept_all, self.reject_all):
            button.setVisible(bool(count))
            set_disabled_reason(button, read_only)
        self.restore.setText(self.tr("Restore rejected suggestions ({n})").format(n=formatting.number(rejected)))
        self.restore.setVisible(rejected > 0 and self._session.writable)

    def _class(self, suggestion: Suggestion) -> tuple[str, str]:
        """Return name and color of the class of a suggestion."""
        return self._classes.get(suggestion.class_id, ("", "#808080"))

    def _hint(self, count: int, left_out: int) -> str:
        if not self._controller.visible:
            return self.tr("Suggestions are hidden. Press {key} to show them.").format(
                key=key_text("toward_suggestions")
            )
        if self._controller.withheld:
            if self._controller.of_instant_overlay:
                return self.tr("Suggestions appear once enough images are labeled for the instant overlay.")
            if self._controller.model_in_training:
                return self.tr("Suggestions appear once the model in training matches the labels better.")
            return self.tr(
                "This model does not match the labels well enough for suggestions. Train longer, label more defects or "
                "raise the threshold."
            )
        if left_out:
            return fill(
                self.tr("{n} more predicted {n:region is|regions are} not offered: too many, or too large."),
                n=formatting.number(left_out),
            )
        return (
            ""
            if count or self._controller.suggestions.hidden_by_filter
            else self.tr("Model predictions that differ from your labels appear here. Accept or reject each one.")
        )

    def _select(self, index: QModelIndex, *_: object) -> None:
        if index.isValid():
            self._controller.interaction.go_to(index.data(ItemRole))


class SuggestAllCard(QFrame):
    """Card with the progress over all images and a stop button."""

    def __init__(self, controller: SuggestionsController) -> None:
        super().__init__(objectName="card")
        self._job, self._start_time, self._total = controller.job, 0.0, 0
        column = in_column(owner=self, margins=(10, 8, 10, 8), spacing=6)
        self.text = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.bar = QProgressBar(textVisible=False, accessibleName=self.tr("Progress"))
        self.cancel = QPushButton(self.tr("Cancel"), clicked=self._cancel)
        for widget in (self.text, self.bar, self.cancel):
            column.addWidget(widget)
        self._job.began.connect(self._start)
        self._job.predicted.connect(self._image_done)
        self._job.state_changed.connect(self._update_visibility)
        self.setVisible(False)

    def _start(self, total: int) -> None:
        self._start_time, self._total = time.monotonic(), total
        self.bar.setRange(0, total)
        self.bar.setValue(0)
        self.cancel.setEnabled(True)
        self.text.setText(fill(self.tr("Predicting {n} {n:image|images}…"), n=formatting.number(total)))

    def _update_visibility(self) -> None:
        self.setVisible(self._job.running)

    def _image_done(self, number: int, key: str, count: int, why: str) -> None:
        self.bar.setValue(number)
        left = (time.monotonic() - self._start_time) / number * (self._total - number)
        text = self.tr("{done} of {total} {total:image|images}, {time} left")
        self.text.setText(
            fill(
                text,
                done=formatting.number(number),
                total=formatting.number(self._total),
                time=formatting.duration(left),
            )
        )

    def _cancel(self) -> None:
        self.cancel.setEnabled(False)
        self._job.cancel()
