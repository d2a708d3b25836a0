"""Proposals in the real window, by a real network, with real mouse and keys; stored masks compared pixel by pixel."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from tests.inference.conftest import GREY_BIAS, GREY_WEIGHTS, grey_settings, write_onnx
from tests.ui.conftest import LEFT, Hand
from tests.ui.training.test_training_panel import at_rest, live
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.project.storage import write_json
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.events import Preview
from workbench.core.runs.run import Run
from workbench.core.suggestions.suggestion_files import load_stored
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import ClassSettings, save_settings
from workbench.inference.predictor import Predictor
from workbench.ui.canvas.interactions.suggestion_interaction import TAP
from workbench.ui.canvas.interactions.suggestion_menu import SuggestionMenu

CTRL, ALT, SHIFT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ShiftModifier,
)
KEY, CALM, RUN = "斑点 1.png", "calm.png", "20260101-000000-unet"
DARK, BRIGHT = [(12, 12), (12, 70), (70, 12)], [(70, 70), (12, 118)]  # rows and columns of the spots' middles
PLAIN = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "项目 [1]"
    with Project.create(root, classes=["scratch", "pit"]) as project:
        picture = np.full((96, 144), 128, np.uint8)
        rows, columns = np.ogrid[:96, :144]
        for middles, value in ((DARK, 5), (BRIGHT, 250)):
            for y, x in middles:
                picture[(rows - y) ** 2 + (columns - x) ** 2 <= 49] = value
        write_png(project.image_path(KEY), picture)
        write_png(project.image_path(CALM), np.full((96, 144), 128, np.uint8))
    run = Run(root / "runs" / RUN)
    write_onnx(run.best / "network.onnx", GREY_WEIGHTS, GREY_BIAS)
    classes = (ClassSettings(1, "scratch", "#ff0000"), ClassSettings(2, "pit", "#00ff80"))
    save_settings(grey_settings(classes=classes, run=RUN), run.best / "model.json")
    (run.root / "recipe.json").write_text('{"model": "unet"}')
    return root


class Judge(Hand):
    """The hand, and what the network marks."""

    def __init__(self, application, qtbot, root) -> None:
        super().__init__(application, qtbot)
        self.root, self.room = root, application.rooms.suggestions
        found = Predictor.open(root / "runs" / RUN / "best").predict(self.session.image)
        self.mask = found.mask
        self.wait(5)

    def wait(self, count: int) -> None:
        self.qtbot.waitUntil(lambda: len(self.room.shown) == count, timeout=10_000)
        self.room.wait()
        assert len(self.room.shown) == count

    def over(self, y: float, x: float) -> None:
        """The pointer rests there, and the spot there, if it is proposed, is lit up."""
        for step in (2, 0):  # where the pointer is already it cannot be moved to
            QTest.mouseMove(self.canvas, self.pixel(x, y) + QPoint(step, 0))
        hand = self.canvas.suggestions
        proposed = any(abs(one.origin.y + 7 - y) < 7 and abs(one.origin.x + 7 - x) < 7 for one in hand.suggestions)
        self.qtbot.waitUntil(lambda: (hand.current is not None) == proposed)

    def expected(self, *spots: tuple[int, int]) -> np.ndarray:
        """What the network marks around some middles, and nothing else."""
        rows, columns = np.ogrid[:96, :144]
        inside = np.zeros(self.mask.shape, bool)
        for y, x in spots:
            inside |= (rows - y) ** 2 + (columns - x) ** 2 <= 100
        return np.where(inside, self.mask, 0).astype(np.uint8)


@pytest.fixture
def judge(opened, qtbot, root):
    return Judge(opened, qtbot, root)


@pytest.fixture
def opened(application, root, qtbot):
    session = application.rooms.session
    with qtbot.waitSignal(session.image_opened, timeout=10_000):
        session.open_project(root)
    qtbot.waitUntil(lambda: len(session.rows) == 2, timeout=10_000)
    if session.key != KEY:
        with qtbot.waitSignal(session.image_opened, timeout=10_000):
            session.open_image(KEY)
    return application


def test_a_tap_of_space_accepts_the_one_under_the_pointer(judge):
    assert not judge.session.mask.any()
    judge.over(12, 70)
    assert judge.canvas.suggestions.current.class_id == 1
    judge.key(Qt.Key.Key_Space)
    assert np.array_equal(judge.saved(), judge.expected((12, 70)))
    judge.wait(4)
    note = annotation.load_note(judge.session.project, KEY)
    assert note.history[-1].detail.startswith(f"run {RUN}: scratch, score ")
    judge.over(40, 40)  # nothing is proposed there
    judge.key(Qt.Key.Key_Space)
    assert np.array_equal(judge.saved(), judge.expected((12, 70)))
    judge.key(Qt.Key.Key_Z, CTRL)
    assert not judge.saved().any()
    judge.wait(5)


def test_space_held_with_a_drag_moves_the_picture_and_accepts_nothing(judge):
    judge.canvas.actual_size()
    judge.over(70, 70)
    before, pixel = judge.canvas.view, judge.pixel(70, 70)
    QTest.keyPress(judge.canvas, Qt.Key.Key_Space)
    assert judge.canvas.cursor().shape() != Qt.CursorShape.OpenHandCursor  # it may still be a tap
    QTest.mousePress(judge.canvas, LEFT, PLAIN, pixel)
    QTest.mouseMove(judge.canvas, pixel + QPoint(33, 21))
    QTest.mouseRelease(judge.canvas, LEFT, PLAIN, pixel + QPoint(33, 21))
    QTest.keyRelease(judge.canvas, Qt.Key.Key_Space)
    assert (judge.canvas.view.x - before.x, judge.canvas.view.y - before.y) == (33, 21)
    judge.room.wait()
    assert not judge.session.mask.any() and len(judge.room.shown) == 5


def test_space_held_for_long_accepts_nothing(judge):
    judge.over(70, 70)
    QTest.keyPress(judge.canvas, Qt.Key.Key_Space)
    judge.qtbot.waitUntil(lambda: judge.canvas.cursor().shape() == Qt.CursorShape.OpenHandCursor, timeout=20 * TAP)
    assert judge.canvas.suggestions.current is None  # what is about to happen is seen
    QTest.keyRelease(judge.canvas, Qt.Key.Key_Space)
    judge.room.wait()
    assert not judge.session.mask.any() and len(judge.room.shown) == 5
    assert judge.canvas.suggestions.current is not None


def test_delete_rejects_and_a_new_window_does_not_ask_again(judge, application, qapp, qtbot, root):
    judge.over(12, 12)
    judge.key(Qt.Key.Key_Delete)
    judge.wait(4)
    judge.over(70, 12)
    judge.key(Qt.Key.Key_Space)
    judge.wait(3)
    application.rooms.session.close_project()
    with qtbot.waitSignal(application.rooms.session.image_opened, timeout=10_000):
        application.rooms.session.open_project(root)
    if judge.session.key != KEY:
        judge.open(KEY)
    judge.wait(3)
    assert np.array_equal(judge.session.mask, judge.expected((70, 12)))
    judge.window.table["bring_back"].trigger()
    judge.wait(4)
    judge.key(Qt.Key.Key_Z, CTRL)
    judge.wait(3)


def test_a_box_accepts_what_lies_in_it_and_with_ctrl_rejects(judge):
    judge.key(Qt.Key.Key_V, SHIFT)
    assert judge.canvas.tool == "proposals"
    judge.drag((2, 2), (90, 24))  # over two of the three on top
    assert np.array_equal(judge.saved(), judge.expected((12, 12), (12, 70)))
    judge.wait(3)
    judge.drag((2, 60), (90, 94), keys=CTRL)
    judge.wait(1)
    assert np.array_equal(judge.saved(), judge.expected((12, 12), (12, 70)))
    judge.click(118, 12)
    assert np.array_equal(judge.saved(), judge.expected((12, 12), (12, 70), (12, 118)))
    for _ in range(3):
        judge.key(Qt.Key.Key_Z, CTRL)
    judge.wait(5)
    assert not judge.saved().any()


def test_all_at_once_is_one_step(judge):
    judge.key(Qt.Key.Key_A, CTRL | SHIFT)
    assert np.array_equal(judge.saved(), judge.mask) and judge.mask.any()
    judge.wait(0)
    judge.qtbot.waitUntil(lambda: not judge.window.table["accept_all"].isEnabled())
    judge.key(Qt.Key.Key_Z, CTRL)
    judge.wait(5)
    assert not judge.saved().any() and not judge.session.can_undo()


def test_another_class_and_another_shape_before_it_is_accepted(judge):
    judge.over(70, 70)
    judge.key(Qt.Key.Key_1, CTRL)
    judge.key(Qt.Key.Key_Plus)
    judge.key(Qt.Key.Key_Plus)
    judge.key(Qt.Key.Key_Minus)
    assert not judge.session.mask.any() and judge.session.class_id == 1
    current = judge.canvas.suggestions.current
    assert current.class_id == 1 and current.edited
    judge.key(Qt.Key.Key_Space)
    saved, plain = judge.saved(), judge.expected((70, 70)) > 0
    rows, columns = np.nonzero(plain)
    ys, xs = np.indices(plain.shape)
    away = np.hypot(ys[..., None] - rows, xs[..., None] - columns)
    assert set(np.unique(saved)) == {0, 1} and (saved[plain] == 1).all()
    assert not saved[away.min(axis=-1) > 1].any() and np.count_nonzero(saved) > np.count_nonzero(plain)
    judge.wait(4)
    judge.key(Qt.Key.Key_V, SHIFT)  # with the tool the plain digits do
    judge.over(12, 12)
    judge.key(Qt.Key.Key_2)
    assert judge.canvas.suggestions.current.class_id == 2 and judge.session.class_id == 1
    judge.over(40, 40)
    judge.key(Qt.Key.Key_2)
    assert judge.session.class_id == 2  # and nowhere else


def test_alt_and_arrows_lead_from_labels_to_proposals(judge):
    canvas = judge.canvas

    def seen() -> tuple[bool, bool]:
        return canvas.label_style.visible, canvas.suggestions.layer.visible

    assert seen() == (True, True)
    for key, expected in (
        (Qt.Key.Key_Left, (True, False)),
        (Qt.Key.Key_Left, (True, False)),
        (Qt.Key.Key_Right, (True, True)),
        (Qt.Key.Key_Right, (False, True)),
        (Qt.Key.Key_Right, (False, True)),
        (Qt.Key.Key_Left, (True, True)),
    ):
        judge.key(key, ALT)
        assert seen() == expected
    judge.key(Qt.Key.Key_Left, ALT)
    judge.over(12, 12)
    judge.key(Qt.Key.Key_Space)
    judge.key(Qt.Key.Key_Delete)
    judge.key(Qt.Key.Key_A, CTRL | SHIFT)
    assert not judge.session.mask.any() and len(judge.room.shown) == 5  # what is hidden cannot be hit


def test_hidden_overlays_and_hidden_classes_cannot_be_hit(judge):
    judge.over(12, 12)
    QTest.keyPress(judge.canvas, Qt.Key.Key_Tab)
    judge.key(Qt.Key.Key_Space)
    QTest.keyRelease(judge.canvas, Qt.Key.Key_Tab)
    assert not judge.session.mask.any()
    judge.session.classes.set_hidden(1, True)
    judge.over(12, 13)
    assert judge.canvas.suggestions.current is None
    judge.key(Qt.Key.Key_A, CTRL | SHIFT)
    assert np.array_equal(judge.saved(), judge.expected(*BRIGHT))


def test_a_region_that_is_chosen_keeps_its_keys(judge):
    """Delete and plus go to the labelled region that is held, not to the proposal under the pointer."""
    judge.over(12, 12)
    judge.key(Qt.Key.Key_Space)
    judge.wait(4)
    judge.key(Qt.Key.Key_V)
    judge.click(12, 12)
    judge.over(12, 70)
    judge.key(Qt.Key.Key_Delete)
    assert not judge.saved().any()
    judge.wait(4)


def test_the_menu_at_the_pointer(judge):
    pixel = judge.pixel(70, 12)
    QTest.mouseClick(judge.canvas, Qt.MouseButton.RightButton, PLAIN, pixel)
    menu = judge.window.findChild(SuggestionMenu)
    assert menu is not None
    names = [action.text().split("\t")[0] for action in menu.actions() if action.text()]
    assert names == ["Accept", "Reject", "Change class", "Grow", "Shrink"]
    menu.actions()[0].trigger()
    menu.close()
    assert np.array_equal(judge.saved(), judge.expected((12, 70)))


def test_the_list_lights_up_accepts_and_rejects(judge):
    panel = judge.window.suggestions
    view, model = panel.view, panel.model
    judge.qtbot.waitUntil(lambda: model.rowCount() == 5)
    scores = [one.score for one in model.suggestions]
    assert scores == sorted(scores, reverse=True)
    view.setFocus()
    view.setCurrentIndex(model.index(1))
    second = model.suggestions[1]
    assert judge.canvas.suggestions.current is second
    QTest.keyClick(view, Qt.Key.Key_Space)
    judge.wait(4)
    middle = second.selection.rect.y + 7, second.selection.rect.x + 7
    assert np.array_equal(judge.saved(), judge.expected(middle))
    QTest.keyClick(view, Qt.Key.Key_Delete)
    judge.wait(3)
    assert model.rowCount() == 3 and panel.back.isVisible() and panel.back.text() == "Bring back 1 rejected"
    QTest.mouseClick(panel.accept_all, LEFT)
    judge.wait(0)
    assert not view.isVisible() and panel.hint.isVisible()
    QTest.mouseClick(panel.back, LEFT)
    judge.wait(1)


def test_what_is_drawn_is_the_class_and_only_where_it_is_proposed(judge):
    """The pixels on the screen with and without proposals differ exactly over the proposals."""
    canvas = judge.canvas
    QTest.mouseMove(canvas, QPoint(2, 2))
    canvas.prediction_style.visible = False
    canvas.restyle()

    def grab() -> np.ndarray:
        image = canvas.grab().toImage().convertToFormat(image_format())
        return np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.width(), 4)[..., :3].copy()

    with_them = grab()
    canvas.suggestions.switch(False)
    without = grab()
    canvas.suggestions.switch(True)
    assert np.array_equal(grab(), with_them)
    differs = (with_them != without).any(axis=2)
    ys, xs = np.nonzero(np.ones(differs.shape, bool))
    px, py = canvas.view.to_image(xs + 0.5, ys + 0.5)
    inside = (px >= 0) & (py >= 0) & (px < 144) & (py < 96)
    proposed = np.zeros(differs.shape, bool)
    proposed.ravel()[inside] = judge.mask[py[inside].astype(int), px[inside].astype(int)] > 0
    assert np.array_equal(differs, proposed)
    canvas.set_view(canvas.view.moved(7, -5))  # a part is drawn anew, a part is moved
    moved = grab()
    canvas.update()
    assert np.array_equal(grab(), moved)


def image_format():
    from PySide6.QtGui import QImage

    return QImage.Format.Format_RGB32


def test_all_pictures_are_looked_at_beside_the_window(judge):
    assert judge.window.table["propose_all"].isEnabled()
    everywhere = judge.rooms.everywhere
    judge.over(12, 12)
    judge.key(Qt.Key.Key_Delete)
    judge.wait(4)
    with judge.qtbot.waitSignal(everywhere.ended, timeout=20_000) as ended:
        judge.window.table["propose_all"].trigger()
        assert judge.window.suggestions.round.isVisibleTo(judge.window.suggestions) and everywhere.running
    assert (ended.args[0].images, ended.args[0].suggestions, ended.args[0].whole) == (2, 4, True)
    project = judge.session.project
    assert len(load_stored(project, KEY)[1]) == 4 and load_stored(project, CALM)[1] == ()
    assert not project.mask_path(KEY).exists() and not project.mask_path(CALM).exists()
    judge.wait(4)
    assert any("wait for you" in text for text in judge.window.messages.texts)


def test_a_stroke_over_a_proposal_is_only_a_stroke(judge):
    judge.canvas.set_diameter(3)
    points = judge.drag((60, 70), (80, 70))
    assert points and len(judge.room.shown) == 5
    assert set(np.unique(judge.saved())) == {0, 1} and np.count_nonzero(judge.saved()) < 100


def test_moved_thresholds_move_the_proposals(judge):
    """The dark spots are certain to 0.99; over that nothing is marked, and nothing is proposed."""
    overlay = judge.window.overlay
    overlay.move_threshold(0, 1.0)
    judge.wait(2)
    assert {one.class_id for one in judge.room.shown} == {2}
    overlay.reset_thresholds()
    judge.wait(5)
    judge.over(12, 12)
    judge.key(Qt.Key.Key_Plus)
    overlay.move_threshold(0, 0.6)
    judge.qtbot.waitUntil(lambda: len(judge.room._edits) == 2)  # it was carried over to what is marked now
    judge.wait(5)
    (one,) = [one for one in judge.room.shown if one.edited]  # what a person has changed stays
    assert (one.origin.y, one.origin.x) == (5, 5)


def test_the_pointer_that_rests_finds_what_the_next_picture_proposes(judge):
    judge.over(12, 70)
    judge.open(CALM)
    judge.wait(0)
    assert judge.canvas.suggestions.current is None
    judge.open(KEY)
    judge.wait(5)
    judge.key(Qt.Key.Key_Space)
    assert np.array_equal(judge.saved(), judge.expected((12, 70)))


def test_what_a_run_under_way_sees_can_be_accepted(judge, root):
    """Its previews are proposals as they come; each takes the place of the one before."""
    training = judge.rooms.training
    run = Run(root / "runs" / "20260202-000000-unet")
    settings = {"thresholds": [0.5, 0.5], "min_area": [1, 1]}
    mask = np.zeros((96, 144), np.uint8)
    mask[30:40, 30:50] = 2
    for name, pixels in (("m1", mask), ("m2", np.roll(mask, 30, axis=1))):
        write_png(run.previews / f"{name}.png", pixels)
        planes = [np.where(pixels == id, np.uint8(200), np.uint8(0)) for id in (1, 2)]
        write_png(run.previews / f"{name}s.png", np.concatenate(planes))
    (run.root / "recipe.json").write_text('{"model": "unet"}')
    write_json(run.dataset_path, Dataset(model="unet", classes=judge.session.project.classes).model_dump(mode="json"))
    live(judge)
    training.run = run
    training.previews.open(run)
    for step in (1, 2):
        files = {"mask": f"previews/m{step}.png", "scores": f"previews/m{step}s.png"}
        training.previews.add(Preview(step=step, picture=KEY, **files, **settings))
        judge.wait(1)
        judge.qtbot.waitUntil(lambda step=step: judge.room.shown[0].origin.x == 30 * step)
    (one,) = judge.room.shown
    assert one.model == run.name and one.class_id == 2 and round(one.score, 2) == 0.78
    judge.over(35, 65)
    judge.key(Qt.Key.Key_Space)
    assert np.array_equal(judge.saved(), np.roll(mask, 30, axis=1))
    at_rest(judge)


def test_from_one_to_the_next_by_keys_alone(judge):
    """N goes to a region, Space accepts it, Delete rejects it; the pointer lies elsewhere."""
    QTest.mouseMove(judge.canvas, QPoint(3, 3))
    judge.canvas.setFocus()
    judge.key(Qt.Key.Key_N)
    judge.key(Qt.Key.Key_Space)
    judge.wait(4)
    judge.key(Qt.Key.Key_N)
    judge.key(Qt.Key.Key_Delete)
    judge.wait(3)
    judge.key(Qt.Key.Key_H, SHIFT)  # without the predictions, what waits is gone to all the same
    judge.key(Qt.Key.Key_N)
    judge.key(Qt.Key.Key_Space)
    judge.wait(2)
    assert np.array_equal(judge.saved(), judge.expected((12, 12), (12, 118)))


def test_what_lies_in_the_place_of_the_picture_has_no_proposals(judge):
    """The next picture's preview is shown while this one is still the open one: nothing may be hit through it."""
    judge.over(12, 12)
    judge.canvas.show_preview(np.full((48, 72), 90, np.uint8), (144, 96))
    judge.key(Qt.Key.Key_Space)
    judge.key(Qt.Key.Key_Delete)
    judge.key(Qt.Key.Key_A, CTRL | SHIFT)
    judge.window.table["reject_all"].trigger()
    image = judge.canvas.grab().toImage()
    at = judge.pixel(70, 12)
    assert image.pixelColor(at).red() == image.pixelColor(at).green()  # grey: nothing is drawn over it
    judge.room.wait()
    assert not judge.session.mask.any() and len(judge.room.shown) == 5
