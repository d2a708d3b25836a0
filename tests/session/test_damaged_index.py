"""A session on a damaged or locked index, after unforeseen errors, and with images that cannot be opened."""

from __future__ import annotations

import shutil
import sqlite3
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer

from tests.core.images.jpeg_files import jpeg_with_wrong_size, turned
from tests.session.conftest import settle, show
from workbench.core.problems import BadGrouping, IndexRebuilt, UnexpectedError
from workbench.core.project import grouping
from workbench.core.project.project import Project


def cache(root: Path) -> Path:
    return root / ".cache" / "index.sqlite"


def rewritten(statement: str):
    def damage(path: Path) -> None:
        database = sqlite3.connect(path)
        database.executescript(statement)
        database.commit()
        database.close()

    return damage


ENDLESS = """
DROP TABLE pictures;
CREATE VIEW pictures AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
SELECT 'a' || i AS key, 1 AS width, 1 AS height, 'new' AS status, NULL AS verdict, '' AS counts, 0 AS masked,
'' AS broken, '' AS regions, '' AS "group", 0.0 AS date, '' AS stamp, i AS place, 0 AS sum FROM n;
"""
DAMAGES = {
    "text": lambda path: path.write_text("this is no database"),
    "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "zeros": lambda path: path.write_bytes(path.read_bytes()[:4096] + bytes(path.stat().st_size - 4096)),
    "row": rewritten("UPDATE pictures SET status = 'done', width = 7 WHERE place > 3"),
    "type": rewritten("UPDATE pictures SET counts = 5, stamp = NULL, key = x'ff00' || place"),
    "column": rewritten("ALTER TABLE pictures DROP COLUMN verdict"),
    "view": rewritten(ENDLESS),
}


AT_NIGHT = "cut", "zeros", "type"  # SQLite or the check of the rows finds them as the others


@pytest.mark.parametrize(
    "damage", [pytest.param(name, marks=[pytest.mark.slow] * (name in AT_NIGHT)) for name in DAMAGES]
)
def test_damaged_index_is_rebuilt_with_message(session, root, qtbot, damage):
    assert session.open_project(root)
    settle(session, qtbot)
    whole = dict(session.rows)
    session.close_project()
    DAMAGES[damage](cache(root))
    for name in ("index.sqlite-wal", "index.sqlite-shm"):
        (root / ".cache" / name).unlink(missing_ok=True)
    problems_met = []
    session.problem_met.connect(problems_met.append)
    assert session.open_project(root)
    settle(session, qtbot)
    assert session.rows == whole and session.keys == list(whole)
    assert [type(problem) for problem in problems_met] == [IndexRebuilt]
    session.close_project()
    assert session.open_project(root)
    settle(session, qtbot)
    assert session.rows == whole and len(problems_met) == 1


def test_rows_missing_in_damaged_index_are_read_from_files(session, root, qtbot):
    assert session.open_project(root)
    settle(session, qtbot)
    whole = dict(session.rows)
    session.close_project()
    database = sqlite3.connect(cache(root))
    database.execute("DELETE FROM pictures WHERE place % 2")
    database.commit()
    database.close()
    assert session.open_project(root)
    settle(session, qtbot)
    assert session.rows == whole


def test_list_is_finished_after_unexpected_error(opened, qtbot):
    with qtbot.capture_exceptions() as problems_met, qtbot.waitSignal(opened.image_list.finished, timeout=20_000):
        opened.add_images([], left_out=None)  # a mistake of the program, which no system reports in another way
    assert [type(error) for _, error, _ in problems_met] == [TypeError]
    key = opened.keys[0]
    opened.project.mask_path(key).unlink()
    opened.refresh_images()
    settle(opened, qtbot)
    assert not opened.rows[key].masked


def test_gui_thread_never_waits_for_index(opened, root, qtbot):
    other = sqlite3.connect(cache(root), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    beats = [time.monotonic()]
    timer = QTimer(interval=20, timeout=lambda: beats.append(time.monotonic()))
    timer.start()
    opened.set_score(opened.keys[0], 0.75)
    opened.set_score(opened.keys[1], 0.5)
    start = time.monotonic()
    qtbot.waitUntil(lambda: time.monotonic() - start > 4, timeout=60_000)  # the scores are being written
    other.execute("ROLLBACK")
    timer.stop()
    assert max(later - earlier for earlier, later in zip(beats, beats[1:])) < 3
    opened.set_score(opened.keys[2], 0.25)
    keys = opened.keys[:3]
    opened.close_project()
    assert opened.open_project(root)
    settle(opened, qtbot)
    assert [opened.rows[key].score for key in keys] == [0.75, 0.5, 0.25]
    other.close()


def test_closing_does_not_wait_for_index_lock(opened, root, qtbot):
    other = sqlite3.connect(cache(root), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    opened.set_score(opened.keys[0], 0.75)
    start = time.monotonic()
    opened.close_project()
    assert time.monotonic() - start < 6  # SQLite waits ten seconds for a locked database by default
    other.execute("ROLLBACK")
    other.close()
    assert opened.open_project(root)
    settle(opened, qtbot)
    assert len(opened.rows) == 8


def test_unreadable_image_is_marked_until_it_opens(opened, qtbot):
    lying, gone = opened.keys[2], opened.keys[4]
    path = opened.project.image_path(lying)
    whole = path.read_bytes()
    path.write_bytes(jpeg_with_wrong_size(96, 80))  # its header is valid
    opened.refresh_images()
    settle(opened, qtbot)
    opened.project.image_path(gone).unlink()
    for key in (lying, gone):
        with qtbot.waitSignal(opened.current.failed):
            opened.open_image(key)
        assert "cannot be read" in opened.rows[key].broken
    show(opened, qtbot, opened.keys[0])
    path.write_bytes(whole)
    show(opened, qtbot, lying)
    assert not opened.rows[lying].broken


def test_incomplete_jpeg_is_marked_before_opening(session, root, qtbot):
    data = turned("JPEG", 6)
    (root / "pictures" / "cut.jpg").write_bytes(data[: len(data) // 2])
    assert session.open_project(root)
    settle(session, qtbot)
    assert "incomplete" in session.rows["cut.jpg"].broken


def test_slow_grouping_pattern_is_reported_at_opening(session, root, qtbot, monkeypatch):
    monkeypatch.setattr(grouping, "_SEARCH_TIMEOUT", 0.05)
    with Project.open(root) as project:
        first = project.images()[0]
        project.image_path(first).rename(project.image_path(first).with_name("a" * 60 + "b.png"))
        project.file.grouping.rule, project.file.grouping.pattern = "pattern", "(a|aa)+$"
        project.save()
    problems_met = []
    session.problem_met.connect(problems_met.append)
    assert session.open_project(root)
    settle(session, qtbot)
    assert [type(problem) for problem in problems_met] == [BadGrouping]
    assert len(session.rows) == 8


def test_project_without_its_empty_folders_opens_without_an_error(session, root, qtbot):
    """Version control does not store empty folders."""
    for name in ("masks", "notes", "runs", "exports", "journal", ".cache"):
        shutil.rmtree(root / name, ignore_errors=True)
    problems_met = []
    session.problem_met.connect(problems_met.append)
    assert session.open_project(root)
    settle(session, qtbot)
    assert len(session.keys) == 8 and not any(isinstance(problem, UnexpectedError) for problem in problems_met)
