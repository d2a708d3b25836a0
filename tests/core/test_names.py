"""Unique names and comma-separated lists."""

from __future__ import annotations

from itertools import islice

from workbench.core.text_patterns import free_path, numbered_names, split_names


def test_names_are_numbered_from_two():
    assert list(islice(numbered_names("a", ".png"), 3)) == ["a.png", "a-2.png", "a-3.png"]


def test_free_path_skips_existing_files_and_folders(tmp_path):
    assert free_path(tmp_path, "run") == tmp_path / "run"
    (tmp_path / "run").mkdir()
    (tmp_path / "run-2").write_text("")
    assert free_path(tmp_path, "run") == tmp_path / "run-3"
    assert free_path(tmp_path / "missing", "run", ".png") == tmp_path / "missing" / "run.png"


def test_split_names_drops_spaces_and_empty_entries():
    assert split_names(" onnx, paddle,,") == ["onnx", "paddle"]
