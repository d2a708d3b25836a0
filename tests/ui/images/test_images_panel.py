"""Pictures, classes, verdicts, layers, display: the lists follow the project, and the project follows the hand."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QListView

from workbench.core.project.image_index import ImageRow
from workbench.core.project.project import DONT_CARE
from workbench.inference.io.image_io import write_png
from workbench.ui.canvas.layers.prediction_layer import MODES
from workbench.ui.images.image_model import FILTERS, ImageListModel, RowRole
from workbench.ui.labels.class_delegate import eye_rect
from workbench.ui.widgets.question_dialog import Question


@pytest.fixture
def pictures(opened):
    return opened.window.images


def test_search_and_filters(opened, pictures, qtbot):
    assert pictures.model.rowCount() == 5
    qtbot.waitUntil(lambda: "3 done" in pictures.count.text(), timeout=5000)
    pictures.search.setText("NEW")
    assert pictures.model.keys == ["lot1/new.png"] and "1 of 5" in pictures.count.text()
    pictures.search.clear()
    shown = {}
    for i, name in enumerate(FILTERS):
        pictures.filters.filter.setCurrentIndex(i)
        shown[name] = set(pictures.model.keys) - {opened.services.session.key}
    assert shown["broken"] == {"lot1/bad.png"} and shown["open"] == {"lot1/new.png"}
    assert len(shown["all"]) == 4 and len(shown["done"]) == 2 and len(shown["defects"]) == 2
    pictures.search.setText("nothing like this")
    assert pictures._pages.currentWidget() is pictures._none
    pictures._none.clear.click()
    assert pictures.model.rowCount() == 5


def test_next_goes_through_what_is_listed(hand):
    pictures, session = hand.window.images, hand.session
    hand.open(session.keys[0])
    pictures.filters.filter.setCurrentIndex(list(FILTERS).index("open"))
    hand.key(Qt.Key.Key_D)
    hand.qtbot.waitUntil(lambda: session.key == "lot1/new.png", timeout=5000)
    assert pictures.view.currentIndex().data() == "lot1/new.png"


def test_a_click_in_the_list_opens_the_picture(opened, pictures, qtbot):
    session = opened.services.session
    place = pictures.view.visualRect(pictures.model.index_of(session.keys[2])).center()
    QTest.mouseClick(pictures.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: session.key == session.keys[2], timeout=5000)
    assert opened.window.header.position.text() == "3 of 5"


def test_rows_follow_the_work(hand):
    session, model = hand.session, hand.window.images.model
    hand.open("lot1/new.png")
    hand.drag((20, 20), (40, 30))
    hand.qtbot.waitUntil(lambda: bool(model.index_of("lot1/new.png").data(RowRole).counts), timeout=5000)
    row = model.index_of("lot1/new.png").data(RowRole)
    assert row.status == "started" and row.counts == ((1, int(np.count_nonzero(session.mask))),)


def test_thumbnails_arrive_for_rows_in_sight(opened, pictures, qtbot):
    good = set(opened.services.session.keys) - {"lot1/bad.png"}
    qtbot.waitUntil(lambda: good <= set(pictures.thumbnails._kept), timeout=10_000)
    assert pictures.thumbnails.get("lot1/bad.png") is None
    pixmap = pictures.thumbnails.get("lot1/new.png")
    assert (pixmap.width(), pixmap.height()) == (96, 80)


def test_an_empty_project_says_how_to_begin(application, qtbot, tmp_path):
    session, pictures = application.services.session, application.window.images
    session.create_project(tmp_path / "empty")
    qtbot.waitUntil(lambda: pictures._pages.currentWidget() is pictures._empty, timeout=5000)
    assert pictures._empty.files.isVisible() and pictures.count.text() == ""
    write_png(tmp_path / "a.png", np.zeros((5, 5), np.uint8))
    session.add_images([tmp_path / "a.png"])
    qtbot.waitUntil(lambda: session.key == "a.png", timeout=10_000)
    assert pictures._pages.currentWidget() is pictures.view


class CountedList(ImageListModel):
    """Counts how often the view asks."""

    asked = 0

    def data(self, index, role=Qt.ItemDataRole.DisplayRole):
        self.asked += 1
        return super().data(index, role)


class HundredThousand:
    """A session as far as the list needs it."""

    keys = [f"lot{i // 1000}/part-{i:06d}.png" for i in range(100_000)]
    rows: dict[str, ImageRow] = {}
    key = project = None


def test_a_hundred_thousand_pictures_are_not_all_asked_for(qtbot, opened):
    """The view measures one row and asks for those in sight; filtering builds plain lists."""
    model = CountedList(HundredThousand())
    view = QListView()
    qtbot.addWidget(view)
    settings = opened.window.images.view
    view.setUniformItemSizes(settings.uniformItemSizes())
    view.setLayoutMode(settings.layoutMode())
    view.setBatchSize(settings.batchSize())
    view.setModel(model)
    view.resize(230, 500)
    view.show()
    model.relist()
    qtbot.wait(30)
    assert model.rowCount() == 100_000 and model.asked < 20_000
    model.text = "lot42/"
    model.refilter()
    assert model.rowCount() == 1000


def test_classes_are_added_renamed_recoloured_and_hidden(hand):
    session, panel = hand.session, hand.window.classes
    panel.add()
    editor = panel.view.viewport().findChild(QLineEdit)
    assert editor is not None and session.class_id == 3
    editor.setText("Öl, Fleck 油")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    hand.qtbot.waitUntil(lambda: session.project.classes[2].name == "Öl, Fleck 油", timeout=5000)
    panel.recolor(3, "#123456")
    assert session.project.classes[2].color == "#123456"
    assert hand.canvas._colors[3] == "#123456"
    rect = panel.view.visualRect(panel._item(1).index())
    QTest.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=eye_rect(rect).center())
    assert session.classes.hidden == {1} and hand.canvas._hidden == {1}
    panel._item(2).setText("scratch")  # taken already: refused, and the old name comes back
    assert [panel.model.item(i).text() for i in range(3)] == ["scratch", "pit", "Öl, Fleck 油"]
    assert any("scratch" in text for text in hand.window.messages.texts)


def test_the_list_and_the_current_class_follow_each_other(hand):
    session, panel = hand.session, hand.window.classes
    hand.key(Qt.Key.Key_2)
    assert panel.view.currentIndex().data() == "pit"
    panel.view.setCurrentIndex(panel._item(DONT_CARE).index())
    assert session.class_id == DONT_CARE
    hand.open("lot1/new.png")
    hand.drag((20, 20), (40, 20))
    assert set(np.unique(hand.saved())) == {0, DONT_CARE}


def test_verdicts_by_button(hand):
    session, panel = hand.session, hand.window.verdict
    hand.open("lot1/new.png")
    panel.buttons["NG"].click()
    assert session.note.verdict == "NG" and panel.buttons["NG"].isChecked()
    panel.buttons["NG"].click()
    assert session.note.verdict is None and not panel.buttons["NG"].isChecked()
    panel.add_button.click()
    panel._name.setText("Rework")
    QTest.keyClick(panel._name, Qt.Key.Key_Return)
    assert list(panel.buttons) == ["OK", "NG", "Rework"]
    hand.open("lot1/bad.png")
    assert not panel.buttons["OK"].isEnabled()


def test_layers_are_shown_hidden_and_faded(hand):
    canvas, layers = hand.canvas, hand.window.layers
    hand.key(Qt.Key.Key_H)
    assert not canvas.label_style.visible and not layers.labels.check.isChecked()
    hand.key(Qt.Key.Key_H, Qt.KeyboardModifier.ShiftModifier)
    assert not canvas.prediction_style.visible
    hand.key(Qt.Key.Key_C, Qt.KeyboardModifier.ShiftModifier)
    assert canvas.prediction_style.filled and MODES[layers.look.modes.currentIndex()] == "filled"
    layers.labels.slider.setValue(20)
    assert canvas.label_style.opacity == 0.2


def test_display_sliders_never_cross_and_can_be_reset(hand):
    canvas, display = hand.canvas, hand.window.display
    display.high.setValue(400)
    assert canvas.display.high == pytest.approx(102, abs=1)
    display.low.setValue(900)
    assert canvas.display.low < canvas.display.high == pytest.approx(102, abs=1)
    display.gamma.setValue(750)
    assert canvas.display.gamma == pytest.approx(2, abs=0.02)
    display.reset.click()
    assert (canvas.display.low, canvas.display.high, canvas.display.gamma) == (0, 255, 1)
    assert display.low.value() == 0 and display.high.value() == 1000 and display.gamma.value() == 500


def test_status_line_says_what_is_under_the_pointer(hand):
    hand.open("lot1/new.png")
    hand.canvas.set_diameter(11)
    hand.drag((20, 20), (30, 20))
    QTest.mouseMove(hand.canvas, hand.pixel(25.5, 20.5))
    status = hand.window.status
    hand.qtbot.waitUntil(lambda: "25, 20" in status.pixel.text(), timeout=5000)
    assert "140" in status.pixel.text() and "scratch" in status.pixel.text()
    assert "11 px" in status.brush.text() and "%" in status.zoom.text()
    hand.session.flush()
    assert status.save_state.text() == "All saved"
    QTest.mouseMove(hand.canvas, QPoint(3, 3))


def test_a_failed_save_is_told_and_withdrawn_when_it_succeeds(hand):
    session, messages = hand.session, hand.window.messages
    hand.open("lot1/new.png")
    folder = session.project.root / "masks"
    moved = folder.rename(folder.with_name("away"))
    folder.write_text("a file where a folder should be")
    hand.drag((20, 20), (40, 20))
    hand.qtbot.waitUntil(lambda: session.save_state == "failed", timeout=5000)
    assert any("could not be written" in text and "tried again" in text for text in messages.texts)
    assert "trying again" in hand.window.status.save_state.text()
    hand.window.project_commands.close_project()
    hand.window.findChild(Question).buttons["cancel"].click()
    assert session.project is not None
    folder.unlink()
    moved.rename(folder)
    assert session.flush()
    assert not any("could not be written" in text for text in messages.texts)
    assert hand.window.status.save_state.text() == "All saved"
