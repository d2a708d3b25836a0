"""Export as a program: a child process in another folder, without the workbench."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tests.inference.batch.exported_runs import _BARE, Jittery, change_weights, run
from tests.inference.conftest import GRAY_BIAS, GRAY_WEIGHTS, spotted, write_onnx
from workbench.inference.batch import runner
from workbench.inference.batch.export_package import self_test, verify_checks, write_checks
from workbench.inference.io.image_io import read_image, write_png
from workbench.inference.model_settings import load_settings, save_settings
from workbench.inference.predictor import Predictor


@pytest.fixture
def pictures(tmp_path) -> Path:
    """Folder with two valid images of one stem, one in a subfolder, one of another depth, and two broken ones."""
    folder = tmp_path / "来料 pictures"
    rng = np.random.default_rng(9)
    write_png(folder / "a.png", spotted(rng, 90, 80))
    write_png(folder / "a.bmp", spotted(rng, 70, 80))  # a wrong suffix; the content decides
    write_png(folder / "lot [2]" / "a.png", spotted(rng, 50, 130).astype(np.uint16) * 257)
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 no picture")
    (folder / "empty.png").touch()
    return folder


@pytest.fixture
def run_here(capsys):
    """Return a function that runs an export in this process, for what does not depend on the process."""

    def main(export: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
        status = runner.main([*map(str, arguments)], export)
        return subprocess.CompletedProcess(arguments, status, *capsys.readouterr())

    return main


def test_a_folder_of_images_becomes_a_folder_of_results(gray_export, pictures, tmp_path):
    done = run(gray_export, pictures, "--out", tmp_path / "out", "--json", "--threads", 1)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    out = tmp_path / "out"
    masks = {Path(entry["mask"]).relative_to(out).as_posix() for entry in report["pictures"]}
    assert masks == {"masks/a.png.png", "masks/a.bmp.png", "masks/lot [2]/a.png"}
    skipped = {Path(entry["path"]).name: entry["why"] for entry in report["skipped"]}
    assert set(skipped) == {"broken.jpg", "empty.png"} and skipped["empty.png"] == "the file is empty"
    assert "skipped" in done.stderr

    predictor = Predictor.open(gray_export)
    rows = []
    for entry in report["pictures"]:
        image = read_image(entry["path"])
        expected = predictor.predict(image)
        assert read_image(entry["mask"]).tobytes() == expected.mask.tobytes()
        assert read_image(entry["overlay"]).shape == (*image.shape, 3)
        assert entry["regions"] == [region.to_json() for region in expected.regions]
        assert entry["verdict"] is None and entry["milliseconds"] > 0
        rows += [(entry["path"], region) for region in entry["regions"]]
    assert rows

    text = (out / "regions.csv").read_bytes()
    assert text.startswith(b"\xef\xbb\xbf")
    table = list(csv.DictReader(text.decode("utf-8-sig").splitlines()))
    assert [line["picture"] for line in table] == [path for path, _ in rows]
    for line, (_, region) in zip(table, rows):
        assert int(line["area"]) == region["area"]
        assert float(line["area_um2"]) == region["area"] * 6.25
        assert float(line["width_um"]) == region["width"] * 2.5
        assert line["class"] in ("dark scratch", "亮点")
    stored = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert stored["skipped"] == report["skipped"]
    assert {entry["mask"] for entry in stored["pictures"]} == masks
    assert not list(out.rglob("*.tmp"))


def test_results_inside_of_the_input_folder_are_not_predicted(gray_export, pictures, run_here, monkeypatch):
    monkeypatch.chdir(pictures)
    first = run_here(gray_export, ".", "--out", "results", "--json")
    second = run_here(gray_export, ".", "--out", "results", "--json", "--no-overlays")
    assert first.returncode == second.returncode == 0, second.stderr
    first, second = json.loads(first.stdout), json.loads(second.stdout)
    assert [entry["path"] for entry in first["pictures"]] == [entry["path"] for entry in second["pictures"]]
    assert all(entry["overlay"] is None for entry in second["pictures"])
    assert [entry["regions"] for entry in first["pictures"]] == [entry["regions"] for entry in second["pictures"]]


def test_same_names_from_two_folders_and_a_pattern(gray_export, tmp_path, run_here, monkeypatch):
    monkeypatch.chdir(gray_export.parent)
    rng = np.random.default_rng(3)
    for lot in ("one", "two"):
        write_png(tmp_path / lot / "p.png", spotted(rng, 40, 40))
    done = run_here(gray_export, tmp_path / "one" / "p.png", tmp_path / "t*" / "*.png", tmp_path / "two" / "p.png")
    assert done.returncode == 0, done.stderr
    out = gray_export.parent / "results"
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*.png")) == [
        *("masks/p.png", "masks/two/p.png", "overlays/p.png", "overlays/two/p.png"),
    ]
    assert "2 images" in done.stdout


def test_verdicts(verdict_export, tmp_path):
    for name, value in (("bright", 160), ("dark", 80)):
        write_png(tmp_path / "in" / f"{name}.png", np.full((33, 44), value, np.uint8))
    done = run(verdict_export, tmp_path / "in", "--out", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [entry["verdict"] for entry in report["pictures"]] == ["OK", "NG"]
    for entry in report["pictures"]:
        assert sum(entry["probabilities"].values()) == pytest.approx(1, abs=1e-6)
    table = list(csv.reader((tmp_path / "out" / "verdicts.csv").read_text(encoding="utf-8-sig").splitlines()))
    assert table[0] == ["picture", "verdict", "OK", "NG"] and [line[1] for line in table[1:]] == ["OK", "NG"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "name at least one image"),
        (("x.png", "--engine", "magic"), "invalid choice"),
        (("x.png", "--threads", "-1"), "threads"),
        (("x.png", "--self-test", "--skip-self-test"), "not allowed with"),
    ],
)
def test_wrong_arguments_end_the_program_with_one_sentence(gray_export, arguments, words, capsys):
    with pytest.raises(SystemExit) as end:
        runner.main(arguments, gray_export)
    assert end.value.code == 2 and words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("nothing here.png",), 1, "nothing here.png: there is no such file"),
        pytest.param(("x.png", "--engine", "paddle"), 1, "no network for the engine 'paddle'", marks=pytest.mark.slow),
        pytest.param((), 2, "name at least one image", marks=pytest.mark.slow),
        (("--self-test",), 0, ""),
    ],
)
def test_exit_status_and_one_sentence(gray_export, arguments, status, words):
    done = run(gray_export, *arguments)
    assert done.returncode == status, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    if status == 0:
        assert "Self-test passed" in done.stdout


def test_broken_images_only_is_a_problem_with_a_reason(gray_export, tmp_path, run_here):
    (tmp_path / "x.png").touch()
    done = run_here(gray_export, tmp_path / "x.png", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout) == {"error": "None of the images has a result: the file is empty."}


def test_a_network_without_results_is_one_sentence_with_one_period(gray_export, pictures, run_here):
    write_onnx(gray_export / "network.onnx", np.full((3, 1), np.nan), np.zeros(3))
    done = run_here(gray_export, pictures, "--skip-self-test", "--json", "--out", gray_export.parent / "out")
    why = "None of the images has a result: The network answered with numbers that are not finite."
    assert done.returncode == 1 and json.loads(done.stdout) == {"error": why}


def test_too_little_memory_is_a_sentence(gray_export):
    code = """
import hashlib, runpy, sys
def fill(*arguments):
    return bytearray(1 << 62)
hashlib.sha256 = fill
sys.argv = [sys.argv[1], "x.png"]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
    command = [sys.executable, "-c", code, str(gray_export / "predict.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("There is not enough memory.")


def test_results_that_cannot_be_written_are_reported_in_a_sentence(gray_export, pictures, tmp_path, run_here):
    (tmp_path / "taken").touch()
    done = run_here(gray_export, pictures, "--out", tmp_path / "taken")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "taken" in done.stderr.splitlines()[-1]


def test_export_as_a_module_of_another_program(gray_export, tmp_path):
    write_png(tmp_path / "p.png", spotted(np.random.default_rng(2)))
    code = f"""
import sys
sys.path.insert(0, {str(gray_export)!r})
from predict import Predictor
from inference.io.image_io import read_image
result = Predictor().predict(read_image({str(tmp_path / "p.png")!r}))
assert "workbench" not in sys.modules
print(len(result.regions), int((result.mask > 0).sum()))
"""
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    expected = Predictor.open(gray_export).predict(read_image(tmp_path / "p.png"))
    assert done.stdout.split() == [str(len(expected.regions)), str(int((expected.mask > 0).sum()))]


def test_a_missing_library_is_named_with_the_command_that_installs_it(gray_export):
    done = subprocess.run(
        [sys.executable, "-I", "-c", _BARE.replace("'workbench'", "'cv2'"), str(gray_export / "predict.py"), "x.png"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert "pip install -r" in done.stderr and "Traceback" not in done.stderr


def change_threshold(export: Path) -> None:
    settings = load_settings(export / "model.json")
    save_settings(replace(settings, thresholds=(0.51, 0.6)), export / "model.json")


def change_minimum_area(export: Path) -> None:
    settings = load_settings(export / "model.json")
    save_settings(replace(settings, min_area=(5, 0)), export / "model.json")


def remove_network(export: Path) -> None:
    next(export.rglob("*.onnx")).unlink()


def remove_golden(export: Path) -> None:
    shutil.rmtree(export / "golden")


def change_golden_mask(export: Path) -> None:
    path = export / "golden" / "1.mask.png"
    mask = read_image(path).copy()
    mask[0, 0] = 3 - mask[0, 0]
    write_png(path, mask)


def swap_channels(export: Path) -> None:
    path = export / "inference" / "io" / "image_io.py"
    text = path.read_text(encoding="utf-8")
    swapped = text.replace("cv2.COLOR_BGR2RGB", "cv2.COLOR_BGR2BGRA").replace("dst=image)", "dst=None)[:, :, :3]")
    assert swapped != text
    path.write_text(swapped, encoding="utf-8")


def change_rounding(export: Path) -> None:
    path = export / "inference" / "predictor.py"
    text = path.read_text(encoding="utf-8")
    assert "alpha=255" in text
    path.write_text(text.replace("alpha=255", "alpha=250"), encoding="utf-8")


TAMPERING = {
    "weights": (change_weights, "network.onnx has been changed"),
    "threshold": (change_threshold, "model.json has been changed"),
    "network missing": (remove_network, "network.onnx is missing"),
    "golden missing": (remove_golden, "golden/1.json is missing"),
    "golden mask": (change_golden_mask, "golden/1.mask.png has been changed"),
    "code": (change_rounding, "inference/predictor.py has been changed"),
    "code missing": (lambda export: (export / "inference" / "tiles.py").unlink(), "inference/tiles.py is missing"),
    "sums missing": (lambda export: (export / "SHA256SUMS").unlink(), "SHA256SUMS is missing"),
    "sums empty": (lambda export: (export / "SHA256SUMS").write_bytes(b""), "SHA256SUMS does not list the code"),
}
USUAL = ("weights", "network missing", "code", "sums missing", "sums empty")


@pytest.mark.parametrize(
    "what", [what if what in USUAL else pytest.param(what, marks=pytest.mark.slow) for what in TAMPERING]
)
def test_a_changed_export_refuses_to_run(gray_export, pictures, what):
    tamper, words = TAMPERING[what]
    tamper(gray_export)
    for arguments in (["--self-test"], [pictures, "--out", gray_export.parent / "out"]):
        done = run(gray_export, *arguments)
        assert done.returncode == 1, done.stdout
        assert words in done.stderr and "Traceback" not in done.stderr
    assert not (gray_export.parent / "out").exists()


def test_swapped_channels_are_detected(color_export):
    assert run(color_export, "--self-test").returncode == 0
    swap_channels(color_export)
    write_checks(color_export)
    done = run(color_export, "--self-test")
    assert done.returncode == 1 and "the network's scores differ" in done.stderr


def test_changed_rounding_is_detected_by_the_golden_images(gray_export):
    change_rounding(gray_export)
    write_checks(gray_export)
    done = run(gray_export, "--self-test")
    assert done.returncode == 1 and "the network's scores differ" in done.stderr


@pytest.mark.parametrize("text", ["def broken(:\n", "raise KeyError('x')\n", "import os\0\n"])
def test_damaged_code_is_named_and_not_imported(gray_export, pictures, text):
    (gray_export / "inference" / "batch" / "runner.py").write_text(text, encoding="utf-8")
    done = run(gray_export, pictures, "--out", gray_export.parent / "out", "--json")
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert "inference/batch/runner.py has been changed" in done.stderr
    assert json.loads(done.stdout) == {"error": done.stderr.strip()}
    skipped = run(gray_export, pictures, "--skip-self-test", "--out", gray_export.parent / "out")
    assert skipped.returncode == 1 and "Unexpected: " in skipped.stderr and "Traceback" not in skipped.stderr


def test_damaged_code_is_refused_in_another_program(gray_export):
    change_rounding(gray_export)
    code = f"import sys; sys.path.insert(0, {str(gray_export)!r}); from predict import Predictor; Predictor()"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, encoding="utf-8", timeout=60)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ImportError: This export is damaged: inference/predictor.py")


def test_skipping_the_self_test_runs_a_changed_export(gray_export, pictures):
    change_threshold(gray_export)
    done = run(gray_export, pictures, "--skip-self-test", "--out", gray_export.parent / "out")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("tamper", [change_weights, change_threshold, change_minimum_area, change_golden_mask])
def test_new_checksums_do_not_hide_a_change_from_the_golden_images(gray_export, tamper):
    tamper(gray_export)
    write_checks(gray_export)
    assert verify_checks(gray_export) == []
    assert self_test(gray_export, Predictor.open(gray_export))


def test_other_weights_are_detected_for_verdicts(verdict_export):
    assert self_test(verdict_export, Predictor.open(verdict_export)) == []
    change_weights(verdict_export)
    assert "probability differs" in self_test(verdict_export, Predictor.open(verdict_export))[0]


def test_quick_examines_the_smallest_golden_image_only(gray_export):
    predictor = Predictor.open(gray_export)
    assert self_test(gray_export, predictor) == self_test(gray_export, predictor, quick=True) == []
    (gray_export / "golden" / "1.png").write_bytes(b"")
    assert self_test(gray_export, predictor, quick=True) == []
    assert "cannot be read" in self_test(gray_export, predictor)[0]


def test_self_test_accepts_the_rounding_of_another_cpu_only(gray_export):
    predictor = Predictor.open(gray_export)
    assert self_test(gray_export, Predictor(predictor.settings, Jittery(predictor.engine, 3e-6))) == []
    for size in (1e-3, 1e-2):
        assert self_test(gray_export, Predictor(predictor.settings, Jittery(predictor.engine, size)))


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 9}', '{"format": 1, "settings": "", "pictures": []}'])
def test_damaged_golden_lists_are_reported(gray_export, content):
    predictor = Predictor.open(gray_export)
    (gray_export / "golden" / "golden.json").write_text(content, encoding="utf-8")
    assert self_test(gray_export, predictor)
    (gray_export / "checks.json").write_text(content, encoding="utf-8")
    assert verify_checks(gray_export)


def test_files_outside_the_export_are_not_examined(gray_export):
    for name in ("checks.json", "golden/golden.json"):
        path = gray_export / name
        text = path.read_text(encoding="utf-8").replace('"1.png"', '"../../1.png"')
        path.write_text(text.replace('"golden/1.png"', '"../1.png"'), encoding="utf-8")
    assert any("outside the folder" in problem for problem in verify_checks(gray_export))
    assert "cannot be read" in self_test(gray_export, Predictor.open(gray_export))[0]


def test_an_export_contains_sources_of_the_package_only(gray_export):
    package = Path(sys.modules["workbench.inference"].__file__).parent
    ours = {path.relative_to(package) for path in package.rglob("*.py")}
    theirs = {path.relative_to(gray_export / "inference") for path in (gray_export / "inference").rglob("*")}
    assert {path for path in theirs if path.suffix} == ours
    requirements = (gray_export / "requirements.txt").read_text(encoding="utf-8")
    assert {line.split(">")[0] for line in requirements.splitlines() if line[0] != "#"} == {
        *("numpy", "opencv-python-headless", "onnxruntime"),
    }


_PADDLE = """
import json, sys
import numpy as np
from pathlib import Path
from workbench.inference.engines import load_engine
from workbench.inference.engines.paddle_engine import import_paddle_inference
from workbench.inference.io.file_access import ascii_folder
import_paddle_inference()
import paddle
from paddle.static import InputSpec
folder = Path(sys.argv[1])
(folder / "paddle").mkdir()
kernel, bias = np.load(folder / "kernel.npy"), np.load(folder / "bias.npy")
conv = paddle.nn.Conv2D(1, len(bias), 1)
conv.weight.set_value(kernel.astype("float32").reshape(-1, 1, 1, 1))
conv.bias.set_value(bias.astype("float32"))
net = paddle.nn.Sequential(conv, paddle.nn.Softmax(axis=1))
net.eval()
with ascii_folder(folder / "paddle") as place:
    paddle.jit.save(net, str(place / "network"), input_spec=[InputSpec([None, 1, None, None])])
from dataclasses import replace
from workbench.inference.batch.export_package import self_test
from workbench.inference.predictor import Predictor
from workbench.inference.model_settings import load_settings
settings = load_settings(folder / "model.json")
for_paddle = replace(settings, files={"paddle": "paddle/network.json"})
predictor = Predictor(settings, load_engine("paddle", folder, for_paddle, 1))
print(json.dumps([predictor.engine.name, predictor.engine.device, self_test(folder, predictor)]))
"""


def test_paddle_inference_passes_the_golden_images_of_onnx(gray_export):
    if find_spec("paddle") is None:
        pytest.skip("Paddle is not installed")
    np.save(gray_export / "kernel.npy", GRAY_WEIGHTS)
    np.save(gray_export / "bias.npy", GRAY_BIAS)
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [sys.executable, "-c", _PADDLE, str(gray_export)],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    name, device, problems = json.loads(done.stdout.splitlines()[-1])
    assert (name, problems) == ("paddle", []) and device in ("cpu", "cuda")
