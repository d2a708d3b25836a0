"""Colors, style and icons: a palette file, one style sheet, and SVG icons tinted in the theme's colors."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import ClassVar

from platformdirs import user_cache_dir
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QObject, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontInfo, QIcon, QIconEngine, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from workbench.core import resources
from workbench.inference.io.file_access import write_atomic

NAMES = ("dark", "light")
# Language -> fonts with its characters on Windows, macOS and Linux.
FONTS = {
    "zh_CN": (
        "Microsoft YaHei UI",
        "PingFang SC",
        "Noto Sans CJK SC",
        "Source Han Sans SC",
        "WenQuanYi Micro Hei",
    )
}


@dataclass
class Theme:
    """One palette. `color("accent")` is a QColor."""

    name: str
    dark: bool
    colors: dict[str, str]
    _drawn: dict[tuple[str, str, int], QPixmap] = field(default_factory=dict)

    @classmethod
    def load(cls, name: str) -> Theme:
        """Load a theme from `resources/themes`. Raises FileNotFoundError, ValueError."""
        raw = json.loads(resources.text(f"themes/{name}.json"))
        dark = bool(raw.pop("dark"))
        for role, value in raw.items():
            if not QColor(value).isValid():
                raise ValueError(f"theme {name}: {role} is not a color: {value}")
        return cls(name, dark, raw)

    def color(self, role: str, alpha: int = 255) -> QColor:
        color = QColor(self.colors[role])
        color.setAlpha(alpha)
        return color

    def drawn(self, name: str, role: str, size: int) -> QPixmap:
        """Return an icon in a color of this theme, `size` px square; drawn once."""
        if (name, role, size) not in self._drawn:
            self._drawn[name, role, size] = tinted(name, self.color(role), size)
        return QPixmap(self._drawn[name, role, size])  # its caller sets the pixel ratio

    def pixmap(self, name: str, size: int, role: str = "text", ratio: float = 1.0) -> QPixmap:
        pixmap = self.drawn(name, role, round(size * ratio))
        pixmap.setDevicePixelRatio(ratio)
        return pixmap

    def palette(self) -> QPalette:
        palette = QPalette()
        role = QPalette.ColorRole
        pairs = {
            role.Window: "panel",
            role.WindowText: "text",
            role.Base: "base",
            role.AlternateBase: "panel",
            role.Text: "text",
            role.PlaceholderText: "muted",
            role.Button: "raised",
            role.ButtonText: "text",
            role.BrightText: "danger",
            role.ToolTipBase: "raised",
            role.ToolTipText: "text",
            role.Highlight: "accent",
            role.HighlightedText: "accent_text",
            role.Link: "accent",
            role.LinkVisited: "accent",
            role.Light: "hover",
            role.Midlight: "raised",
            role.Mid: "border",
            role.Dark: "border",
            role.Shadow: "canvas",
        }
        for color_role, name in pairs.items():
            palette.setColor(color_role, self.color(name))
        for color_role in (role.WindowText, role.Text, role.ButtonText):
            palette.setColor(QPalette.ColorGroup.Disabled, color_role, self.color("disabled"))
        return palette

    def style(self, folder: Path) -> str:
        """Return the style sheet in this theme's colors. The images that it refers to are written to `folder`.

        Raises OSError.
        """

        def value(match: re.Match[str]) -> str:
            icon, role, color = match.groups()
            return self.colors[color] if color else icon_file(folder, icon, self.color(role), 48).as_posix()

        return re.sub(r"@icon\((\S+?),(\w+)\)|@(\w+)", value, resources.text("style.qss"))


class ThemeManager(QObject):
    """Theme of the application. `changed` is emitted after another one was applied."""

    changed = Signal()

    def __init__(self, app: QApplication) -> None:
        super().__init__()
        self._app = app
        self._images = Path(user_cache_dir("defect-workbench", appauthor=False)) / "style"  # of the style sheet
        self._temporary: tempfile.TemporaryDirectory | None = None  # in place of a cache that cannot be written
        self.theme = Theme.load("dark")
        self._font, self._text_size = app.font(), 100.0
        self._families: list[str] = []  # after the system's font
        self._postponed = False
        self._icons: dict[tuple[str, str], QIcon] = {}
        app.setStyle("Fusion")

    @staticmethod
    def app_icon() -> QIcon:
        return QIcon(str(resources.path("icons/app.svg")))

    def icon(self, name: str, role: str = "text") -> QIcon:
        """Return an icon from `resources/icons` that is always drawn in a color of the theme in use.

        Widgets need not set it again after another theme was applied. Disabled, it is dimmed. Raises FileNotFoundError.
        """
        if (name, role) not in self._icons:
            self._icons[name, role] = make_icon(name, role, weakref.ref(self))
        return self._icons[name, role]

    def apply(self, request: str) -> Theme:
        """Apply a theme and return it. request: "dark", "light" or "system"."""
        if request not in NAMES:
            scheme = self._app.styleHints().colorScheme()
            request = "light" if scheme == Qt.ColorScheme.Light else "dark"
        self.theme = Theme.load(request)
        self._app.setPalette(self.theme.palette())
        if not self._postponed:
            self._set_style_sheet()
        self.changed.emit()
        return self.theme

    def _set_style_sheet(self) -> None:
        try:
            sheet = self.theme.style(self._images)
        except OSError:
            self._temporary = tempfile.TemporaryDirectory(prefix="workbench-style-")
            self._images = Path(self._temporary.name)
            sheet = self.theme.style(self._images)
        self._app.setStyleSheet(scaled_text(sheet, self._text_size / 100))

    @contextmanager
    def postponed(self) -> Iterator[None]:
        """Style the widgets that are created in this context once, at its end, however often a theme is applied in it.

        With a style sheet, a widget that is added to another one is styled again together with all that it contains,
        at each level of the nesting. Only for a time without visible widgets: they lose the style sheet meanwhile.
        """
        self._app.setStyleSheet("")
        self._postponed = True
        try:
            yield
        finally:
            self._postponed = False
            self._set_style_sheet()

    @property
    def text_scale(self) -> float:
        """Size of the texts relative to that of the system."""
        return self._text_size / 100

    def set_text_size(self, percent: float) -> None:
        """Set the size of all texts, in percent of the size that the system has set."""
        if percent != self._text_size:
            self._text_size = percent
            self._set_font()

    def set_language(self, language: str) -> None:
        """Draw the characters of a language with a font made for it; other fonts draw those of another region."""
        fonts = FONTS.get(language, ())
        installed = set(QFontDatabase.families()) if fonts else set()
        families = [name for name in fonts if name in installed]
        if families != self._families:
            self._families = families
            self._set_font()

    def _set_font(self) -> None:
        font = QFont(self._font)
        if self._families:
            font.setFamilies([QFontInfo(self._font).family(), *self._families])
        if font.pointSizeF() > 0:
            font.setPointSizeF(font.pointSizeF() * self.text_scale)
        else:
            font.setPixelSize(round(font.pixelSize() * self.text_scale))
        self._app.setFont(font)
        self.apply(self.theme.name)


def scaled_text(sheet: str, factor: float) -> str:
    """Return a style sheet with scaled font sizes, and least heights of buttons and fields (18 px) to fit them."""
    pattern = r"(font-size: |min-height: (?=18px))(\d+)px"
    return re.sub(pattern, lambda match: f"{match[1]}{round(int(match[2]) * factor)}px", sheet)


def make_icon(name: str, role: str, manager: weakref.ref[ThemeManager]) -> QIcon:
    """Return an icon in a color of the theme in use when it is drawn. Raises FileNotFoundError."""
    if name not in _icon_names():
        raise FileNotFoundError(f"icons/{name}.svg")
    return QIcon(IconEngine(name, role, manager))


class IconEngine(QIconEngine):
    """Icon of `resources/icons` in one color of a theme, and in another one when disabled; drawn when it is shown.

    Qt owns the engines, and icons share them, which PySide6 does not know: garbage collection would delete an engine
    that an icon still uses, and Qt would delete it again. Therefore all engines are kept until Qt has deleted them. The
    reference to the manager is weak, or it would be kept, too; without a manager nothing is drawn.
    """

    _existing: ClassVar[list[IconEngine]] = []
    _checked_size: ClassVar[int] = 256  # of the list, beyond which deleted engines are removed from it

    def __init__(self, name: str, role: str, manager: weakref.ref[ThemeManager]) -> None:
        super().__init__()
        self._name, self._role, self._manager = name, role, manager
        if len(self._existing) > self._checked_size:
            self._existing[:] = filter(isValid, self._existing)
            IconEngine._checked_size = max(256, 2 * len(self._existing))
        self._existing.append(self)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        role = "disabled" if mode == QIcon.Mode.Disabled else self._role
        manager, side = self._manager(), min(size.width(), size.height())
        return QPixmap() if manager is None or side <= 0 else manager.theme.drawn(self._name, role, side)

    def actualSize(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QSize:
        side = min(size.width(), size.height())
        return QSize(side, side)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        size = self.actualSize(rect.size(), mode, state)
        target = QRect(QPoint(), size)
        target.moveCenter(rect.center())
        painter.drawPixmap(target, self.pixmap(size * painter.device().devicePixelRatioF(), mode, state))

    def clone(self) -> IconEngine:
        return IconEngine(self._name, self._role, self._manager)


@cache
def _icon_names() -> frozenset[str]:
    return frozenset(path.stem for path in resources.path("icons").glob("*.svg"))


def _colored_svg(name: str, color: QColor) -> bytes:
    return resources.path(f"icons/{name}.svg").read_bytes().replace(b"currentColor", color.name().encode())


def icon_file(folder: Path, name: str, color: QColor, size: int) -> Path:
    """Return the PNG file in `folder` of an icon in one color, `size` px square; it is written if it is missing.

    Its name contains a checksum of the drawing, so that a file is never changed: several windows use it at the same
    time. Raises OSError.
    """
    digest = hashlib.sha256(_colored_svg(name, color)).hexdigest()[:12]
    path = folder / f"{name}-{size}-{digest}.png"
    if not path.exists():
        data = QBuffer()
        data.open(QIODevice.OpenModeFlag.WriteOnly)
        tinted(name, color, size).save(data, "PNG")
        write_atomic(path, data.data().data())
    return path


def tinted(name: str, color: QColor, size: int) -> QPixmap:
    """Return the icon `name` in one color, `size` px square. Raises FileNotFoundError."""
    pixmap = QPixmap(QSize(size, size))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    QSvgRenderer(QByteArray(_colored_svg(name, color))).render(painter, QRectF(0, 0, size, size))
    painter.end()
    return pixmap
