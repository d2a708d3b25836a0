"""Release records: a chain of exports, each of which is as it was written."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.inference.conftest import gray_export  # noqa: F401
from workbench import cli
from workbench.core.problems import ReleaseBroken
from workbench.core.project.storage import write_json
from workbench.core.runs.release import RELEASE_FILE, exported_run, listed_exports, release_record, verify
from workbench.inference.batch.export_package import write_checks
from workbench.inference.model_settings import load_settings


def _record(root, settings):
    empty = {"images": {}, "environment": {}}
    return release_record(root, root / "runs" / "r", settings, parity={"onnx": {}}, figures={"dice": 0.9}, **empty)


@pytest.fixture
def exports(gray_export, tmp_path):  # noqa: F811
    """Three exports of a project, written one after the other."""
    root, made = tmp_path / "p", []
    (root / "runs" / "r").mkdir(parents=True)
    write_json(root / "runs" / "r" / "dataset.json", {"items": []})
    for number in range(3):
        folder = root / "exports" / f"e{number}"
        shutil.copytree(gray_export, folder)
        settings = load_settings(folder / "model.json")
        (folder / "SHA256SUMS").unlink(missing_ok=True)
        record = _record(root, settings)
        assert (record["predecessor"] or {}).get("export") == (made[-1].name if made else None)
        assert record["run_files"].keys() == {"dataset.json"} and record["figures"] == {"dice": 0.9}
        write_json(folder / RELEASE_FILE, record)
        write_checks(folder)
        os.utime(folder / "SHA256SUMS", (10**9 + number, 10**9 + number))
        made.append(folder)
    return made


def test_each_export_names_the_one_before_it(exports, capsys):
    root = exports[0].parents[1]
    assert [folder for folder, _ in listed_exports(root)] == exports[::-1] and exported_run(root) == "2024-unet"
    problems, chain = verify(exports[2])
    assert not problems and [(each["export"], each["state"]) for each in chain] == [
        ("e1", "unchanged"),
        ("e0", "unchanged"),
    ]
    assert cli.main(["release", "verify", str(exports[2])]) == 0
    assert "before it: e0 (run 2024-unet), unchanged" in capsys.readouterr().out


def test_a_changed_an_added_and_a_missing_file_are_found(exports, capsys):
    (exports[2] / "README.txt").write_text("new")
    (exports[2] / "predict.py").unlink()
    (exports[2] / "model.json").write_text("{}")
    problems, _ = verify(exports[2])
    assert problems == [
        "README.txt is not part of the release.",
        "predict.py is missing.",
        "model.json has been changed since the export was written.",
    ]
    assert cli.main(["release", "verify", str(exports[2])]) == 1
    assert "is not as it was released" in capsys.readouterr().err


def test_a_changed_predecessor_is_reported_and_ends_the_chain(exports):
    write_json(exports[1] / "latency.json", {})
    assert [each["state"] for each in verify(exports[2])[1]] == ["changed"]
    write_checks(exports[1])  # its own sums agree again, but the successor knows the former ones
    assert [each["state"] for each in verify(exports[2])[1]] == ["changed"]
    shutil.rmtree(exports[1])
    assert [each["state"] for each in verify(exports[2])[1]] == ["not found"]
    (exports[2] / RELEASE_FILE).unlink()
    with pytest.raises(ReleaseBroken):
        verify(exports[2])


def test_a_damaged_export_does_not_prevent_the_next_one(exports):
    settings, root = load_settings(exports[0] / "model.json"), exports[0].parents[1]
    (exports[2] / "model.json").write_text("{")
    record = _record(root, settings)
    assert record["predecessor"]["export"] == "e2" and record["predecessor"]["run"] is None
