"""Click segmentation on the canvas with toy networks: points, boxes, undo, files, and the end of what is computed."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.core.click_model.toy_click_networks import (
    BAR,
    HEIGHT,
    MAKERS,
    ON_BAR,
    ON_PLATE,
    PLATE,
    WIDTH,
    area,
    toy_decoder,
    toy_encoder,
    toy_pair,
)
from tests.ui.canvas.tools.tool_input import choose
from workbench.core.problems import ClickModelChanged, ClickModelRefused, TooManyPoints
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png
from workbench.session.preferences import Preferences

pytestmark = pytest.mark.usefixtures("one_window")

K = Qt.Key
CTRL = Qt.KeyboardModifier.ControlModifier
PLAIN = Qt.KeyboardModifier.NoModifier
RIGHT = Qt.MouseButton.RightButton


@pytest.fixture
def root(tmp_path):
    """a: dark bar and gray plate; b: the same, mirrored."""
    root = tmp_path / "点击 [3]"
    with Project.create(root, classes=["scratch", "pit"]) as project:
        image = np.full((HEIGHT, WIDTH), 230, np.uint8)
        image[BAR], image[PLATE] = 30, 150
        for name in ("a", "b", "c", "d", "e"):
            write_png(project.image_path(f"{name}.png"), image if name == "a" else image[:, ::-1].copy())
    return root


class ClickDriver:
    """Clicks with the tool, and what they select."""

    def __init__(self, driver) -> None:
        self.driver, self.clicks, self.session = driver, driver.services.clicks, driver.session
        self.problems: list[Exception] = []
        self.session.problem_met.connect(self.problems.append)

    @property
    def tool(self):
        return self.driver.canvas.tools["click"]

    def use(self, encoder, decoder) -> None:
        """Choose the files as in the settings, and the tool."""
        for name, path in (("click_encoder", encoder), ("click_decoder", decoder)):
            self.clicks.choose(name, str(path))
        self.wait()

    def wait(self) -> None:
        self.driver.qtbot.waitUntil(lambda: not self.clicks.working, timeout=60_000)

    def click(self, point, keys=PLAIN) -> None:
        self.driver.click(*point, keys)

    def right_click(self, point) -> None:
        QTest.mouseClick(self.driver.canvas, RIGHT, PLAIN, self.driver.pixel(*point))

    def preview(self) -> np.ndarray:
        """Return the previewed pixels, when they are computed."""
        self.wait()
        result = np.zeros((HEIGHT, WIDTH), bool)
        if self.tool.selection_preview is not None:
            selection = self.tool.selection_preview.selection
            result[selection.rect.slices] = selection.inside
        return result


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    return toy_pair(tmp_path_factory.mktemp("networks"), "sam")


@pytest.fixture
def empty(driver):
    """Driver without files."""
    driver.open("a.png")
    return ClickDriver(driver)


@pytest.fixture
def clicks(empty, pair):
    empty.use(*pair)
    choose(empty.driver, "click")
    return empty


# --- files ---------------------------------------------------------------------------------------


def test_built_in_network_is_used_until_both_files_are_chosen(empty, pair):
    window, driver = empty.driver.window, empty.driver
    action = window.table["click"]
    driver.canvas.choose_tool("click")
    empty.click(ON_BAR)
    found = empty.preview()
    assert found[BAR].mean() > 0.8 and found.sum() < 1.1 * found[BAR].size
    QTest.keyClick(driver.canvas, K.Key_Return)
    assert (driver.session.mask > 0).sum() == found.sum()
    driver.canvas.choose_tool("brush")
    empty.clicks.choose("click_encoder", str(pair[0]))
    empty.wait()
    assert not empty.clicks.own_files
    empty.clicks.choose("click_decoder", str(pair[1]))
    empty.wait()
    assert empty.clicks.interface_name == "Segment Anything" and empty.clicks.problem is None
    saved = Preferences.load()
    assert (saved.click_encoder, saved.click_decoder) == (str(pair[0]), str(pair[1]))
    QTest.keyClick(driver.canvas, K.Key_G, Qt.KeyboardModifier.ShiftModifier)
    assert driver.canvas.tool == "click" and "Shift+G" in action.toolTip()


def test_refused_files_give_a_message_at_each_click(empty, pair, tmp_path):
    text = tmp_path / "text.onnx"
    text.write_bytes(b"nothing")
    empty.use(text, pair[1])
    assert isinstance(empty.clicks.problem, ClickModelRefused) and not empty.problems  # the settings show it
    choose(empty.driver, "click")
    for count in (1, 2):
        empty.click(ON_BAR)
        empty.wait()
        assert len(empty.problems) == count and "ONNX Runtime cannot load it" in str(empty.problems[-1])
        assert empty.tool.current is None
    empty.clicks.choose("click_encoder", str(pair[0]))
    empty.click(ON_BAR)
    assert np.array_equal(empty.preview(), area(BAR)) and len(empty.problems) == 2


def test_changed_and_missing_files_give_a_message(empty, tmp_path):
    encoder, decoder = toy_pair(tmp_path, "sam")
    empty.use(encoder, decoder)
    choose(empty.driver, "click")
    empty.click(ON_BAR)
    assert empty.preview().any()
    empty.driver.key(K.Key_Escape)
    with decoder.open("ab") as file:
        file.write(b"\0")
    empty.click(ON_BAR)
    empty.wait()
    assert [type(problem) for problem in empty.problems] == [ClickModelChanged]
    toy_decoder(decoder, "sam")
    empty.click(ON_BAR)
    assert np.array_equal(empty.preview(), area(BAR)) and empty.clicks.problem is None
    encoder.unlink()
    empty.click(ON_PLATE)
    empty.wait()
    assert "the file does not exist" in str(empty.problems[-1])
    assert len(empty.tool.current.points) == 1  # the failed click is removed, the preview stays
    empty.driver.key(K.Key_Return)
    assert np.array_equal(empty.driver.saved() == 1, area(BAR))


@pytest.mark.parametrize("fault", ["nan", "qualities"])
def test_faulty_network_leaves_the_labels_alone(empty, pair, tmp_path, fault):
    empty.use(pair[0], toy_decoder(tmp_path / "decoder.onnx", "sam", fault=fault))
    choose(empty.driver, "click")
    empty.driver.canvas.context.shape_end.clock = lambda: 0.0
    empty.click(ON_BAR)
    empty.wait()
    empty.driver.key(K.Key_Return)  # the object is painted already; the image is not marked as done
    assert len(empty.problems) == 1 and isinstance(empty.problems[0], ClickModelRefused)
    assert not empty.session.mask.any() and not empty.session.can_undo()


# --- points and boxes ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [MAKERS[0], MAKERS[-1]])  # each kind: tests/core/click_model
def test_click_previews_and_enter_paints_with_each_interface(empty, tmp_path, kind):
    empty.use(*toy_pair(tmp_path, kind))
    choose(empty.driver, "click")
    empty.click(ON_BAR)
    expected = area(BAR, kind=kind)
    assert np.array_equal(empty.preview(), expected) and not empty.session.mask.any()
    empty.driver.key(K.Key_Return)
    assert np.array_equal(empty.driver.saved(), expected.astype(np.uint8))
    empty.session.undo()
    assert not empty.driver.saved().any() and not empty.session.can_undo()


def test_points_add_and_remove_and_are_undone_singly(clicks):
    clicks.click(ON_BAR)
    clicks.preview()
    clicks.click(ON_PLATE)
    both = area(BAR, PLATE)
    assert np.array_equal(clicks.preview(), both)
    clicks.right_click(ON_BAR)
    assert np.array_equal(clicks.preview(), area(PLATE))
    clicks.driver.key(K.Key_Backspace)
    assert np.array_equal(clicks.preview(), both)
    clicks.click(ON_PLATE, CTRL)
    assert np.array_equal(clicks.preview(), area(BAR))
    for expected in (both, area(BAR)):
        clicks.driver.key(K.Key_Backspace)
        assert np.array_equal(clicks.preview(), expected)
    clicks.driver.key(K.Key_Backspace)
    assert clicks.tool.current is None and not clicks.preview().any()
    assert not clicks.session.mask.any() and not clicks.session.can_undo()


def test_box_is_refined_by_clicks(clicks):
    clicks.driver.drag((20, 14), (50, 40), (120, 84))
    assert np.array_equal(clicks.preview(), area(BAR))  # the dark object in the box
    clicks.click(ON_PLATE)
    assert np.array_equal(clicks.preview(), area(BAR, PLATE))
    clicks.driver.key(K.Key_Backspace)
    clicks.driver.drag((84, 40), (110, 60), (124, 80))  # the next box paints the first
    assert np.array_equal(clicks.session.mask > 0, area(BAR))
    clicks.click(ON_PLATE)
    assert np.array_equal(clicks.preview(), area(PLATE))
    clicks.driver.key(K.Key_Backspace)
    clicks.driver.key(K.Key_Backspace)  # the box
    assert clicks.tool.current is None


def test_quick_clicks_and_enter_wait_for_the_last_mask(clicks):
    """Nothing is delivered between these events."""
    clicks.click(ON_BAR)
    clicks.click(ON_PLATE)
    clicks.driver.key(K.Key_Return)
    assert clicks.tool.current is not None and not clicks.session.mask.any()
    clicks.wait()
    assert clicks.tool.current is None and np.array_equal(clicks.driver.saved() == 1, area(BAR, PLATE))
    assert clicks.session.note.status == "started"  # Enter has not marked the image as done
    clicks.session.undo()
    assert not clicks.session.can_undo()


def test_double_click_paints(clicks):
    pixel = clicks.driver.pixel(*ON_BAR)
    QTest.mouseClick(clicks.driver.canvas, Qt.MouseButton.LeftButton, PLAIN, pixel)
    QTest.mouseDClick(clicks.driver.canvas, Qt.MouseButton.LeftButton, PLAIN, pixel)
    clicks.wait()
    assert np.array_equal(clicks.driver.saved() == 1, area(BAR))


def test_class_of_the_moment_is_painted_and_locked_classes_stay(clicks):
    clicks.session.editor.paint_region(np.ones((12, HEIGHT), bool), (0, 30), 2)  # crosses the bar
    before = clicks.driver.saved()
    clicks.session.classes.set_locked(2, True)
    clicks.click(ON_BAR)
    clicks.preview()
    clicks.driver.key(K.Key_Return)
    after = clicks.driver.saved()
    assert (
        np.array_equal(after, np.where((before == 0) & area(BAR), 1, before))
        and (after == 2).sum() == (before == 2).sum()
    )
    clicks.session.classes.set_locked(2, False)
    clicks.click(ON_PLATE)
    clicks.preview()
    clicks.driver.key(K.Key_2)
    clicks.driver.key(K.Key_Return)
    assert (clicks.driver.saved()[area(PLATE)] == 2).all()
    assert clicks.session.steps()[0][-1].what == "click"


def test_click_beyond_the_number_of_points_is_removed(empty, tmp_path):
    empty.use(*toy_pair(tmp_path, "efficient_sam"))
    choose(empty.driver, "click")
    for x in range(34, 48, 2):
        empty.click((x + 0.5, 30.5))
        empty.wait()
    assert [type(problem) for problem in empty.problems] == [TooManyPoints] and len(empty.tool.current.points) == 6
    assert np.array_equal(empty.preview(), area(BAR, kind="efficient_sam")) and empty.clicks.problem is None


def test_first_click_cannot_remove(clicks):
    refused = []
    clicks.driver.canvas.refused.connect(refused.append)
    clicks.click(ON_BAR, CTRL)
    clicks.wait()
    assert refused == ["no object"] and clicks.tool.current is None


def test_object_without_pixels_is_reported_and_can_be_extended(clicks):
    refused = []
    clicks.driver.canvas.refused.connect(refused.append)
    clicks.driver.drag((88, 70), (100, 80), (126, 92))  # nothing dark
    assert not clicks.preview().any() and refused == ["nothing segmented"]
    clicks.driver.key(K.Key_Escape)
    clicks.click(ON_BAR)
    assert np.array_equal(clicks.preview(), area(BAR))


def test_visible_area_only(clicks):
    canvas = clicks.driver.canvas
    canvas.options.switch("click_visible", True)
    canvas.set_view(canvas.view.at_scale(40.0, 0, 0))
    left, top = canvas.view.to_image(0, 0)
    canvas.set_view(
        canvas.view.moved(
            round(-(56 - left) * 40) + canvas.view.width // 2, round(-(36 - top) * 40) + canvas.view.height // 2
        )
    )
    center = canvas.view.to_image(canvas.view.width / 2, canvas.view.height / 2)
    clicks.click(center)
    clicks.wait()
    window = clicks.tool.current.window
    assert window.width < WIDTH and window.x <= center[0] < window.x + window.width
    shown = clicks.preview()
    assert shown[int(center[1]), int(center[0])]
    outside = np.ones_like(shown)
    outside[window.slices] = False
    assert not (shown & outside).any()


# --- end of what is computed ---------------------------------------------------------------------


@pytest.fixture
def endless(empty, pair, tmp_path):
    """Tool whose encoder computes until it is ended."""
    empty.use(toy_encoder(tmp_path / "endless.onnx", "sam", endless=True), pair[1])
    choose(empty.driver, "click")
    empty.click(ON_BAR)
    assert empty.clicks.working == "encoding" or empty.clicks.working == "segmenting"
    return empty


def test_escape_ends_the_computation(endless, pair):
    endless.driver.key(K.Key_Escape)
    assert endless.tool.current is None and not endless.clicks.working
    endless.clicks.tasks.wait()
    endless.clicks.choose("click_encoder", str(pair[0]))
    endless.click(ON_BAR)
    assert np.array_equal(endless.preview(), area(BAR)) and not endless.problems


@pytest.mark.parametrize("leave", ["image", pytest.param("done", marks=pytest.mark.slow)])
def test_other_image_and_tool_do_not_wait(endless, leave):
    if leave == "tool":
        endless.driver.key(K.Key_B)
        assert endless.driver.canvas.tool == "brush"
    elif leave == "image":
        endless.driver.open("b.png")
    else:
        endless.driver.window.table["done_next"].trigger()
        endless.driver.qtbot.waitUntil(lambda: endless.session.key == "b.png", timeout=60_000)
    assert endless.tool.current is None
    endless.clicks.cancel()  # of the image under the pointer
    endless.clicks.tasks.wait()
    endless.driver.open("a.png")
    endless.driver.qtbot.waitUntil(lambda: endless.session.mask is not None, timeout=60_000)
    assert not endless.session.mask.any() and not endless.problems


@pytest.mark.parametrize("leave", ["tool", "done"])
def test_preview_is_painted_before_another_tool_or_image(clicks, leave):
    clicks.click(ON_BAR)
    clicks.preview()
    if leave == "tool":
        clicks.driver.key(K.Key_B)
    elif leave == "image":
        clicks.driver.key(K.Key_D)
        clicks.driver.qtbot.waitUntil(lambda: clicks.session.key == "b.png", timeout=60_000)
    else:
        clicks.driver.window.table["done_next"].trigger()
        clicks.driver.qtbot.waitUntil(lambda: clicks.session.key == "b.png", timeout=60_000)
    clicks.driver.open("a.png")
    assert np.array_equal(clicks.driver.saved() == 1, area(BAR))


def test_closing_the_window_ends_the_computation(endless):
    endless.driver.window.close()
    endless.driver.services.close()
    assert not endless.clicks.working and not endless.clicks.tasks.busy


def test_features_of_the_image_are_computed_under_the_pointer(clicks):
    driver = clicks.driver
    QTest.mouseMove(driver.canvas, driver.pixel(10, 10))
    QTest.mouseMove(driver.canvas, driver.pixel(12, 12))
    driver.qtbot.waitUntil(lambda: bool(clicks.clicks.model and clicks.clicks.model.embeddings), timeout=60_000)
    assert clicks.tool.current is None


def test_features_are_not_computed_for_each_image_that_is_shown_again(clicks):
    for key in ("a.png", "b.png", "a.png"):
        clicks.driver.open(key)
        clicks.click(ON_BAR)
        clicks.wait()
        clicks.driver.key(K.Key_Escape)
    assert len(clicks.clicks.model.embeddings) == 2
