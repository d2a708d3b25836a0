"""Patterns with words that depend on a number."""

from __future__ import annotations

import pytest

from workbench.core.messages import Message, recognize, render
from workbench.core.problems import DeviceMissing, RunUnusable
from workbench.core.text_patterns import fill


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
    one, many = "image has no label. It was imported as an image", "images have no label. They were imported as images"
    assert message == f"{n} {one if n == 1 else many} without defects."
    found = recognize(str.__str__(message))
    assert isinstance(found, Message) and found.id == message.id and found.fields == {"n": str(n)}
    assert render(found, lambda context, pattern: "{n} 张") == f"{n} 张"
