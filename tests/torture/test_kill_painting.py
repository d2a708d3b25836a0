"""Sessions killed at random times while labels change: every reported change is present after reopening."""

from __future__ import annotations

import random

import pytest

from tests.blank_project import create_blank_project
from tests.project_copy import copy_project
from tests.session import random_changes

SEED, CHANGES, LONGEST = 5, 1500, 0.8


@pytest.mark.slow  # in the default suite: tests/session/test_kills.py, test_note_journal.py
def test_reported_changes_survive_a_kill(cases, report, tmp_path, qapp):
    """Test a random mix of strokes, undo, verdicts of one and many images, status, split, decisions, confirmations."""
    count, rng = cases(2, 130), random.Random(SEED)
    project = create_blank_project(tmp_path / "项目 (x)", random_changes.SIZES)
    killed = []
    for number in range(count):
        root = copy_project(project, tmp_path / f"k{number}")
        killed.append((root, random_changes.run_and_kill(root, SEED, CHANGES, rng.uniform(0, LONGEST))))
    most = max(reported for _, reported in killed)
    states = random_changes.expected_states(copy_project(project, tmp_path / "reference"), SEED, min(CHANGES, most + 1))
    found = [random_changes.check(root, reported, states) for root, reported in killed]
    failed = [kill for kill in found if kill.lost or kill.broken]
    report("session killed while labels change", count, len(failed))
    print(
        f"{sum(k.reported for k in found)} changes reported, at most {most} in a session; "
        f"{sum(k.journalled > 0 for k in found)} kills with changes in the journal only"
    )
    assert not failed
    assert all(kill.reported for kill in found)
