"""Labels for icons and for texts that are elided or wrapped, and the alignment of texts in fields.

Foldable section of a side panel.

Controls that name in their tooltip why they are disabled.

Sizes of windows that fit on the screen, and content that scrolls where the screen has no room for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QMargins, QRect, QSettings, QSize, Qt, SignalInstance
from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication, QIcon, QPainter, QResizeEvent, QTextLayout
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QFrame,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSpinBox,
    QWidget,
)

from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.theme import ThemeManager

_GENERAL = QFontDatabase.SystemFont.GeneralFont
_SMALLEST = QSize(1024, 600)  # px, the smallest supported screen
_FRAME = QSize(16, 40)  # px, of title bar and border
_BUTTONS = 90  # px, of the buttons of a dialog and its margins


class ContentScrollArea(QScrollArea):
    """Content of a dialog above its buttons: as large as it is, or as high as the screen allows, then it scrolls."""

    def __init__(self, content: QWidget) -> None:
        super().__init__(widgetResizable=True, frameShape=QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # a focused widget in it is scrolled into view
        content.setObjectName("settingsPage")  # its background
        self.setWidget(content)

    def sizeHint(self) -> QSize:
        content = self.widget()
        width = max(content.sizeHint().width(), content.minimumSizeHint().width())
        height = max(content.sizeHint().height(), content.heightForWidth(width))
        room = available_area(self).size().expandedTo(_SMALLEST).height() - _FRAME.height() - _BUTTONS
        return QSize(width + self.verticalScrollBar().sizeHint().width(), min(height, room))

    def minimumSizeHint(self) -> QSize:
        return QSize(self.sizeHint().width(), super().minimumSizeHint().height())


def available_area(widget: QWidget) -> QRect:
    """Return the area for windows, in logical pixels, of the screen of a widget or of its first visible ancestor.

    `QWidget.screen` is not used: PySide then binds the QScreen to the widget, and can delete both together.
    """
    shown: QWidget | None = widget
    while shown is not None and not shown.isVisible():
        shown = shown.parentWidget()
    screen = QGuiApplication.screenAt(shown.mapToGlobal(shown.rect().center())) if shown is not None else None
    return (screen or QGuiApplication.primaryScreen()).availableGeometry()


def resize_on_screen(window: QWidget, width: int, height: int) -> None:
    """Resize a window to a size in pixels, or to what its screen has room for."""
    available = available_area(window).size().expandedTo(_SMALLEST)
    window.resize(QSize(width, height).boundedTo(available - _FRAME))


def text_scale() -> float:
    """Return the size of the texts relative to that of the system, at least 1."""
    size, usual = QGuiApplication.font().pointSizeF(), QFontDatabase.systemFont(_GENERAL).pointSizeF()
    return max(1.0, size / usual) if size > 0 and usual > 0 else 1.0


def keep_on_screen(window: QWidget) -> None:
    """Move and resize a window whose stored geometry is not on its screen: at another scale it has less room."""
    area = available_area(window).marginsRemoved(
        QMargins(_FRAME.width() // 2, _FRAME.height(), *[_FRAME.width() // 2] * 2)
    )
    size = window.size().boundedTo(area.size())
    place = window.geometry().topLeft()
    left = max(area.left(), min(place.x(), area.right() + 1 - size.width()))
    top = max(area.top(), min(place.y(), area.bottom() + 1 - size.height()))
    window.setGeometry(left, top, size.width(), size.height())


def resize_for_text(window: QWidget, width: int, height: int) -> None:
    """Resize a window to a size in pixels at texts of the usual size, or to what its screen has room for."""
    scale = text_scale()
    resize_on_screen(window, round(width * scale), round(height * scale))


def set_width_for_text(window: QWidget, width: int) -> None:
    """Set the least width of a window, in pixels at texts of the usual size, as far as its screen has room for it."""
    room = available_area(window).size().expandedTo(_SMALLEST).width() - _FRAME.width()
    window.setMinimumWidth(min(round(width * text_scale()), room))


def fit_height(window: QWidget) -> None:
    """Make a window higher if its texts, which wrap, need more height than it has."""
    layout = window.layout()
    layout.activate()
    height = (
        layout.totalHeightForWidth(window.width()) if layout.hasHeightForWidth() else layout.totalSizeHint().height()
    )
    if height > window.height():
        resize_on_screen(window, window.width(), height)


class CollapsibleSection(QWidget):
    """Heading above `body` with an optional small button at its end; stores the folded state.

    expanded: until the user folds or unfolds it.
    """

    def __init__(
        self,
        name: str,
        title: str,
        body: QWidget,
        style: ThemeManager,
        button: QWidget | None = None,
        *,
        expanded: bool = True,
    ) -> None:
        super().__init__()
        self._name, self._style, self.body = name, style, body
        self._has_content: Callable[[], object] | None = None
        self._automatic = False  # unfolded by its content, which is not stored
        self.heading = QPushButton(title, objectName="section", checkable=True)
        self.heading.setToolTip(self.tr("Fold or unfold this section"))
        top = in_row((self.heading, 1), spacing=2)
        if button is not None:
            top.addWidget(button)
        in_column(top, body, owner=self, margins=(8, 4, 8, 4), spacing=4)
        self.heading.setChecked(QSettings().value(f"sections/{name}", expanded, bool))
        body.setVisible(self.heading.isChecked())
        self.heading.toggled.connect(self._fold)
        self._update_icon()

    def wait_for(self, has_content: Callable[[], object], *signals: SignalInstance) -> None:
        """Stay folded until there is content, after one of the signals, or until the user unfolds the section."""
        self._has_content = has_content
        for signal in signals:
            signal.connect(self._unfold)
        if not QSettings().contains(f"sections/{self._name}"):
            self._set_expanded(bool(has_content()))

    def _unfold(self, *_: object) -> None:
        if self.heading.isChecked() or self._has_content is None or not self._has_content():
            return
        if not QSettings().contains(f"sections/{self._name}"):
            self._set_expanded(True)

    def _set_expanded(self, on: bool) -> None:
        self._automatic = True
        self.heading.setChecked(on)
        self._automatic = False

    def _fold(self, expanded: bool) -> None:
        self.body.setVisible(expanded)
        if not self._automatic:
            QSettings().setValue(f"sections/{self._name}", expanded)
        self._update_icon()

    def _update_icon(self) -> None:
        name = "chevron-down" if self.heading.isChecked() else "chevron-right"
        self.heading.setIcon(self._style.icon(name, "muted"))


_TIP, _SHOWN = "reasonTip", "reasonShown"  # dynamic properties of the widget


def set_disabled_reason(widget: QWidget, reason: str) -> None:
    """Disable a control and add the reason to its tooltip, or enable it and restore the tooltip if `reason` is "".

    Tooltips that are set in between are kept.
    """
    tip = widget.toolTip()
    if tip == widget.property(_SHOWN):  # that of an earlier reason
        tip = widget.property(_TIP)
    shown = f"{tip}\n{reason}" if tip and reason else reason or tip
    widget.setProperty(_TIP, tip)
    widget.setProperty(_SHOWN, shown if reason else None)
    widget.setToolTip(shown)
    widget.setAccessibleDescription(reason)
    widget.setEnabled(not reason)


class IconLabel(QWidget):
    """Icon of a fixed size, painted anew in the colors of the theme and for the screen that it is on.

    A QLabel keeps its pixmap in the colors and the pixel ratio of the time when it was set.
    """

    def __init__(self, icon: QIcon | None = None, size: int = 16) -> None:
        """Create a label. size: px, logical."""
        super().__init__()
        self._icon = icon or QIcon()
        self.setFixedSize(size, size)

    def set_icon(self, icon: QIcon) -> None:
        self._icon = icon
        self.update()

    def paintEvent(self, event) -> None:
        mode = QIcon.Mode.Normal if self.isEnabled() else QIcon.Mode.Disabled
        self._icon.paint(QPainter(self), self.rect(), mode=mode)


_INDENT = 5  # px


def align_text(field: QSpinBox | QDoubleSpinBox) -> None:
    """Indent the text of a number field and keep it centered, also in a language with characters of another font."""
    editor = field.lineEdit()
    editor.textChanged.connect(partial(_align, editor))
    _align(editor)


def center_text(editor: QLineEdit) -> None:
    """Keep the text of a line edit centered, also in a language with characters of another font."""
    editor.textChanged.connect(partial(_align, editor, indent=0))
    _align(editor, indent=0)


def line_height(text: str, font: QFont) -> float:
    """Return the height in px of a line, which is larger if characters of the text are drawn with another font."""
    layout = QTextLayout(text, font)
    layout.beginLayout()
    line = layout.createLine()
    layout.endLayout()
    return line.height()


def _align(editor: QLineEdit, _text: str = "", *, indent: int = _INDENT) -> None:
    """Center a text such as "5 分钟", whose unit is drawn with another font than its digits.

    Qt places the baseline of an editor by its font alone, and that of buttons and lists by the tallest font in the
    text: in a row with them the text of the editor would be too high by half the difference.
    """
    excess = line_height(editor.text(), editor.font()) - editor.fontMetrics().height()
    shift = max(0, round(excess / 2))
    editor.setTextMargins(indent, shift, 0, -shift)


_CLAUSE = re.compile(r"(?:; |；)")  # between the clauses of a note


class FittedNote(QLabel):
    """Note that yields its space to all other widgets of a row. The tooltip has the full text."""

    def __init__(self) -> None:
        super().__init__(objectName="muted")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self._text = ""

    def show_text(self, text: str) -> None:
        self._text = text
        self.setToolTip(text)
        self._fit()

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Show as many clauses as fit; nothing if not even the first does."""
        ends = [match.start() for match in _CLAUSE.finditer(self._text)]
        texts = [self._text, *(self._text[:end] for end in reversed(ends))]
        self.setText(next(filter(self._fits, texts), ""))

    def _fits(self, text: str) -> bool:
        metrics, wrap = self.fontMetrics(), Qt.TextFlag.TextWordWrap
        needed = metrics.boundingRect(QRect(0, 0, max(1, self.width() - 2), 10_000), wrap, text)
        return needed.height() <= max(self.height(), metrics.height()) and needed.width() <= self.width()


class ElidedLabel(QLabel):
    """Single-line label.

    `set_text` sets the full text; if it is elided, the tooltip shows it, unless `tip` is False, and then the details.
    as_wide_as_text: the label takes the width of its full text if the row has it, else it takes what the row leaves.
    """

    def __init__(
        self, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight, *, tip: bool = True, as_wide_as_text: bool = False
    ) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        policy = QSizePolicy.Policy.Preferred if as_wide_as_text else QSizePolicy.Policy.Ignored
        self.setSizePolicy(policy, QSizePolicy.Policy.Preferred)
        self._mode, self._tip, self.full_text, self._short, self._details = mode, tip, "", (), ""

    def set_text(self, text: str, *, short: Sequence[str] = (), details: str = "") -> None:
        """Show a text. short: texts for less space, ever shorter. details: more text for the tooltip."""
        if (text, tuple(short), details) != (self.full_text, self._short, self._details):
            self.full_text, self._short, self._details = text, tuple(short), details
            self._elide()
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Return the size of the full text, however much of it is shown: eliding it requests no other layout."""
        return QSize(self.fontMetrics().horizontalAdvance(self.full_text), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._elide()

    def _elide(self) -> None:
        metrics, texts = self.fontMetrics(), (self.full_text, *self._short)
        fitting = (text for text in texts if metrics.horizontalAdvance(text) <= self.width())
        shown = next(fitting, None)  # `elidedText` may elide a text of exactly this width
        if shown is None:
            shown = metrics.elidedText(texts[-1], self._mode, self.width())
        self.setText(shown)
        if self._tip:
            elided = self.full_text if shown != self.full_text else ""
            self.setToolTip("\n".join(filter(None, (elided, self._details))))
