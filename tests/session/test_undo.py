"""The undo stack: limits, images, barriers, and random sequences of changes compared with full snapshots."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.session.conftest import dot, settle, show
from workbench.core.geometry.drawing import Paint, draw_segment, segment_rect
from workbench.core.project import annotation
from workbench.core.project.annotation import ConfirmedLabel, SuggestionDecision
from workbench.core.project.history import StepRecording
from workbench.session.image_suggestions import REJECT, RESTORE, SuggestionDecisions
from workbench.session.label_queue import LabelConfirmation
from workbench.session.undo import Barrier, MaskEdit, UndoCommand, UndoStack


class Masks(dict):
    """Masks by image, patched as the editor does."""

    def apply_patch(self, patch, *, undone):
        (patch.revert if undone else patch.apply)(self[patch.key])
        return True

    def paint(self, key, x, y, radius, id, what="paint"):
        """Return the command of one stroke, None without a change."""
        mask = self[key]
        recording = StepRecording(key, what, mask)
        recording.touch(segment_rect((x, y), (x + 20, y), radius, mask.shape))
        draw_segment(mask, (x, y), (x + 20, y), radius, Paint(id))
        patch = recording.finish()
        return None if patch is None else MaskEdit(self, patch)


class Increment(UndoCommand):
    """Command that counts in a list; `allowed` is whether it can be undone."""

    def __init__(self, numbers, nbytes=400, allowed=True):
        self.numbers, self.nbytes, self.allowed = numbers, nbytes, allowed
        numbers.append(len(numbers))

    def can_undo(self):
        return self.allowed

    def undo(self):
        self.numbers.pop()
        return True

    def redo(self):
        self.numbers.append(len(self.numbers))
        return True


class FileChange(Barrier):
    def undo(self):
        return False

    def redo(self):
        return False


@pytest.fixture
def masks():
    return Masks(a=np.zeros((150, 170), np.uint8), b=np.zeros((90, 80), np.uint8))


def test_new_command_discards_undone_commands(qapp):
    stack, numbers, changes = UndoStack(), [], []
    stack.changed.connect(lambda: changes.append((stack.can_undo(), stack.can_redo())))
    stack.push(Increment(numbers), Increment(numbers))
    stack.undo()
    stack.undo()
    assert numbers == [] and changes == [(True, False), (True, True), (False, True)]
    stack.redo()
    assert numbers == [0]
    stack.push(Increment(numbers))
    assert not stack.can_redo() and numbers == [0, 1]
    stack.redo()
    assert numbers == [0, 1]


def test_command_that_cannot_be_undone_stays(qapp):
    stack, numbers = UndoStack(), []
    stack.push(Increment(numbers), Increment(numbers, allowed=False))
    assert not stack.can_undo()
    stack.undo()
    assert numbers == [0, 1] and not stack.can_redo()


def test_oldest_commands_are_dropped_above_limit(qapp):
    stack, numbers = UndoStack(limit=1000), []
    for _ in range(10):
        stack.push(Increment(numbers, nbytes=300))
    while stack.can_undo():
        stack.undo()
    assert len(numbers) == 7
    stack.push(Increment(numbers, nbytes=5000))
    assert stack.can_undo()  # the newest command is kept at any size


def test_limit_holds_after_undo_and_redo(qapp):
    stack, numbers = UndoStack(limit=1000), []
    for _ in range(3):
        stack.push(Increment(numbers, nbytes=300))
    for _ in range(5):
        stack.undo()
        stack.undo()
        stack.redo()
        stack.redo()
    stack.push(Increment(numbers, nbytes=100))
    assert len(stack.state.done) == 4
    stack.push(Increment(numbers, nbytes=100))
    assert len(stack.state.done) == 4


def test_patches_of_one_image_point_to_each_of_its_states(qapp, masks):
    rng = np.random.default_rng(5)
    stack, states = UndoStack(), {}
    for number in range(30):
        key = "ab"[number % 2]
        command = masks.paint(key, *rng.uniform(-10, 160, 2), rng.uniform(2, 60), 1 + number % 3)
        if command is not None:
            stack.push(command)
            states[id(command.patch)] = masks[key].copy()
    for _ in range(7):
        stack.undo()
    present = masks["a"].copy()
    done, undone = stack.patches("a")
    assert len(done) > 5 and len(undone) >= 3 and {patch.key for patch in done + undone} == {"a"}
    for patch in [None, *done, *undone]:
        mask = present.copy()
        for step in stack.route("a", patch):
            step.apply(mask)
        assert np.array_equal(mask, states[id(patch)] if patch else np.zeros_like(mask))
    assert stack.route("a", done[-1]) == [] and stack.route("a", stack.patches("b")[0][0]) == []


def test_drop_image_keeps_other_images(qapp, masks):
    stack, numbers = UndoStack(), []
    for number, key in enumerate("aab"):
        stack.push(masks.paint(key, 20 * number, 50, 9, number + 1))
        stack.push(Increment(numbers))
    stack.undo()
    stack.undo()
    stack.drop_image("b")
    assert not stack.can_redo() or stack.next_redo.key != "b"
    assert [command.key for command in stack.state.done] == ["a", None, "a", None]
    stack.drop_image("a")
    assert [command.key for command in stack.state.done] == [None, None]


def test_changed_mask_file_drops_commands_of_its_image(qapp, masks):
    stack = UndoStack()
    stack.check_content("a", "1")
    stack.check_content("b", "1")
    stack.push(masks.paint("a", 20, 50, 9, 1), masks.paint("b", 20, 50, 9, 1))
    stack.check_content("a", "1")
    assert len(stack.state.done) == 2
    stack.check_content("a", "2")
    assert [command.key for command in stack.state.done] == ["b"]


def test_barrier_hides_older_commands_until_removed(qapp, masks):
    stack = UndoStack()
    stack.check_content("a", "before")
    first = masks.paint("a", 20, 50, 9, 1)
    stack.push(first)
    barrier = FileChange(stack.contents)
    stack.start_barrier(barrier)
    stack.check_content("a", "after")  # the file was rewritten by the change
    assert stack.next_undo is barrier and stack.patches("a") == ([], [])
    second = masks.paint("a", 60, 90, 9, 2)
    stack.push(second)
    assert stack.patches("a") == ([second.patch], []) and len(stack.route("a", None)) == 1
    stack.undo()
    stack.undo()
    assert stack.next_undo is barrier
    stack.remove_barrier()
    assert stack.next_undo is first and not stack.can_redo() and stack.contents == {"a": "before"}


def test_barrier_removed_below_newer_commands_drops_older_ones(qapp, masks):
    stack = UndoStack()
    stack.push(masks.paint("a", 20, 50, 9, 1))
    stack.start_barrier(FileChange(stack.contents))
    newer = masks.paint("b", 20, 50, 9, 1)
    stack.push(newer)
    stack.remove_barrier()
    assert stack.state.done == (newer,)
    stack.start_barrier(FileChange(stack.contents))
    last = FileChange(stack.contents)
    stack.start_barrier(last)
    stack.drop_barriers(lambda barrier: barrier is not last)
    assert stack.state.done == (last,)


# --- the session ---------------------------------------------------------------------------------------------


def test_undo_order_is_kept_while_another_image_is_opened(opened, qtbot):
    first, second = opened.keys[:2]
    start = opened.mask.copy()
    dot(opened, 10, 10, 2)
    opened.verdict_steps.set_verdicts([first], "NG")
    show(opened, qtbot, second)
    dot(opened, 20, 20, 2)
    show(opened, qtbot, opened.keys[2])
    for _ in range(3):  # at once, while the second image is loading
        opened.undo()
    qtbot.waitUntil(lambda: opened.key == first and not opened.can_undo(), timeout=10_000)
    assert np.array_equal(opened.mask, start) and opened.note.verdict != "NG"
    for _ in range(3):
        opened.redo()
    qtbot.waitUntil(lambda: opened.key == second and not opened.can_redo(), timeout=10_000)
    opened.verdict_steps.finish()
    assert opened.mask[20, 20] == 2 and opened.rows[first].verdict == "NG"


def test_verdict_can_be_undone_after_mask_was_changed_by_another_program(opened, qtbot):
    first, second = opened.keys[:2]
    show(opened, qtbot, second)
    dot(opened, 10, 10, 2)
    opened.verdict_steps.set_verdicts([first], "NG")
    show(opened, qtbot, first)
    assert opened.flush()
    annotation.save_mask(opened.project, second, np.ones((80, 96), np.uint8))
    show(opened, qtbot, second)
    assert opened.steps() == ([], []) and opened.can_undo()
    opened.undo()
    opened.verdict_steps.finish()
    assert opened.rows[first].verdict != "NG" and not opened.can_undo()


def test_decision_undone_and_redone_on_another_image(opened, qtbot):
    decisions, first = SuggestionDecisions(opened), opened.key
    decision = decided(random.Random(1))
    assert decisions.decide(REJECT, "one", added=[decision])
    show(opened, qtbot, opened.keys[1])
    opened.undo()
    qtbot.waitUntil(lambda: opened.key == first and opened.can_redo(), timeout=10_000)
    assert opened.note.decided == []
    opened.redo()
    assert opened.note.decided == [decision]


def test_confirmed_label_undone_and_redone_on_another_image(opened, qtbot):
    first, confirmed = opened.key, ConfirmedLabel(kind="extra", class_id=1, x=3, y=4)
    command = LabelConfirmation(opened, first, confirmed)
    assert command.redo()
    opened.undo_stack.push(command)
    show(opened, qtbot, opened.keys[1])
    with qtbot.waitSignal(opened.current.step_followed, timeout=10_000) as followed:
        opened.undo()
    assert followed.args == ["undo", command] and opened.key == first and opened.note.confirmed == []
    show(opened, qtbot, opened.keys[1])
    with qtbot.waitSignal(opened.current.step_followed, timeout=10_000):
        opened.redo()
    assert opened.key == first and opened.note.confirmed == [confirmed]
    assert opened.flush() and annotation.load_note(opened.project, first).confirmed == [confirmed]


def test_undo_survives_move_of_project_folder(opened, root, tmp_path, qtbot):
    key, start = opened.key, opened.mask.copy()
    dot(opened, 20, 20, 2)
    opened.verdict_steps.set_verdicts([key], "NG")
    assert opened.flush()
    moved = root.rename(tmp_path / "moved")
    assert opened.find_folder(moved)
    qtbot.waitUntil(lambda: opened.key == key and opened.image is not None, timeout=10_000)
    assert opened.note.verdict == "NG"
    opened.undo()
    assert opened.note.verdict != "NG" and not np.array_equal(opened.mask, start)
    opened.undo()
    assert np.array_equal(opened.mask, start) and not opened.can_undo()


def test_closed_project_leaves_nothing_to_undo(opened, root):
    dot(opened, 20, 20, 2)
    opened.verdict_steps.set_verdicts([opened.key], "NG")
    opened.undo()
    assert opened.close_project() and not opened.can_undo() and not opened.can_redo()
    assert opened.open_project(root) and not opened.can_undo() and not opened.can_redo()


def decided(rng: random.Random) -> SuggestionDecision:
    box = {name: rng.randint(1, 60) for name in ("x", "y", "width", "height", "area")}
    return SuggestionDecision(what="rejected", model="20260101-000000-unet", class_id=1, **box)


class SnapshotModel:
    """Naive undo: full copies of all masks and of the compared note fields after each change."""

    def __init__(self, state):
        self.states, self.place = [state], 0

    def record(self, state):
        self.states[self.place + 1 :] = [state]
        self.place += 1

    def move(self, by) -> bool:
        possible = 0 <= self.place + by < len(self.states)
        self.place += by if possible else 0
        return possible

    @property
    def state(self):
        return self.states[self.place]


def snapshot(session, keys) -> dict[str, tuple]:
    """Return the mask and note fields of each image, in memory where they are not saved."""
    assert session.flush()
    session.verdict_steps.finish()
    state = {}
    for key in keys:
        if key == session.key:
            note, mask = session.note, session.mask
        else:
            note, mask = annotation.load_note(session.project, key), annotation.load_mask(session.project, key)
        fields = (note.verdict, note.status, note.explicit_background, sorted(map(repr, note.decided)))
        state[key] = (b"" if mask is None or not mask.any() else mask.tobytes(), *fields)
    return state


def without_status(state) -> dict[str, tuple]:
    """Leave out the status "started", which a stroke sets and its undo keeps."""
    return {key: (mask, verdict, status == "done", *rest) for key, (mask, verdict, status, *rest) in state.items()}


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_random_changes_match_full_snapshots(session, root, qtbot, seed):
    rng = random.Random(seed)
    assert session.open_project(root)
    settle(session, qtbot)
    keys = session.keys[:3]
    decisions = SuggestionDecisions(session)
    show(session, qtbot, keys[0])
    model = SnapshotModel(snapshot(session, keys))
    undone = redone = 0
    for _ in range(70):
        if rng.random() < 0.15:
            show(session, qtbot, rng.choice(keys))
        act, steps, note = rng.random(), len(session.undo_stack.state.done), session.note
        if act < 0.3:
            dot(session, rng.uniform(0, 96), rng.uniform(0, 80), rng.randint(0, 2), rng.uniform(1, 20))
        elif act < 0.36:
            session.verdict_steps.set_verdicts(rng.sample(keys, rng.randint(1, 3)), rng.choice([None, "OK", "NG"]))
        elif act < 0.42:
            session.verdict_steps.set_status(rng.choice(["started", "done"]))
        elif act < 0.47:
            decisions.decide(REJECT, "one", added=[decided(rng)])
        elif act < 0.5 and note.decided:
            decisions.decide(RESTORE, "all", removed=list(note.decided))
        elif act < 0.53:
            session.editor.set_explicit_background(not note.explicit_background)
        elif act < 0.56 and session.steps()[0]:
            session.restore(rng.choice([None, *session.steps()[0]]))
        elif act < 0.8:
            session.undo()
            undone += model.move(-1)
            wait_for_undo(session, qtbot)
            steps = None
        else:
            session.redo()
            redone += model.move(1)
            wait_for_undo(session, qtbot)
            steps = None
        state = snapshot(session, keys)
        if steps is not None and len(session.undo_stack.state.done) > steps:
            model.record(state)
        assert without_status(state) == without_status(model.state)
        assert session.can_undo() == (model.place > 0)
        assert session.can_redo() == (model.place < len(model.states) - 1)
    while session.can_undo():
        session.undo()
        wait_for_undo(session, qtbot)
        model.move(-1)
        assert without_status(snapshot(session, keys)) == without_status(model.state)
    assert model.place == 0 and undone > 5 and redone > 0


def wait_for_undo(session, qtbot) -> None:
    """Wait until the requested image is open and pending undo requests are carried out."""
    qtbot.waitUntil(lambda: session.key == session.opening and not session.current._pending, timeout=10_000)
