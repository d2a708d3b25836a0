"""Bar above the canvas: navigation, the Done button, name of the image, prediction, overlays."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from workbench.session.session import Session
from workbench.ui.actions.menus import HISTORY, NAVIGATION, OVERLAYS, Actions
from workbench.ui.images.images_panel import ImagesPanel
from workbench.ui.shell.tool_strip import ToolRow
from workbench.ui.shortcuts import with_key
from workbench.ui.widgets.text_labels import ElidedLabel
from workbench.ui.widgets.theme import ThemeManager

_NAME_LENGTH = 18  # characters of the name that are shown at least
_LEVELS = 5


class DoneButton(QPushButton):
    """Button that marks the current image as done and opens the next one, or as not done if it is done."""

    def __init__(self, session: Session, actions: Actions, style: ThemeManager) -> None:
        super().__init__(objectName="done", checkable=True)
        self._session, self._actions, self._style = session, actions, style
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.clicked.connect(self._clicked)
        for signal in (session.current.opened, session.current.failed, session.project_closed, session.note_changed):
            signal.connect(self.refresh)
        for id in ("done_next", "not_done"):
            actions[id].enabledChanged.connect(self.refresh)
        self.refresh()

    @property
    def done(self) -> bool:
        """True if the current image is marked as done."""
        note = self._session.note
        return note is not None and note.status == "done"

    def sizeHint(self) -> QSize:
        """Return the larger size of both states, so that the bar does not move when the state changes."""
        size, shown = super().sizeHint(), self.text()
        other = self.tr("Done") if shown != self.tr("Done") else with_key(self.tr("Done"), "done_next")
        metrics = self.fontMetrics()
        extra = metrics.horizontalAdvance(other) - metrics.horizontalAdvance(shown)
        return QSize(size.width() + max(0, extra), size.height())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def _clicked(self) -> None:
        self._actions["not_done" if self.done else "done_next"].trigger()
        self.refresh()

    def refresh(self, *_: object) -> None:
        done = self.done
        self.setChecked(done)
        self.setEnabled(self._actions["not_done" if done else "done_next"].isEnabled())
        self.setText(self.tr("Done") if done else with_key(self.tr("Done"), "done_next"))
        self.setIcon(self._style.icon("success" if done else "done", "success" if done else "text"))
        tip = (
            self.tr("This image is marked as done. Click to mark it as not done.")
            if done
            else with_key(self.tr("Mark the image as done and open the next one"), "done_next")
        )
        self.setToolTip(tip)
        self.setAccessibleName(tip)


class CanvasHeader(QWidget):
    """Header of the current image. In a narrow window it first drops texts, then what menus and keys also do."""

    def __init__(self, session: Session, images: ImagesPanel, actions: Actions, style: ThemeManager) -> None:
        super().__init__()
        self.setObjectName("header")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._session, self._images = session, images
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 0, 6, 1)
        row.setSpacing(6)
        self.navigation = ToolRow(NAVIGATION, actions)
        self.done = DoneButton(session, actions, style)
        self.history = ToolRow(HISTORY, actions)
        texts = {"labels": self.tr("Labels"), "predictions": self.tr("Predictions")}
        self.overlays = ToolRow(OVERLAYS, actions, texts)
        self.name = ElidedLabel(Qt.TextElideMode.ElideMiddle, tip=False)
        self.name.setObjectName("heading")
        self.position = QLabel(objectName="muted")
        self.prediction = QLabel()
        self.prediction.setTextFormat(Qt.TextFormat.PlainText)
        self._level = -1
        self._widest = 0  # px, of the texts of predictions: the buttons do not change as these come and go
        for widget in (self.navigation, self.done, self.history, self.position):
            row.addWidget(widget)
        row.addWidget(self.name, 1)
        row.addWidget(self.prediction)
        row.addWidget(self.overlays)
        for signal in (session.current.opened, session.current.failed, session.project_closed, images.order_changed):
            signal.connect(self.refresh)
        self.refresh()

    def minimumSizeHint(self) -> QSize:
        """Return a small width: `_fit` adapts the content to the width that there is."""
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return handled

    def changeEvent(self, event) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._level, self._widest = -1, 0

    def _fit(self) -> None:
        self.name.setMinimumWidth(_NAME_LENGTH * self.fontMetrics().averageCharWidth())
        level = next((n for n in range(_LEVELS) if self._width_at(n) <= self.width()), _LEVELS - 1)
        if level != self._level:  # showing and hiding requests another layout
            self._level = level
            self.overlays.show_texts(level < 1)
            self.position.setVisible(level < 2)
            self.history.setVisible(level < 3)
            self.prediction.setVisible(level < 4)
            self.overlays.layout().activate()  # a request would come too late for this resize
            self.layout().activate()

    def _name_width(self) -> int:
        """Return the width that the name has before anything is left out for it."""
        return _NAME_LENGTH * self.name.fontMetrics().averageCharWidth()  # of its bold font

    def _width_at(self, level: int) -> int:
        """Return the width that the content needs at a level of simplification."""
        widths = [self.navigation.sizeHint().width(), self.done.sizeHint().width(), self._name_width()]
        widths.append(self.overlays.width_with(texts=level < 1))
        if level < 2:
            widths.append(self.position.sizeHint().width())
        if level < 3:
            widths.append(self.history.sizeHint().width())
        if level < 4:
            widths.append(max(self._widest, self.prediction.sizeHint().width()))
        margins = self.layout().contentsMargins()
        return sum(widths) + (len(widths) - 1) * self.layout().spacing() + margins.left() + margins.right()

    def show_model_text(self, text: str) -> None:
        self.prediction.setText(text)
        self._widest = max(self._widest, self.prediction.sizeHint().width())
        # Not only with the next layout: a busy window would show the text cut until then.
        self._fit()
        self.layout().activate()

    def refresh(self, *_: object) -> None:
        number, count = self._images.position()
        self.position.setText(self.tr("{number} of {count}").format(number=number, count=count) if number else "")
        key = self._session.key or ""
        self.name.set_text(key.removeprefix("@"), short=[key.rpartition("/")[2]])
        self.name.setToolTip(key)
