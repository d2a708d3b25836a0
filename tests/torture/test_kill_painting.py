"""Sessions killed at random times while labels change: every acknowledged order is present after reopening."""

from __future__ import annotations

import os
import random
import shutil
import signal

import pytest

from tests.session import robot

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL") or os.name != "posix", reason="there is no SIGKILL here")

SEED, ORDERS, LONGEST = 5, 1500, 0.8


def test_acknowledged_orders_survive_a_kill(cases, report, tmp_path, qapp):
    """Test a random mix of strokes, undo, verdicts of one and many images, status, split, decisions, confirmations."""
    count, rng = cases(2, 100), random.Random(SEED)
    project = robot.make_project(tmp_path / "项目 (x)")
    killed = []
    for number in range(count):
        root = shutil.copytree(project, tmp_path / f"k{number}")
        killed.append((root, robot.kill(root, SEED, ORDERS, rng.uniform(0, LONGEST))))
    most = max(reported for _, reported in killed)
    states = robot.undisturbed(shutil.copytree(project, tmp_path / "reference"), SEED, min(ORDERS, most + 1))
    found = [robot.check(root, reported, states) for root, reported in killed]
    harmed = [kill for kill in found if kill.lost or kill.broken]
    report("session killed while labels change", count, len(harmed))
    print(
        f"{sum(k.reported for k in found)} orders acknowledged, at most {most} in a session; "
        f"{sum(k.journalled > 0 for k in found)} kills with something in the journal only"
    )
    assert not harmed
    assert all(kill.reported for kill in found)
