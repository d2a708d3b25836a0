"""Suggestions for the open image and the user's decisions: accepted ones become labels, one step each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal

from workbench.core.evaluation.prediction_maps import PredictionMaps
from workbench.core.problems import Problem
from workbench.core.project.annotation import SuggestionDecision
from workbench.core.runs.run import Run
from workbench.core.suggestions.suggestion_files import SuggestionStore
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
from workbench.inference.regions import surest_regions
from workbench.session.predictions import Predictions
from workbench.session.session import Session
from workbench.session.suggestion_decisions import REJECT, RESTORE, SuggestionDecisions
from workbench.session.task_queue import TaskQueue

if TYPE_CHECKING:
    from workbench.inference.predictor import Prediction

_SHOWN = 200  # suggestions shown at a time, highest probability first; more follow after decisions
_SETTLED = 120  # ms after the last change of the labels


class ImageSuggestions(QObject):
    """Suggestions for the open image. `shown` are the undecided ones. Only `accept` turns a suggestion into a label."""

    changed = Signal()  # `shown`, or the suggestions that can be restored
    refused = Signal(str)  # reason why nothing was accepted

    def __init__(self, session: Session, predictions: Predictions, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.shown: list[Suggestion] = []
        self.left_out = 0  # regions marked by the model but not suggested, being too many or too large
        self._session, self._predictions = session, predictions
        self._live, self._live_model = FoundRegions(), ""
        self._seen: np.ndarray | None = None  # mask from which the live suggestions were made
        self._source: tuple[PredictionMaps, Path] | None = None  # prediction of that mask, and its run or export
        self._spent: list[Suggestion] = []  # decided and removed from the list to make room for more
        self._kept: SuggestionStore | None = None
        self._edits: dict[
            int, tuple[SuggestionDecision, Suggestion]
        ] = {}  # by the id() of the origin, which is kept alive here
        self._decisions = SuggestionDecisions(session, self)
        self._decisions.revised.connect(self._filter)
        self._round = 0
        self._lane = TaskQueue(parent=self)
        self._soon = QTimer(self, singleShot=True, interval=_SETTLED, timeout=self._filter)
        session.image_opened.connect(self._opened)
        session.image_failed.connect(self._forget)
        session.project_closed.connect(self._close)
        session.mask_changed.connect(lambda _: self._soon.start())
        session.classes_changed.connect(self._soon.start)
        predictions.predicted.connect(self._predicted)
        predictions.model_changed.connect(self._model_changed)
        app = QCoreApplication.instance()
        if app is not None:
            app.aboutToQuit.connect(self._close)

    @property
    def rejected(self) -> int:
        """Number of rejected suggestions of the open image, which can be restored."""
        note = self._session.note
        return sum(one.what == "rejected" for one in note.decided) if note is not None else 0

    # --- orders ----------------------------------------------------------------------------------

    def accept(self, suggestions: Sequence[Suggestion]) -> bool:
        """Paint suggestions as labels of their classes: one step. Return False if nothing was painted."""
        editor = self._session.editor
        wanted = self._still_shown(suggestions)
        if not wanted:
            return False
        accepted = _decisions(wanted, "accepted")
        if not self._decisions.begin_accept(accepted):
            return False
        for one in wanted:
            editor.paint_region(one.selection.inside, one.selection.corner, one.class_id)
        if not self._decisions.commit_accept(_origin(wanted, self._names()), accepted):
            self.refused.emit("locked" if editor.locked else "kept")
            return False
        self._remove_decided(accepted)
        return True

    def accept_all(self) -> bool:
        return self.accept([one for one in self.shown if one.class_id not in self._session.classes.hidden])

    def reject(self, suggestions: Sequence[Suggestion]) -> bool:
        """Reject suggestions for this image and model: one step, which changes no pixel."""
        wanted = self._still_shown(suggestions)
        rejected = _decisions(wanted, "rejected")
        if not wanted or not self._decisions.decide(REJECT, _origin(wanted, self._names()), added=rejected):
            return False
        self._remove_decided(rejected)
        return True

    def restore_rejected(self) -> bool:
        """Restore the rejected suggestions of this image: one step."""
        note = self._session.note
        back = [one for one in note.decided if one.what == "rejected"] if note is not None else []
        if not back or not self._decisions.decide(RESTORE, f"{len(back)} regions", removed=back):
            return False
        self._filter()
        return True

    def change(self, suggestion: Suggestion, changed: Suggestion) -> None:
        """Replace class or shape of an undecided suggestion; nothing is written."""
        mine = suggestion if suggestion in self.shown else self._like(suggestion)
        if mine is None or not changed.area:
            return
        changed = replace(changed, origin=mine.origin)
        self._edits[id(mine.origin)] = mine.origin, changed
        self.shown = [changed if one is mine else one for one in self.shown]
        self.changed.emit()

    def refresh(self, key: str) -> None:
        """Reload an image's file of suggestions after another program has written it."""
        if key == self._session.key:
            self._load(key)

    def _remove_decided(self, decisions: list[SuggestionDecision]) -> None:
        self.shown = open_ones(self.shown, None, decisions)
        self.changed.emit()
        self._soon.start()

    def _still_shown(self, suggestions: Sequence[Suggestion]) -> list[Suggestion]:
        """Return those that are still undecided; a new prediction replaces suggestions by similar ones."""
        shown = set(map(id, self.shown))
        return [one for one in suggestions if id(one) in shown or self._like(one) is not None]

    def _like(self, one: Suggestion) -> Suggestion | None:
        return first_match([other for other in self.shown if other.model == one.model], one.origin)

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

    def _forget(self, *_: object) -> None:
        self._round += 1
        self._soon.stop()
        self._live, self._live_model, self._kept, self.left_out = FoundRegions(), "", None, 0
        self._seen = self._source = None
        self._edits.clear()
        self._show([])

    def _model_changed(self) -> None:
        self._live, self._live_model, self._seen, self._source = FoundRegions(), "", None, None
        self._filter()

    def _load(self, key: str) -> None:
        project, round = self._session.project, self._round
        if project is None:
            return

        def then(kept: SuggestionStore | None, error: Exception | None) -> None:
            if round != self._round:
                return
            if isinstance(error, Problem):
                self._session.problem_met.emit(error)
            elif error is not None:
                raise error
            self._kept = kept
            if kept is not None:
                self._filter()

        self._lane.submit(lambda: SuggestionStore.read(project, key), then)

    def _predicted(self, key: str, result: Prediction) -> None:
        source = self._predictions.source
        if key == self._session.key and source is not None and result.mask is not None:
            root, seen = source.root if isinstance(source, Run) else Path(source), self._predictions.cached(key)
            if seen is not None:
                self._propose(seen, result.mask, root)

    def follow(self, seen: PredictionMaps, mask: np.ndarray, run: Run) -> None:
        """Suggest regions for the open image from a run in progress or with the user's thresholds.

        mask: uint8 (H, W), the marked pixels of `seen`, from which suggestions are made.
        """
        self._propose(seen, mask, run.root)

    def _propose(self, seen: PredictionMaps, mask: np.ndarray, root: Path) -> None:
        """Suggest the regions of highest probability of a mask. root: of the run or export that made the mask."""
        if mask is not self._seen:
            self._seen, self._spent, self._source = mask, [], (seen, root)
            self._look()

    def _look(self) -> None:
        """List regions in the worker thread, without decided ones, up to the limit."""
        project, mask = self._session.project, self._seen
        if project is None or mask is None or self._source is None:
            return
        (seen, root), spent = self._source, list(self._spent)
        settings = seen.settings
        if settings is None:
            return
        classes, round, model = list(project.classes), self._round, root.name
        own = root.absolute().is_relative_to(project.root)

        def work() -> FoundRegions | None:
            if mask is not self._seen:
                return None  # replaced by a newer prediction
            rest = without(mask, spent) if spent else mask
            found, beyond = surest_regions(rest, seen.scores, settings, MOST)
            return suggest_regions(rest, found, class_table(classes, found, own=own), model, beyond=beyond)

        def then(found: FoundRegions | None, error: Exception | None) -> None:
            if error is not None:
                raise error
            if found is not None and round == self._round and mask is self._seen:
                self._live, self._live_model = found, model
                self._carry_edits(found)
                self._filter()

        self._lane.submit(work, then)

    def _carry_edits(self, found: FoundRegions) -> None:
        """Apply the user's changes to similar suggestions of the new prediction."""
        for origin, changed in list(self._edits.values()):
            again = first_match(found.suggestions, origin)
            if again is not None:
                self._edits[id(again.origin)] = again.origin, replace(changed, origin=again.origin)

    def _filter(self) -> None:
        """Find the undecided suggestions, in the worker thread, as the mask has to be compared."""
        session, round = self._session, self._round
        project, note, key = session.project, session.note, session.key
        if project is None or note is None or key is None or session.mask is None:
            self._show([])
            return
        kept, live_model = self._kept, self._live_model
        older = [one for one in kept.suggestions if one.model != live_model] if kept is not None else []
        live, edits = self._live, {number: changed for number, (_, changed) in self._edits.items()}
        classes = set(self._names())
        mask, decided, painted_only = session.mask, list(note.decided), note.explicit_background
        size = (mask.shape[1], mask.shape[0])

        def work() -> tuple[list[Suggestion], SuggestionStore | None]:
            if kept is not None and (kept.stored.width, kept.stored.height) != size:
                every = list(live.suggestions)  # the stored suggestions belong to an image file that was replaced since
            else:
                every = merged(live.suggestions, older)
            every = sorted((edits.get(id(one.origin), one) for one in every), key=lambda one: -one.score)
            left = open_ones(
                (one for one in every if one.class_id in classes), mask, decided, painted_only=painted_only
            )
            if kept is None:
                return left, None
            waiting = open_ones(kept.suggestions, mask, decided, painted_only=painted_only)
            return left, kept.cleared(project, key, waiting)

        def then(found: tuple[list[Suggestion], SuggestionStore | None] | None, error: Exception | None) -> None:
            if round != self._round:
                return
            if error is not None:
                raise error
            if found is not None:
                left, self._kept = found[0], found[1] if self._kept is kept else self._kept
                self.left_out = live.left_out + max(0, len(left) - _SHOWN)
                decided_now = session.note.decided if session.note is not None else []
                # The user may have decided or changed suggestions since the job was submitted.
                now = {number: changed for number, (_, changed) in self._edits.items()}
                left = open_ones((now.get(id(one.origin), one) for one in left[:_SHOWN]), None, decided_now)
                self._show(left)
                if live is self._live and live.beyond and len(left) < _SHOWN:
                    self._look_further(live, left)

        self._lane.submit(work, then)

    def _look_further(self, live: FoundRegions, left: list[Suggestion]) -> None:
        """Decided suggestions make room: list regions that were left out."""
        waiting = {id(one.origin) for one in left}
        decided = [one for one in live.suggestions if id(one.origin) not in waiting]
        if decided:
            self._spent += decided
            self._look()

    def _show(self, suggestions: list[Suggestion]) -> None:
        if suggestions or self.shown:
            self.shown = suggestions
            self.changed.emit()

    def _close(self) -> None:
        self._forget()
        self._lane.cancel_pending()

    def finish(self) -> None:
        """Wait until the suggestions are up to date."""
        if self._soon.isActive():
            self._soon.stop()
            self._filter()
        for _ in range(4):  # a round of listing and sifting may trigger another one if few are left
            self._lane.finish()


def _decisions(suggestions: list[Suggestion], what: str) -> list[SuggestionDecision]:
    return [one.origin.model_copy(update={"what": what}) for one in suggestions]


def _origin(suggestions: list[Suggestion], names: dict[int, str]) -> str:
    """Return the origin of accepted or rejected regions, for the image's history."""
    models = ", ".join(dict.fromkeys(one.model for one in suggestions))
    if len(suggestions) == 1:
        one = suggestions[0]
        changed = ", changed before" if one.edited else ""
        return f"run {models}: {names.get(one.class_id, one.class_id)}, score {one.score:.2f}{changed}"
    scores = [one.score for one in suggestions]
    return f"run {models}: {len(suggestions)} regions, scores {min(scores):.2f} to {max(scores):.2f}"
