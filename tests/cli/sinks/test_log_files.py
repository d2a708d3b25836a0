"""Outputs log-csv and log-jsonl: content, rotation by size and day."""

from __future__ import annotations

import csv
import datetime
import json
import os
import time
from types import SimpleNamespace

import pytest

from tests.cli.sinks.conftest import record
from workbench.cli.sinks import marker_files
from workbench.cli.sinks.log_files import CsvLog, JsonlLog
from workbench.cli.sinks.marker_files import MarkerFiles


def rows(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("durable", [True, False])
def test_csv_has_one_head_and_one_row_per_image(tmp_path, durable):
    path = tmp_path / "new" / "log.csv"
    for _ in range(2):  # as after a restart
        log = CsvLog(path, 10**6)
        log.open(durable=durable)
        log.deliver(record(1, name="=1+1"))
        log.deliver(record(2, "NG", verdict="划痕"))
        log.deliver({key: value for key, value in record(3, "ERROR").items() if key != "regions"} | {"why": "a\nb"})
    found = rows(path)
    assert [row["result"] for row in found] == ["OK", "NG", "ERROR"] * 2
    assert found[0]["name"] == "'=1+1" and found[1]["verdict"] == "划痕" and found[2]["why"] == "a b"
    assert (found[1]["regions"], found[1]["largest_area"]) == ("2", "9")
    assert len(path.read_bytes().splitlines()) == 7


def test_jsonl_holds_the_whole_record(tmp_path):
    log = JsonlLog(tmp_path / "log.jsonl", 10**6)
    sent = [record(1), record(2, "NG")]
    for each in sent:
        log.deliver(each)
    assert [json.loads(line) for line in (tmp_path / "log.jsonl").read_text("utf-8").splitlines()] == sent


def test_file_is_renamed_at_its_maximum_size(tmp_path):
    path = tmp_path / "log.jsonl"
    size = len(json.dumps(record(1)).encode()) + 1
    log = JsonlLog(path, int(2.5 * size))
    for number in range(1, 6):
        log.deliver(record(number))
    today = datetime.date.today().isoformat()
    parts = [tmp_path / f"log.{today}.jsonl", tmp_path / f"log.{today}.1.jsonl", path]
    assert sorted(tmp_path.iterdir()) == sorted(parts)
    found = [json.loads(line)["name"] for part in parts for line in part.read_text("utf-8").splitlines()]
    assert found == [f"part {number}" for number in range(1, 6)]
    assert all(part.stat().st_size <= 2.5 * size for part in parts)


def test_file_is_renamed_on_a_new_day_also_after_a_restart(tmp_path):
    path = tmp_path / "log.csv"
    CsvLog(path, 10**6).deliver(record(1))
    then = datetime.datetime(2025, 3, 4, 12).timestamp()
    os.utime(path, (then, then))
    CsvLog(path, 10**6).deliver(record(2))
    assert [row["name"] for row in rows(tmp_path / "log.2025-03-04.csv")] == ["part 1"]
    assert [row["name"] for row in rows(path)] == ["part 2"]


def test_line_after_one_that_was_cut_off(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"name": "cut')
    JsonlLog(path, 10**6).deliver(record(2))
    assert json.loads(path.read_text("utf-8").splitlines()[1])["name"] == "part 2"


def test_each_server_process_has_its_own_file(tmp_path):
    log = CsvLog(tmp_path / "log.csv", 10**6)
    assert log.for_process(0) is log
    log.for_process(2).deliver(record(1))
    assert [path.name for path in tmp_path.iterdir()] == ["log-3.csv"]


def markers(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_marker_is_named_after_image_and_result(tmp_path):
    sink = MarkerFiles(tmp_path / "new")
    sink.open(durable=True)
    for number, result in enumerate(("OK", "NG", "ERROR")):
        sink.deliver(record(number, result, name=f"lot/part.{number}"))
    assert markers(tmp_path / "new") == ["lot/part.0.OK", "lot/part.1.NG", "lot/part.2.ERROR"]
    assert json.loads((tmp_path / "new" / "lot" / "part.1.NG").read_text("utf-8"))["result"] == "NG"


def test_new_result_replaces_the_marker(tmp_path):
    sink = MarkerFiles(tmp_path)
    for result in ("NG", "ERROR", "OK", "OK"):
        sink.deliver(record(1, result))
        assert markers(tmp_path) == [f"part 1.{result}"]


def test_earlier_marker_is_kept_and_a_repeated_delivery_adds_none(tmp_path):
    sink = MarkerFiles(tmp_path, replace=False)
    first, second = record(1, "NG", name="part"), record(2, "OK", name="part")
    for delivered in (first, second, first, second):
        sink.deliver(delivered)
    assert markers(tmp_path) == [f"part-{second['id']}.OK", "part.NG"]


def test_temporary_file_of_a_killed_process_is_removed(tmp_path):
    (tmp_path / "lot").mkdir()
    for folder in (tmp_path, tmp_path / "lot"):
        (folder / f".{'a' * 16}.tmp").write_bytes(b"{")
    MarkerFiles(tmp_path).open(durable=True)
    assert markers(tmp_path) == []


def test_temporary_file_of_another_server_process_is_kept(tmp_path):
    killed, writing = (tmp_path / f".{digit * 16}.tmp" for digit in "ab")
    killed.write_bytes(b"{")
    hour_ago = time.time() - 3600
    os.utime(killed, (hour_ago, hour_ago))
    writing.write_bytes(b"{")
    MarkerFiles(tmp_path).open(durable=False)
    assert markers(tmp_path) == [writing.name]


def test_temporary_file_of_a_server_killed_a_moment_ago_is_removed_later(tmp_path, monkeypatch):
    young = tmp_path / f".{'a' * 16}.tmp"
    young.write_bytes(b"{")
    sink = MarkerFiles(tmp_path)
    sink.open(durable=False)
    sink.deliver(record(1, "OK"))
    assert markers(tmp_path) == [young.name, "part 1.OK"]
    hour_ago = time.time() - 3600
    os.utime(young, (hour_ago, hour_ago))
    later = time.monotonic() + 3600
    monkeypatch.setattr(marker_files, "time", SimpleNamespace(monotonic=lambda: later))
    sink.deliver(record(2, "NG"))
    assert markers(tmp_path) == ["part 1.OK", "part 2.NG"]
