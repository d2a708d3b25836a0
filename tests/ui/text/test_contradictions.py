"""Sentences that are shown together never contradict each other: finding of the run, next step, remarks, result."""

from __future__ import annotations

import re
from itertools import product

from workbench.core.runs.events import Evaluated, Failed, Finished, Started, Step
from workbench.core.runs.run import Run
from workbench.core.runs.run_history import RunLine, RunState, diagnose
from workbench.session.next_step import RunFacts, WorkflowState, remarks, workflow
from workbench.session.workflow_monitor import run_facts
from workbench.ui.shell.stage_bar import step_text
from workbench.ui.text.formatting import result_text
from workbench.ui.text.run_texts import QUIET, finding_text, remark_text

CLAIMS = {
    "longer helps": r"[Tt]rain longer|longer training may|is improving",
    "longer is useless": r"longer will not",
    "ready": r"^Export the model$|^Predict new images$",
    "not ready": r"[Tt]rain longer or|Label more|only background|Almost no defects|quality is unknown|no metrics",
    "nothing detected": r"only background|Almost no defects",
    "detected": r"^(10|[6-9]) of 10 defects detected",
    "measured": r"\d of \d+ defects|\d of \d+ good",
    "unmeasured": r"quality is unknown|there are no metrics|errors of this model are not measured",
}
CONFLICTS = (
    ("longer helps", "longer is useless"),
    ("ready", "not ready"),
    ("ready", "unmeasured"),
    ("nothing detected", "detected"),
    ("measured", "unmeasured"),
)
TRENDS = {  # Dice of each validation
    "few": (0.5, 0.6),
    "rising": (0.3, 0.4, 0.5, 0.6, 0.7, 0.8),
    "level": (0.6, 0.7, 0.7, 0.7, 0.7, 0.7),
    "falling": (0.5, 0.8, 0.7, 0.6, 0.5, 0.4),
    "poor": (0.0, 0.02, 0.01, 0.02, 0.03, 0.02),
    "none": (),
}
ENDINGS = (None, Finished(time=300), Finished(time=300, why="stopped"), Failed(why="disk full"))


def metrics_of(score, missed: int, good: int, alarms: int) -> dict:
    if score is None:
        return {}
    counts = {"defects": 10, "found": 10 - missed, "false": alarms, "false_per_picture": alarms / 14}
    share = alarms / good if good else None
    values = {"regions": counts, "any_defect": {"dice": score}, "dice": score, "good_pictures": good}
    return values | {"false_alarm_images": share, "only_background": missed == 10 and not alarms}


def test_no_two_sentences_of_a_screen_contradict_each_other(tmp_path):
    seen, run = set(), Run(tmp_path / "20261121-080000-unet")
    cases = product(TRENDS, (0, 3, 5, 10), ((0, 0), (4, 0), (4, 4)), (0.2, 0.95), ENDINGS)
    for trend, missed, (good, alarms), progress, ending in cases:
        state, scores = RunState(), TRENDS[trend]
        pictures = {"train": 20, "val": 6 if scores else 0}
        state.add_event(Started(model="unet", device="cpu", pictures=pictures))
        for number, score in enumerate(scores or (None,), start=1):
            done = number * progress / max(1, len(scores))
            state.add_event(Step(step=200 * number, time=40.0 * number, loss=1 / number, rate=1 - done, progress=done))
            metrics = metrics_of(score, missed, good, alarms)
            if scores:
                state.add_event(Evaluated(step=200 * number, time=40.0 * number, score=score, metrics=metrics))
        if ending is not None:
            state.add_event(ending)
        finding = diagnose(state)
        ended = ending is not None
        found = "" if ended and finding.kind in QUIET else finding_text(finding)
        seen.add(finding.kind)
        score = max(scores) if scores else None
        line = RunLine(run, "unet", None, score=score, labeled=20, usable=True, metrics=metrics)
        for evaluated, exported, left, none in product((False, True), (False, True), (0, 9), (False, True)):
            facts = run_facts(line, evaluated=evaluated, exported=exported)
            project = WorkflowState(
                images=40, classes=2, examples=20, with_defects=10, good=10, open_images=left, no_good_images=none
            )
            project = WorkflowState(**(vars(project) | {"training": not ended, "run": facts}))
            flow = workflow(project)
            texts = [found, step_text(flow.step), *map(remark_text, flow.remarks), result_text(metrics)]
            claims = {name for name, words in CLAIMS.items() for text in texts if re.search(words, text)}
            for pair in CONFLICTS:
                assert not set(pair) <= claims, (pair, texts, trend)
    assert {"improving", "level", "worse", "poor", "no_validation", "only_background"} <= seen


def test_cross_fitted_remarks_name_their_thresholds():
    facts = RunFacts(labeled=20, measured=True, defects=9, missed=9, good=4, good_alarms=1, cross_fitted=True)
    found = {remark.id: remark_text(remark) for remark in remarks(facts, no_good_images=False)}
    assert found == {
        "alarms": "1 of 4 good validation images has a false alarm at a threshold chosen on other parts.",
        "missed": "9 of 9 defects in the validation images are missed at a threshold chosen on other parts.",
    }
