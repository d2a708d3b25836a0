"""Patterns with words that depend on a number."""

from __future__ import annotations

from itertools import islice

import pytest

from workbench.core import resources
from workbench.core.messages import Message, recognize, render
from workbench.core.problems import DeviceMissing, RunUnusable
from workbench.core.resources import LANGUAGES, SOURCE_LANGUAGE, matching_language
from workbench.core.text_patterns import fill, free_path, numbered_names, split_names
from workbench.session.preferences import CHOICES


@pytest.mark.parametrize(
    "n, text",
    [(1, "1 image is"), ("1", "1 image is"), (0, "0 images are"), (21, "21 images are"), ("1,001", "1,001 images are")],
)
def test_words_follow_the_number(n, text):
    assert fill("{n} {n:image is|images are}", n=n) == text


def test_other_fields_are_formatted_as_usual():
    assert fill("{a:.2f} of {b}, {{}}", a=1, b=None) == "1.00 of None, {}"
    with pytest.raises(KeyError):
        fill("{n} {m:a|b}", n=1)


@pytest.mark.parametrize(
    "why, text",
    [
        ("it is damaged", "It failed: it is damaged. Try again."),
        ("It is damaged.", "It failed: It is damaged. Try again."),
        ("它已损坏。", "It failed: 它已损坏. Try again."),
        (".", "It failed: .. Try again."),
    ],
)
def test_period_of_a_field_is_dropped_before_a_period(why, text):
    assert fill("It failed: {why}. Try again.", why=why) == text


def test_period_after_a_brace_is_kept():
    assert fill("{why}{{. Try again.", why="It failed.") == "It failed.{. Try again."


def test_sentence_within_a_message_is_recognized():
    missing = DeviceMissing(device="gpu:0", why="there is none")
    message = recognize(str(RunUnusable(name="r", why=str(missing))))
    assert ".." not in message and isinstance(message, Message) and message.fields["why"].id == "DeviceMissing"


@pytest.mark.parametrize("n", [1, 5])
def test_message_with_one_and_with_many_is_recognized(n):
    message = Message("import.background", n=n)
    one, many = "image has no label. It counts as an image", "images have no label. They count as images"
    assert message == f"{n} {one if n == 1 else many} without defects."
    found = recognize(str.__str__(message))
    assert isinstance(found, Message) and found.id == message.id and found.fields == {"n": str(n)}
    assert render(found, lambda context, pattern: "{n} 张") == f"{n} 张"


def test_names_are_numbered_from_two():
    assert list(islice(numbered_names("a", ".png"), 3)) == ["a.png", "a-2.png", "a-3.png"]


def test_free_path_skips_existing_files_and_folders(tmp_path):
    assert free_path(tmp_path, "run") == tmp_path / "run"
    (tmp_path / "run").mkdir()
    (tmp_path / "run-2").write_text("")
    assert free_path(tmp_path, "run") == tmp_path / "run-3"
    assert free_path(tmp_path / "missing", "run", ".png") == tmp_path / "missing" / "run.png"


def test_split_names_drops_spaces_and_empty_entries():
    assert split_names(" onnx, paddle,,") == ["onnx", "paddle"]


@pytest.mark.parametrize("name", [name for name in LANGUAGES if name != SOURCE_LANGUAGE])
def test_each_language_has_its_files(name):
    assert resources.path(f"i18n/workbench_{name}.ts").is_file()


def test_preferences_offer_each_language():
    assert CHOICES["language"] == ("system", *LANGUAGES)


@pytest.mark.parametrize(
    "locale, name",
    [("en", "en"), ("en_US", "en"), ("zh_CN", "zh_CN"), ("zh_TW", "zh_CN"), ("de_DE", "en"), ("C", "en")],
)
def test_locale_is_matched_by_its_language_code(locale, name):
    assert matching_language(locale) == name
