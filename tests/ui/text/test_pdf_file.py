"""PDF file of a document."""

from __future__ import annotations

import base64

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QAbstractTextDocumentLayout, QImage, QPainter, QTextCursor

from workbench.core.documents.document import (
    PRINT_PAGE,
    Document,
    DocumentImage,
    ImagePairs,
    Paragraph,
    Section,
    Table,
    to_html,
)
from workbench.inference.io.opencv import cv2
from workbench.ui.text import pdf_file


def make_page(sections: int) -> str:
    """Return a page of sections with a heading, a paragraph, and in turn a long table and rows of images."""
    jpeg = base64.b64encode(cv2.imencode(".jpg", np.full((30, 20, 3), 90, np.uint8))[1].tobytes()).decode()
    image = f'<td width="33%"><img width="178" height="180" src="data:image/jpeg;base64,{jpeg}"><br>name</td>'
    rows = "".join(f"<tr><td>value {n}</td><td>{n}</td><td>value</td></tr>" for n in range(30))
    tables = [f'<table width="100%">{content}</table>' for content in (rows, f"<tr>{image * 3}</tr>" * 3)]
    texts = (f"<h2>Section {n}</h2><p>text of a section</p>{tables[n % 2]}" for n in range(sections))
    return f"<html><body>{''.join(texts)}</body></html>"


def test_all_text_is_drawn_where_headings_are_moved_to_the_next_page(qapp, tmp_path, monkeypatch):
    documents, pages = [], []

    def draw(painter, document, number, area, font):
        image = QImage(area.toSize(), QImage.Format.Format_Grayscale8)
        image.fill(Qt.GlobalColor.white)
        context = QAbstractTextDocumentLayout.PaintContext()
        context.clip = QRectF(0, number * area.height(), area.width(), area.height())
        with QPainter(image) as page:
            page.translate(0, -number * area.height())
            document.documentLayout().draw(page, context)
        pages.append(np.ndarray((image.height(), image.bytesPerLine()), np.uint8, image.constBits()).copy())
        documents.append(document)

    monkeypatch.setattr(pdf_file, "_paint", draw)
    pdf_file.write_pdf(make_page(6), tmp_path / "page.pdf")
    drawn, document, blank = np.concatenate(pages), documents[0], []
    block = document.begin()
    while block.isValid():
        rect = document.documentLayout().blockBoundingRect(block)
        if block.text() and (drawn[int(rect.top()) : int(rect.bottom())] > 200).all():
            blank.append(block.text())
        block = block.next()
    assert blank == [] and len(pages) >= 4 and (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF-")


def test_the_head_of_a_table_is_never_the_last_line_of_a_page(qapp, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        pdf_file, "_paint", lambda _painter, document, _number, area, _font: drawn.append((document, area))
    )
    table = Table(["head", "n"], [[f"value {n}", str(n)] for n in range(3)])
    for lines in range(20, 60):  # moves the table over the end of the first page
        blocks = [Paragraph(str(n)) for n in range(lines)]
        sections = [Section("first", blocks), Section("second", [Paragraph("text"), table])]
        page = to_html(Document("title", "subtitle", [], sections), template=PRINT_PAGE)
        pdf_file.write_pdf(page, tmp_path / "page.pdf")
        document, height = drawn[-1][0], drawn[-1][1].height()
        place = document.documentLayout().blockBoundingRect
        heading, head, row = (document.find(word).block() for word in ("second", "head", "value 0"))
        pages = {place(heading).top() // height, place(head).top() // height, (place(row).bottom() - 1) // height}
        assert len(pages) == 1, lines


def test_no_row_of_a_short_table_is_alone_on_a_page(qapp, tmp_path, monkeypatch):
    """The heading of the table stays with it; a table that is longer than half of a page is not moved."""
    drawn = []
    monkeypatch.setattr(
        pdf_file, "_paint", lambda _painter, document, _number, area, _font: drawn.append((document, area))
    )
    table = Table(["head", "n"], [[f"value {n}", str(n)] for n in range(6)])
    divided = 0
    for lines in range(20, 60):  # moves the tables over the end of the first page
        blocks = [Paragraph(str(n)) for n in range(lines)]
        sections = [Section("first", [*blocks, table]), Section("second", [Paragraph("text"), table])]
        page = to_html(Document("title", "subtitle", [], sections), template=PRINT_PAGE)
        pdf_file.write_pdf(page, tmp_path / "page.pdf")
        document, height = drawn[-1][0], drawn[-1][1].height()
        place = document.documentLayout().blockBoundingRect
        heading = document.find("second")
        for start in (0, heading.position()):
            rows = [place(document.find(f"value {n}", start).block()).bottom() // height for n in range(6)]
            assert rows.count(rows[0]) > 1 and rows.count(rows[-1]) > 1, (lines, rows)
            divided += rows[0] != rows[-1]
        assert place(heading.block()).top() // height == rows[0], lines
    assert divided


def test_all_cells_of_a_row_have_its_line(qapp, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(pdf_file, "_paint", lambda _painter, document, *_: drawn.append(document))
    table = Table(["head", "n", "text"], [["first", "12", "a text that is long enough for several lines"]])
    page = to_html(Document("title", "subtitle", [], [Section("first", [table])]), template=PRINT_PAGE)
    pdf_file.write_pdf(page, tmp_path / "page.pdf")
    shown = QTextCursor(drawn[0].find("long enough")).currentTable()
    formats = [shown.cellAt(1, column).format().toTableCellFormat() for column in range(3)]
    assert len({(cell.bottomBorder(), cell.topPadding()) for cell in formats}) == 1 and formats[0].bottomBorder() > 0


def test_names_of_image_pairs_are_on_the_page_of_their_images(qapp, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        pdf_file, "_paint", lambda _painter, document, _number, area, _font: drawn.append((document, area))
    )
    jpeg = cv2.imencode(".jpg", np.full((180, 270, 3), 90, np.uint8))[1].tobytes()
    image = DocumentImage("name", "caption", jpeg, 270, 180)
    for lines in range(20, 60, 2):  # moves the second pair over the end of the first page
        blocks = [*(Paragraph(str(n)) for n in range(lines)), ImagePairs(("run a", "run b"), [("key", image, image)])]
        page = to_html(Document("title", "subtitle", [], [Section("first", blocks)]), template=PRINT_PAGE)
        pdf_file.write_pdf(page, tmp_path / "page.pdf")
        document, height = drawn[-1][0], drawn[-1][1].height()
        place = document.documentLayout().blockBoundingRect
        name, caption = (place(document.find(word).block()) for word in ("key", "caption"))
        assert name.top() // height == (caption.bottom() - 1) // height, lines
