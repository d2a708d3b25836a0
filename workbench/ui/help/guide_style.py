"""Formats of a Markdown document in the colors of a theme."""

from __future__ import annotations

from PySide6.QtGui import (
    QFont,
    QFontDatabase,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextTable,
)

from workbench.ui.widgets.theme import Theme

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
