"""Options of the outputs: what is accepted, what is refused, and the records of each kind of model."""

from __future__ import annotations

import argparse
import json
import pickle

import pytest

from tests.inference.conftest import gray_settings
from workbench import cli
from workbench.cli.sinks import result_outputs
from workbench.cli.sinks.sink_base import NoGoodVerdict, RecordMaker, image_key
from workbench.cli.sinks.webhook import SECRET_VARIABLE
from workbench.cli.verb_runner import WrongUse
from workbench.inference.model_settings import ModelSettings
from workbench.inference.verdict_rule import VerdictRule


def plan(tmp_path, *arguments):
    parser = argparse.ArgumentParser()
    result_outputs.add_arguments(parser, spool="spool")
    return result_outputs.plan_sinks(parser.parse_args([*map(str, arguments)]), spool=tmp_path / "spool")


def test_no_output_without_an_option(tmp_path):
    assert plan(tmp_path) is None


def test_every_output_of_the_table_can_be_requested_and_sent_to_another_process(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.cli.sinks.opcua.find_spec", lambda name: object())
    made = plan(
        tmp_path,
        *("--webhook", "https://example.com/results", "--tcp", "[::1]:2000", "--log-csv", tmp_path / "a.csv"),
        *("--log-jsonl", tmp_path / "a.jsonl", "--marker", tmp_path / "m", "--opcua", "opc.tcp://plc:4840"),
    )
    assert [sink.name for sink in made.sinks] == list(result_outputs.SINK_NAMES)
    assert made.spool == tmp_path / "spool"
    assert [sink.name for sink in pickle.loads(pickle.dumps(made)).sinks] == list(result_outputs.SINK_NAMES)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--webhook", "example.com"], "begins with http"),
        (["--webhook", "http://[::1"], "begins with http"),
        (["--webhook", "http://user:word@example.com"], "must not contain a user name or password"),
        (["--webhook-secret-file", "x"], "needs --webhook"),
        (["--webhook", "http://a", "--webhook-secret-file", "missing"], "missing cannot be read"),
        (["--tcp", "plc"], "HOST:PORT"),
        (["--tcp", "plc:70000"], "HOST:PORT"),
        (["--tcp-ack"], "needs --tcp"),
        (["--log-csv", "a", "--log-jsonl", "a"], "different files"),
        (["--log-csv", "a", "--log-max-mb", "0"], "above 0"),
        (["--log-max-mb", "1"], "needs --log-csv or --log-jsonl"),
        (["--opcua", "http://plc"], "opc.tcp://"),
        (["--opcua", "opc.tcp://a:b@plc"], "without user name and password"),
        (["--opcua-user", "me"], "need --opcua"),
        (["--spool", "x"], "need a result output"),
        (["--marker", "x", "--sink-queue", "0"], "at least 1"),
    ],
)
def test_wrong_options_are_refused_with_a_reason(tmp_path, monkeypatch, arguments, problem):
    monkeypatch.setattr("workbench.cli.sinks.opcua.find_spec", lambda name: object())
    with pytest.raises(WrongUse, match=problem):
        plan(tmp_path, *arguments)


def test_missing_asyncua_names_the_command_that_installs_it(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.cli.sinks.opcua.find_spec", lambda name: None)
    with pytest.raises(Exception, match=r"needs asyncua\. Install it with: .* install .asyncua>=1\.1."):
        plan(tmp_path, "--opcua", "opc.tcp://plc:4840")


@pytest.mark.parametrize(("text", "key"), [("plain word\n", b"plain word"), ("whsec_c2VjcmV0", b"secret")])
def test_secret_is_read_from_a_file_or_a_variable(tmp_path, monkeypatch, text, key):
    file = tmp_path / "secret"
    for mark in ("", "\ufeff"):  # some editors begin a file with it
        file.write_text(mark + text, "utf-8")
        assert plan(tmp_path, "--webhook", "http://a", "--webhook-secret-file", file).sinks[0].secret == key
    monkeypatch.setenv(SECRET_VARIABLE, text)
    assert plan(tmp_path, "--webhook", "http://a").sinks[0].secret == key


@pytest.mark.parametrize(("text", "problem"), [(" \n", "is empty"), ("whsec_%%", "is not base64")])
def test_unusable_secret_is_refused(tmp_path, monkeypatch, text, problem):
    monkeypatch.setenv(SECRET_VARIABLE, text)
    with pytest.raises(WrongUse, match=problem):
        plan(tmp_path, "--webhook", "http://a")


def test_predict_without_watch_refuses_outputs(tmp_path, capsys):
    assert cli.main(["predict", "model", "in", "--marker", str(tmp_path), "--json"]) == 2
    assert "need --watch" in json.loads(capsys.readouterr().out)["error"]
    assert cli.main(["predict", "model", "in", "--as-proposals", "--marker", str(tmp_path)]) == 2


def verdict_settings(*verdicts):
    return ModelSettings(task="classification", name="m", verdicts=verdicts, mean=(0.5,), std=(0.5,), files={})


RULE = VerdictRule(kind="mass", mass=10.0, good="in Ordnung", bad="Ausschuss")


@pytest.mark.parametrize(
    ("settings", "good", "entry", "result"),
    [
        (gray_settings(), None, {"regions": [], "verdict": None}, "OK"),
        (gray_settings(), None, {"regions": [{}], "verdict": None}, "NG"),
        (gray_settings(verdict_rule=RULE), None, {"regions": [{}], "verdict": "in Ordnung"}, "OK"),
        (gray_settings(verdict_rule=RULE), None, {"regions": [{}], "verdict": "Ausschuss"}, "NG"),
        (verdict_settings("Good", "scratch"), None, {"regions": [], "verdict": "Good"}, "OK"),
        (verdict_settings("Good", "scratch"), None, {"regions": [], "verdict": "unsure"}, "NG"),
        (verdict_settings("a", "b"), "b", {"regions": [], "verdict": "b"}, "OK"),
        (verdict_settings("a", "b"), "b", {"regions": [], "verdict": "a"}, "NG"),
        (gray_settings(), None, {"why": "damaged"}, "ERROR"),
    ],
)
def test_result_of_a_record(settings, good, entry, result):
    made = RecordMaker(settings, good).make({"path": "x.png", **entry}, key="k", name="x")
    assert (made["result"], made["id"], made["name"], made["path"]) == (result, "k", "x", "x.png")
    assert made["time"].endswith("Z") and made["model"] == settings.name


@pytest.mark.parametrize("good", [None, "c"])
def test_verdicts_without_a_known_good_one_need_the_option(good):
    with pytest.raises(NoGoodVerdict, match="--ok-verdict"):
        RecordMaker(verdict_settings("a", "b"), good)


def test_id_depends_on_model_file_and_version():
    keys = {
        image_key(*each) for each in [("m", "a", (1, 2)), ("n", "a", (1, 2)), ("m", "b", (1, 2)), ("m", "a", (1, 3))]
    }
    assert len(keys) == 4 and image_key("m", "a", (1, 2)) in keys
