"""Suggestions for the open image and the user's decisions: accepted ones become labels, one step each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from workbench.core.problems import Problem
from workbench.core.project.annotation import SuggestionDecision
from workbench.core.project.history import Patch
from workbench.core.runs.run import Run
from workbench.core.suggestions.suggestions import (
    MOST,
    FoundRegions,
    Suggestion,
    class_table,
    first_match,
    merged,
    open_ones,
    suggest_regions,
    without,
)
from workbench.core.text_patterns import counted
from workbench.inference.regions import most_certain_regions
from workbench.session.predictions import Predictions
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner, call_at_end
from workbench.session.undo import MaskEdit, PatchTarget

if TYPE_CHECKING:
    from workbench.core.evaluation.prediction_maps import PredictionMaps
    from workbench.core.suggestions.suggestion_files import SuggestionStore
    from workbench.inference.predictor import Prediction

ACCEPT, REJECT, RESTORE = "accept proposal", "reject proposal", "bring back proposals"
Entries = Sequence[SuggestionDecision]


class SuggestionDecisionStep(MaskEdit):
    """Decisions added to and removed from a note. The patch holds the accepted pixels; it is empty for others."""

    def __init__(
        self,
        target: PatchTarget,
        patch: Patch,
        *,
        decisions: SuggestionDecisions,
        added: Entries = (),
        removed: Entries = (),
    ) -> None:
        super().__init__(target, patch)
        self._decisions, self.added, self.removed = decisions, tuple(added), tuple(removed)

    def undo(self) -> bool:
        return super().undo() and self._decisions.revise(added=self.removed, removed=self.added)

    def redo(self) -> bool:
        return super().redo() and self._decisions.revise(added=self.added, removed=self.removed)


class SuggestionDecisions(QObject):
    """Decisions on the suggestions of the open image."""

    revised = Signal()  # decisions were undone or redone
    refused = Signal(str)  # reason why nothing was accepted

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session

    def decide(self, what: str, detail: str, *, added: Entries = (), removed: Entries = ()) -> bool:
        """Add and remove decisions, without a change of pixels: one undo command; the note is written at once.

        detail: text for the image's history. Return False, after `problem_met`, if the image cannot be changed.
        """
        session, editor = self._session, self._session.editor
        editor.commit()
        problem = editor.refusal()
        if problem is not None:
            session.problem_met.emit(problem)
        if problem is not None or session.key is None or session.note is None:
            return False
        step = self._step(added, removed)(editor, Patch(session.key, what, b"", b"", b""))
        self._record(what, detail, added, removed)
        session.undo_stack.push(step)
        return True

    def accept(self, suggestions: Sequence[Suggestion], names: Mapping[int, str]) -> Entries:
        """Paint suggestions as labels of their classes: one undo command. Return the decisions, none if refused.

        names: of the classes, by id. `refused` or `problem_met` gives the reason.
        """
        editor, accepted = self._session.editor, _entries(suggestions, "accepted")
        if not suggestions or not editor.begin(ACCEPT, self._step(accepted, ())):
            return ()
        for suggestion in suggestions:
            editor.paint_region(suggestion.selection.inside, suggestion.selection.corner, suggestion.class_id)
        if not editor.commit():
            self.refused.emit("locked" if editor.locked else "kept")
            return ()
        self._record(ACCEPT, _origin(suggestions, names), accepted, ())
        return accepted

    def reject(self, suggestions: Sequence[Suggestion], names: Mapping[int, str]) -> Entries:
        """Reject suggestions: one undo command without pixels. Return the decisions, none if refused."""
        rejected = _entries(suggestions, "rejected")
        decided = bool(suggestions) and self.decide(REJECT, _origin(suggestions, names), added=rejected)
        return rejected if decided else ()

    def revise(self, *, added: Entries, removed: Entries) -> bool:
        """Change the decisions in the note of the open image as undo and redo do. Return True."""
        note = self._session.note
        if note is not None:
            note.decided = [*(decision for decision in note.decided if decision not in removed), *added]
            self._session.notes.save_change()
            self.revised.emit()
        return True

    def _step(self, added: Entries, removed: Entries) -> partial[SuggestionDecisionStep]:
        return partial(SuggestionDecisionStep, decisions=self, added=added, removed=removed)

    def _record(self, what: str, detail: str, added: Entries, removed: Entries) -> None:
        session = self._session
        note = session.note
        if note is None or session.key is None:
            return
        note.decided = [*(decision for decision in note.decided if decision not in removed), *added]
        last = note.history[-1] if note.history else None
        if last is not None and last.what == what and not last.detail:
            last.detail = detail  # the editor has already added the entry
        else:
            note.add(what, detail)
        session.notes.save_change(now=what != ACCEPT)
        session.note_changed.emit(session.key)


def _entries(suggestions: Sequence[Suggestion], what: str) -> list[SuggestionDecision]:
    return [suggestion.origin.model_copy(update={"what": what}) for suggestion in suggestions]


def _origin(suggestions: Sequence[Suggestion], names: Mapping[int, str]) -> str:
    """Return the origin of accepted or rejected regions, for the image's history."""
    models = ", ".join(dict.fromkeys(suggestion.model for suggestion in suggestions))
    if len(suggestions) == 1:
        (only,) = suggestions
        changed = ", changed before" if only.edited else ""
        return f"run {models}: {names.get(only.class_id, only.class_id)}, score {only.score:.2f}{changed}"
    scores = [suggestion.score for suggestion in suggestions]
    return f"run {models}: {len(suggestions)} regions, scores {min(scores):.2f} to {max(scores):.2f}"


_SHOWN = 200  # suggestions shown at a time, highest probability first; more follow after decisions
_DELAY = 120  # ms after the last change of the labels
_LIST = "list"  # key of the task that lists the regions of the newest prediction


Place = tuple[str, int, int, int, int, int, int]


def _place(suggestion: Suggestion) -> Place:
    """Return what identifies a region as predicted: its model, class, box and area."""
    origin = suggestion.origin
    return origin.model, origin.class_id, origin.x, origin.y, origin.width, origin.height, origin.area


@dataclass
class LivePrediction:
    """The prediction that is shown and the regions listed from it.

    mask: uint8 (H, W), the marked pixels of `maps`. root: of the run or export that made them. decided: suggestions
    that were decided on and removed from the list to make room for more.
    """

    mask: np.ndarray | None = None
    maps: PredictionMaps | None = None
    root: Path | None = None
    regions: FoundRegions = FoundRegions()
    model: str = ""  # of `regions`, which stay until those of a new mask are listed
    decided: list[Suggestion] = field(default_factory=list)


@dataclass
class ImageState:
    """State of the suggestions of the open image. edits: changed suggestions by the place of the predicted region.

    undecided: `shown`, and those that the filter hides. left_out: regions marked by the model but not suggested, being
    too many or too large.
    """

    stored: SuggestionStore | None = None
    edits: dict[Place, Suggestion] = field(default_factory=dict)
    undecided: list[Suggestion] = field(default_factory=list)
    left_out: int = 0


class ImageSuggestions(QObject):
    """Suggestions for the open image. `shown` are the undecided ones. Only `accept` turns a suggestion into a label."""

    changed = Signal()  # `shown`, or the suggestions that can be restored
    refused = Signal(str)  # reason why nothing was accepted

    def __init__(self, session: Session, predictions: Predictions) -> None:
        super().__init__()
        self.shown: list[Suggestion] = []
        self.min_probability, self.min_area = 0.0, 0  # of the suggestions in `shown`; see `set_filter`
        self._session, self._predictions = session, predictions
        self._live, self._state = LivePrediction(), ImageState()
        self._decisions = SuggestionDecisions(session, self)
        self._decisions.revised.connect(self._filter)
        self._decisions.refused.connect(self.refused)
        self._tasks = TaskRunner(parent=self)
        self._filter_timer = QTimer(self, singleShot=True, interval=_DELAY)
        self._filter_timer.timeout.connect(self._filter)
        session.current.opened.connect(self._opened)
        session.current.failed.connect(self._forget)
        session.project_closed.connect(self._close)
        session.editor.mask_changed.connect(self._mask_changed)
        session.classes.changed.connect(self._filter_timer.start)
        predictions.predicted.connect(self._predicted)
        predictions.model_changed.connect(self._model_changed)
        call_at_end(self._close)

    @property
    def rejected(self) -> int:
        """Number of rejected suggestions of the open image, which can be restored."""
        note = self._session.note
        return sum(decision.what == "rejected" for decision in note.decided) if note is not None else 0

    @property
    def left_out(self) -> int:
        """Number of regions that the model marked but that are not suggested, being too many or too large."""
        return self._state.left_out

    @property
    def hidden_by_filter(self) -> int:
        """Number of undecided suggestions of the open image that the filter hides."""
        return len(self._state.undecided) - len(self.shown)

    # --- commands --------------------------------------------------------------------------------

    def set_filter(self, min_probability: float, min_area: int) -> None:
        """Show only suggestions from a probability, 0..1, and an area in pixels on; hidden ones cannot be accepted."""
        self.min_probability, self.min_area = min_probability, min_area
        self._set_undecided(self._state.undecided)

    def accept(self, suggestions: Sequence[Suggestion]) -> bool:
        """Paint suggestions as labels of their classes: one step. Return False if nothing was painted."""
        return self._remove_decided(self._decisions.accept(self._still_shown(suggestions), self._names()))

    def accept_all(self) -> bool:
        hidden = self._session.classes.hidden
        return self.accept([suggestion for suggestion in self.shown if suggestion.class_id not in hidden])

    def reject(self, suggestions: Sequence[Suggestion]) -> bool:
        """Reject suggestions for this image and model: one step, which changes no pixel."""
        return self._remove_decided(self._decisions.reject(self._still_shown(suggestions), self._names()))

    def restore_rejected(self) -> bool:
        """Restore the rejected suggestions of this image: one step."""
        note = self._session.note
        rejected = [decision for decision in note.decided if decision.what == "rejected"] if note is not None else []
        if not rejected or not self._decisions.decide(RESTORE, counted(len(rejected), "region"), removed=rejected):
            return False
        self._filter()
        return True

    def change(self, suggestion: Suggestion, changed: Suggestion) -> None:
        """Replace class or shape of an undecided suggestion; nothing is written."""
        present = suggestion if suggestion in self.shown else self._similar(suggestion)
        if present is None or not changed.area:
            return
        changed = replace(changed, origin=present.origin)
        self._state.edits[_place(changed)] = changed
        self._set_undecided([changed if other is present else other for other in self._state.undecided])

    def refresh(self, key: str) -> None:
        """Reload an image's file of suggestions after another program has written it."""
        if key == self._session.key:
            self._load(key)

    def _remove_decided(self, decisions: Sequence[SuggestionDecision]) -> bool:
        """Remove decided suggestions from the list. Return False if there are none."""
        if decisions:
            self._set_undecided(open_ones(self._state.undecided, None, decisions))
            self._filter_timer.start()
        return bool(decisions)

    def _still_shown(self, suggestions: Sequence[Suggestion]) -> list[Suggestion]:
        """Return those that are still undecided; a new prediction replaces suggestions by similar ones."""
        shown = set(map(id, self.shown))
        return [entry for entry in suggestions if id(entry) in shown or self._similar(entry) is not None]

    def _similar(self, suggestion: Suggestion) -> Suggestion | None:
        return first_match([other for other in self.shown if other.model == suggestion.model], suggestion.origin)

    def _names(self) -> dict[int, str]:
        project = self._session.project
        return {info.id: info.name for info in project.classes} if project is not None else {}

    # --- computation -----------------------------------------------------------------------------

    def _opened(self, key: str) -> None:
        self._forget()
        self._load(key)
        result = self._predictions.result(key)
        if result is not None:
            self._predicted(key, result)

    def _mask_changed(self, _: object) -> None:
        self._filter_timer.start()

    def _forget(self, *_: object) -> None:
        self._tasks.cancel()
        self._filter_timer.stop()
        had = bool(self._state.undecided)
        self._live, self._state = LivePrediction(), ImageState()
        if had:
            self._set_undecided([])

    def _model_changed(self) -> None:
        self._tasks.cancel(_LIST)
        self._live = LivePrediction()
        self._filter()

    def _load(self, key: str) -> None:
        project = self._session.project
        if project is None:
            return

        def work(_: Task) -> SuggestionStore | None:
            from workbench.core.suggestions.suggestion_files import SuggestionStore  # in the thread: it takes long

            return SuggestionStore.read(project, key)

        def on_done(stored: SuggestionStore | None) -> None:
            self._state.stored = stored
            if stored is not None:
                self._filter()

        def on_failed(problem: Problem) -> None:
            self._state.stored = None
            self._session.problem_met.emit(problem)

        self._tasks.submit(work, on_done, on_failed)

    def _predicted(self, key: str, result: Prediction) -> None:
        source = self._predictions.source
        if key == self._session.key and source is not None and result.mask is not None:
            root, maps = source.root if isinstance(source, Run) else Path(source), self._predictions.cached(key)
            if maps is not None:
                self._suggest(maps, result.mask, root)

    def follow(self, maps: PredictionMaps, mask: np.ndarray, root: Path) -> None:
        """Suggest regions for the open image from a model in progress or with the user's thresholds.

        mask: uint8 (H, W), the marked pixels of `maps`, from which suggestions are made. root: of its run.
        """
        self._suggest(maps, mask, root)

    def withhold(self) -> None:
        """Suggest nothing of the shown prediction, as its model is immature; stored suggestions stay."""
        if self._live.mask is not None or self._live.regions.suggestions or self.left_out:
            self._model_changed()

    def _suggest(self, maps: PredictionMaps, mask: np.ndarray, root: Path) -> None:
        """Suggest the regions of highest probability of a mask. root: of the run or export that made the mask."""
        if mask is not self._live.mask:
            self._live = LivePrediction(mask, maps, root, self._live.regions, self._live.model)
            self._list_regions()

    def _list_regions(self) -> None:
        """List regions in the worker thread, without decided ones, up to the limit."""
        project, live = self._session.project, self._live
        mask, maps, root, decided = live.mask, live.maps, live.root, list(live.decided)
        settings = maps.settings if maps is not None else None
        if project is None or mask is None or maps is None or root is None or settings is None:
            return
        classes, own = list(project.classes), root.absolute().is_relative_to(project.root)

        def work(_: Task) -> FoundRegions:
            undecided = without(mask, decided) if decided else mask
            regions, beyond = most_certain_regions(undecided, maps.scores, settings, MOST)
            return suggest_regions(undecided, regions, class_table(classes, regions, own=own), root.name, beyond=beyond)

        def on_done(regions: FoundRegions) -> None:
            live.regions, live.model = regions, root.name
            self._reapply_edits(regions)
            self._filter()

        self._tasks.submit(work, on_done, key=_LIST)

    def _reapply_edits(self, regions: FoundRegions) -> None:
        """Apply the user's changes to similar suggestions of the new prediction."""
        for changed in list(self._state.edits.values()):
            again = first_match(regions.suggestions, changed.origin)
            if again is not None:
                self._state.edits[_place(again)] = replace(changed, origin=again.origin)

    def _filter(self) -> None:
        """Find the undecided suggestions, in the worker thread, as the mask has to be compared."""
        session = self._session
        project, note, key = session.project, session.note, session.key
        if project is None or note is None or key is None or session.mask is None:
            self._show([])
            return
        state, stored, regions, model = self._state, self._state.stored, self._live.regions, self._live.model
        older = [entry for entry in stored.suggestions if entry.model != model] if stored is not None else []
        edits = dict(state.edits)
        classes = set(self._names())
        mask, decided, painted_only = session.mask, list(note.decided), note.explicit_background
        size = (mask.shape[1], mask.shape[0])

        def work(_: Task) -> tuple[list[Suggestion], SuggestionStore | None]:
            if stored is not None and (stored.stored.width, stored.stored.height) != size:
                entries = list(regions.suggestions)  # the stored ones belong to an image file that was replaced since
            else:
                entries = merged(regions.suggestions, older)
            entries = sorted((edits.get(_place(entry), entry) for entry in entries), key=lambda entry: -entry.score)
            undecided = open_ones(
                (entry for entry in entries if entry.class_id in classes), mask, decided, painted_only=painted_only
            )
            if stored is None:
                return undecided, None
            waiting = open_ones(stored.suggestions, mask, decided, painted_only=painted_only)
            return undecided, stored.cleared(project, key, waiting)

        def on_done(result: tuple[list[Suggestion], SuggestionStore | None]) -> None:
            undecided, remaining = result
            if state.stored is stored:
                state.stored = remaining
            state.left_out = regions.left_out + max(0, len(undecided) - _SHOWN)
            # The user may have decided or changed suggestions since the task was submitted.
            decided_now = session.note.decided if session.note is not None else []
            changed = (state.edits.get(_place(entry), entry) for entry in undecided[:_SHOWN])
            undecided = open_ones(changed, None, decided_now)
            self._show(undecided)
            if regions is self._live.regions and regions.beyond and len(undecided) < _SHOWN:
                self._list_more(undecided)

        self._tasks.submit(work, on_done, key="filter", finish_running=True)

    def _list_more(self, undecided: list[Suggestion]) -> None:
        """Decided suggestions make room: list regions that were left out."""
        waiting = {_place(entry) for entry in undecided}
        decided = [entry for entry in self._live.regions.suggestions if _place(entry) not in waiting]
        if decided:
            self._live.decided += decided
            self._list_regions()

    def _show(self, suggestions: list[Suggestion]) -> None:
        if suggestions or self._state.undecided:
            self._set_undecided(suggestions)

    def _set_undecided(self, suggestions: list[Suggestion]) -> None:
        self._state.undecided = suggestions
        self.shown = [
            entry
            for entry in suggestions
            if entry.score >= self.min_probability and (not self.min_area or entry.area >= self.min_area)
        ]
        self.changed.emit()

    def _close(self) -> None:
        self._forget()
        self._tasks.stop()

    def wait(self) -> None:
        """Wait until the suggestions are up to date."""
        if self._filter_timer.isActive():
            self._filter_timer.stop()
            self._filter()
        for _ in range(4):  # listing and filtering may trigger another round if few are left
            self._tasks.wait()
