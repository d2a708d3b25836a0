"""`predict --watch` with result outputs as a process: normal operation, failing receivers, kill and restart."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cli.sinks.conftest import wait_until
from tests.inference.conftest import gray_export, spotted
from workbench.inference.batch.input_paths import collect_images
from workbench.inference.batch.results_folder import ResultsFolder
from workbench.inference.io.image_io import write_png
from workbench.inference.predictor import Predictor

__all__ = ["gray_export"]

ROOT = Path(__file__).resolve().parents[3]
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="a test cannot press Ctrl-C there without ending itself")


@pytest.fixture
def images(tmp_path) -> Path:
    """Folder with images 0 to 3, of which the first has no defect, and one that is damaged."""
    rng = np.random.default_rng(6)
    write_png(tmp_path / "in" / "0.png", np.full((60, 80), 128, np.uint8))
    for number in range(1, 4):
        write_png(tmp_path / "in" / f"{number}.png", spotted(rng, 60, 80))
    return tmp_path / "in"


@pytest.fixture
def watch(gray_export, images, tmp_path):
    """Return a function that starts `predict --watch` with these options."""
    started = []

    def start(*options) -> subprocess.Popen:
        command = [sys.executable, "-m", "workbench", "predict", gray_export, images, "--out", tmp_path / "out"]
        process = subprocess.Popen(
            [*map(str, command), "--watch", "--json", *map(str, options)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def interrupt(process) -> tuple[dict, str]:
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 0 and "Traceback" not in error, error
    return json.loads(out.splitlines()[-1]), error


@POSIX
def test_every_image_reaches_every_output(watch, images, tmp_path, http_receiver, tcp_receiver):
    web, line = http_receiver(), tcp_receiver()
    (images / "lot").mkdir()
    write_png(images / "lot" / "0.png", np.full((30, 30), 250, np.uint8))
    process = watch(
        *("--webhook", web.url, "--tcp", f"127.0.0.1:{line.port}", "--log-csv", tmp_path / "log.csv"),
        *("--log-jsonl", tmp_path / "log.jsonl", "--marker", tmp_path / "markers"),
    )
    wait_until(lambda: len(web.accepted) == len(line.lines) == 5 == len(list((tmp_path / "markers").rglob("*.??"))))
    ending, _ = interrupt(process)
    count = {"sent": 5, "failures": 0, "dropped": 0, "unsent": 0}
    assert ending["sinks"] == dict.fromkeys(("webhook", "tcp", "log-csv", "log-jsonl", "marker"), count)
    markers = {path.relative_to(tmp_path / "markers").as_posix() for path in (tmp_path / "markers").rglob("*.??")}
    masks = {
        path.relative_to(tmp_path / "out" / "masks").as_posix() for path in (tmp_path / "out").rglob("masks/**/*.png")
    }
    assert {name.rpartition(".")[0] for name in markers} == {name.rpartition(".")[0] for name in masks}
    assert {name for name in markers if name.endswith("OK")} == {"0.OK"}
    rows = (tmp_path / "out" / "results.jsonl").read_text("utf-8").splitlines()[1:]
    regions = {Path(entry["path"]): entry["regions"] for entry in map(json.loads, rows)}
    assert {Path(entry["path"]): entry["regions"] for entry in web.accepted} == regions
    assert sorted(web.names) == sorted(entry["name"] for entry in line.lines)
    assert len((tmp_path / "log.csv").read_bytes().splitlines()) == 6
    assert len((tmp_path / "log.jsonl").read_bytes().splitlines()) == 5


@POSIX
def test_failing_receivers_do_not_stop_the_prediction_and_get_the_results_later(
    watch, images, tmp_path, http_receiver, tcp_receiver
):
    web = http_receiver()
    web.answers = [503] * 1000
    port = tcp_receiver().port
    (tmp_path / "blocked").write_bytes(b"a file where the folder of markers should be")
    options = ["--webhook", web.url, "--tcp", f"127.0.0.1:{port}", "--marker", tmp_path / "blocked"]
    process = watch(*options, "--sink-queue", "1")
    lines = [json.loads(process.stdout.readline()) for _ in range(4)]
    wait_until(lambda: web.received)
    ending, error = interrupt(process)
    assert len(lines) == 4 and ending["pictures"] == 4
    assert ending["sinks"]["webhook"]["unsent"] == 4 and ending["sinks"]["webhook"]["failures"] >= 1
    assert ending["sinks"]["marker"]["unsent"] == 4 and ending["sinks"]["marker"]["failures"] >= 1
    assert ending["sinks"]["tcp"]["sent"] == 4
    assert "webhook: no result can be sent, because the receiver answers 503." in error
    assert "4 not sent yet, which are kept for the next start" in error
    web.answers.clear()
    (tmp_path / "blocked").unlink()
    process = watch(*options)
    wait_until(lambda: len(web.accepted) == 4 == len(list((tmp_path / "blocked").glob("*.??"))))
    ending, error = interrupt(process)
    assert ending["pictures"] == 0 and ending["sinks"]["webhook"] == {
        "sent": 4,
        "failures": 0,
        "dropped": 0,
        "unsent": 0,
    }
    assert "webhook: 4 results of an earlier start are sent now." in error


def test_no_result_is_lost_by_a_kill(watch, images, tmp_path, http_receiver):
    web = http_receiver()
    web.gate.clear()  # results are predicted, and the first one is being sent
    process = watch("--webhook", web.url, "--marker", tmp_path / "markers")
    for _ in range(2):
        process.stdout.readline()
    wait_until(lambda: web.received)
    process.kill()
    process.communicate()
    assert not web.accepted
    web.answers = [500]  # for the request of the killed process
    web.gate.set()
    wait_until(lambda: not web.answers)
    process = watch("--webhook", web.url, "--marker", tmp_path / "markers")
    wait_until(lambda: set(web.names) == {"0", "1", "2", "3"})
    wait_until(lambda: len(list((tmp_path / "markers").glob("*.??"))) == 4)
    process.kill()
    process.communicate()
    ids = {entry["id"] for entry in web.accepted}
    assert len(ids) == 4  # a repetition can be detected by its id


def test_image_whose_record_was_not_stored_is_predicted_again(gray_export, images, tmp_path):
    """An image counts as processed only after the outputs have accepted it, also one that cannot be read."""
    (images / "4.png").write_bytes(b"\x89PNG damaged")
    predictor, out = Predictor.open(gray_export), tmp_path / "out"
    sources, _ = collect_images([images])
    full = True
    accepted = []

    def on_entry(path, state, name, entry):
        if full:
            raise OSError(28, "no space")
        accepted.append((Path(path).name, name, "why" in entry))

    with ResultsFolder(out, predictor, live=True, on_entry=on_entry) as results:
        for source in sources:
            with pytest.raises(OSError, match="no space"):
                results.predict_file(source)
            assert not results.is_done(source.path)
        full = False
        for source in sources:
            results.predict_file(source)
            assert results.is_done(source.path)
    assert accepted == [(f"{number}.png", str(number), number == 4) for number in range(5)]
