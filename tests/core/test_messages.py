"""Messages: the catalog, JSON, recognition of texts without an id."""

from __future__ import annotations

import ast
import copy
import json
import pickle
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

import workbench
from tests.syntax_trees import nodes
from workbench.core import messages, problems
from workbench.core.evaluation.expectation import CHANGES
from workbench.core.evaluation.figures import METRICS
from workbench.core.messages import Message, MessageModel, Text, catalog, patterns, recognize, render
from workbench.core.runs.events import Trouble, decode, encode
from workbench.core.runs.run import Run, write_settings
from workbench.core.runs.training_settings import TrainingSettings
from workbench.core.text_patterns import fill

ROOT = Path(workbench.__file__).parent
FOREIGN = "text."  # prefix of texts that are only recognized
CARD = messages.NOT_STORED
PROSE = re.compile(r"[a-z]+[,;]? [a-z]+[,;]? ")


def fields_of(pattern: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(pattern) if name}


def syntax(*packages: str) -> Iterator[tuple[str, tuple[ast.AST, ...]]]:
    """Yield each file of the packages, relative to `ROOT`, with the nodes of its syntax tree."""
    for package in packages:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield str(path.relative_to(ROOT)), nodes(path)


def test_every_call_has_an_entry_and_all_its_fields():
    calls = 0
    for path, found in syntax("core", "session", "training", "cli", "ui"):
        for node in found:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Message":
                ids = [
                    part.value
                    for part in ast.walk(node.args[0])
                    if isinstance(part, ast.Constant) and part.value in catalog()
                ]
                assert ids or not isinstance(node.args[0], ast.Constant), (path, node.lineno)
                given = {keyword.arg for keyword in node.keywords}
                for id in ids:
                    fields = fields_of(catalog()[id])
                    assert given - {None} <= fields if None in given else given == fields, (path, node.lineno, id)
                    calls += 1
    assert calls > 200


def test_every_entry_is_used():
    used = {
        node.value
        for _, found in syntax("core", "session", "training", "cli", "ui")
        for node in found
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    families = FOREIGN, "queue.", "setting.", "value.", "lighting.", "figure.", "limit."
    assert {id for id in catalog() if not id.startswith(families)} - used == set()


def test_every_metric_and_scope_has_an_entry():
    ids = {f"figure.{id}{end}" for id in METRICS for end in ("", "_definition")}
    ids |= {f"figure.of_{scope}" for scope in ("any", "mean", "mean_verdicts", "good", "size", "class")}
    ids |= {f"figure.{text}" for text in ("counts", "events", "images", "images_of_parts", "interval", "no_interval")}
    assert ids == {id for id in catalog() if id.startswith("figure.")}


def test_every_change_of_lighting_has_an_entry():
    assert {f"lighting.{change}" for change in CHANGES} == {id for id in catalog() if id.startswith("lighting.")}


def test_every_reason_of_the_label_queue_has_an_entry():
    path = ROOT / "core" / "label_next" / "label_ranking.py"
    kinds = set(re.findall(r'RankReason\("(\w+)"', path.read_text("utf-8")))
    kinds |= {"missing", "missing_good", "extra", "class", "verdict", "quiet", "other"}  # chosen by expressions
    assert kinds == {id.removeprefix("queue.") for id in catalog() if id.startswith("queue.")}


def test_no_producer_bypasses_the_catalog():
    """Reasons and descriptions in `core` and `training` are messages, not literal sentences."""
    names = ("what", "done", "why", "reason")
    for path, found in syntax("core", "training"):
        for node in found:
            values = [word.value for word in node.keywords if word.arg in names] if isinstance(node, ast.Call) else []
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in names:
                values.append(node.value)
            for value in values:
                constants = [value, *value.values] if isinstance(value, ast.JoinedStr) else [value]
                texts = [part.value for part in constants if isinstance(part, ast.Constant)]
                assert not any(isinstance(text, str) and PROSE.search(text) for text in texts), (
                    path,
                    node.lineno,
                    texts,
                )


def test_every_wording_is_recognized():
    entries = [(id, pattern) for id, pattern in messages.entries() if not id.startswith(CARD)]
    assert len(entries) > 600
    for id, pattern in entries:
        text = fill(pattern, **{name: f"<{name}>" for name in fields_of(pattern)})
        message = recognize(text)
        assert isinstance(message, Message) and message == text, id
        assert patterns(message.id)[1] == patterns(id)[1] or message.id == id, id
        assert fields_of(" ".join(patterns(id)[1])) <= fields_of(pattern), id


def test_message_is_its_english_text():
    message = Message("plan.thickness", n=8)
    assert message == str(message) == f"{message}" == catalog()["plan.thickness"].format(n=8)
    assert isinstance(str(ValueError(message)), Message)
    for other in (copy.deepcopy(message), pickle.loads(pickle.dumps(message))):
        assert other == message and other.id == "plan.thickness" and other.fields == {"n": 8}
    with pytest.raises(KeyError):
        Message("plan.unknown")
    with pytest.raises(KeyError):
        Message("plan.thickness")


def test_messages_nest_and_survive_json():
    problem = problems.ImageBroken(path="/a.png", why=Message("file.gone"))
    message = Message.of(problem)
    assert isinstance(message, Message) and message.id == "ImageBroken" and message == str(problem)
    raw = json.loads(json.dumps(message.to_json()))
    restored = Message.from_json(str(problem), raw)
    assert restored == message and restored.fields["why"].id == "file.gone"
    assert Message.of(OSError("odd")) == "odd"


@pytest.mark.parametrize(
    "raw",
    [None, 1, "x", [], {}, {"id": 3}, {"id": "plan.thickness"}, {"id": "plan.thickness", "fields": []},
     {"id": "plan.thickness", "fields": {}}, {"id": "no.such", "fields": {}},
     {"id": "plan.thickness", "fields": {"n": {"id": "no.such", "fields": {}}}}],
)  # fmt: skip
def test_damaged_ids_leave_the_text(raw):
    text = Message.from_json("English.", raw)
    assert text == "English." and not isinstance(text, Message)


def test_event_holds_text_and_id():
    event = Trouble(what=Message("training.diverged", n=7), done="plain")
    line = json.loads(encode(event))
    assert line["what"] == event.what and line["done"] == "plain" and list(line["messages"]) == ["what"]
    restored = decode(encode(event))
    assert restored == event and restored.what.id == "training.diverged" and not isinstance(restored.done, Message)


def test_model_holds_text_and_id():
    class Example(MessageModel):
        why: Text = ""

    stored = Example(why=Message("file.gone")).model_dump(mode="json")
    assert stored["why"] == catalog()["file.gone"] and stored["messages"]["why"]["id"] == "file.gone"
    assert Example.model_validate(stored).why.id == "file.gone"
    assert Example(why="other").model_dump() == {"why": "other"}


def test_render_translates_messages_and_reasons_only():
    def upper(context: str, pattern: str) -> str:
        return re.sub(r"(?<![{\w])\w+(?![}\w])", lambda word: word.group().upper(), pattern)

    inner = Message("file.gone")
    assert render(inner, upper) == upper("", inner)
    assert upper("", inner) in render(Message("ImageBroken", path="it is gone", why=inner), upper)
    assert "it is gone" in render(Message("ImageBroken", path="it is gone", why=inner), upper)
    assert render("A sentence that is not in the catalog.", upper) == "A sentence that is not in the catalog."
    assert render("", upper) == ""


@pytest.mark.parametrize("damage", [None, "[]", "{", '{"batch": 3, "other": {}}', ""])
def test_reasons_of_run_are_restored(tmp_path, damage):
    run = Run(tmp_path / "runs" / "20261120-101500-unet")
    run.root.mkdir(parents=True)
    settings = TrainingSettings(model="unet", reasons={"batch": Message("plan.small_batch"), "seed": "plain"})
    write_settings(run, settings)
    assert json.loads(run.settings_path.read_text())["reasons"]["batch"] == catalog()["plan.small_batch"]
    if damage is not None:
        run.reasons_path.write_text(damage)
    reasons = run.settings().reasons
    assert reasons == settings.reasons and not isinstance(reasons["seed"], Message)
    assert isinstance(reasons["batch"], Message) == (damage is None)
    assert recognize(reasons["batch"]).id == "plan.small_batch"
