"""Changes of notes: recorded in the journal, and merged into the notes after a crash.

Only the fields that differ are recorded: a plain field with its value before and after, a list with the entries removed
and added. This preserves changes that another program has made in the note meanwhile: lists are merged, and a plain
field takes the recorded value only if it still holds one of the recorded values.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.core.project.annotation import Note

FORMAT = 1
# Recorded by the editor together with the pixels that change with it, see history.Patch.
_RECORDED_ELSEWHERE = frozenset({"explicit_background"})

Content = dict[str, Any]  # content of a note, as JSON values
Size = tuple[int, int]


@dataclass(frozen=True)
class NoteChange:
    """Difference between two states of the note of image `key`.

    fields: {"from": value, "to": value} of a plain field, {"removed": [...], "added": [...]} of a list.
    act: entry for the note's history, if the change does not contain the history itself.
    size: (width, height) of the image's mask, None if unknown.
    new_mask: an image without a mask gets an empty one.
    """

    key: str
    fields: dict[str, dict[str, Any]]
    act: str = ""
    size: Size | None = None
    new_mask: bool = False
    when: float = field(default_factory=time.time)  # seconds since 1970

    def encode(self) -> bytes:
        """Return the content of a journal record."""
        content = {
            "format": FORMAT,
            "key": self.key,
            "fields": self.fields,
            "act": self.act,
            "size": self.size,
            "new_mask": self.new_mask,
            "when": self.when,
        }
        return json.dumps(content).encode()

    @classmethod
    def decode(cls, data: bytes) -> NoteChange:
        """Read the content of a journal record. Raises ValueError if it is invalid or of a newer version."""
        try:
            head = json.loads(data)
            if head["format"] != FORMAT:
                raise ValueError("a record of another version")
            size = None if head["size"] is None else (int(head["size"][0]), int(head["size"][1]))
            fields = {str(name): _checked(change) for name, change in head["fields"].items()}
            if "format" in fields:
                raise ValueError("a change of the format")
            Note.model_validate({name: change.get("to", change.get("added")) for name, change in fields.items()})
            return cls(str(head["key"]), fields, str(head["act"]), size, bool(head["new_mask"]), float(head["when"]))
        except (KeyError, IndexError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise ValueError("not a change of a note") from error


def _checked(change: dict[str, Any]) -> dict[str, Any]:
    if change.keys() == {"removed", "added"}:
        if isinstance(change["removed"], list) and isinstance(change["added"], list):
            return change
    elif change.keys() == {"from", "to"}:
        return change
    raise ValueError("not a change of a field")


def difference(before: Content, after: Content) -> dict[str, dict[str, Any]]:
    """Return the `fields` of a change from one content of a note to another."""
    fields = {}
    for name, new in after.items():
        old = before.get(name)
        if new == old or name in _RECORDED_ELSEWHERE:
            continue
        if isinstance(old, list) and isinstance(new, list):
            fields[name] = _list_difference(old, new)
        else:
            fields[name] = {"from": old, "to": new}
    return fields


def _list_difference(old: list, new: list) -> dict[str, Any]:
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    before, after = _identities(old), _identities(new)
    return {
        "removed": [entry for entry in old[start:] if _identity(entry) not in after],
        "added": [entry for entry in new[start:] if _identity(entry) not in before],
    }


@dataclass(frozen=True)
class MergedNote:
    """A note after recorded changes were merged into it.

    conflicting: the note with all recorded values, if another program changed some of the same fields.
    """

    note: Note
    changed: bool
    conflicting: Note | None = None


@dataclass
class _Values:
    known: list[Any] = field(default_factory=list)
    last: Any = None


def merge(note: Note, changes: Sequence[NoteChange]) -> MergedNote:
    """Return a note with recorded changes merged, oldest first; `note` itself stays as it is."""
    before = note.content()
    content, plain = note.content(), dict[str, _Values]()
    for change in changes:
        for name, recorded in change.fields.items():
            if "to" in recorded:
                values = plain.setdefault(name, _Values())
                values.known += [recorded["from"], recorded["to"]]
                values.last = recorded["to"]
            elif isinstance(content.get(name), list):
                content[name] = _merged_list(content[name], recorded["removed"], recorded["added"])
    conflicting = dict(content)
    misfits = False
    for name, values in plain.items():
        conflicting[name] = values.last
        if content.get(name) in values.known:
            content[name] = values.last
        else:
            misfits = True
    changed = content != before
    merged = Note.model_validate(content)
    for act in dict.fromkeys(change.act for change in changes if change.act) if changed else ():
        merged.add(act)
    return MergedNote(merged, changed, Note.model_validate(conflicting) if misfits else None)


def _merged_list(entries: list, removed: list, added: list) -> list:
    removed_ids, present = _identities(removed), _identities(entries)
    remaining = [entry for entry in entries if _identity(entry) not in removed_ids]
    return remaining + [entry for entry in added if _identity(entry) not in present]


def _identities(entries: Iterable[Any]) -> set[str]:
    return {_identity(entry) for entry in entries}


def _identity(entry: Any) -> str:
    return json.dumps(entry, sort_keys=True)
