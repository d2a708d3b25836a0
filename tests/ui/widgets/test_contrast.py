"""Contrast of the themes after WCAG 2.2: text 4.5:1, large text and controls 3:1; visible focus in both themes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QSlider,
    QSpinBox,
    QTableWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from workbench.core import resources
from workbench.ui.widgets.theme import NAMES, Theme, ThemeManager

SURFACES = ("window", "panel", "base", "raised")  # backgrounds of texts
TEXT, LARGE, CONTROL = 4.5, 3.0, 3.0
DISABLED = 3.0  # WCAG exempts inactive controls; they remain readable here
LARGE_SELECTORS = {"QLabel#title", "QLabel#metric"}  # at least 18 pt, or 14 pt in bold


def luminance(color: QColor) -> float:
    """Return the relative luminance of WCAG 2.2."""
    parts = [channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in
             (color.redF(), color.greenF(), color.blueF())]  # fmt: skip
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(first: QColor, second: QColor) -> float:
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_that_of_the_standard():
    assert contrast(QColor("#000000"), QColor("#ffffff")) == pytest.approx(21)
    assert contrast(QColor("#777777"), QColor("#ffffff")) == pytest.approx(4.48, abs=0.01)


def rules() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each selector of the style sheet with its declarations."""
    sheet = re.sub(r"/\*.*?\*/", "", resources.text("style.qss"), flags=re.S)
    for selectors, body in re.findall(r"([^{}]+)\{([^}]*)\}", sheet):
        declarations = dict(re.findall(r"([\w-]+)\s*:\s*([^;]+?)\s*(?:;|$)", body))
        for selector in selectors.split(","):
            yield " ".join(selector.split()), declarations


def merged() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for selector, declarations in rules():
        found.setdefault(selector, {}).update(declarations)
    return found


def general(selector: str) -> Iterator[str]:
    """Yield a selector and the more general ones that also match its widget, the most special first."""
    yield selector
    while ":" in selector and re.search(r":(?!:)[\w-]+$", selector) and not re.search(r"::[\w-]+$", selector):
        selector = re.sub(r":[\w-]+$", "", selector)
        yield selector
    if "#" in selector:
        yield re.sub(r"#\w+", "", selector)


def color_of(selector: str, names: tuple[str, ...], table: dict[str, dict[str, str]]) -> str:
    """Return the role of the theme that a selector, or a more general one, uses; "" for none."""
    for each in general(selector):
        for name in names:
            role = re.search(r"@(\w+)", table.get(each, {}).get(name, ""))
            if role:
                return role.group(1)
            if "transparent" in table.get(each, {}).get(name, ""):
                return ""
    return ""


@pytest.mark.parametrize("name", NAMES)
def test_text_of_every_rule_is_readable(name):
    theme, table, checked = Theme.load(name), merged(), 0
    low = {}
    for selector, declarations in table.items():
        if not {"color", "background"} & declarations.keys() or "::indicator" in selector or "handle" in selector:
            continue
        if re.search(r"::(groove|sub-page|add-page|chunk|separator|up-|down-|icon|drop)", selector):
            continue
        if selector.startswith(("QSplitter", "QProgressBar", "QFrame#line", "QToolBar")):
            continue  # they show no text
        text = color_of(selector, ("color",), table) or "text"
        background = color_of(selector, ("background",), table)
        least = LARGE if selector in LARGE_SELECTORS else DISABLED if "disabled" in selector else TEXT
        for surface in (background,) if background else SURFACES:
            checked += 1
            found = contrast(theme.color(text), theme.color(surface))
            if found < least:
                low[selector, text, surface] = round(found, 2)
    assert not low and checked > 60


@pytest.mark.parametrize("name", NAMES)
def test_texts_and_icons_drawn_by_delegates_are_readable(name):
    """Delegates draw muted and normal text on rows, hovered and selected ones included."""
    theme = Theme.load(name)
    for role in ("text", "muted"):
        for surface in (*SURFACES, "hover", "selection"):
            assert contrast(theme.color(role), theme.color(surface)) >= TEXT, (role, surface)
    for role in ("accent", "success", "warning", "danger"):
        for surface in (*SURFACES, "hover", "selection"):
            assert contrast(theme.color(role), theme.color(surface)) >= CONTROL, (role, surface)
        assert contrast(theme.color(role), theme.color("panel")) >= TEXT, role
    assert contrast(theme.color("accent_text"), theme.color("accent")) >= TEXT
    assert contrast(theme.color("danger_text"), theme.color("danger_fill")) >= TEXT
    for number in range(1, 5):
        assert contrast(theme.color(f"curve_{number}"), theme.color("panel")) >= CONTROL


@pytest.mark.parametrize("name", NAMES)
def test_edges_of_inputs_and_focus_are_distinct(name):
    theme, table = Theme.load(name), merged()
    for selector in ("QLineEdit", "QAbstractSpinBox", "QComboBox", "QPlainTextEdit", "QCheckBox::indicator"):
        role = color_of(selector, ("border",), table)
        for surface in ("window", "panel"):
            assert contrast(theme.color(role), theme.color(surface)) >= CONTROL, (selector, surface)
    for selector in ("QScrollBar::handle:vertical", "QScrollBar::handle:horizontal", "QSlider::handle:horizontal"):
        role = color_of(selector, ("background",), table)
        for surface in ("window", "panel", "base"):
            assert contrast(theme.color(role), theme.color(surface)) >= CONTROL, (selector, surface)
    focused = [selector for selector in table if ":focus" in selector and "QLineEdit:focus" not in selector[1:]]
    assert len(focused) > 20
    for selector in focused:
        role = color_of(selector, ("border", "border-color"), table)
        if role:
            background = color_of(selector, ("background",), table)
            surfaces = (background,) if background else ("window", "panel")
            if re.search("primary|next|danger|::handle|indicator", selector):
                surfaces = ("window", "panel")  # the edge lies between the control and its surroundings
            assert all(contrast(theme.color(role), theme.color(each)) >= CONTROL for each in surfaces), selector


def checkable(checked: bool, name: str = "") -> QPushButton:
    button = QPushButton("Text", checkable=True, checked=checked, objectName=name)
    button.setAutoDefault(False)
    return button


WIDGETS = {
    "button": lambda: checkable(False),
    "checked button": lambda: checkable(True),
    **{f"#{name}": lambda name=name: checkable(False, name) for name in ("primary", "danger", "link", "section")},
    **{f"#{name}": lambda name=name: checkable(True, name) for name in ("tab", "left", "middle", "right", "reading")},
    "tool button": lambda: QToolButton(text="T", focusPolicy=Qt.FocusPolicy.StrongFocus),
    "checked tool button": lambda: QToolButton(
        text="T", checkable=True, checked=True, focusPolicy=Qt.FocusPolicy.StrongFocus
    ),
    "check box": lambda: QCheckBox("Text"),
    "checked check box": lambda: QCheckBox("Text", checked=True),
    "line": lambda: QLineEdit("Text", readOnly=True),
    "box": QComboBox,
    "number": QSpinBox,
    "slider": lambda: QSlider(Qt.Orientation.Horizontal),
    "text": lambda: QPlainTextEdit(readOnly=True),
    "list": QListWidget,
    "table": lambda: QTableWidget(2, 2),
}


@pytest.fixture
def restored(qapp):
    """Application without a style sheet afterwards."""
    yield ThemeManager(qapp)
    qapp.setStyleSheet("")


@pytest.mark.parametrize("theme", NAMES)
def test_focus_is_visible(theme, restored, qtbot):
    restored.apply(theme)
    window = QWidget()
    column = QVBoxLayout(window)
    other = QPushButton("Other")
    column.addWidget(other)
    made = {name: make() for name, make in WIDGETS.items()}
    for widget in made.values():
        widget.setMaximumHeight(60)
        column.addWidget(widget)
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window, timeout=5000)
    invisible = []
    for name, widget in made.items():
        other.setFocus(Qt.FocusReason.TabFocusReason)
        before = widget.grab().toImage()
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        assert widget.hasFocus(), name
        if changed_pixels(before, widget.grab().toImage()) < 24:
            invisible.append(name)
    assert not invisible


def changed_pixels(before: QImage, after: QImage) -> int:
    """Return the number of pixels that differ by at least 1.5:1."""
    return sum(
        contrast(before.pixelColor(x, y), after.pixelColor(x, y)) >= 1.5
        for y in range(before.height())
        for x in range(before.width())
        if before.pixel(x, y) != after.pixel(x, y)
    )
