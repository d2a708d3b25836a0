"""Hostile exports, folders of results and projects: nothing is read or written outside of their folders."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import external_data_helper

from tests.conftest import fill_project
from tests.inference.batch.exported_runs import _BARE
from tests.inference.conftest import GRAY_BIAS, GRAY_WEIGHTS, _complete, gray_settings, spotted, write_onnx
from workbench.cli import main
from workbench.core.project.project import Project
from workbench.core.runs.run import create_run
from workbench.core.runs.training_settings import request
from workbench.inference.batch.export_package import self_test, verify_checks, write_checks
from workbench.inference.batch.results_log import RESULTS_LOG_FILE, is_result_name
from workbench.inference.engines import EngineError
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import SettingsError, load_settings
from workbench.inference.predictor import Predictor

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="making links needs rights there")

NAMES = (
    "../../pwned",
    "../pwned",
    "/tmp/pwned-{unique}",
    "a/../../../pwned",
    "C:/pwned",
    "C:\\pwned",
    "..\\..\\pwned",
    "\\\\host\\share\\pwned",
    "a\\..\\pwned",
    ".",
    "..",
    "a//b",
    "a/",
    "./a",
    "x" * 300,
    "a\0b",
    "~/pwned",
    7,
    None,
    ["a"],
    {"a": 1},
    True,
)


@pytest.fixture
def export(tmp_path) -> Path:
    folder = tmp_path / "deep" / "export"
    write_onnx(folder / "network.onnx", GRAY_WEIGHTS, GRAY_BIAS)
    return _complete(folder, gray_settings(), [spotted(np.random.default_rng(5), 40, 50)])


@pytest.fixture
def pictures(tmp_path) -> Path:
    for number in range(2):
        write_png(tmp_path / "deep" / "in" / f"{number}.png", spotted(np.random.default_rng(number), 30, 40))
    return tmp_path / "deep" / "in"


def snapshot(root: Path, *without: Path) -> dict[str, bytes | str]:
    """Return the content of all files below `root`, except those below the folders `without`."""
    found: dict[str, bytes | str] = {}
    for place, folders, files in os.walk(root):
        folders[:] = [name for name in folders if Path(place, name) not in without and name != "__pycache__"]
        for name in files + folders:
            path = Path(place, name)
            found[str(path)] = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
    return found


def own_program(export: Path, *arguments: object) -> tuple[int, str, str]:
    """Run the export's predict.py in a process without the workbench."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [sys.executable, "-I", "-c", _BARE, str(export / "predict.py"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, timeout=120)
    return done.returncode, done.stdout, done.stderr


def workbench(*words: object) -> tuple[int, str, str]:
    """Run a verb of the command line in this process."""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        status = main([*map(str, words), "--json"])
    assert "Unexpected" not in out.getvalue()
    return status, out.getvalue(), error.getvalue()


# --- the ledger of a folder of results ---------------------------------------------------------------


@pytest.fixture
def go_on(size, export, pictures):
    """Continue a folder of results by the command line, at full size by the export's own program."""
    if size == "full":
        return lambda out, *more: own_program(export, pictures, "--out", out, "--json", *more)
    return lambda out, *more: workbench("predict", export, pictures, "--out", out, *more)


def test_names_in_a_list_do_not_point_outside_of_the_folder(go_on, tmp_path, cases, report):
    out = tmp_path / "deep" / "a" / "b" / "out"
    status, first, error = go_on(out)
    assert status == 0, error
    whole = (out / RESULTS_LOG_FILE).read_text("utf-8").splitlines()
    masks = {path.name: path.read_bytes() for path in (out / "masks").iterdir()}
    before = snapshot(tmp_path, out)
    names = [*NAMES[: cases(7, len(NAMES))]]
    for name in names:
        name = name.replace("{unique}", tmp_path.name) if isinstance(name, str) else name
        line = {**json.loads(whole[1]), "name": name, "mask": f"masks/{name}.png", "file": [1, 1]}
        (out / RESULTS_LOG_FILE).write_text("\n".join([whole[0], json.dumps(line), whole[2]]) + "\n", "utf-8")
        status, message, error = go_on(out, "--continue")
        assert status == 0 and len(json.loads(message)["pictures"]) == 2, (name, error)
        assert "Ignored 1 damaged line" in error and "Traceback" not in error, name
        assert snapshot(tmp_path, out) == before, name
        assert {path.name: path.read_bytes() for path in (out / "masks").iterdir()} == masks, name
        assert not Path(f"/tmp/pwned-{tmp_path.name}.png").exists()
    report("name in results.jsonl that leads out of the folder", len(names), 0)


WRONG = (
    {"file": "now"},
    {"file": [1]},
    {"file": [1.5, 2]},
    {"file": None},
    {"at": 5},
    {"at": None},
    {"path": []},
    {"regions": None},
    {"regions": [5]},
    {"regions": [{}]},
    {"mask": 5},
    {"mask": "../x.png"},
    {"mask": None},
    {"milliseconds": "fast"},
    {"milliseconds": 10**400},
    {"overlay": "/etc/passwd"},
    {"why": "also skipped"},
)


def test_values_of_other_types_in_a_ledger_are_ignored(go_on, tmp_path, cases, report):
    out = tmp_path / "out"
    assert go_on(out)[0] == 0
    whole = (out / RESULTS_LOG_FILE).read_text("utf-8").splitlines()
    wrong = [*WRONG[: cases(4, len(WRONG))]]
    for changes in wrong:
        line = json.dumps({**json.loads(whole[1]), **changes})
        (out / RESULTS_LOG_FILE).write_text("\n".join([whole[0], line, "[" * 100_000, whole[2]]) + "\n", "utf-8")
        status, message, error = go_on(out, "--continue")
        assert status == 0 and len(json.loads(message)["pictures"]) == 2, (changes, error)
        assert "Ignored 2 damaged lines" in error and "Traceback" not in error, changes
    report("value of another type in results.jsonl", len(wrong), 0)


@pytest.mark.parametrize("head", ["[" * 100_000, "[]", '{"format": 2}', '{"format": 1, "model": []}', "null"])
def test_a_ledger_with_a_damaged_head_is_refused_with_a_sentence(export, pictures, tmp_path, head):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / RESULTS_LOG_FILE).write_text(head + "\n", "utf-8")
    status, _, error = workbench("predict", export, pictures, "--out", tmp_path / "out", "--continue")
    assert status == 1 and "results" in error
    assert (tmp_path / "out" / RESULTS_LOG_FILE).read_text("utf-8") == head + "\n"


@pytest.mark.parametrize("name", [RESULTS_LOG_FILE, "masks", "overlays", "regions.csv", "results.json"])
def test_links_in_a_folder_of_results_are_not_written_through(go_on, tmp_path, name):
    out, outside = tmp_path / "out", tmp_path / "outside"
    outside.mkdir()
    out.mkdir()
    (outside / "file").write_bytes(b"keep me")
    (outside / "0.png").write_bytes(b"keep me, too")
    (out / name).symlink_to(outside if "." not in name else outside / "file")
    before = snapshot(outside)
    for more in ((), ("--continue",)):
        status, _, error = go_on(out, *more)
        assert "Traceback" not in error
        assert snapshot(outside) == before
        assert status == (0 if name in ("regions.csv", "results.json") else 1)


def test_names_of_results_stay_in_their_folder(cases, report):
    """Test random names made of critical parts: accepted names lie below the folder on every operating system."""
    import ntpath
    import posixpath

    parts = ("a", "..", ".", "", "C:", "\\", "~", "b c", "x" * 90, "é", "\0", "con")
    count, accepted = cases(500, 20_000), 0
    rng = random.Random(7)
    for _ in range(count):
        name = "".join(rng.choice(("/", "\\", "")) + rng.choice(parts) for _ in range(rng.randint(1, 5)))
        if is_result_name(name):
            accepted += 1
            for path, root in ((posixpath, "/out/masks"), (ntpath, "D:\\out\\masks")):
                assert path.commonpath([root, path.normpath(path.join(root, name + ".png"))]) == root, name
    assert accepted > count / 100
    report("random names of results", count, 0)


# --- the files of an export --------------------------------------------------------------------------


def refused(export: Path, pictures: Path, size: str) -> list[str]:
    """Return the sentences by which the command line, and at full size the export's own program, refuse an export."""
    code, _, message = workbench("predict", export, pictures, "--out", export.parent / "results")
    assert code == 1
    if size == "sample":
        return [message]
    status, _, error = own_program(export, pictures, "--out", export.parent / "results")
    assert status == 1 and "Traceback" not in error, error
    return [error, message]


def test_files_outside_in_the_settings_are_refused(export, pictures, size):
    (export.parent / "secret").write_bytes((export / "network.onnx").read_bytes())
    content = json.loads((export / "model.json").read_bytes())
    for name in ("/etc/hostname", "../secret", "a/../../secret", "C:\\secret", "x\0y", "x" * 5000, "x" * 300, "", "."):
        (export / "model.json").write_text(json.dumps({**content, "files": {"onnx": name}}), "utf-8")
        with pytest.raises((SettingsError, EngineError)):
            load_settings(export / "model.json")
            Predictor.open(export)
        refused(export, pictures, size)


def test_files_outside_in_the_checks_are_refused(export, pictures, size):
    (export.parent / "secret").write_bytes(b"secret")
    (export / "link").symlink_to(export.parent / "secret")
    hashes = json.loads((export / "checks.json").read_bytes())
    for name in ("../secret", "/etc/hostname", "x\0y", "x" * 300, "x/" * 3000, "\ud800", "", "..", "link"):
        (export / "checks.json").write_text(json.dumps({**hashes, name: "0" * 64}), "utf-8")
        assert verify_checks(export)
        refused(export, pictures, size)


def test_golden_images_outside_are_not_read(export):
    golden = next(path for path in export.rglob("golden.json"))
    write_png(export.parent / "secret.png", np.zeros((40, 50), np.uint8))
    (golden.parent / "link.png").symlink_to(export.parent / "secret.png")
    predictor, whole = Predictor.open(export), golden.read_bytes()
    names = ("../../secret.png", "/etc/hostname", "link.png", "..", "x" * 300, 5, None, ["a"])
    for key, name in itertools.product(("picture", "mask", "scores", "expected"), names):
        content = json.loads(whole)
        content["pictures"][0][key] = name
        golden.write_text(json.dumps(content), "utf-8")
        found = self_test(export, predictor)
        assert len(found) == 1 and "cannot be read" in found[0], (key, name)


@pytest.mark.parametrize("location", ["../secret.bin", "/etc/hostname", "sub/../../secret.bin", "link.bin"])
def test_weights_outside_of_an_export_are_not_read(export, pictures, size, location):
    secret = export.parent / "secret.bin"
    secret.write_bytes(GRAY_WEIGHTS.astype(np.float32).tobytes())
    (export / "link.bin").symlink_to(secret)
    (export / "sub").mkdir()
    model = onnx.load(export / "network.onnx")
    kernel = next(tensor for tensor in model.graph.initializer if tensor.name == "kernel")
    external_data_helper.set_external_data(kernel, location)
    kernel.ClearField("raw_data")
    kernel.data_location = onnx.TensorProto.EXTERNAL
    (export / "network.onnx").write_bytes(model.SerializeToString())
    write_checks(export)
    for sentence in refused(export, pictures, size):
        assert sentence.strip()


# --- a project ---------------------------------------------------------------------------------------


def test_verbs_write_nothing_outside_of_a_project_full_of_links(tmp_path, cases, report):
    """Test each folder of a project as a link to the outside: no command changes anything there."""
    labels = tmp_path / "labels"
    write_png(labels / "images" / "p000.png", np.zeros((80, 96), np.uint8))
    write_png(labels / "masks" / "p000.png", np.ones((80, 96), np.uint8))
    names = (".cache", "masks", "notes", "masks/lot0", "notes/lot0", "pictures", "pictures/lot0", "proposals", "runs")
    names += ("journal", "exports")
    chosen = names[: cases(2, len(names))]
    verbs = (("check",), ("import", labels, "--format", "png", "--overwrite"), ("train", "--model", "unet", "--plan"))
    verbs += (("queue",), ("labels", tmp_path / "out"))
    for name, words in itertools.product(chosen, verbs):
        root, outside = tmp_path / "project", tmp_path / "outside"
        for folder in (root, outside):
            shutil.rmtree(folder, ignore_errors=True)
        with Project.create(root, classes=["scratch"]) as project:
            fill_project(project, 3)
        if (root / name).exists():
            shutil.move(root / name, outside)
        outside.mkdir(exist_ok=True)
        (root / name).symlink_to(outside)
        before = snapshot(outside)
        _, message, _ = workbench(words[0], root, *words[1:])
        assert snapshot(outside) == before, (name, words, message)
    report("folder of a project that is a link out of it: verbs", len(chosen) * len(verbs), 0)


def test_a_run_with_links_out_is_not_resumed_by_the_command_line(labeled_project, tmp_path):
    run = create_run(labeled_project, request("unet", epochs=1))
    labeled_project.close()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "state.json").write_text('{"format": 1, "files": {"a": "../../x.safetensors"}}', "utf-8")
    (tmp_path / "outside" / "x").write_bytes(b"keep me")
    run.last.symlink_to(tmp_path / "outside")
    run.log_path.symlink_to(tmp_path / "outside" / "x")
    before = snapshot(tmp_path / "outside")
    status, message, _ = workbench("train", labeled_project.root, "--resume", run.name)
    assert status == 1 and "leads out of the project" in json.loads(message)["error"]
    assert snapshot(tmp_path / "outside") == before
