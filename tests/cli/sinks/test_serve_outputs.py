"""`serve` with result outputs: answers never wait for them; their counts are in /metrics and at the end."""

from __future__ import annotations

import asyncio
import json

import httpx
import numpy as np

from tests.cli.serving.conftest import png, server
from tests.cli.sinks.conftest import wait_until
from tests.inference.conftest import gray_export, verdict_export
from workbench import cli
from workbench.cli.serving.http_app import create_application
from workbench.cli.serving.request_handler import RequestHandler
from workbench.cli.serving.responses import WIDTH, Counters, Limits
from workbench.cli.sinks.result_outputs import ServeOutputs, SinkPlan
from workbench.cli.sinks.sink_base import Counts
from workbench.cli.sinks.webhook import Webhook
from workbench.inference.predictor import Predictor

__all__ = ["gray_export", "server", "verdict_export"]

GOOD, BAD = np.full((30, 40), 128, np.uint8), np.full((30, 40), 250, np.uint8)


def post(running, image, name=None):
    content = image if isinstance(image, bytes) else png(image)
    parameters = {"name": name} if name else {}
    return httpx.post(
        f"{running.url}/predict", content=content, params=parameters, headers=running.headers, timeout=500
    )


def test_results_of_two_processes_reach_the_outputs_and_are_counted(server, gray_export, tmp_path, http_receiver):
    web = http_receiver()
    options = ["--webhook", web.url, "--marker", tmp_path / "markers", "--log-csv", tmp_path / "log.csv"]
    running = server(gray_export, *map(str, options), "--spool", str(tmp_path / "spool"), "--workers", "2")
    for number in range(6):
        assert post(running, (GOOD, BAD)[number % 2], f"lot/{number}").status_code == 200
    assert post(running, b"no image", "6").status_code == 422
    assert post(running, GOOD, "../7").status_code == 422  # refused, therefore no result
    running.wait_for(lambda: running.metric('workbench_sink_sent_total{sink="webhook"}') == 7)
    running.wait_for(lambda: running.metric('workbench_sink_sent_total{sink="marker"}') == 7)
    running.wait_for(lambda: running.metric('workbench_sink_sent_total{sink="log-csv"}') == 7)
    assert running.metric('workbench_sink_unsent{sink="webhook"}') == 0
    assert sorted(web.names) == ["6", *(f"lot/{number}" for number in range(6))]
    expected = {"6.ERROR", "lot/0.OK", "lot/1.NG", "lot/2.OK", "lot/3.NG", "lot/4.OK", "lot/5.NG"}
    found = (tmp_path / "markers").rglob("*.*")
    assert {path.relative_to(tmp_path / "markers").as_posix() for path in found} == expected
    assert sum(len(path.read_bytes().splitlines()) - 1 for path in tmp_path.glob("log*.csv")) == 7
    status, _, error = running.stop()
    assert status == 0 and error.count("webhook: ") == 2 and "dropped" not in error


def test_unsent_results_survive_a_kill_and_a_stop_and_are_sent_at_the_next_start(
    server, gray_export, tmp_path, http_receiver
):
    web = http_receiver()
    web.answers = [503] * 1000
    options = ["--webhook", web.url, "--spool", str(tmp_path / "spool"), "--sink-queue", "3"]
    running = server(gray_export, *options)
    answers = [post(running, GOOD, str(number)).json() for number in range(4)]
    assert all(answer["regions"] == [] for answer in answers)
    assert running.metric('workbench_sink_dropped_total{sink="webhook"}') == 1
    assert running.metric('workbench_sink_unsent{sink="webhook"}') == 3
    running.process.kill()
    running.process.communicate()
    running = server(gray_export, *options)
    running.wait_for(lambda: running.metric('workbench_sink_failures_total{sink="webhook"}') >= 1)
    assert post(running, GOOD, "4").status_code == 200
    status, _, error = running.stop()
    assert status == 0
    assert "webhook: Results of an earlier start are sent now: 3." in error
    assert "webhook: results are dropped, because the queue is full." in error
    assert "3 not sent yet, which are kept for the next start, 1 dropped." in error
    web.answers.clear()
    plan = SinkPlan((Webhook(web.url),), tmp_path / "spool", capacity=3)
    group = plan.open(durable=False, log=print)
    wait_until(lambda: len(web.accepted) == 3)
    group.close()
    assert web.names == ["0", "1", "2"]


def test_answers_do_not_wait_for_a_receiver_that_hangs(gray_export, tmp_path, http_receiver):
    web = http_receiver()
    web.gate.clear()
    predictor = Predictor.open(gray_export)
    notes, counters = [], Counters()
    plan = SinkPlan((Webhook(web.url),), tmp_path / "spool", capacity=2)
    outputs = ServeOutputs(plan, predictor.settings, row=0, log=notes.append, on_change=counters.set_sink)
    app = create_application(RequestHandler(predictor, Limits(), counters=counters, on_result=outputs.offer))

    async def ask() -> list[int]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://server") as client:
            answers = [await client.post("/predict", content=png(BAD)) for _ in range(5)]
            metrics = (await client.get("/metrics")).text
        assert 'workbench_sink_dropped_total{sink="webhook"} 3' in metrics
        assert "tcp" not in metrics
        return [answer.status_code for answer in answers]

    try:
        assert asyncio.run(ask()) == [200] * 5
        assert not web.accepted
        web.gate.set()
        wait_until(lambda: len(web.accepted) == 2)
    finally:
        app.state.handler.close()
        outputs.__exit__()
    assert notes[-1] == "webhook: 2 results sent, 3 dropped."


def test_counts_of_a_process_that_replaces_another_are_added():
    cells = [0.0] * (2 * WIDTH)
    Counters(cells, 0).set_sink("tcp", Counts(sent=1, unsent=4))
    Counters(cells, 1).set_sink("tcp", Counts(sent=5, dropped=2, unsent=1))
    again = Counters(cells, 0)
    again.set_sink("tcp", Counts(sent=2, failures=3, unsent=2))
    lines = again.text().splitlines()
    for line in ("sent_total{} 8", "failures_total{} 3", "dropped_total{} 2", "unsent{} 3"):
        assert f"workbench_sink_{line}".replace("{}", '{sink="tcp"}') in lines


def test_server_without_a_known_good_verdict_does_not_start(verdict_export, tmp_path, capsys):
    settings = json.loads((verdict_export / "model.json").read_text("utf-8"))
    settings["verdicts"] = ["a", "b"]
    (verdict_export / "model.json").write_text(json.dumps(settings), "utf-8")
    command = ["serve", str(verdict_export), "--port", "0", "--marker", str(tmp_path / "m"), "--json"]
    assert cli.main([*command, "--spool", str(tmp_path / "spool")]) == 1
    assert capsys.readouterr().out
