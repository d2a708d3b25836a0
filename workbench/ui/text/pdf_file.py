"""PDF file of a document: the page for printing, laid out by QTextDocument on A4 with page numbers."""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QRectF, QSizeF, Qt, QUrl
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFont,
    QGuiApplication,
    QImage,
    QPageLayout,
    QPageSize,
    QPainter,
    QPalette,
    QPdfWriter,
    QTextBlock,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextTable,
)
from PySide6.QtSvg import QSvgRenderer

from workbench.core.problems import CannotWrite
from workbench.core.project.storage import write_bytes

_MARGIN, _FOOTER = 14.0, 8.0  # mm; the footer is a part of the lower margin
_RESOLUTION, _ZOOM = 300, 4  # dots per inch; enlargement of charts, which become images
_POINTS = 9.0  # size of the text


class _Page(QTextDocument):
    """Text document whose images are embedded in its source."""

    def loadResource(self, kind: int, name: QUrl):
        head, _, data = name.toString().partition(";base64,")
        if kind != QTextDocument.ResourceType.ImageResource.value or not data:
            return super().loadResource(kind, name)
        content = QByteArray(base64.b64decode(data))
        return _drawn(content) if head.endswith("svg+xml") else QImage.fromData(content)


def _drawn(svg: QByteArray) -> QImage:
    renderer = QSvgRenderer(svg)
    image = QImage(renderer.defaultSize() * _ZOOM, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    return image


def write_pdf(page: str, path: Path) -> None:
    """Write a page made with the template for printing. Needs a QGuiApplication. Raises CannotWrite."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(_RESOLUTION)
    margins = QMarginsF(_MARGIN, _MARGIN, _MARGIN, _MARGIN + _FOOTER)
    writer.setPageLayout(QPageLayout(QPageSize(QPageSize.PageSizeId.A4), QPageLayout.Orientation.Portrait, margins,
                                     QPageLayout.Unit.Millimeter))  # fmt: skip
    font = QFont(QGuiApplication.font())
    font.setPointSizeF(_POINTS)
    document = _Page()
    document.setDefaultFont(font)
    document.setDocumentMargin(0)
    document.documentLayout().setPaintDevice(writer)
    document.setHtml(page)
    area = QSizeF(writer.width(), writer.height())
    document.setPageSize(area)
    writer.setTitle(document.metaInformation(QTextDocument.MetaInformation.DocumentTitle))
    _keep_together(document, area.height())
    painter = QPainter(writer)
    for number in range(document.pageCount()):
        if number:
            writer.newPage()
        _paint(painter, document, number, area, font)
    painter.end()
    try:
        write_bytes(path, bytes(buffer.data().data()))
    except OSError as error:
        raise CannotWrite.of(path, error) from error


def _keep_together(document: QTextDocument, height: float) -> None:
    """Insert page breaks of A4 pages of `height` dots.

    They are before headings if what follows them does not fit on their page, before rows of images that would be
    divided, and before tables of which a single row would be on another page than the others.
    """
    document.pageCount()  # a change during the first layout, which is made in parts, loses later blocks
    place = document.documentLayout().blockBoundingRect
    block = document.begin()
    while block.isValid():
        table, following = QTextCursor(block).currentTable(), block.next().next()
        if table is not None and table.firstCursorPosition().block() == block:
            bottoms = [_bottom(table, row, place) for row in range(table.rows())]
            pages = [int((bottom - 1) // height) for bottom in bottoms]
            if table.rows() == 1:
                if place(block).top() // height != pages[0]:
                    _break_before(block)
            elif pages[0] != pages[-1] and bottoms[-1] - place(block).top() < height / 2:
                rows = pages[table.format().headerRowCount() :]
                if rows.count(rows[0]) == 1 or rows.count(rows[-1]) == 1 or pages[0] != rows[0]:
                    _break_before(_heading_of(block))
        elif (
            block.blockFormat().headingLevel() == 2
            and following.isValid()
            and place(block).top() // height != (place(following).bottom() - 1) // height
        ):
            _break_before(block)
        block = block.next()


def _bottom(table: QTextTable, row: int, place: Callable[[QTextBlock], QRectF]) -> float:
    """Return the lower end of a row, in dots from the start of the document. place: area of a block."""
    cells = (table.cellAt(row, column) for column in range(table.columns()))
    return max(place(cell.lastCursorPosition().block()).bottom() for cell in cells)


def _heading_of(block: QTextBlock) -> QTextBlock:
    """Return the heading before a table if at most one paragraph is between them, otherwise the table's first block."""
    for before in (block.previous(), block.previous().previous()):
        if before.blockFormat().headingLevel() == 2:
            return before
        if QTextCursor(before).currentTable() is not None:
            break
    return block


def _break_before(block: QTextBlock) -> None:
    """Start a page with a paragraph, or with the table whose first block is given."""
    cursor = QTextCursor(block)
    table = cursor.currentTable()
    layout = block.blockFormat() if table is None else table.format()
    layout.setPageBreakPolicy(QTextFormat.PageBreakFlag.PageBreak_AlwaysBefore)
    if table is None:
        cursor.setBlockFormat(layout)
    else:
        table.setFormat(layout)


def _paint(painter: QPainter, document: QTextDocument, number: int, area: QSizeF, font: QFont) -> None:
    painter.save()
    painter.translate(0, -number * area.height())
    context = QAbstractTextDocumentLayout.PaintContext()
    context.palette.setColor(QPalette.ColorRole.Text, QColor("#1c2026"))  # not that of a dark theme
    context.clip = QRectF(0, number * area.height(), area.width(), area.height())
    painter.setClipRect(context.clip)
    document.documentLayout().draw(painter, context)
    painter.restore()
    painter.setFont(font)
    painter.setPen(QColor("#5c6570"))
    height = _FOOTER / 25.4 * _RESOLUTION
    place = QRectF(0, area.height(), area.width(), height)
    painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom,
                     f"{number + 1} / {document.pageCount()}")  # fmt: skip


def main(arguments: list[str]) -> int:
    """Print a page: PAGE.html FILE.pdf. Return 0, or 1 after a problem, which is written to stderr."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    page, target = map(Path, arguments)
    app = QGuiApplication(sys.argv[:1])
    try:
        write_pdf(page.read_text("utf-8"), target)
    except CannotWrite as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    finally:
        del app  # before the interpreter takes its modules apart
    return 0
