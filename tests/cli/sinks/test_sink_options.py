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
from workbench.core.runs.pip_commands import installed_version
from workbench.inference.model_settings import ModelSettings
from workbench.inference.verdict_rule import VerdictRule


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise WrongUse(message)


def plan(tmp_path, *arguments):
    parser = Parser()
    result_outputs.add_arguments(parser, spool="spool")
    return result_outputs.plan_sinks(parser.parse_args([*map(str, arguments)]), spool=tmp_path / "spool")


@pytest.fixture
def libraries(monkeypatch):
    """All libraries of the outputs are found."""
    for module in ("opcua", "mqtt", "modbus"):
        monkeypatch.setattr(f"workbench.cli.sinks.{module}.find_spec", lambda name: object())


def test_no_output_without_an_option(tmp_path):
    assert plan(tmp_path) is None


def test_every_output_of_the_table_can_be_requested_and_sent_to_another_process(tmp_path, libraries):
    made = plan(
        tmp_path,
        *("--webhook", "https://example.com/results", "--tcp", "[::1]:2000", "--log-csv", tmp_path / "a.csv"),
        *("--log-jsonl", tmp_path / "a.jsonl", "--marker", tmp_path / "m", "--opcua", "opc.tcp://plc:4840"),
        *("--mqtt", "mqtts://broker/line%201/results", "--modbus", "plc"),
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
        (["--mqtt", "mqtt://broker"], "with a topic"),
        (["--mqtt", "mqtt://broker/line/#"], "without # and [+]"),
        (["--mqtt", "http://broker/line"], "such as mqtt://"),
        (["--mqtt", "mqtt://me:word@broker/line"], "user name or password"),
        (["--mqtt", "mqtt://broker/line", "--mqtt-ca", "ca.pem"], "begins with mqtts://"),
        (["--mqtt", "mqtts://broker/line", "--mqtt-ca", "missing.pem"], "missing.pem cannot be read"),
        (["--mqtt-user", "me"], "need --mqtt"),
        (["--modbus", "plc:0"], "HOST:PORT"),
        (["--modbus", "plc", "--modbus-address", "65530"], "at most 65515"),
        (["--modbus", "plc", "--modbus-unit", "256"], "at most 255"),
        (["--modbus-unit", "1"], "need --modbus"),
        (["--spool", "x"], "need a result output"),
        (["--marker", "x", "--sink-queue", "0"], "at least 1"),
    ],
)
def test_wrong_options_are_refused_with_a_reason(tmp_path, libraries, arguments, problem):
    with pytest.raises(WrongUse, match=problem):
        plan(tmp_path, *arguments)


@pytest.mark.skipif(
    installed_version("defect-workbench") is None, reason="a checkout has no metadata, which name the versions"
)
@pytest.mark.parametrize(
    ("module", "address", "library"),
    [
        ("opcua", "opc.tcp://plc:4840", "asyncua>=1.1"),
        ("mqtt", "mqtt://broker/line", "paho-mqtt>=2.1"),
        ("modbus", "plc", "pymodbus>=3.10"),
    ],
)
def test_missing_library_is_named_with_the_command_that_installs_it(tmp_path, monkeypatch, module, address, library):
    monkeypatch.setattr(f"workbench.cli.sinks.{module}.find_spec", lambda name: None)
    with pytest.raises(Exception, match=rf"needs .*\. Install it with: .* install .{library}."):
        plan(tmp_path, f"--{module}", address)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("plc", ("plc", 502)),
        ("plc:1502", ("plc", 1502)),
        ("[::1]", ("::1", 502)),
        ("::1", ("::1", 502)),
        ("[::1]:1502", ("::1", 1502)),
    ],
)
def test_port_of_an_address_may_be_left_out(tmp_path, libraries, text, place):
    assert plan(tmp_path, "--modbus", text).sinks[0]._place == place


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
