"""Layout of the real window at common sizes in both languages: nothing is cut, nothing is behind a chevron."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QPoint, QRect, QSettings, Qt
from PySide6.QtWidgets import QWidget

from tests.ui.layout_faults import MOST_ROUNDS, cut, layout_rounds
from workbench.core.resources import LANGUAGES
from workbench.inference.io.image_io import write_png
from workbench.session.preferences import Preferences
from workbench.ui.dialogs.preferences_dialog import PAGES, PreferencesDialog
from workbench.ui.label_files.label_file_dialogs import ImportDialog
from workbench.ui.shell.application import Application

# Logical pixels. 1280 x 720 is also a screen of 2560 x 1440 at scale 2; the first is the smallest window.
SIZES = [(1024, 600), (1280, 720), (1366, 768), (1280, 1024), (1440, 900), (2560, 1440)]


SLOW = pytest.mark.slow
ENGLISH = pytest.mark.parametrize("application", ["en", pytest.param("zh_CN", marks=SLOW)], indirect=True)
CHINESE = pytest.mark.parametrize("application", ["zh_CN", pytest.param("en", marks=SLOW)], indirect=True)


@pytest.fixture(params=LANGUAGES)
def application(qapp, qtbot, request):
    application = Application(qapp, Preferences(language=request.param, theme="light"))
    application.show()
    yield application
    application.end()
    QSettings().clear()


def overlaps(window) -> list[str]:
    """Return the panels beside each other of which one covers the other."""
    panels = [panel for panel in (window.images, window.center.parentWidget(), window.side) if panel.isVisible()]
    areas = [QRect(panel.mapTo(window, QPoint()), panel.size()) for panel in panels]
    return [f"{a} covers {b}" for a, b in zip(areas, areas[1:], strict=False) if a.intersects(b)]


def at_each_size(application, sizes: Sequence[tuple[int, int]] = SIZES) -> dict[tuple[int, int], list[str]]:
    """Return the controls that are cut, by size of the window."""
    window, result = application.window, {}
    for size in sizes:
        window.resize(*size)
        rounds = layout_rounds(window)
        assert rounds < MOST_ROUNDS, "each layout requests another one, so that the idle window uses a whole core"
        assert (window.width(), window.height()) == size, "the content forces another size"
        result[size] = cut(window) + overlaps(window)
    return {size: found for size, found in result.items() if found}


def test_welcome_page(application):
    assert at_each_size(application) == {}


def test_labeling_training_thumbnails_and_evaluation(opened):
    window = opened.window
    assert not window.training.body.isVisible()
    assert at_each_size(opened) == {}
    window.training.heading.setChecked(True)
    assert at_each_size(opened) == {}, "with the training panel"
    window.training.heading.setChecked(False)
    for tool in ("brush", "wand", "threshold", "crack", "polygon", "region"):
        window.canvas.choose_tool(tool)
        assert at_each_size(opened, SIZES[:1]) == {}, tool
    for command in ("thumbnails", "evaluation"):  # thumbnails, and the evaluation without a run
        window.table[command].trigger()
        assert at_each_size(opened) == {}, command


@pytest.mark.parametrize("application", ["en"], indirect=True)
def test_every_tool_button_is_visible(opened):
    window = opened.window
    window.training.heading.setChecked(True)
    window.resize(1280, 600)
    QCoreApplication.processEvents()
    rows = {button.y() for group in window.tools.groups for button in group}
    count = sum(map(len, window.tools.groups))
    assert len(rows) < count and window.tools.height() < window.tools.sizeHint().height()  # two columns
    window.training.heading.setChecked(False)
    window.resize(1280, 1024)
    QCoreApplication.processEvents()
    assert len({button.y() for group in window.tools.groups for button in group}) == count


@ENGLISH
def test_messages_cover_no_controls(opened, qtbot):
    """They are over the image or the thumbnails, beside the tools and below their options."""
    window = opened.window
    messages, thumbnails = window.messages, window.images.thumbnail_view
    for kind in ("info", "success"):
        messages.show_message(kind, f"{kind}: the labels of the image have been changed", "Press a key.")
    for browsing in (False, True):
        if browsing:
            window.table["thumbnails"].trigger()
        for size in SIZES:
            window.resize(*size)
            window.grab()
            area = thumbnails.list_view.viewport() if browsing else window.canvas
            qtbot.waitUntil(lambda area=area: screen_rect(area).contains(screen_rect(messages)))
            shown = [widget for widget in (window.options, window.tools, window.header) if widget.isVisible()]
            shown += [thumbnails.bulk, thumbnails.close_button] if browsing else []
            assert not [w for w in shown if screen_rect(w).intersects(screen_rect(messages))]


@ENGLISH
def test_messages_are_below_the_controls_of_the_evaluation(opened, qtbot):
    window = opened.window
    window.evaluation_navigation.show()
    window.messages.show_message("info", "The report was saved.")
    qtbot.waitUntil(lambda: screen_rect(window.evaluation.pages).contains(screen_rect(window.messages)))
    browser = window.evaluation.segmentation.browser
    assert window.center.contents()[-2:] == [browser.pages, window.evaluation.pages]


def screen_rect(widget: QWidget) -> QRect:
    return QRect(widget.mapToGlobal(QPoint()), widget.size())


@ENGLISH
def test_other_texts_are_left_out_before_the_name_of_the_image_is_elided(opened):
    window, header = opened.window, opened.window.header
    header.name.set_text("close-up-0101.png")
    shown = 0
    for width in range(1024, 1600, 48):
        window.resize(width, 720)
        layout_rounds(window)
        if header.position.isVisible():
            assert header.name.text() == "close-up-0101.png", width
            shown += 1
    assert shown


@pytest.fixture
def large_text(application):
    """Texts of 150 % in a window of 1440 x 900."""
    application.style.set_text_size(150)
    application.window.resize(1440, 900)
    yield application
    application.style.set_text_size(100)


def cut_after_layout(window: QWidget) -> list[str]:
    """Return the controls of a window that are cut, after its layouts are done."""
    assert layout_rounds(window) < MOST_ROUNDS
    return cut(window)


@ENGLISH
def test_large_text_in_the_window(large_text, root, qtbot):
    window, session = large_text.window, large_text.services.session
    assert cut_after_layout(window) == [], "welcome page"
    with qtbot.waitSignal(session.current.opened, timeout=10_000):
        session.open_project(root)
    qtbot.waitUntil(lambda: len(session.rows) == 5, timeout=10_000)
    assert cut_after_layout(window) == []
    window.resize(1280, 720)
    qtbot.waitUntil(lambda: cut_after_layout(window) == [])
    assert window.side.widget().width() <= window.side.viewport().width(), "side panels are as wide as necessary"
    assert window.side.mapTo(window, window.side.rect().topRight()).x() < window.width() == 1280
    window.resize(1440, 900)
    window.training.heading.setChecked(True)
    assert cut_after_layout(window) == [], "training"
    window.training.heading.setChecked(False)
    window.table["evaluation"].trigger()
    assert cut_after_layout(window) == [], "evaluation"
    assert (window.width(), window.height()) == (1440, 900)


@CHINESE
def test_large_text_in_dialogs(large_text, opened, qtbot, tmp_path):
    for number in range(3):
        write_png(tmp_path / "in" / "images" / f"n{number}.png", np.full((40, 60), 90, np.uint8))
    write_png(tmp_path / "in" / "masks" / "n0.png", np.eye(40, 60, dtype=np.uint8))
    dialog = ImportDialog(opened.services.session, opened.style, [tmp_path / "in"], parent=opened.window)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.plan is not None)
    assert (
        cut_after_layout(dialog) == []
        and dialog.preview.options.class_name.isVisible()
        and dialog.preview.options.background.isVisible()
    )
    assert dialog.width() <= 1440 and dialog.height() <= 900
    dialog.reject()
    opened.window.table["settings"].trigger()
    dialog = opened.window.findChild(PreferencesDialog)
    for page in PAGES:
        dialog.open_page(page)
        assert cut_after_layout(dialog) == []
    assert dialog.list.sizeHintForColumn(0) <= dialog.list.viewport().width()
    assert dialog.width() <= 1440 and dialog.height() <= 900
    dialog.reject()


@pytest.mark.parametrize("application", ["en"], indirect=True)
def test_a_cut_control_is_found(opened):
    """The check itself finds a button that is too narrow, and one outside its parent."""
    window = opened.window
    opened.window.resize(1280, 720)
    QCoreApplication.processEvents()
    assert cut(window) == []
    window.header.done.setFixedWidth(20)
    QCoreApplication.processEvents()
    assert any("px wide" in entry for entry in cut(window))
    window.stage_bar.next.move(window.stage_bar.width() - 4, 0)
    assert any("is outside" in entry for entry in cut(window))


@CHINESE
def test_names_of_the_tools_are_shown_in_a_single_column_only(opened, qtbot):
    window, tools = opened.window, opened.window.tools
    buttons = [button for group in tools.groups for button in group]
    window.resize(1440, 900)
    qtbot.wait(50)
    narrow = tools.width()
    window.table["tool_names"].trigger()
    assert opened.services.preferences.tool_names and window.table["tool_names"].isChecked()
    wide = tools.width()
    assert wide > 1.5 * narrow
    for name in ("ellipse", "box_cut", "brush"):  # the button of a group shows the chosen tool; the width stays
        window.table[name].trigger()
        qtbot.wait(20)
        assert tools.width() == wide
    assert all(button.width() >= button.sizeHint().width() for button in buttons)
    assert not any("(" in button.text() for button in buttons)  # the mnemonic of a Chinese name
    window.training.heading.setChecked(True)
    window.resize(1440, 600)
    qtbot.waitUntil(lambda: tools.width() < wide)
    assert all(button.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly for button in buttons)
    window.table["tool_names"].trigger()
    assert not opened.services.preferences.tool_names


@pytest.mark.parametrize("application", ["en"], indirect=True)
def test_header_of_the_image_has_room_for_a_prediction_at_once(opened, qtbot):
    """Its other texts give way with the text of the prediction, not with the next layout."""
    header, shown = opened.window.header, "Prediction: 2 defects"
    opened.window.resize(1900, 800)
    qtbot.waitUntil(lambda: header._level == 0)
    for text in ("", shown):
        header.show_model_text(text)
    assert header.prediction.width() >= header.prediction.sizeHint().width()
    while header._width_at(0) <= header.width():
        header.prediction.setText(shown := shown + " and more")
    header.show_model_text(shown)
    assert header._width_at(header._level) <= header.width()
