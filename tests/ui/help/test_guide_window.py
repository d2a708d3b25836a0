"""Guide window: contents, links, history, search, theme and language."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QTextCursor, QTextDocument
from PySide6.QtTest import QTest

from workbench.ui.help.guide_window import GuideWindow, guide_pages


@pytest.fixture
def guide(application, qtbot) -> GuideWindow:
    application.window.table["guide"].trigger()
    window = application.window.findChild(GuideWindow)
    qtbot.waitUntil(window.isVisible, timeout=5000)
    return window


def shown(guide: GuideWindow) -> str:
    return guide.browser.source().fileName()


def click_link(guide: GuideWindow, text: str) -> None:
    """Click a link in the page with the mouse."""
    browser = guide.browser
    cursor = browser.document().find(text)
    assert not cursor.isNull()
    cursor.setPosition(cursor.selectionStart() + 1, QTextCursor.MoveMode.MoveAnchor)
    browser.setTextCursor(cursor)
    browser.ensureCursorVisible()
    point = browser.cursorRect(cursor).center() + QPoint(2, 0)
    assert browser.anchorAt(point)
    QTest.mouseClick(browser.viewport(), Qt.MouseButton.LeftButton, pos=point)


def test_every_page_is_in_the_contents_and_opens(guide):
    assert shown(guide) == "index.md"
    assert guide.contents.count() == len(guide.pages) > 10
    assert not guide.contents.horizontalScrollBar().isVisible()
    for row, page in enumerate(guide.pages):
        guide.contents.setCurrentRow(row)
        assert shown(guide) == page.path.name
        assert guide.browser.document().firstBlock().text() == page.title


def test_links_between_pages_and_history(guide):
    click_link(guide, "First project in ten minutes")
    assert shown(guide) == "first-project.md"
    assert guide.contents.currentItem().text() == "First project in ten minutes"
    guide.back.click()
    assert shown(guide) == "index.md" and guide.contents.currentRow() == 0
    guide.forward.click()
    assert shown(guide) == "first-project.md"


def test_other_links_open_in_the_browser_of_the_system(guide, monkeypatch):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    guide.browser.document().setMarkdown("[a site](https://example.org/a)")
    click_link(guide, "a site")
    assert opened == ["https://example.org/a"] and shown(guide) == "index.md"


def test_search_lists_pages_and_goes_to_the_places(guide):
    QTest.keyClicks(guide.search, "wheelhouse")
    listed = [guide.contents.item(row).text() for row in range(guide.contents.count())]
    visible = [text for row, text in enumerate(listed) if not guide.contents.item(row).isHidden()]
    assert visible == ["Installation"] and shown(guide) == "installation.md"
    assert guide.browser.textCursor().selectedText().casefold() == "wheelhouse"
    count = len(guide.browser.extraSelections())
    first = guide.browser.textCursor().position()
    QTest.keyClick(guide.search, Qt.Key.Key_Return)
    assert guide.browser.textCursor().position() > first and guide.isVisible()
    for _ in range(count - 1):
        QTest.keyClick(guide.search, Qt.Key.Key_Return)
    assert count > 1 and guide.browser.textCursor().position() == first
    guide.search.clear()
    assert not guide.browser.extraSelections() and not guide.contents.item(0).isHidden()


def test_no_page_with_all_words(guide):
    QTest.keyClicks(guide.search, "wheelhouse xyzzy")
    assert all(guide.contents.item(row).isHidden() for row in range(guide.contents.count()))
    assert shown(guide) == "installation.md"


def test_page_follows_the_theme(guide, application):
    style = application.window.theme_manager
    colors = []
    for theme in ("dark", "light"):
        style.apply(theme)
        cursor = guide.browser.document().find("Installation")
        colors.append(cursor.charFormat().foreground().color().name())
        assert colors[-1] == style.theme.color("accent").name()
    assert colors[0] != colors[1] and shown(guide) == "index.md"


def test_opened_once(guide, application):
    guide.open_page("curves.md")
    guide.close()
    application.window.table["guide"].trigger()
    assert application.window.findChildren(GuideWindow) == [guide] and shown(guide) == "curves.md"


def test_languages():
    english, chinese = guide_pages("en"), guide_pages("zh_CN")
    assert [page.path.name for page in english] == [page.path.name for page in chinese]
    assert chinese[0].title == "使用指南"
    assert guide_pages("fr") == english


def test_images_fit_into_the_page(guide):
    """An image of the guide is as wide as the window it shows, which is wider than the page."""
    guide.open_page("first-project.md")
    document = guide.browser.document()
    names = [name for _, name in images_of(document)]
    assert len(names) >= 5
    for name in names:
        image = document.resource(QTextDocument.ResourceType.ImageResource, QUrl(name))
        assert 400 < image.width() <= guide.browser.viewport().width()


def images_of(document):
    block = document.begin()
    while block.isValid():
        for fragment in block:
            form = fragment.fragment().charFormat()
            if form.isImageFormat():
                yield block, form.toImageFormat().name()
        block = block.next()
