"""Sessions killed at any time: every reported change is present, and every mask file can be read."""

from __future__ import annotations

import pytest

from tests.blank_project import create_blank_project
from tests.project_copy import copy_project
from tests.session import random_changes

SEED, CHANGES = 11, 600


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return create_blank_project(tmp_path_factory.mktemp("kills") / "项目 (x)", random_changes.SIZES)


@pytest.fixture(scope="module")
def states(project, qapp, tmp_path_factory):
    copy = copy_project(project, tmp_path_factory.mktemp("reference") / "p")
    return random_changes.expected_states(copy, SEED, CHANGES)


@pytest.mark.parametrize(
    "after", [0.0, *(pytest.param(after, marks=pytest.mark.slow) for after in (0.007, 0.03, 0.08, 0.19)), 0.47]
)
def test_killed_process_loses_no_changes(after, project, states, tmp_path, qapp):
    root = copy_project(project, tmp_path / "p")
    reported = random_changes.run_and_kill(root, SEED, CHANGES, after)
    assert reported
    found = random_changes.check(root, reported, states)
    assert not found.lost and not found.broken
