"""Texts of problems, events and numbers in both languages; completeness of the Chinese formatting."""

from __future__ import annotations

import re
import runpy
import shutil
import string
import sys
import xml.etree.ElementTree as ElementTree
from functools import cache
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QKeySequenceEdit, QLineEdit

from workbench.core import messages, problems, resources
from workbench.core.messages import Message
from workbench.core.runs import child_process
from workbench.core.runs.events import Failed, Finished, decode, encode
from workbench.ui.text import formatting
from workbench.ui.text.formatting import translate_message

TS = "i18n/workbench_zh_CN.ts"
CHINESE = re.compile("[\u4e00-\u9fff]")


@pytest.fixture
def chinese(qapp):
    translators = formatting.install(qapp, "zh_CN")
    assert len(translators) >= 1
    yield
    for translator in translators:
        qapp.removeTranslator(translator)
    formatting.install(qapp, "en")


@cache
def translations() -> list[tuple[str, str, ElementTree.Element]]:
    return read_translations(resources.path(TS))


def read_translations(path: Path) -> list[tuple[str, str, ElementTree.Element]]:
    """Return (context, text, formatting) of a .ts file."""
    root = ElementTree.parse(path).getroot()
    return [
        (context.findtext("name"), message.findtext("source"), message.find("translation"))
        for context in root.iter("context")
        for message in context.iter("message")
    ]


def test_texts_of_qt_are_replaced(chinese, qtbot):
    recorder = QKeySequenceEdit()
    qtbot.addWidget(recorder)
    assert recorder.findChild(QLineEdit).placeholderText() == "按下快捷键"
    for context in ("QLineEdit", "QWidgetTextControl"):
        assert QCoreApplication.translate(context, "&Undo") == "撤销(&U)"
    native = QKeySequence.SequenceFormat.NativeText
    assert QKeySequence("Alt+Left").toString(native) == "Alt+←"


def fields_of(pattern: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(pattern) if name}


def test_every_text_is_translated_with_its_fields():
    found = translations()
    assert len(found) > 400
    for context, source, chinese in found:
        assert chinese.get("type") is None and chinese.text, (context, source)
        if context != "Overlay" or "%n" not in source:
            assert fields_of(chinese.text) == fields_of(source), (context, source)
        assert bool(re.search(r"&\w|&1", source)) == ("&" in chinese.text), (context, source)


def test_filters_of_files_are_read_by_qt():
    """Qt finds the patterns of a file filter only between ASCII parentheses after the name."""
    filters = re.compile(r"[^;()]+ \((\*[.\w]*|\{patterns\})\)")
    found = [(source, entry.text or "") for _, source, entry in translations() if filters.fullmatch(source)]
    assert len(found) > 5
    for source, translated in found:
        assert filters.fullmatch(translated), (source, translated)


def test_counts_have_the_same_spaces():
    for _, source, entry in translations():
        translated = entry.text or ""
        assert not re.search(r"\{\w+\}/\{\w+\}", translated), (source, translated)


def test_compiled_file_equals_source(chinese):
    for context, source, translated in translations():
        assert QCoreApplication.translate(context, source) == translated.text, (context, source)


@pytest.mark.skipif(sys.platform == "win32" and not shutil.which("pyside6-lupdate"), reason="needs pyside6-lupdate")
def test_texts_of_the_sources_are_those_of_the_translation_file(tmp_path):
    """`python resources/i18n/update.py` adds and removes them."""
    updated = tmp_path / Path(TS).name
    shutil.copyfile(resources.path(TS), updated)
    runpy.run_path(str(resources.path("i18n/update.py")))["update"](updated)
    texts = [{entry[:2] for entry in read_translations(path)} for path in (resources.path(TS), updated)]
    assert texts[1] - texts[0] == set(), "not in the translation file"
    assert texts[0] - texts[1] == set(), "no longer used"


def test_no_text_is_hidden_from_lupdate():
    """`lupdate` does not find texts in f-strings."""
    for path in (resources.folder().parent / "workbench" / "ui").rglob("*.py"):
        text = path.read_text("utf-8")
        assert not re.search(r"f\"[^\"\n]*\{[^}\n]*(?:\btr|translate)\(", text), path


def test_every_message_is_translated(chinese):
    known = {(context, source) for context, source, _ in translations()}
    for id in (*messages.catalog(), *(kind.__name__ for kind in problems.problem_classes())):
        context, texts = messages.patterns(id)
        assert {(context, text) for text in texts} <= known, id
        fields = {name: f"<{name}>" for text in texts for name in fields_of(text)}
        translated = translate_message(Message(id, **fields))
        assert all(value in translated for value in fields.values()), id
        words = any(re.search(r"\b[a-z]{3,}", re.sub(r"\{\w+\}", "", text)) for text in texts)
        assert not words or CHINESE.search(translated), id


@pytest.mark.parametrize("kind", problems.problem_classes(), ids=lambda kind: kind.__name__)
def test_problem_text_is_chinese(chinese, kind):
    fields = {name: f"<{name}>" for name in fields_of(kind.message) | fields_of(kind.advice)}
    message, advice = formatting.problem_text(kind(**fields))
    assert re.search("[一-鿿]", message) and bool(advice) == bool(kind.advice)
    for value in fields.values():
        assert value in message + advice
    assert translate_message(str(kind(**fields))) == " ".join(filter(None, (message, advice)))


def test_nested_reasons_are_translated(chinese):
    problem = problems.ImageBroken(path="/p/a.png", why="the file is incomplete: the end of the PNG data is missing")
    message, _ = formatting.problem_text(problem)
    assert message == "无法读取图片 /p/a.png：文件不完整：缺少 PNG 数据的结尾。"
    expected = "训练进程失败：进程内存不足。", "详情见 /l。"
    fields = {"what": "training", "why": "the process ran out of memory", "log": "/l"}
    assert formatting.failure_text(Failed(why="x", problem="WorkerFailed", fields=fields)) == expected
    failed = decode(encode(child_process.failed_event("training", Message("exit.out_of_memory"), "/l")))
    assert formatting.failure_text(failed) == expected
    assert translate_message("A sentence of no catalog.") == "A sentence of no catalog."


def test_english_text_equals_that_of_core():
    for kind in problems.problem_classes():
        fields = {name: f"<{name}>" for name in fields_of(kind.message) | fields_of(kind.advice)}
        assert " ".join(filter(None, formatting.problem_text(kind(**fields)))) == str(kind(**fields))
    assert formatting.problem_text(ValueError("odd"))[0].endswith("ValueError: odd")
    assert translate_message("") == ""


def test_problem_of_another_version_has_its_text():
    failed = Failed(why="as told", problem="RunBroken", fields={"other": 1}, log="/l")
    assert formatting.failure_text(failed) == ("as told", "Details are in /l.")


@pytest.mark.parametrize(
    "seconds, text",
    [(0, "0 s"), (59.6, "1 min"), (45, "45 s"), (61, "1 min 1 s"), (600, "10 min"), (7265, "2 h 1 min"), (-3, "0 s")],
)
def test_durations(seconds, text):
    assert formatting.duration(seconds) == text


def test_ending_text():
    assert formatting.ending_text(Finished(why="stopped", result={"usable": True})).startswith(
        "Stopped. The best model"
    )
    assert formatting.ending_text(Finished(time=90)) == "Finished after 1 min 30 s."
    assert "without a usable model" in formatting.ending_text(Finished(why="stopped", result={"usable": False}))


def test_result_text():
    assert "no metrics" in formatting.result_text({"accuracy": None, "pictures": 0})
    assert formatting.result_text({"accuracy": 0.9, "pictures": 30}).startswith("27 of 30")
    assert "No defects detected" in formatting.result_text({"only_background": True, "regions": {"defects": 3}})
    assert "no metrics" in formatting.result_text({"regions": {"defects": 0}})
    found = formatting.result_text({"dice": None, "regions": {"found": 2, "defects": 3, "false_per_picture": 120.4}})
    assert found == "2 of 3 defects detected (validation), 120 false alarms per image"
    assert formatting.parity_text({}) == "" and "exactly" in formatting.parity_text({"onnx": {"mask_agreement": 1.0}})


def test_language_of_system_is_used(monkeypatch):
    from PySide6.QtCore import QLocale

    monkeypatch.setattr(QLocale, "system", staticmethod(lambda: QLocale("zh_CN")))
    assert formatting.chosen("system") == "zh_CN" and formatting.chosen("en") == "en"
    monkeypatch.setattr(QLocale, "system", staticmethod(lambda: QLocale("de_DE")))
    assert formatting.chosen("system") == "en"


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be replaced there")
def test_an_updated_translation_leaves_the_old_file_to_its_readers(tmp_path):
    update = runpy.run_path(str(resources.path("i18n/update.py")))
    source, target = tmp_path / "new.qm", tmp_path / "translation.qm"
    source.write_bytes(b"new")
    target.write_bytes(b"old content")
    with target.open("rb") as reader:
        update["replace_file"](source, target)
        assert reader.read() == b"old content" and target.read_bytes() == b"new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.qm", "translation.qm"]
