"""Outputs log-csv and log-jsonl: content, rotation by size and day."""

from __future__ import annotations

import csv
import datetime
import json
import os

import pytest

from tests.cli.sinks.conftest import record
from workbench.cli.sinks.log_files import CsvLog, JsonlLog


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
