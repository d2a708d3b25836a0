"""`predict --watch` with result outputs: normal operation, failing receivers, kill and restart."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.cli.sinks.conftest import wait_until
from tests.inference.conftest import gray_export, limited_export, spotted
from workbench import cli
from workbench.cli import predict
from workbench.inference.batch import folder_watch
from workbench.inference.batch.input_paths import collect_images
from workbench.inference.batch.interrupts import GracefulInterrupt
from workbench.inference.batch.results_folder import ResultsFolder
from workbench.inference.io.image_io import write_png
from workbench.inference.predictor import Predictor

__all__ = ["gray_export", "limited_export"]

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def images(tmp_path) -> Path:
    """Folder with images 0 to 3, of which the first has no defect."""
    rng = np.random.default_rng(6)
    write_png(tmp_path / "in" / "0.png", np.full((60, 80), 128, np.uint8))
    for number in range(1, 4):
        write_png(tmp_path / "in" / f"{number}.png", spotted(rng, 60, 80))
    return tmp_path / "in"


@pytest.fixture
def arguments(gray_export, images, tmp_path) -> list[str]:
    """Arguments of `predict --watch`."""
    paths = [gray_export, images, "--out", tmp_path / "out"]
    return ["predict", *map(str, paths), "--watch", "--json"]


@pytest.fixture
def watch(arguments, monkeypatch, capsys):
    """Return a function that runs `predict --watch` with more options until a condition holds.

    It returns the JSON object of the end and the text on stderr.
    """

    def run(*options, until):
        stop = GracefulInterrupt()

        def wait() -> None:
            try:
                wait_until(until)
            finally:
                stop.request()

        monkeypatch.setattr(predict, "handle_interrupts", lambda on_first: contextlib.nullcontext(stop))
        monkeypatch.setattr(predict, "watch", partial(folder_watch.watch, interval=0.02, unchanged_seconds=0.02))
        with ThreadPoolExecutor(1) as pool:
            condition = pool.submit(wait)
            status = cli.main([*arguments, *map(str, options)])
            condition.result()
        text = capsys.readouterr()
        assert status == 0, text
        return json.loads(text.out.splitlines()[-1]), text.err

    return run


def test_every_image_reaches_every_output(watch, images, tmp_path, http_receiver, tcp_receiver):
    web, line = http_receiver(), tcp_receiver()
    (images / "lot").mkdir()
    write_png(images / "lot" / "0.png", np.full((30, 30), 250, np.uint8))
    ending, _ = watch(
        *("--webhook", web.url, "--tcp", f"127.0.0.1:{line.port}", "--log-csv", tmp_path / "log.csv"),
        *("--log-jsonl", tmp_path / "log.jsonl", "--marker", tmp_path / "markers"),
        until=lambda: len(web.accepted) == len(line.lines) == 5,
    )
    count = {"sent": 5, "failures": 0, "dropped": 0, "unsent": 0}
    assert ending["sinks"] == dict.fromkeys(("webhook", "tcp", "log-csv", "log-jsonl", "marker"), count)
    markers = {path.relative_to(tmp_path / "markers").as_posix() for path in (tmp_path / "markers").rglob("*.??")}
    found = (tmp_path / "out" / "masks").rglob("*.png")
    masks = {path.relative_to(tmp_path / "out" / "masks").as_posix() for path in found}
    assert {name.rpartition(".")[0] for name in markers} == {name.rpartition(".")[0] for name in masks}
    assert {name for name in markers if name.endswith("OK")} == {"0.OK"}
    rows = (tmp_path / "out" / "results.jsonl").read_text("utf-8").splitlines()[1:]
    regions = {entry["path"]: entry["regions"] for entry in map(json.loads, rows)}
    assert {entry["path"]: entry["regions"] for entry in web.accepted} == regions
    assert sorted(web.names) == sorted(entry["name"] for entry in line.lines)
    assert len((tmp_path / "log.csv").read_bytes().splitlines()) == 6
    assert len((tmp_path / "log.jsonl").read_bytes().splitlines()) == 5


def test_unlike_images_are_errors_for_the_line(limited_export, images, watch, arguments, tmp_path):
    arguments[1] = str(limited_export)  # the first image is flat
    write_png(images / "1.png", np.random.default_rng(6).normal(128, 15, (150, 230)).astype(np.uint8))
    markers = tmp_path / "markers"
    watch("--marker", markers, "--log-csv", tmp_path / "log.csv", until=lambda: len(list(markers.glob("?.*"))) == 4)
    assert {path.name for path in markers.iterdir()} == {"0.ERROR", "1.OK", "2.NG", "3.NG"}
    assert b",ERROR,unsure,0," in (tmp_path / "log.csv").read_bytes()
    assert b"every pixel has the value 128" in (tmp_path / "log.csv").read_bytes()


def test_failing_receivers_do_not_stop_the_prediction_and_get_the_results_later(watch, images, tmp_path, http_receiver):
    web = http_receiver()
    web.answers = [503] * 1000
    blocked, ledger = tmp_path / "blocked", tmp_path / "out" / "results.jsonl"
    blocked.write_bytes(b"a file where the folder of markers should be")
    options = ["--webhook", web.url, "--marker", blocked]
    ending, error = watch(
        *(*options, "--sink-queue", "1"),
        until=lambda: web.received and ledger.is_file() and len(ledger.read_bytes().splitlines()) == 5,
    )
    assert ending["pictures"] == 4
    for name in ("webhook", "marker"):
        assert ending["sinks"][name]["failures"] >= 1
        assert (ending["sinks"][name]["sent"], ending["sinks"][name]["unsent"]) == (0, 4)
    assert "webhook: no result can be sent, because the receiver answers 503." in error
    assert "4 not sent yet, which are kept for the next start" in error
    web.answers.clear()
    blocked.unlink()
    ending, error = watch(*options, until=lambda: len(web.accepted) == 4 == len(list(blocked.glob("*.??"))))
    assert ending["pictures"] == 0
    assert ending["sinks"]["webhook"] == {"sent": 4, "failures": 0, "dropped": 0, "unsent": 0}
    assert "webhook: Results of an earlier start are sent now: 4." in error


def test_no_result_is_lost_by_a_kill(watch, arguments, tmp_path, http_receiver):
    web = http_receiver()
    web.gate.clear()  # images are predicted while the first result is being sent
    options = ["--webhook", web.url, "--marker", str(tmp_path / "markers")]
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", *arguments, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
    )
    with process:
        for _ in range(2):
            process.stdout.readline()
        wait_until(lambda: web.received)
        process.kill()
    assert not web.accepted
    web.answers = [500]  # for the request of the killed process
    web.gate.set()
    wait_until(lambda: not web.answers)
    names = {"0", "1", "2", "3"}
    watch(*options, until=lambda: set(web.names) == names == {path.stem for path in tmp_path.glob("markers/*.??")})
    assert len({entry["id"] for entry in web.accepted}) == 4  # a repetition can be detected by its id


def test_image_whose_record_was_not_stored_is_predicted_again(gray_export, images, tmp_path):
    """An image counts as processed only after the outputs have accepted it, also one that cannot be read."""
    (images / "4.png").write_bytes(b"\x89PNG damaged")
    predictor, out = Predictor.open(gray_export), tmp_path / "out"
    sources, _ = collect_images([images])
    accepted = []

    def refuse(path, state, name, entry):
        raise OSError(28, "no space")

    with ResultsFolder(out, predictor, live=True, on_entry=refuse) as results:
        for source in sources:
            with pytest.raises(OSError, match="no space"):
                results.predict_file(source)
            assert not results.is_done(source.path)

    def accept(path, state, name, entry):
        assert not results.is_done(path)
        accepted.append((Path(path).name, name, "why" in entry))

    with ResultsFolder(out, predictor, live=True, resume=True, on_entry=accept) as results:
        for source in sources:
            results.predict_file(source)
            assert results.is_done(source.path)
    assert accepted == [(f"{number}.png", str(number), number == 4) for number in range(5)]
