"""Table of the results of a line, and what is said about changes."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from workbench.core.evaluation.intervals import Interval, expected_share
from workbench.core.evaluation.line_results import Plan, read_results, sentence
from workbench.core.problems import NoLineResults

BEGIN = datetime(2026, 10, 24, 22, tzinfo=timezone.utc)  # a change of the clocks in Europe is three hours later
REGION = {"class_name": "scratch", "area": 30}


def record(hours: float, *, ng: bool = False, **changes) -> dict:
    when = (BEGIN + timedelta(hours=hours)).isoformat().replace("+00:00", "Z")
    regions = [REGION] if ng else []
    base = {"format": 1, "id": f"{hours}", "time": when, "station": "A", "run": "first", "name": f"{hours}"}
    return {
        **base,
        "result": "NG" if ng else "OK",
        "verdict": None,
        "regions": regions,
        "input": {"ok": True},
        **changes,
    }


@pytest.fixture
def results(tmp_path):
    """Return the table of some records or lines. The last argument replaces parts of the plan."""

    def read(*lines, **plan):
        texts = [line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines]
        (tmp_path / "log.jsonl").write_bytes(b"".join(texts))
        return read_results([tmp_path], Plan(**{"zone": ZoneInfo("Europe/Berlin"), **plan}))

    return read


def test_images_are_counted_by_hour_and_shift_of_the_time_zone(results):
    table = results(
        record(0.5),
        record(2.5, ng=True, verdict="unsure"),
        record(2.6, ng=True, verdict="rework"),
        record(3.1, ng=True, input={"ok": False}),
        record(3.2, why="damaged", result="ERROR"),
        record(7.5),
    )
    assert [(f"{hour.start:%H:%M %z}", hour.images) for hour in table.hours] == [
        ("00:00 +0200", 1),
        ("02:00 +0200", 2),
        ("02:00 +0100", 2),  # the hour that exists twice
        ("06:00 +0100", 1),
    ]
    assert [(f"{shift.start:%d %H:%M}", shift.images) for shift in table.shifts] == [("24 22:00", 5), ("25 06:00", 1)]
    total = table.total()
    assert total.outcomes == {"OK": 2, "NG": 1, "unsure": 1, "rework": 1, "ERROR": 1}
    assert total.counted("unlike") == (1, 6) and total.counted("class scratch") == (3, 6)
    assert [image.outcome for image in table.last] == ["ERROR", "NG", "rework", "unsure"]


def test_what_limits_the_table_is_counted_and_stated(results):
    mixed = [
        record(3.0),
        b'{"format": 1, "time": \n',
        b'{"format": 1, "time": 5, "regions": []}\n',
        b"[1]\n",
        record(3.1, format=2),
        record(3.0),  # delivered again
        record(3.2, station="B", run="second"),
        record(1.0, id="clock"),
        record(5.0, time="2026-10-25T04:00:00"),  # of the zone of the table
        record(5.1, input=None),
        json.dumps(record(9)).encode(),  # the last line was cut off
    ]
    table = results(*mixed)
    assert {name.removeprefix("drift."): n for name, n in table.faults.items() if n} == {
        **{"damaged": 4, "other_format": 1, "repeated": 1},
        **{"older": 1, "no_zone": 1, "unchecked": 1},
    }
    assert table.images == 5 and table.stations == {"A": 4, "B": 1} and table.runs == {"first": 4, "second": 1}
    text = " ".join(table.notes())
    assert "4 lines are damaged" in text and "2 stations are counted together: A (4), B (1)" in text
    assert "2 models were in use" in text
    assert results(*mixed, station="B").images == 1
    with pytest.raises(NoLineResults):
        results(b"no JSON\n")


def test_a_results_folder_is_read_as_a_log(results):
    head = {"format": 1, "model": "m", "run": "r", "fingerprint": "f", "good": "fine"}
    entry = {"at": "/x/a.png", "path": "a.png", "file": [9, BEGIN.timestamp() * 1e9], "name": "a", "regions": []}
    later = (BEGIN + timedelta(hours=1)).isoformat()
    table = results(head, {**entry, "verdict": "fine"}, {**entry, "file": [9, 1], "verdict": "bad", "time": later})
    assert [(hour.start, hour.outcomes) for hour in table.hours] == [
        (BEGIN, {"OK": 1}),
        (BEGIN + timedelta(hours=1), {"NG": 1}),
    ]
    assert table.total().classes == {"bad": 1} and table.runs == {"r": 2}


def day(rng: np.random.Generator, shares, images: int) -> list[dict]:
    """Return records with an NG share in each hour."""
    return [
        record(hour + number / images, ng=bool(rng.random() < share))
        for hour, share in enumerate(shares)
        for number in range(images)
    ]


def told(table) -> str:
    reference = table.reference()
    return sentence(table.hours, table.compare(table.hours, reference), reference, "hour")


def test_one_sentence_states_what_has_moved(results):
    rng = np.random.default_rng(1)
    text = told(results(*day(rng, [0.03] * 13 + [0.3], 100)))
    assert text.startswith("NG: ") and "in the hour from 2026-10-25 12:00 +0100" in text and "7 hours" in text
    assert told(results(*day(rng, [0.03] * 14, 100))).startswith("No rate differs from that of the reference")
    other = day(rng, [0.03] * 13, 100) + [record(13 + n / 100, ng=n < 30, run="second") for n in range(100)]
    assert told(results(*other)).endswith("but the model was another one (second).")


def test_a_handful_of_images_is_no_change(results):
    table = results(*day(np.random.default_rng(2), [0.03] * 12, 100), *(record(12 + n / 10, ng=True) for n in range(9)))
    assert table.hours[-1].share("NG") == 1
    assert told(table).startswith("No rate differs")
    assert "only 9 images, at least 20 are needed" in table.compare(table.hours, table.reference())[-1][0].why
    few = results(*day(np.random.default_rng(3), [0.0, 0.0, 0.0, 1.0], 100))
    assert told(few) == "Not compared: all of it belongs to the reference."
    short = few.reference(2)
    assert "only 2 hours, at least 5 are needed" in sentence(few.hours, few.compare(few.hours, short), short, "hour")


@pytest.mark.parametrize(("spread", "share"), [(None, 0.03), (None, 0.6), (4.0, 0.03), (1.0, 0.1)])
def test_without_a_change_few_tables_have_a_mark(spread, share):
    """Hours differ by chance, or by more, as a gamma distribution of this shape: at most 1 of 20 tables is marked."""
    rng, marked, tables, hours = np.random.default_rng(4), 0, 200, 24
    for _ in range(tables):
        shares = np.full(2 * hours, share) if spread is None else share * rng.gamma(spread, 1 / spread, 2 * hours)
        counts = np.stack([rng.binomial(150, np.minimum(shares, 1)), np.full(2 * hours, 150)], axis=1)
        expected = expected_share(counts[:hours], 150, hours)
        assert isinstance(expected, Interval)
        after = counts[hours:, 0] / 150
        marked += bool((after < expected.low).any() or (after > expected.high).any())
    assert marked <= 0.05 * tables + 2 * (0.05 * 0.95 * tables) ** 0.5
