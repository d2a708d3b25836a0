"""Folder of results that is stopped, killed and continued: every image has its results exactly once."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.inference.batch.exported_runs import _BARE
from tests.inference.conftest import BRIGHT, DARK, gray_export, spotted
from workbench.inference.batch import runner
from workbench.inference.batch.export_package import self_test, write_checks, write_reference_results
from workbench.inference.batch.input_paths import collect_images
from workbench.inference.batch.results_folder import ResultsFolder, predict_all
from workbench.inference.batch.results_log import RESULTS_LOG_FILE, ResultsLogError, model_fingerprint
from workbench.inference.io.image_io import encode_png, read_image, write_png
from workbench.inference.model_settings import load_settings, save_settings
from workbench.inference.predictor import PredictionCancelled, Predictor
from workbench.inference.region_table import RegionLimit
from workbench.inference.verdict_rule import VerdictRule, area_text

PATIENCE = 60


def start(export: Path, *arguments: object) -> subprocess.Popen[str]:
    """Start the program of the export, without the workbench and Paddle."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [sys.executable, "-I", "-c", _BARE, str(export / "predict.py"), *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, encoding="utf-8", cwd=export.parent
    )


def wait_for(true, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + PATIENCE
    while not true():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until, "it never came to hold"
        time.sleep(0.005)


def lines(out: Path) -> list[dict]:
    try:
        text = (out / RESULTS_LOG_FILE).read_bytes()
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in text.split(b"\n")[:-1]][1:]


@pytest.fixture
def many(tmp_path) -> Path:
    folder = tmp_path / "many"
    rng = np.random.default_rng(4)
    for number in range(30):
        write_png(folder / f"{number:02}.png", spotted(rng, 90, 120))
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    return folder


def check_all_once(export: Path, folder: Path, out: Path, report: dict) -> None:
    """Check that all results of an uninterrupted run exist, and none twice."""
    predictor = Predictor.open(export)
    images = sorted(path for path in folder.iterdir() if path.name != "broken.png")
    assert sorted(Path(entry["path"]) for entry in report["pictures"]) == images
    assert [Path(entry["path"]).name for entry in report["skipped"]] == ["broken.png"]
    expected = {}
    for path in images:
        result = predictor.predict(read_image(path))
        expected[path] = result.mask
        assert (read_image(out / "masks" / f"{path.stem}.png") == result.mask).all()
        assert (out / "overlays" / f"{path.stem}.png").is_file()
    with (out / "regions.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = [(row["picture"], row["x"], row["y"], row["class_id"]) for row in csv.DictReader(file)]
    assert len(rows) == len(set(rows)) == sum(len(entry["regions"]) for entry in report["pictures"]) > 0
    stored = json.loads((out / "results.json").read_text("utf-8"))
    assert [entry["path"] for entry in stored["pictures"]] == [entry["path"] for entry in report["pictures"]]
    assert not list(out.rglob(".*.tmp"))


def test_killed_prediction_continues(gray_export, many, tmp_path):
    out = tmp_path / "out"
    for least in (3, 11):
        process = start(gray_export, many, "--out", out, "--continue")
        wait_for(lambda least=least: len(lines(out)) >= least, process)
        process.kill()
        process.communicate()
    done = lines(out)
    assert 11 <= len(done) < 31
    stamps = {path: path.stat().st_mtime_ns for path in (out / "masks").glob("[!.]*.png")}
    (out / "masks" / ".0123456789abcdef.tmp").write_bytes(b"a write that was cut off")
    with (out / RESULTS_LOG_FILE).open("ab") as file:
        file.write(b'{"path": "cut off in the mid')
    process = start(gray_export, many, "--out", out, "--continue", "--json")
    message, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, error
    check_all_once(gray_export, many, out, json.loads(message))
    untouched = {Path(entry["mask"]).name for entry in done if entry["name"]}
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in stamps.items() if path.name in untouched)


@pytest.mark.skipif(sys.platform == "win32", reason="a test cannot press Ctrl-C there without ending itself")
def test_interrupt_finishes_the_current_image(gray_export, many, tmp_path):
    out = tmp_path / "out"
    process = start(gray_export, many, "--out", out, "--json")
    wait_for(lambda: len(lines(out)) >= 2, process)
    process.send_signal(signal.SIGINT)
    message, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1 and "--continue" in json.loads(message)["error"] and "Traceback" not in error
    stored = json.loads((out / "results.json").read_text("utf-8"))
    assert 2 <= len(stored["pictures"]) < 30 and len(stored["pictures"]) == len(lines(out))
    again = start(gray_export, many, "--out", out, "--json", "--continue")
    message, error = again.communicate(timeout=PATIENCE)
    assert again.returncode == 0, error
    check_all_once(gray_export, many, out, json.loads(message))


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_progress_bar_on_a_terminal(gray_export, many, tmp_path):
    import pty

    terminal, theirs = pty.openpty()
    command = [sys.executable, str(gray_export / "predict.py"), str(many), "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        message = b""
        while True:
            try:
                part = os.read(terminal, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            message += part
    os.close(terminal)
    text = message.decode()
    assert process.returncode == 0 and "[########################] 31/31, 0:00 left" in text
    assert "broken.png: skipped, " in text and "30 images, 1 skipped" in text


def test_results_of_another_model_are_not_mixed_in(gray_export, color_export, many, tmp_path):
    sources, _ = collect_images([many])
    with ResultsFolder(tmp_path / "o", Predictor.open(gray_export), fingerprint=model_fingerprint(gray_export)) as one:
        assert predict_all(one, sources[:2])
        with pytest.raises(ResultsLogError, match="Another program"):
            ResultsFolder(tmp_path / "o", one.predictor, resume=True)
    network = color_export / "network.onnx"
    network.write_bytes(network.read_bytes() + b"\0")
    with pytest.raises(ResultsLogError, match="another model, spots"):
        ResultsFolder(
            tmp_path / "o", Predictor.open(gray_export), fingerprint=model_fingerprint(color_export), resume=True
        )
    with ResultsFolder(tmp_path / "o", Predictor.open(gray_export)) as fresh:  # without resume it starts over
        assert fresh.report()["pictures"] == []


def test_changed_removed_and_skipped_images_are_predicted_again(gray_export, many, tmp_path):
    out, predictor, analyzed = tmp_path / "o", Predictor.open(gray_export), []
    sources, _ = collect_images([many])

    def continue_prediction() -> list[str]:
        analyzed.clear()
        with ResultsFolder(out, predictor, resume=True) as folder:
            note = lambda number, total, path, *_: analyzed.append(Path(path).name)  # noqa: E731
            assert predict_all(folder, sources[:4] + sources[-1:], on_image=note)
            return sorted(Path(entry["path"]).name for entry in folder.report()["pictures"])

    assert continue_prediction() == ["00.png", "01.png", "02.png", "03.png"] and len(analyzed) == 5
    continue_prediction()
    assert analyzed == ["broken.png"]
    write_png(many / "01.png", np.full((40, 40), 128, np.uint8))
    (out / "masks" / "03.png").unlink()
    write_png(many / "broken.png", np.full((40, 40), 25, np.uint8))
    assert len(continue_prediction()) == 5 and analyzed == ["01.png", "03.png", "broken.png"]
    assert read_image(out / "masks" / "01.png").shape == (40, 40)


def test_image_canceled_halfway_has_no_results(gray_export, many, tmp_path):
    sources, _ = collect_images([many])
    with ResultsFolder(tmp_path / "o", Predictor.open(gray_export)) as folder:
        with pytest.raises(PredictionCancelled):
            folder.predict_file(sources[0], cancelled=lambda: True)
        assert not folder.is_done(sources[0].path) and folder.report()["pictures"] == []


def drop(folder: Path, name: str, data: bytes, pieces: int = 1, pause: float = 0.0) -> None:
    """Write a file slowly, in pieces."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("wb") as file:
        step = -(-len(data) // pieces)
        for at in range(0, len(data), step):
            file.write(data[at : at + step])
            file.flush()
            time.sleep(pause)


@pytest.mark.skipif(sys.platform == "win32", reason="a test cannot press Ctrl-C there without ending itself")
def test_images_written_to_a_watched_folder_are_predicted_once(gray_export, tmp_path):
    folder, out = tmp_path / "线 drop", tmp_path / "out"
    folder.mkdir()
    rng = np.random.default_rng(1)
    images = {f"{n}.png": spotted(rng, 60, 70) for n in range(9)}
    data = {name: bytes(encode_png(image)) for name, image in images.items()}
    arguments = (folder, "--out", out, "--watch", "--json", "--skip-self-test")

    first = start(gray_export, *arguments)
    drop(folder, "0.png", data["0.png"])
    drop(folder, "1.png", data["1.png"], pieces=4, pause=0.5)  # two seconds, incomplete at every scan
    for name in ("2.png", "3.png"):
        drop(folder, name, data[name])
    wait_for(lambda: len(lines(out)) >= 4, first)
    assert {Path(entry["path"]).name for entry in lines(out)} == {"0.png", "1.png", "2.png", "3.png"}
    assert all("why" not in entry for entry in lines(out))
    first.kill()
    first.communicate()

    drop(folder, "4.png", data["4.png"])  # between two runs
    second = start(gray_export, *arguments)
    drop(folder / "sub", "0.png", data["5.png"])
    wait_for(lambda: len(lines(out)) >= 6, second)

    def in_table() -> list[str]:
        with (out / "regions.csv").open(encoding="utf-8-sig", newline="") as file:
            return [row["picture"] for row in csv.DictReader(file)]

    # the program is still running
    wait_for(lambda: len(in_table()) == sum(len(entry["regions"]) for entry in lines(out)), second)
    second.send_signal(signal.SIGINT)
    message, error = second.communicate(timeout=PATIENCE)
    assert second.returncode == 0 and "Traceback" not in error
    received = [json.loads(line) for line in message.splitlines()]
    assert [Path(entry["path"]).name for entry in received[:-1]] == ["4.png", "0.png"]
    assert received[-1] == {"stopped": True, "pictures": 2, "skipped": 0}
    done = [entry["path"] for entry in lines(out)]
    assert len(done) == len(set(done)) == 6
    predictor = Predictor.open(gray_export)
    for entry in lines(out):
        mask = predictor.predict(read_image(entry["path"])).mask
        assert (read_image(out / entry["mask"]) == mask).all()
    assert len(json.loads((out / "results.json").read_text("utf-8"))["pictures"]) == 6


__all__ = ["gray_export"]


@pytest.fixture
def images(tmp_path):
    """Folder with a defective image and one without any region."""
    folder = tmp_path / "in"
    write_png(folder / "bad.png", spotted(np.random.default_rng(2)))
    write_png(folder / "good.png", np.full((60, 80), 128, np.uint8))
    return folder


def use_rule(export, rule):
    save_settings(replace(load_settings(export / "model.json"), verdict_rule=rule), export / "model.json")
    sources = sorted(export.parent.glob("golden source*.png"))
    write_reference_results(export, Predictor.open(export), [(path.stem, path) for path in sources])
    write_checks(export)


def run(export, images, out, *options, capsys):
    capsys.readouterr()
    assert runner.main([str(images), "--out", str(out), "--json", *options], export) == 0
    return {entry["path"].rpartition("/")[2]: entry for entry in json.loads(capsys.readouterr().out)["pictures"]}


def table(path):
    return list(csv.DictReader(path.read_text("utf-8-sig").splitlines()))


def test_results_hold_verdict_score_and_reason(gray_export, images, tmp_path, capsys):
    plain = run(gray_export, images, tmp_path / "plain", capsys=capsys)
    assert plain["bad.png"]["verdict"] is None and plain["bad.png"]["verdict_reason"] is None
    assert plain["bad.png"]["anomaly_score"] > 100 and plain["good.png"]["anomaly_score"] == 0
    assert not (tmp_path / "plain" / "verdicts.csv").exists()
    use_rule(gray_export, VerdictRule("mass", 100))
    found = run(gray_export, images, tmp_path / "out", "--self-test", capsys=capsys)
    assert {name: entry["verdict"] for name, entry in found.items()} == {"bad.png": "NG", "good.png": "OK"}
    reason = found["bad.png"]["verdict_reason"]
    assert reason["anomaly_score"] == found["bad.png"]["anomaly_score"] and reason["threshold"] == 100
    heaviest = max(found["bad.png"]["regions"], key=lambda region: region["area"] * region["score"])
    assert {key: heaviest[key] for key in ("x", "y", "area", "class_id")}.items() <= reason["region"].items()
    bad, good = table(tmp_path / "out" / "verdicts.csv")
    assert (bad["verdict"], good["verdict"], good["regions"]) == ("NG", "OK", "0")
    assert bad["reason"].startswith("anomaly score") and len(table(tmp_path / "out" / "regions.csv")) > 1
    stored = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))["pictures"]
    assert stored[0]["verdict_reason"] == reason


def test_unsure_images_are_the_same_in_every_result(gray_export, images, tmp_path, capsys):
    """Self-test, table, terminal line and summary of an export with two thresholds."""
    score = Predictor.open(gray_export).predict(read_image(images / "bad.png")).anomaly_score
    use_rule(gray_export, VerdictRule("mass", score + 10, unsure=score - 10))
    found = run(gray_export, images, tmp_path / "out", "--self-test", capsys=capsys)
    assert {name: entry["verdict"] for name, entry in found.items()} == {"bad.png": "unsure", "good.png": "OK"}
    assert found["bad.png"]["verdict_reason"]["unsure"] == score - 10
    assert table(tmp_path / "out" / "verdicts.csv")[0]["verdict"] == "unsure"
    assert runner.main([str(images), "--out", str(tmp_path / "again")], gray_export) == 0
    printed = capsys.readouterr()
    assert "unsure" in printed.err and "but not rejected" in printed.err
    largest = max(found["bad.png"]["regions"], key=lambda region: region["area"])
    assert printed.out.startswith(f"unsure 1 of 2, largest {area_text(largest)}, {largest['class_name']}; ")


def test_summary_without_a_rule_states_what_counts_as_ng(gray_export, images, tmp_path, capsys):
    assert runner.main([str(images), "--out", str(tmp_path / "out")], gray_export) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("NG 1 of 2, ") and "(without a verdict rule, an image with a region is NG); " in printed


def test_class_as_verdict_and_terminal_line(gray_export, images, tmp_path, capsys):
    limits = (RegionLimit(BRIGHT.id, area=10), RegionLimit(DARK.id, probability=1.0))
    use_rule(gray_export, VerdictRule("region", limits=limits, bad=""))
    assert runner.main([str(images), "--out", str(tmp_path / "out")], gray_export) == 0
    lines = capsys.readouterr().err
    assert "bad.png: 亮点, " in lines and "good.png: OK, 0 regions (no region reaches its limit)" in lines


def test_continued_results_keep_their_verdicts(gray_export, images, tmp_path, capsys):
    use_rule(gray_export, VerdictRule("mass", 100))
    first = run(gray_export, images, tmp_path / "out", capsys=capsys)
    write_png(images / "new.png", np.full((60, 80), 128, np.uint8))
    second = run(gray_export, images, tmp_path / "out", "--continue", capsys=capsys)
    assert second["new.png"]["verdict"] == "OK" and second["bad.png"] == first["bad.png"]
    log = tmp_path / "out" / "results.jsonl"
    log.write_text(log.read_text("utf-8").replace('"verdict": "NG"', '"verdict": null'), "utf-8")
    third = run(gray_export, images, tmp_path / "out", "--continue", capsys=capsys)
    assert third["bad.png"]["verdict"] == "NG"  # a line without the verdict is damaged, and its image predicted again


def test_self_test_notices_another_verdict(gray_export):
    use_rule(gray_export, VerdictRule("mass", 100))
    predictor = Predictor.open(gray_export)
    assert self_test(gray_export, predictor) == []
    path = gray_export / "golden" / "1.json"
    expected = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**expected, "verdict": "OK"}), "utf-8")
    assert any("the verdict is NG, not OK" in problem for problem in self_test(gray_export, predictor))
