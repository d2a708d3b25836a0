"""Suggestions of a real network in the window, with mouse and keyboard; stored masks are compared pixel by pixel."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from tests.inference.conftest import GRAY_BIAS, GRAY_WEIGHTS, gray_settings, write_onnx
from tests.ui.conftest import LEFT, CanvasDriver
from tests.ui.training.run_events import live, without_trainer
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.project.storage import write_json
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.events import Evaluated, Finished, Preview, Started, encode
from workbench.core.runs.run import Run
from workbench.core.suggestions.suggestion_files import load_stored
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import ClassSettings, save_settings
from workbench.inference.predictor import Predictor
from workbench.ui.canvas.context_menu import SuggestionMenu
from workbench.ui.canvas.tools.suggestion_interactor import TAP
from workbench.ui.suggestions.suggestions_panel import button_rects

CTRL, ALT, SHIFT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ShiftModifier,
)
KEY, CALM, RUN = "斑点 1.png", "calm.png", "20260101-000000-unet"
DARK, BRIGHT = [(12, 12), (12, 70), (70, 12)], [(70, 70), (12, 118)]  # rows and columns of the centers of the spots
PLAIN = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "项目 [1]"
    with Project.create(root, classes=["scratch", "pit"]) as project:
        image = np.full((96, 144), 128, np.uint8)
        rows, columns = np.ogrid[:96, :144]
        for centers, value in ((DARK, 5), (BRIGHT, 250)):
            for y, x in centers:
                image[(rows - y) ** 2 + (columns - x) ** 2 <= 49] = value
        write_png(project.image_path(KEY), image)
        write_png(project.image_path(CALM), np.full((96, 144), 128, np.uint8))
    run = Run(root / "runs" / RUN)
    write_onnx(run.best / "network.onnx", GRAY_WEIGHTS, GRAY_BIAS)
    classes = (ClassSettings(1, "scratch", "#ff0000"), ClassSettings(2, "pit", "#00ff80"))
    save_settings(gray_settings(classes=classes, run=RUN), run.best / "model.json")
    (run.root / "recipe.json").write_text('{"model": "unet"}')
    return root


class SuggestionUser(CanvasDriver):
    """User input, and the mask that the network predicts."""

    def __init__(self, application, qtbot, root) -> None:
        super().__init__(application, qtbot)
        self.root, self.image_suggestions = root, application.services.suggestions
        prediction = Predictor.open(root / "runs" / RUN / "best").predict(self.session.image)
        self.mask = prediction.mask
        self.wait(5)

    def wait(self, count: int) -> None:
        self.qtbot.waitUntil(lambda: len(self.image_suggestions.shown) == count, timeout=10_000)
        self.image_suggestions.wait()
        assert len(self.image_suggestions.shown) == count

    def over(self, y: float, x: float) -> None:
        """Move the pointer there and wait until the suggestion there, if any, is highlighted."""
        interaction = self.canvas.suggestions

        def highlighted() -> bool:  # the view may still change, when a panel opens
            for step in (2, 0):  # a move to the current position has no effect
                QTest.mouseMove(self.canvas, self.pixel(x, y) + QPoint(step, 0))
            expected = any(
                abs(entry.origin.y + 7 - y) < 7 and abs(entry.origin.x + 7 - x) < 7 for entry in interaction.suggestions
            )
            return (interaction.current is not None) == expected

        self.qtbot.waitUntil(highlighted)

    def expected(self, *spots: tuple[int, int]) -> np.ndarray:
        """Return the predicted mask around some centers, 0 elsewhere."""
        rows, columns = np.ogrid[:96, :144]
        inside = np.zeros(self.mask.shape, bool)
        for y, x in spots:
            inside |= (rows - y) ** 2 + (columns - x) ** 2 <= 100
        return np.where(inside, self.mask, 0).astype(np.uint8)


@pytest.fixture
def user(opened, qtbot, root):
    return SuggestionUser(opened, qtbot, root)


@pytest.fixture
def opened(application, root, qtbot):
    session = application.services.session
    with qtbot.waitSignal(session.current.opened, timeout=10_000):
        session.open_project(root)
    qtbot.waitUntil(lambda: len(session.rows) == 2, timeout=10_000)
    if session.key != KEY:
        with qtbot.waitSignal(session.current.opened, timeout=10_000):
            session.open_image(KEY)
    return application


def test_suggestions_of_the_open_image_are_listed_after_a_change_of_the_language(user, opened, qtbot):
    old = opened.window
    old.table["language_zh_CN"].trigger()
    qtbot.waitUntil(lambda: opened.window is not old)
    new = opened.window
    assert len(new.canvas.suggestions.suggestions) == 5
    qtbot.waitUntil(new.suggestions_panel.isVisible)


def test_space_box_and_command_accept_suggestions(user):
    # Space accepts the suggestion under the pointer.
    assert not user.session.mask.any()
    user.over(12, 70)
    assert user.canvas.suggestions.current.class_id == 1
    user.key(Qt.Key.Key_Space)
    assert np.array_equal(user.saved(), user.expected((12, 70)))
    user.wait(4)
    note = annotation.load_note(user.session.project, KEY)
    assert note.history[-1].detail.startswith(f"run {RUN}: scratch, score ")
    user.over(40, 40)  # no suggestion there
    user.key(Qt.Key.Key_Space)
    assert np.array_equal(user.saved(), user.expected((12, 70)))
    user.key(Qt.Key.Key_Z, CTRL)
    assert not user.saved().any()
    user.wait(5)
    # Space with a drag pans and accepts nothing.
    user.canvas.view_state.actual_size()
    user.over(70, 70)
    before, pixel = user.canvas.view, user.pixel(70, 70)
    QTest.keyPress(user.canvas, Qt.Key.Key_Space)
    assert user.canvas.cursor().shape() != Qt.CursorShape.OpenHandCursor  # it may still be a tap
    QTest.mousePress(user.canvas, LEFT, PLAIN, pixel)
    QTest.mouseMove(user.canvas, pixel + QPoint(33, 21))
    QTest.mouseRelease(user.canvas, LEFT, PLAIN, pixel + QPoint(33, 21))
    QTest.keyRelease(user.canvas, Qt.Key.Key_Space)
    assert (user.canvas.view.x - before.x, user.canvas.view.y - before.y) == (33, 21)
    user.image_suggestions.wait()
    assert not user.session.mask.any() and len(user.image_suggestions.shown) == 5
    # A long press of Space accepts nothing.
    user.over(70, 70)
    QTest.keyPress(user.canvas, Qt.Key.Key_Space)
    user.qtbot.waitUntil(lambda: user.canvas.cursor().shape() == Qt.CursorShape.OpenHandCursor, timeout=20 * TAP)
    assert user.canvas.suggestions.current is None  # the highlight shows that the key will not accept
    QTest.keyRelease(user.canvas, Qt.Key.Key_Space)
    user.image_suggestions.wait()
    assert not user.session.mask.any() and len(user.image_suggestions.shown) == 5
    assert user.canvas.suggestions.current is not None
    # All are accepted in one undo step.
    user.key(Qt.Key.Key_A, CTRL | SHIFT)
    assert np.array_equal(user.saved(), user.mask) and user.mask.any()
    user.wait(0)
    user.qtbot.waitUntil(lambda: not user.window.table["accept_all"].isEnabled())
    user.key(Qt.Key.Key_Z, CTRL)
    user.wait(5)
    assert not user.saved().any() and not user.session.can_undo()
    # A box accepts, with Ctrl it rejects.
    user.key(Qt.Key.Key_V, SHIFT)
    assert user.canvas.tool == "suggestions"
    user.drag((2, 2), (90, 24))  # over two of the three on top
    assert np.array_equal(user.saved(), user.expected((12, 12), (12, 70)))
    user.wait(3)
    user.drag((2, 60), (90, 94), keys=CTRL)
    user.wait(1)
    assert np.array_equal(user.saved(), user.expected((12, 12), (12, 70)))
    user.click(118, 12)
    assert np.array_equal(user.saved(), user.expected((12, 12), (12, 70), (12, 118)))
    for _ in range(3):
        user.key(Qt.Key.Key_Z, CTRL)
    user.wait(5)
    assert not user.saved().any()


def test_class_and_shape_are_edited_before_acceptance(user):
    user.over(70, 70)
    user.key(Qt.Key.Key_1, CTRL)
    user.key(Qt.Key.Key_Plus)
    user.key(Qt.Key.Key_Plus)
    user.key(Qt.Key.Key_Minus)
    assert not user.session.mask.any() and user.session.editor.class_id == 1
    current = user.canvas.suggestions.current
    assert current.class_id == 1 and current.edited
    user.key(Qt.Key.Key_Space)
    saved, plain = user.saved(), user.expected((70, 70)) > 0
    rows, columns = np.nonzero(plain)
    ys, xs = np.indices(plain.shape)
    away = np.hypot(ys[..., None] - rows, xs[..., None] - columns)
    assert set(np.unique(saved)) == {0, 1} and (saved[plain] == 1).all()
    assert not saved[away.min(axis=-1) > 1].any() and np.count_nonzero(saved) > np.count_nonzero(plain)
    user.wait(4)
    user.key(Qt.Key.Key_V, SHIFT)  # with the tool, digits without Ctrl work, too
    user.over(12, 12)
    user.key(Qt.Key.Key_2)
    assert user.canvas.suggestions.current.class_id == 2 and user.session.editor.class_id == 1
    user.over(40, 40)
    user.key(Qt.Key.Key_2)
    assert user.session.editor.class_id == 2  # beside a suggestion the digit selects the class


def test_alt_and_arrows_step_from_labels_to_suggestions(user):
    canvas = user.canvas

    def visible() -> tuple[bool, bool]:
        return canvas.scene.label_style.visible, canvas.suggestions.layer.visible

    assert visible() == (True, True)
    for key, expected in (
        (Qt.Key.Key_Left, (True, False)),
        (Qt.Key.Key_Left, (True, False)),
        (Qt.Key.Key_Right, (True, True)),
        (Qt.Key.Key_Right, (False, True)),
        (Qt.Key.Key_Right, (False, True)),
        (Qt.Key.Key_Left, (True, True)),
    ):
        user.key(key, ALT)
        assert visible() == expected
    user.key(Qt.Key.Key_Left, ALT)
    user.over(12, 12)
    user.key(Qt.Key.Key_Space)
    user.key(Qt.Key.Key_Delete)
    user.key(Qt.Key.Key_A, CTRL | SHIFT)
    assert not user.session.mask.any() and len(user.image_suggestions.shown) == 5  # hidden suggestions are not affected


def test_hidden_overlays_and_classes_are_not_affected(user):
    user.over(12, 12)
    QTest.keyPress(user.canvas, Qt.Key.Key_Tab)
    user.key(Qt.Key.Key_Space)
    QTest.keyRelease(user.canvas, Qt.Key.Key_Tab)
    assert not user.session.mask.any()
    user.session.classes.set_hidden(1, True)
    user.over(12, 13)
    assert user.canvas.suggestions.current is None
    user.key(Qt.Key.Key_A, CTRL | SHIFT)
    assert np.array_equal(user.saved(), user.expected(*BRIGHT))


def test_selected_region_receives_keys(user):
    """Delete and plus apply to the selected labeled region, not to the suggestion under the pointer."""
    user.over(12, 12)
    user.key(Qt.Key.Key_Space)
    user.wait(4)
    user.key(Qt.Key.Key_V)
    user.click(12, 12)
    user.over(12, 70)
    user.key(Qt.Key.Key_Delete)
    assert not user.saved().any()
    user.wait(4)


def test_context_menu(user):
    pixel = user.pixel(70, 12)
    QTest.mouseClick(user.canvas, Qt.MouseButton.RightButton, PLAIN, pixel)
    menu = user.window.findChild(SuggestionMenu)
    assert menu is not None
    names = [action.text().split("\t")[0] for action in menu.actions() if action.text()]
    assert names == ["Accept", "Reject", "Change class", "Grow", "Shrink"]
    menu.actions()[0].trigger()
    menu.close()
    assert np.array_equal(user.saved(), user.expected((12, 70)))


def test_list_highlights_accepts_and_rejects(user):
    panel = user.window.suggestions_panel
    view, model = panel.view, panel.model
    user.qtbot.waitUntil(lambda: model.rowCount() == 5)
    scores = [entry.score for entry in model.items]
    assert scores == sorted(scores, reverse=True)
    view.setFocus()
    view.setCurrentIndex(model.index(1))
    second = model.items[1]
    assert user.canvas.suggestions.current is second
    QTest.keyClick(view, Qt.Key.Key_Space)
    user.wait(4)
    center = second.selection.rect.y + 7, second.selection.rect.x + 7
    assert np.array_equal(user.saved(), user.expected(center))
    QTest.keyClick(view, Qt.Key.Key_Delete)
    user.wait(3)
    assert (
        model.rowCount() == 3
        and panel.restore.isVisible()
        and panel.restore.text() == "Restore rejected suggestions (1)"
    )
    QTest.mouseClick(panel.accept_all, LEFT)
    user.wait(0)
    assert not view.isVisible() and panel.hint.isVisible()
    QTest.mouseClick(panel.restore, LEFT)
    user.wait(1)


def test_suggestions_are_drawn_only_on_their_pixels(user):
    """The screen with and without suggestions differs exactly on the pixels of the suggestions."""
    canvas = user.canvas
    QTest.mouseMove(canvas, QPoint(2, 2))
    canvas.scene.prediction_style.visible = False
    canvas.scene.restyle()

    def grab() -> np.ndarray:
        image = canvas.grab().toImage().convertToFormat(image_format())
        return np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.width(), 4)[..., :3].copy()

    shown = grab()
    canvas.suggestions.switch(False)
    hidden = grab()
    canvas.suggestions.switch(True)
    assert np.array_equal(grab(), shown)
    differs = (shown != hidden).any(axis=2)
    ys, xs = np.nonzero(np.ones(differs.shape, bool))
    px, py = canvas.view.to_image(xs + 0.5, ys + 0.5)
    inside = (px >= 0) & (py >= 0) & (px < 144) & (py < 96)
    suggested = np.zeros(differs.shape, bool)
    suggested.ravel()[inside] = user.mask[py[inside].astype(int), px[inside].astype(int)] > 0
    assert np.array_equal(differs, suggested)
    canvas.set_view(canvas.view.moved(7, -5))  # a part is redrawn, a part is scrolled
    moved = grab()
    canvas.update()
    assert np.array_equal(grab(), moved)


def image_format():
    from PySide6.QtGui import QImage

    return QImage.Format.Format_RGB32


def test_suggestions_for_all_images(user):
    assert user.window.table["suggest_all"].isEnabled()
    job = user.services.suggest_all
    user.over(12, 12)
    user.key(Qt.Key.Key_Delete)
    user.wait(4)
    with user.qtbot.waitSignal(job.ended, timeout=20_000) as ended:
        user.window.table["suggest_all"].trigger()
        assert user.window.suggestions_panel.progress.isVisibleTo(user.window.suggestions_panel) and job.running
    assert (ended.args[0].images, ended.args[0].suggestions, ended.args[0].whole) == (2, 4, True)
    project = user.session.project
    assert len(load_stored(project, KEY)[1]) == 4 and load_stored(project, CALM)[1] == ()
    assert not project.mask_path(KEY).exists() and not project.mask_path(CALM).exists()
    user.wait(4)
    assert any("suggestions in" in text for text in user.window.messages.texts)


def test_stroke_over_suggestion_only_paints(user):
    user.canvas.set_diameter(3)
    points = user.drag((60, 70), (80, 70))
    assert points and len(user.image_suggestions.shown) == 5
    assert set(np.unique(user.saved())) == {0, 1} and np.count_nonzero(user.saved()) < 100


def test_changed_thresholds_change_suggestions(user):
    """The dark spots have probability 0.99; above that they are neither predicted nor suggested."""
    overlay = user.window.overlay
    overlay.move_threshold(0, 1.0)
    user.wait(2)
    assert {entry.class_id for entry in user.image_suggestions.shown} == {2}
    overlay.reset_thresholds()
    user.wait(5)
    user.over(12, 12)
    user.key(Qt.Key.Key_Plus)
    regions = user.image_suggestions._live.regions
    overlay.move_threshold(0, 0.6)
    user.qtbot.waitUntil(lambda: user.image_suggestions._live.regions is not regions)
    user.wait(5)
    (edited,) = [entry for entry in user.image_suggestions.shown if entry.edited]  # edits by the user stay
    assert (edited.origin.y, edited.origin.x) == (5, 5)


def test_resting_pointer_highlights_suggestion_of_next_image(user):
    user.over(12, 70)
    user.open(CALM)
    user.wait(0)
    assert user.canvas.suggestions.current is None
    user.open(KEY)
    user.wait(5)
    user.key(Qt.Key.Key_Space)
    assert np.array_equal(user.saved(), user.expected((12, 70)))


def add_preview(user, run: Run, step: int, mask: np.ndarray) -> None:
    """Report a preview of the current image, as a training does."""
    name = f"previews/m{step}"
    write_png(run.root / f"{name}.png", mask)
    planes = [np.where(mask == id, np.uint8(200), np.uint8(0)) for id in (1, 2)]
    write_png(run.root / f"{name}s.png", np.concatenate(planes))
    files = {"mask": f"{name}.png", "scores": f"{name}s.png"}
    preview = Preview(step=step, picture=KEY, **files, thresholds=[0.5, 0.5], min_area=[1, 1])
    with user.qtbot.waitSignal(user.services.training.preview_arrived, timeout=5000):
        user.services.training.previews.add(preview)


def validate(user, step: int) -> None:
    """Report a validation, before which nothing is suggested."""
    user.services.training.previews.add_validation(Evaluated(step=step, metrics={"dice": 0.5}))


@pytest.fixture
def running(user, root):
    """A run without previews that appears to be in training."""
    training = user.services.training
    run = Run(root / "runs" / "20260202-000000-unet")
    run.root.mkdir(parents=True)
    (run.root / "recipe.json").write_text('{"model": "unet"}')
    write_json(run.dataset_path, Dataset(model="unet", classes=user.session.project.classes).model_dump(mode="json"))
    live(user)
    training.run = run
    training.previews.open(run)
    yield run
    without_trainer(user)


def test_immature_model_shows_probabilities_and_suggests_nothing(user, running):
    """The chosen display and the suggestions return once the predictions are plausible."""
    scene, header, panel = user.canvas.scene, user.window.header.prediction, user.window.suggestions_panel
    mask = np.zeros((96, 144), np.uint8)
    mask[30:40, 30:50] = 2
    assert len(user.image_suggestions.shown) == 5 and not scene.predictions.soft
    add_preview(user, running, 15, np.full((96, 144), 2, np.uint8))
    user.wait(0)
    assert header.text() == "After step 15: the model still marks almost everything"
    assert scene.predictions.soft and scene.predictions.mode == "heat" and scene.prediction_style.mode == "outline"
    assert panel.hint.text() == "Suggestions appear once the model in training matches the labels better."
    assert panel.hint.isVisibleTo(panel) and not panel.accept_all.isVisibleTo(panel)
    assert user.window.layers.display.immature.isVisibleTo(user.window.layers.display)
    soft = user.canvas.grab().toImage()
    validate(user, 1200)
    add_preview(user, running, 1300, mask)
    user.wait(1)
    assert header.text() == "After step 1,300: 1 region" and panel.hint.text() == ""
    assert not scene.predictions.soft and scene.predictions.mode == "outline"
    assert not user.window.layers.display.immature.isVisibleTo(user.window.layers.display)
    assert user.canvas.grab().toImage() != soft


@pytest.fixture
def weak(root):
    """The run has ended with a model that detects almost no defects of the validation images."""
    events = [Started(model="unet", device="cpu"), Evaluated(step=9, metrics={"dice": 0.03}, best=True), Finished()]
    run = Run(root / "runs" / RUN)
    run.events_path.write_text("\n".join(map(encode, events)) + "\n", "utf-8")
    write_json(run.dataset_path, Dataset(model="unet", classes=[]).model_dump(mode="json"))


def test_weak_model_of_a_finished_run_suggests_nothing_until_thresholds_are_chosen(weak, opened, qtbot):
    window, scene, suggestions = opened.window, opened.window.canvas.scene, opened.services.suggestions
    qtbot.waitUntil(lambda: window.overlay.immature, timeout=10_000)
    suggestions.wait()
    assert suggestions.shown == [] and scene.predictions.soft
    assert window.header.prediction.text() == "Prediction: far too much"
    assert window.suggestions_panel.hint.text().startswith("This model does not match the labels well enough")
    assert window.layers.display.immature.text().startswith("Shown as probabilities, as the model does not match")
    window.overlay.move_threshold(None, 0.6)
    qtbot.waitUntil(lambda: len(suggestions.shown) == 5, timeout=10_000)
    assert not scene.predictions.soft and not window.layers.display.immature.isVisibleTo(window.layers.display)
    window.overlay.reset_thresholds()
    qtbot.waitUntil(lambda: not suggestions.shown and scene.predictions.soft)


def test_preview_of_running_training_can_be_accepted(user, running):
    """Previews become suggestions; each replaces the previous one."""
    mask, run = np.zeros((96, 144), np.uint8), running
    mask[30:40, 30:50] = 2
    validate(user, 1)
    for step in (1, 2):
        add_preview(user, run, step, np.roll(mask, 30 * (step - 1), axis=1))
        user.wait(1)
        user.qtbot.waitUntil(lambda step=step: user.image_suggestions.shown[0].origin.x == 30 * step)
    (suggestion,) = user.image_suggestions.shown
    assert suggestion.model == run.name and suggestion.class_id == 2 and round(suggestion.score, 2) == 0.78
    user.over(35, 65)
    user.key(Qt.Key.Key_Space)
    assert np.array_equal(user.saved(), np.roll(mask, 30, axis=1))


def test_suggestions_are_visited_by_keyboard(user):
    """N goes to a region, Space accepts it, Delete rejects it; the pointer is elsewhere."""
    QTest.mouseMove(user.canvas, QPoint(3, 3))
    user.canvas.setFocus()
    user.key(Qt.Key.Key_N)
    user.key(Qt.Key.Key_Space)
    user.wait(4)
    user.key(Qt.Key.Key_N)
    user.key(Qt.Key.Key_Delete)
    user.wait(3)
    user.key(Qt.Key.Key_H, SHIFT)  # N visits suggestions also while predictions are hidden
    user.key(Qt.Key.Key_N)
    user.key(Qt.Key.Key_Space)
    user.wait(2)
    assert np.array_equal(user.saved(), user.expected((12, 12), (12, 118)))


def test_preview_of_next_image_has_no_suggestions(user):
    """While the preview of the next image covers the current one, suggestions cannot be accepted or rejected."""
    user.over(12, 12)
    user.canvas.scene.show_preview(np.full((48, 72), 90, np.uint8), (144, 96))
    user.key(Qt.Key.Key_Space)
    user.key(Qt.Key.Key_Delete)
    user.key(Qt.Key.Key_A, CTRL | SHIFT)
    user.window.table["reject_all"].trigger()
    image = user.canvas.grab().toImage()
    at = user.pixel(70, 12)
    assert image.pixelColor(at).red() == image.pixelColor(at).green()  # gray: no suggestion is drawn
    user.image_suggestions.wait()
    assert not user.session.mask.any() and len(user.image_suggestions.shown) == 5


def row_button(panel, row: int, name: str) -> QPoint:
    return button_rects(panel.view.visualRect(panel.model.index(row)))[name].center()


def test_canvas_has_the_focus_after_the_last_suggestion(user):
    """Space would restore the rejected suggestions if their button got the focus."""
    panel = user.window.suggestions_panel
    for left in (4, 3, 2, 1, 0):
        QTest.mouseClick(panel.view.viewport(), LEFT, pos=row_button(panel, 0, "reject"))
        user.wait(left)
    assert panel.restore.isVisibleTo(panel) and user.canvas.hasFocus()
    user.image_suggestions.restore_rejected()
    user.wait(5)
    panel.reject_all.setFocus()
    panel.reject_all.click()
    user.wait(0)
    assert user.canvas.hasFocus()


def test_row_buttons_accept_and_reject(user):
    panel = user.window.suggestions_panel
    centers = [panel.model.items[row].selection.rect for row in range(2)]
    spots = [(rect.y + rect.height // 2, rect.x + rect.width // 2) for rect in centers]
    before = user.canvas.view
    QTest.mouseClick(panel.view.viewport(), LEFT, pos=row_button(panel, 1, "reject"))
    user.wait(4)
    assert not user.session.mask.any() and user.session.note.decided[0].what == "rejected"
    QTest.mouseClick(panel.view.viewport(), LEFT, pos=row_button(panel, 0, "accept"))
    user.wait(3)
    assert np.array_equal(user.saved(), user.expected(spots[0]))
    assert user.canvas.view == before  # a button does not move the view
    user.qtbot.waitUntil(user.window.table["undo"].isEnabled)
    user.key(Qt.Key.Key_Z, CTRL)
    user.wait(4)
    start, end = row_button(panel, 0, "accept"), row_button(panel, 0, "reject")
    QTest.mousePress(panel.view.viewport(), LEFT, pos=start)
    QTest.mouseRelease(panel.view.viewport(), LEFT, pos=end)  # released elsewhere: nothing
    user.wait(4)


def test_filter_by_probability_and_area_limits_rows_canvas_and_accept_all(user):
    panel, shown = user.window.suggestions_panel, user.image_suggestions.shown
    areas = sorted(entry.area for entry in shown)
    panel.filter.area.setValue(areas[-1] + 1)
    assert not user.image_suggestions.shown and panel.filter.isVisible() and panel.filter.clear.text()[0] == "5"
    user.over(12, 12)
    assert user.canvas.suggestions.current is None
    user.key(Qt.Key.Key_A, CTRL | SHIFT)
    assert not user.session.mask.any()
    QTest.mouseClick(panel.filter.clear, LEFT)
    user.wait(5)
    probabilities = sorted({entry.score for entry in shown})
    limit = next(percent for percent in range(1, 101) if percent / 100 > probabilities[0])
    panel.filter.probability.setValue(limit)
    expected = [entry for entry in shown if entry.score >= limit / 100]
    assert panel.model.items == expected and len(expected) < 5
    user.key(Qt.Key.Key_A, CTRL | SHIFT)
    user.image_suggestions.wait()
    assert user.image_suggestions.hidden_by_filter == 5 - len(expected)
    panel.filter.probability.setValue(0)
    user.wait(5 - len(expected))
