"""Output marker: one file per image, whose suffix is the result."""

from __future__ import annotations

import json
import os
import time
from types import SimpleNamespace

from tests.cli.sinks.conftest import record
from workbench.cli.sinks import marker_files
from workbench.cli.sinks.marker_files import MarkerFiles


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
