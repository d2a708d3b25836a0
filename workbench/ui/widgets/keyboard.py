"""Keyboard in the window: rules of the editors, frame of the focus, keys in tooltips, order of Tab, held keys.

`EditorKeys` has the rules of text and number fields, combo boxes and sliders, also for the wheel, and of Return on
buttons. One object serves a window and its dialogs. Qt offers each key to the focused widget as a ShortcutOverride
before it looks for a shortcut, so the focused editor can claim it here. Only the focused editor and the native windows
are filtered: a filter on the whole application would run Python code for every event of every widget.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QPen, QWheelEvent, QWindow
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDoubleSpinBox,
    QKeySequenceEdit,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QSpinBox,
    QTextEdit,
    QWidget,
)
from shiboken6 import isValid

from workbench.ui.shortcuts import with_key
from workbench.ui.text.formatting import plain

_KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)
_LINE = 2  # px


class FocusFrame(QWidget):
    """Frame over a widget, visible from the moment it is focused by the keyboard until the pointer is used on it."""

    def __init__(self, target: QWidget) -> None:
        super().__init__(target)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        target.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.FocusIn:
            self.setGeometry(self.parentWidget().rect())
            self.setVisible(event.reason() in _KEYBOARD)
            self.raise_()
        elif kind in (QEvent.Type.FocusOut, QEvent.Type.MouseButtonPress):
            self.hide()
        elif kind == QEvent.Type.Resize:
            self.setGeometry(self.parentWidget().rect())
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(QPen(self.palette().highlight().color(), _LINE))
        painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
        painter.end()


_TEXT, _COMMAND = "keyTipText", "keyTipCommand"  # dynamic properties of the widget


def set_key_tip(widget: QWidget, text: str, id: str) -> None:
    """Set a tooltip that is followed by the shortcut of the command `id`."""
    widget.setProperty(_TEXT, text)
    widget.setProperty(_COMMAND, id)
    widget.setToolTip(with_key(text, id))


def update_key_tips(window: QWidget) -> None:
    """Update these tooltips of a window's widgets after shortcuts were changed."""
    for widget in window.findChildren(QWidget):
        text = widget.property(_TEXT)
        if text is not None:
            widget.setToolTip(with_key(text, widget.property(_COMMAND)))


def focus_chain(container: QWidget) -> list[QWidget]:
    """Return the widgets in `container` that can have the focus and do not pass it on, in the order of Tab."""
    found, each = [], container.nextInFocusChain()
    while container.isAncestorOf(each):
        if each.focusPolicy() != Qt.FocusPolicy.NoFocus and each.focusProxy() is None:
            found.append(each)
        each = each.nextInFocusChain()
    return found


def move_behind(before: QWidget, container: QWidget) -> None:
    """Move the widgets in `container` behind `before`. A container that is added later comes last otherwise."""
    for widget in focus_chain(container):
        QWidget.setTabOrder(before, widget)
        before = widget


_PAUSE = 1.0  # seconds after a press in which a further press counts as its repetition
_MODIFIERS = (Qt.Key.Key_Shift, Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_Meta, Qt.Key.Key_AltGr)


class RepeatedKeyGuard(QObject):
    """Event filter for the widget that got the focus from a button which was pressed by a key.

    The first further press of that key is held back, and those that follow one another quickly. Another key, a mouse
    button or a change of focus ends this.
    """

    held_back = Signal(int, str)  # key, name of the button

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.clock: Callable[[], float] = time.monotonic  # returns seconds; can be replaced
        self._target: QWidget | None = None
        self._key, self._name = 0, ""
        self._reported = False
        self._pressed_at = 0.0

    def watch(self, target: QWidget, key: int, name: str) -> None:
        """Hold back the key that has pressed the button of that name."""
        self.stop()
        self._target, self._key, self._name = target, key, name
        self._reported, self._pressed_at = False, self.clock()
        target.installEventFilter(self)

    def stop(self) -> None:
        if self._target is not None:
            self._target.removeEventFilter(self)
        self._target = None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind in (QEvent.Type.MouseButtonPress, QEvent.Type.FocusOut):
            self.stop()
        elif kind in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress):
            return self._hold_back(event, pressed=kind == QEvent.Type.KeyPress)
        return False

    def _hold_back(self, event: QKeyEvent, *, pressed: bool) -> bool:
        if event.key() in _MODIFIERS:
            return False
        repeated = event.isAutoRepeat() or not self._reported or self.clock() - self._pressed_at < _PAUSE
        if event.key() != self._key or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier or not repeated:
            self.stop()
            return False
        event.accept()
        if pressed:
            self._pressed_at = self.clock()
            if not self._reported and not event.isAutoRepeat():
                self._reported = True
                self.held_back.emit(self._key, self._name)
        return True


TEXTS = (QLineEdit, QAbstractSpinBox, QPlainTextEdit, QTextEdit, QKeySequenceEdit)
EDITORS = (*TEXTS, QComboBox, QAbstractSlider)
_WHEEL_EDITORS = (QAbstractSpinBox, QComboBox, QAbstractSlider)
_COMMIT = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_NAVIGATION = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
_COMMAND_MODIFIERS = (
    Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
)


class EditorKeys(QObject):
    """Event filter for the focused editor or button and for wheel events of all windows.

    Return presses a button of the window that was reached by the keyboard, as in a dialog. After a click it remains a
    shortcut. If the focus leaves the button then, `repeated_key` holds a second press back.

    focus_targets: the first visible one gets the focus after an editor of its window was used.
    reserved: shortcuts that never act while an editor has the focus, in addition to all keys without Ctrl, Alt or Meta.
    """

    def __init__(self, focus_targets: Sequence[QWidget], reserved: Iterable[QKeySequence], parent: QWidget) -> None:
        super().__init__(parent)
        self._window, self._focus_targets = parent, focus_targets
        self.set_reserved(reserved)
        self._editor: QWidget | None = None
        self._button: QAbstractButton | None = None  # focused by the keyboard
        self._press: tuple[int, str] | None = None  # key that presses the button, name of the button
        self.repeated_key = RepeatedKeyGuard(self)
        self._initial: Any = None  # value of the editor when it got the focus
        self._modified = False  # whether the user has changed the editor since then
        self._forwarding = False  # whether a key is being sent to the editor
        app = QApplication.instance()
        app.focusChanged.connect(self._focus_changed)
        app.focusWindowChanged.connect(self._watch_windows)
        self._watch_windows()

    def set_reserved(self, reserved: Iterable[QKeySequence]) -> None:
        """Replace the reserved shortcuts."""
        self._reserved = {keys[0].toCombined() for keys in reserved if keys.count()}

    def leave_after_click(self, *buttons: QAbstractButton) -> None:
        """Move the focus away from buttons when they are clicked, because another press would revoke the first."""
        for button in buttons:
            button.clicked.connect(partial(self._leave_button, button))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if isinstance(watched, QWindow):
            return kind == QEvent.Type.Wheel and self._forward_wheel(watched, event)
        if watched is self._button:
            return self._button_key(event)
        if watched is not self._editor:
            return False
        if kind == QEvent.Type.ShortcutOverride:
            if self._claims(event):
                event.accept()
                return True
        elif kind == QEvent.Type.KeyPress and not self._forwarding:
            return self._key(event)
        elif kind in (QEvent.Type.MouseButtonPress, QEvent.Type.Wheel):
            self._modified = True
        elif kind == QEvent.Type.MouseButtonRelease and isinstance(watched, (QAbstractSlider, QAbstractSpinBox)):
            self._leave()  # of a number field only the arrows send it: its text is a separate widget
        return False

    # --- keys ------------------------------------------------------------------------------------

    def _focus_changed(self, old: QWidget | None, new: QWidget | None) -> None:
        for watched in (self._editor, self._button):
            if watched is not None and isValid(watched):
                watched.removeEventFilter(self)
        self._editor = new if isinstance(new, EDITORS) else None
        self._button = self._press = None
        if isinstance(new, QAbstractButton) and new.window() is self._window and not QGuiApplication.mouseButtons():
            self._button = new
            new.installEventFilter(self)
        if self._editor is None:
            return
        self._editor.installEventFilter(self)
        self._initial, self._modified = _value(self._editor), False
        if isinstance(new, QComboBox) and old is not None and isValid(old) and old.window().parent() is new:
            QTimer.singleShot(0, self, self._leave)  # the list of choices has just been closed

    def _button_key(self, event: QEvent) -> bool:
        """Press the focused button on Return, and record the key that presses it."""
        if event.type() == QEvent.Type.KeyPress and event.key() in (*_COMMIT, Qt.Key.Key_Space):
            self._press = event.key(), plain(self._button.text() or self._button.accessibleName())
        elif event.type() == QEvent.Type.MouseButtonPress:
            self._press = None
        if event.type() not in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress) or event.key() not in _COMMIT:
            return False
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        event.accept()
        if event.type() == QEvent.Type.KeyPress and self._button is not None and not event.isAutoRepeat():
            self._button.click()
        return True

    def _claims(self, event: QKeyEvent) -> bool:
        """Return whether the editor claims a key, so that no shortcut is triggered."""
        if event.modifiers() & _COMMAND_MODIFIERS:
            pressed = event.keyCombination().toCombined() & ~Qt.KeyboardModifier.KeypadModifier.value
            return isinstance(self._editor, QKeySequenceEdit) or pressed in self._reserved
        return not Qt.Key.Key_F1 <= event.key() <= Qt.Key.Key_F35

    def _key(self, event: QKeyEvent) -> bool:
        """Commit on Return, restore on Esc, then leave the editor. Other keys are passed to the editor."""
        editor, commits, cancels = self._editor, event.key() in _COMMIT, event.key() == Qt.Key.Key_Escape
        if isinstance(editor, (QPlainTextEdit, QTextEdit)):
            commits = False
        if _inline(editor) and event.key() in _NAVIGATION:
            event.accept()  # a text field ignores these keys, and the list would move to another row
            return True
        target = self._focus_target()
        if not (commits or cancels) or isinstance(editor, QKeySequenceEdit) or target is None:
            self._modified = True
            return False
        if cancels and self._modified and not _inline(editor):
            _restore(editor, self._initial)
        self._forwarding = True
        try:
            QApplication.sendEvent(editor, event)
        finally:
            self._forwarding = False
        target.setFocus(Qt.FocusReason.OtherFocusReason)
        event.accept()
        return True

    def _focus_target(self) -> QWidget | None:
        """Return the widget that gets the focus after the editor. None in a dialog, where Qt's own rules apply."""
        editor = self._editor
        if editor is None or not isValid(editor) or editor.window() is not self._window:
            return None
        return self._visible_target()

    def _visible_target(self) -> QWidget | None:
        return next((target for target in self._focus_targets if target.isVisible()), None)

    def _leave(self) -> None:
        target = self._focus_target()
        if target is not None:
            target.setFocus(Qt.FocusReason.OtherFocusReason)

    def give_keyboard(self, *_: object) -> None:
        """Give the keyboard to the canvas, or to what is shown in its place."""
        target = self._visible_target()
        if target is not None:
            target.setFocus(Qt.FocusReason.OtherFocusReason)

    def _leave_button(self, button: QAbstractButton) -> None:
        target = self._visible_target()
        if button.hasFocus() and target is not None:
            press = self._press
            target.setFocus(Qt.FocusReason.OtherFocusReason)
            if press is not None:
                self.repeated_key.watch(target, *press)

    # --- wheel -----------------------------------------------------------------------------------

    def _watch_windows(self, *_: object) -> None:
        for window in QGuiApplication.topLevelWindows():
            window.removeEventFilter(self)
            window.installEventFilter(self)

    def _forward_wheel(self, window: QWindow, event: QWheelEvent) -> bool:
        """Send a wheel event over an editor without focus to its containers. Return True if that was done."""
        top = QWidget.find(window.winId())
        widget = top.childAt(event.position().toPoint()) if top is not None else None
        editor = None
        while widget is not None and not widget.isWindow():
            if isinstance(widget, _WHEEL_EDITORS) and not isinstance(widget, QScrollBar):
                editor = widget
            widget = widget.parentWidget()
        if editor is None or editor.hasFocus():
            return False
        container = editor.parentWidget()
        while container is not None:  # Qt propagates only spontaneous wheel events to the parents
            copy = QWheelEvent(
                container.mapFrom(top, event.position()),
                event.globalPosition(),
                event.pixelDelta(),
                event.angleDelta(),
                event.buttons(),
                event.modifiers(),
                event.phase(),
                event.inverted(),
                event.source(),
            )
            QApplication.sendEvent(container, copy)
            if copy.isAccepted() or container.isWindow():
                break
            container = container.parentWidget()
        event.accept()
        return True


def _inline(editor: QWidget) -> bool:
    """Return whether an editor belongs to a row of a list or table, whose delegate commits and restores."""
    view = editor.parentWidget().parentWidget() if editor.parentWidget() is not None else None
    return isinstance(view, QAbstractItemView)


def _value(editor: QWidget) -> Any:
    if isinstance(editor, (QAbstractSlider, QSpinBox, QDoubleSpinBox)):
        return editor.value()
    if isinstance(editor, QComboBox):
        return editor.currentText() if editor.isEditable() else editor.currentIndex()
    return editor.text() if isinstance(editor, QLineEdit) else None


def _restore(editor: QWidget, old: Any) -> None:
    if isinstance(editor, QComboBox):
        if editor.isEditable():
            editor.setEditText(old)
        elif editor.currentIndex() != old and 0 <= old < editor.count():
            editor.setCurrentIndex(old)
            editor.activated.emit(old)  # as if the user had chosen the entry
    elif isinstance(editor, QLineEdit):
        editor.setText(old)
    elif old is not None:
        editor.setValue(old)
