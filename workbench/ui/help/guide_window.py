"""Window of the guide: the Markdown pages in `resources/guide` in the language of the window."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QLocale, QSize, Qt, QUrl
from PySide6.QtGui import (
    QDesktopServices,
    QFont,
    QFontDatabase,
    QImage,
    QKeySequence,
    QShortcut,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextTable,
)
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSplitter,
    QTextBrowser,
    QTextEdit,
    QWidget,
)

from workbench.core import resources
from workbench.core.resources import SOURCE_LANGUAGE, matching_language
from workbench.ui.shortcuts import with_current_keys
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.text_labels import resize_for_text
from workbench.ui.widgets.theme import Theme, ThemeManager

_MARGIN = 18.0  # px around the page
_LINE_HEIGHT = 130.0  # percent
_CODE_LINE_HEIGHT = 100.0  # percent
_HEADING_SPACE = 14.0  # px above a heading
_CODE_MARGIN = 10.0  # px left and right of a code block
_CODE_ALPHA = 150  # of 255, background of code
_CELL_PADDING = 5.0  # px


def style_document(document: QTextDocument, theme: Theme) -> None:
    """Format headings, code, links and tables. The document is not marked as modified."""
    document.setDocumentMargin(_MARGIN)
    block = document.begin()
    while block.isValid():
        _style_block(block, theme)
        _style_fragments(block, theme)
        block = block.next()
    for frame in document.rootFrame().childFrames():
        if isinstance(frame, QTextTable):
            _style_table(frame, theme)
    document.setModified(False)


def _style_block(block: QTextBlock, theme: Theme) -> None:
    format = QTextBlockFormat(block.blockFormat())
    line_height = _CODE_LINE_HEIGHT if _is_code(block) else _LINE_HEIGHT
    format.setLineHeight(line_height, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    if format.headingLevel():
        format.setTopMargin(_HEADING_SPACE)
    if QTextCursor(block).currentTable() is not None:
        format.setTopMargin(0)
        format.setBottomMargin(0)
    if _is_code(block):
        format.setBackground(theme.color("hover", _CODE_ALPHA))
        format.setLeftMargin(_CODE_MARGIN)
        format.setRightMargin(_CODE_MARGIN)
        format.setNonBreakableLines(False)
    QTextCursor(block).setBlockFormat(format)


def _style_fragments(block: QTextBlock, theme: Theme) -> None:
    """Set the font of code and the color of links."""
    code = _is_code(block)
    ranges = []
    iterator = block.begin()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        format = fragment.charFormat()
        if code or format.fontFixedPitch() or format.isAnchor():
            ranges.append((fragment.position(), fragment.length(), format.isAnchor(), code or format.fontFixedPitch()))
        iterator += 1
    for start, length, link, fixed in ranges:
        format = QTextCharFormat()
        if fixed:
            format.setFontFamilies(_fixed_families())
            if not code:
                format.setBackground(theme.color("hover", _CODE_ALPHA))
        if link:
            format.setForeground(theme.color("accent"))
        cursor = QTextCursor(block.document())
        cursor.setPosition(start)
        cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(format)


def _style_table(table: QTextTable, theme: Theme) -> None:
    format = table.format()
    format.setBorder(1)
    format.setBorderBrush(theme.color("border"))
    format.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    format.setBorderCollapse(True)
    format.setCellPadding(_CELL_PADDING)
    format.setCellSpacing(0)
    format.setTopMargin(6)
    format.setBottomMargin(10)
    table.setFormat(format)
    first = table.cellAt(0, 0).firstCursorPosition()
    if not first.block().text() and first.block() != table.cellAt(0, 0).lastCursorPosition().block():
        first.deleteChar()  # Qt begins a table after a code block with an empty line
    for column in range(table.columns()):
        cell = table.cellAt(0, column)
        heading = QTextCharFormat()
        heading.setFontWeight(QFont.Weight.Bold)
        cursor = cell.firstCursorPosition()
        cursor.setPosition(cell.lastCursorPosition().position(), QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(heading)


def _is_code(block: QTextBlock) -> bool:
    return block.blockFormat().hasProperty(QTextFormat.Property.BlockCodeFence)


def _fixed_families() -> list[str]:
    return QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).families()


_INDEX = "index.md"
_SIZE = QSize(1240, 740)  # px
_GAP = 12  # px beside the splitter


@dataclass(frozen=True)
class GuidePage:
    """Page of the guide: file, first heading, text."""

    path: Path
    title: str
    text: str


def guide_pages(language: str) -> list[GuidePage]:
    """Return the index and its linked pages in a language, or in English if there is no translation."""
    folder = resources.path(f"guide/{language}")
    if not (folder / _INDEX).is_file():
        folder = resources.path(f"guide/{SOURCE_LANGUAGE}")
    links = re.findall(r"\]\(([\w-]+\.md)\)", (folder / _INDEX).read_text("utf-8"))
    pages = []
    for name in dict.fromkeys([_INDEX, *links]):
        text = (folder / name).read_text("utf-8")
        pages.append(GuidePage(folder / name, text.partition("\n")[0].lstrip("# "), text))
    return pages


def show_guide(parent: QWidget, style: ThemeManager, page: str = "") -> GuideWindow:
    """Show the guide window of a parent. It is created once and opens at `page` or the page that was read last."""
    window = parent.findChild(GuideWindow) or GuideWindow(style, parent)
    if page:
        window.open_page(page)
    window.show()
    window.raise_()
    window.activateWindow()
    return window


class _PageBrowser(QTextBrowser):
    """Browser that quotes the shortcuts as the user has set them, and fits pictures into the width of the page."""

    def loadResource(self, type: int, name: QUrl) -> object:
        content = super().loadResource(type, name)
        if type == QTextDocument.ResourceType.MarkdownResource.value and content is not None:
            return with_current_keys(bytes(content).decode("utf-8"))
        if type == QTextDocument.ResourceType.ImageResource.value and content is not None:
            image, width = QImage.fromData(bytes(content)), self.viewport().width() - 2 * _MARGIN
            fits = image.width() <= width
            return image if fits else image.scaledToWidth(width, Qt.TransformationMode.SmoothTransformation)
        return content


class GuideWindow(QDialog):
    """Non-modal dialog: contents and search on the left, the page on the right.

    The search lists the pages that contain all words and highlights them in the page; Enter goes to the next place.
    """

    def __init__(self, style: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._style = style
        self.setWindowTitle(self.tr("Guide"))
        self.setWindowFlags(self.windowFlags() | Qt.WindowType.WindowMinMaxButtonsHint)
        self.pages = guide_pages(matching_language(QLocale().name()))
        self.search = QLineEdit(placeholderText=self.tr("Search the guide"), clearButtonEnabled=True)
        self.search.setAccessibleName(self.tr("Search the guide"))
        self.contents = QListWidget(objectName="rows", accessibleName=self.tr("Contents"))
        self.browser = _PageBrowser(openLinks=False)
        self.browser.setAccessibleName(self.tr("Page of the guide"))
        self.back = QPushButton(self.tr("Back"), enabled=False, autoDefault=False)
        self.forward = QPushButton(self.tr("Forward"), enabled=False, autoDefault=False)
        for page in self.pages:
            item = QListWidgetItem(page.title, self.contents)
            item.setData(Qt.ItemDataRole.UserRole, page)
        self._lay_out()
        self._connect()
        self.open_page(self.pages[0].path.name)

    def open_page(self, name: str) -> None:
        """Open a page by its file name, such as "index.md". An unknown name is ignored."""
        for page in self.pages:
            if page.path.name == name:
                self.browser.setSource(QUrl.fromLocalFile(str(page.path)), QTextDocument.ResourceType.MarkdownResource)

    # --- layout ----------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        left, right = QWidget(), QWidget()
        in_column(self.search, (self.contents, 1), owner=left, margins=(0, 0, _GAP, 0))
        buttons = in_row(self.back, self.forward, 1)
        in_column(buttons, (self.browser, 1), owner=right, margins=(_GAP, 0, 0, 0))
        splitter = QSplitter(childrenCollapsible=False)
        splitter.addWidget(left)
        splitter.addWidget(right)
        width = self.contents.sizeHintForColumn(0) + 2 * _GAP
        splitter.setSizes([width, _SIZE.width() - width])
        splitter.setStretchFactor(1, 1)
        in_row(splitter, owner=self, margins=12)
        resize_for_text(self, _SIZE.width(), _SIZE.height())

    def _connect(self) -> None:
        self.search.textChanged.connect(self._filter)
        self.search.returnPressed.connect(self._find_next)
        self.contents.currentItemChanged.connect(self._open_item)
        self.browser.sourceChanged.connect(self._page_opened)
        self.browser.anchorClicked.connect(self._follow)
        self.browser.backwardAvailable.connect(self.back.setEnabled)
        self.browser.forwardAvailable.connect(self.forward.setEnabled)
        self.back.clicked.connect(self.browser.backward)
        self.forward.clicked.connect(self.browser.forward)
        self._style.changed.connect(self.reload)
        QShortcut(QKeySequence.StandardKey.Find, self, self.search.setFocus)

    # --- pages -----------------------------------------------------------------------------------

    def _open_item(self, item: QListWidgetItem | None) -> None:
        if item is not None and self.browser.source().fileName() != item.data(Qt.ItemDataRole.UserRole).path.name:
            self.open_page(item.data(Qt.ItemDataRole.UserRole).path.name)

    def _follow(self, url: QUrl) -> None:
        """Open a link: pages here, everything else in the browser of the system."""
        if url.isRelative() or url.isLocalFile():
            self.open_page(url.fileName())
        else:
            QDesktopServices.openUrl(url)

    def _page_opened(self, url: QUrl) -> None:
        for row, page in enumerate(self.pages):
            if page.path.name == url.fileName():
                self.contents.setCurrentRow(row)
        style_document(self.browser.document(), self._style.theme)
        self._highlight()

    def reload(self) -> None:
        """Show the page again, after theme or shortcuts were changed."""
        position = self.browser.verticalScrollBar().value()
        self.browser.reload()
        style_document(self.browser.document(), self._style.theme)
        self._highlight()
        self.browser.verticalScrollBar().setValue(position)

    # --- search ----------------------------------------------------------------------------------

    def _words(self) -> list[str]:
        return self.search.text().casefold().split()

    def _filter(self) -> None:
        """List the pages with all words, and go to the first place in the current page or in the first listed one."""
        words, shown = self._words(), []
        for row, page in enumerate(self.pages):
            found = all(word in page.text.casefold() for word in words)
            self.contents.item(row).setHidden(not found)
            if found:
                shown.append(row)
        if shown and self.contents.currentRow() not in shown:
            self.contents.setCurrentRow(shown[0])
        self._highlight()
        if words and shown:
            self.browser.moveCursor(QTextCursor.MoveOperation.Start)
            self.browser.find(words[0])

    def _find_next(self) -> None:
        words = self._words()
        if words and not self.browser.find(words[0]):
            self.browser.moveCursor(QTextCursor.MoveOperation.Start)
            self.browser.find(words[0])

    def _highlight(self) -> None:
        selections = []
        for word in self._words():
            cursor = self.browser.document().find(word)
            while not cursor.isNull():
                selection = QTextEdit.ExtraSelection()
                selection.cursor = cursor
                selection.format.setBackground(self._style.theme.color("selection"))
                selection.format.setFontWeight(QFont.Weight.Bold)
                selections.append(selection)
                cursor = self.browser.document().find(word, cursor)
        self.browser.setExtraSelections(selections)
