"""What is said: problems in both languages, numbers, results; and that the Chinese is complete."""

from __future__ import annotations

import ast
import re
import string
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.core import problems, resources
from workbench.core.runs.events import Failed, Finished
from workbench.ui.text import formatting, translation
from workbench.ui.text.message_translation import problem_types, translate_message

TS = "i18n/workbench_zh_CN.ts"
# Said on the command line alone, in the model card, which has its languages itself, or as the part of a longer text.
ELSEWHERE = {
    "there is no setting {x}",
    "no labelled pictures were held out",
    "none of the held-out pictures can be read",
    "a card can be in {x}",
    "it holds a ResNet-{x}, and this run trains a ResNet-{x}",
    "of verdicts it is a probability: a less probable verdict is not given",
    "mean and std need one number for each of the {x} channels",
    "an export needs at least one of {x}",
    "it is a time in milliseconds above 0",
    "an export can hold {x}",
    "{x} of {x} pictures are done, their results in {x}",
}


@pytest.fixture
def chinese(qapp):
    translators = translation.install(qapp, "zh_CN")
    assert len(translators) >= 1
    yield
    for translator in translators:
        qapp.removeTranslator(translator)
    translation.install(qapp, "en")


def messages() -> list[tuple[str, str, ElementTree.Element]]:
    root = ElementTree.parse(resources.path(TS)).getroot()
    return [
        (context.findtext("name"), message.findtext("source"), message.find("translation"))
        for context in root.iter("context")
        for message in context.iter("message")
    ]


def fields_of(pattern: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(pattern) if name}


def test_every_text_is_translated_with_its_fields():
    found = messages()
    assert len(found) > 400
    for context, source, chinese in found:
        assert chinese.get("type") is None and chinese.text, (context, source)
        if context != "Overlay" or "%n" not in source:
            assert fields_of(chinese.text) == fields_of(source), (context, source)
        assert bool(re.search(r"&\w|&1", source)) == ("&" in chinese.text), (context, source)


def test_the_compiled_file_is_as_new_as_its_source(chinese):
    """Every message of the .ts file is what the application really says."""
    from PySide6.QtCore import QCoreApplication

    for context, source, translated in messages():
        assert QCoreApplication.translate(context, source) == translated.text, (context, source)


def test_every_text_of_the_window_is_known_to_the_translators():
    """Texts are found in the sources anew; a text inside an f-string would be missed by the translators' tools."""
    known = {(context, source) for context, source, _ in messages()}
    sources = {source for _, source in known}
    for path in (resources.folder().parent / "workbench" / "ui").rglob("*.py"):
        text = path.read_text("utf-8")
        assert not re.search(r"f\"[^\"\n]*\{[^}\n]*(?:\btr|translate)\(", text), path
        for literal in re.findall(r"self\.tr\(\s*\"((?:[^\"\\]|\\.)*)\"\s*\)", text):
            assert literal.replace('\\"', '"').replace("\\\\", "\\") in sources, (path.name, literal)


def said_by(path: Path) -> Iterator[str]:
    """What a source gives as words of an event, cause of a problem or reason of a setting; {x} stands for anything."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        values: list[ast.expr] = []
        if isinstance(node, ast.Call):
            values = [word.value for word in node.keywords if word.arg in ("what", "done", "why")]
            values += node.args[2:] if getattr(node.func, "id", "") == "choose" else []
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("done", "why"):
            values = [node.value]
        for value in values:
            for each in (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,):
                if isinstance(each, ast.Constant):
                    yield str(each.value)
                elif isinstance(each, ast.JoinedStr):
                    yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{x}" for part in each.values)


@pytest.mark.parametrize("room", ["core", "training", "inference"])
def test_what_a_run_says_is_known_to_the_translators(chinese, room):
    """A text that was changed in the source and not in sentences.txt would be shown in English."""
    root = resources.folder().parent / "workbench" / room
    said = {text for path in root.rglob("*.py") for text in said_by(path) if re.search(r"[a-z] [a-z]", text)}
    unknown = {text for text in said if not re.search("[一-鿿]", translate_message(text))}
    assert len(said) >= 3 and unknown <= ELSEWHERE


@pytest.mark.parametrize("kind", problem_types(), ids=lambda kind: kind.__name__)
def test_every_problem_is_said_in_chinese(chinese, kind):
    fields = {name: f"<{name}>" for name in fields_of(kind.says) | fields_of(kind.advice)}
    says, advice = formatting.problem_text(kind(**fields))
    assert re.search("[一-鿿]", says) and bool(advice) == bool(kind.advice)
    for value in fields.values():
        assert value in says + advice
    assert translate_message(str(kind(**fields))) == " ".join(filter(None, (says, advice)))


def test_reasons_within_reasons_are_said_too(chinese):
    problem = problems.ImageBroken(path="/p/a.png", why="the file is incomplete: the end of the PNG data is missing")
    says, _ = formatting.problem_text(problem)
    assert says == "无法读取图片 /p/a.png：文件不完整：缺少 PNG 数据的结尾。"
    failed = Failed(
        why="x", problem="WorkerFailed", fields={"what": "training", "why": "it ran out of memory", "log": "/l"}
    )
    assert formatting.failure_text(failed) == ("训练进程出错结束：内存不足。", "详情见 /l。")
    assert translate_message("A sentence nobody knows.") == "A sentence nobody knows."


def test_english_stays_as_it_is():
    for kind in problem_types():
        fields = {name: f"<{name}>" for name in fields_of(kind.says) | fields_of(kind.advice)}
        assert " ".join(filter(None, formatting.problem_text(kind(**fields)))) == str(kind(**fields))
    assert formatting.problem_text(ValueError("odd"))[0].endswith("ValueError: odd")
    assert translate_message("Only 3 pictures are held out: the scores are rough.").startswith("Only 3")
    assert translate_message("") == ""


def test_problems_of_another_version_do_not_break_the_words():
    failed = Failed(why="as told", problem="RunBroken", fields={"other": 1}, log="/l")
    assert formatting.failure_text(failed) == ("as told", "Details are in /l.")


@pytest.mark.parametrize(
    "seconds, said",
    [(0, "0 s"), (59.6, "1 min"), (45, "45 s"), (61, "1 min 1 s"), (600, "10 min"), (7265, "2 h 1 min"), (-3, "0 s")],
)
def test_durations(seconds, said):
    assert formatting.duration(seconds) == said


def test_endings_in_words():
    assert formatting.ending_text(Finished(why="stopped", result={"usable": True})).startswith(
        "Stopped. The best model"
    )
    assert formatting.ending_text(Finished(time=90)) == "Finished after 1 min 30 s."
    assert "without a usable model" in formatting.ending_text(Finished(why="stopped", result={"usable": False}))


def test_results_in_words():
    assert "no score" in formatting.result_text({"accuracy": None, "pictures": 0})
    assert formatting.result_text({"accuracy": 0.9, "pictures": 30}).startswith("Judged 27 of 30")
    assert "marks nothing" in formatting.result_text({"only_background": True, "regions": {"defects": 3}})
    assert "no score" in formatting.result_text({"regions": {"defects": 0}})
    found = formatting.result_text({"dice": None, "regions": {"found": 2, "defects": 3, "false_per_picture": 120.4}})
    assert found == "Found 2 of 3 held-out defects, 120 false alarms a picture"
    assert formatting.parity_text({}) == "" and "exactly" in formatting.parity_text({"onnx": {"mask_agreement": 1.0}})


def test_the_systems_language_is_followed(monkeypatch):
    from PySide6.QtCore import QLocale

    monkeypatch.setattr(QLocale, "system", staticmethod(lambda: QLocale("zh_CN")))
    assert translation.chosen("system") == "zh_CN" and translation.chosen("en") == "en"
    monkeypatch.setattr(QLocale, "system", staticmethod(lambda: QLocale("de_DE")))
    assert translation.chosen("system") == "en"
