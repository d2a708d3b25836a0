"""Changes of notes in the journal: recovered after a kill, merged with what another program wrote, and versioned."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import ROOT
from tests.project_copy import copy_project
from tests.session.conftest import dot, show
from tests.session.task_work import runner_of
from workbench.core import problems
from workbench.core.project import annotation
from workbench.core.project.annotation import ConfirmedLabel, Note, SuggestionDecision
from workbench.core.project.project import Project
from workbench.core.project.storage import holding_part
from workbench.core.runs.launch import worker_environment
from workbench.session.image_suggestions import REJECT, SuggestionDecisions
from workbench.session.journal import Journal, NoteChange, difference, framed, merge
from workbench.session.session import Session

DECIDED = SuggestionDecision(what="rejected", model="run", class_id=1, x=1, y=2, width=3, height=4, area=5)

# Forks a process for each change, before any session exists. Each process makes its change and kills itself.
KILLED = """
import json, os, signal, sys
from PySide6.QtCore import QCoreApplication
from tests.session.conftest import dot
from tests.session.test_note_journal import DECIDED
from workbench.core.project.annotation import ConfirmedLabel
from workbench.session.image_suggestions import REJECT, SuggestionDecisions
from workbench.session.session import Session

for root, changes in json.loads(sys.argv[1]):
    process = os.fork()
    if not process:
        break
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if status != -signal.SIGKILL:
        sys.exit(f"the process ended with {status}")
else:
    sys.exit()
app = QCoreApplication([])
session = Session()
listed = []
session.image_list.finished.connect(lambda: listed.append(True))
session.open_project(root)
session.open_image(session.keys[6] if session.keys else sys.argv[2])
while session.image is None or not listed:
    app.processEvents()
decisions = SuggestionDecisions(session)
exec(changes)
os.kill(os.getpid(), signal.SIGKILL)
"""

CHANGES = {
    "verdict": ("session.verdict_steps.set_verdicts([session.key], 'NG')", {"verdict": "NG"}),
    "status": ("session.notes.set_status('done')", {"status": "done"}),
    "status after a stroke": (
        "dot(session, 20, 20); session.verdict_steps.set_status('new')",
        {"status": "new"},
    ),
    "pin": ("session.notes.set_pin('test')", {"pin": "test"}),
    "explicit": ("session.editor.set_explicit_background(True)", {"explicit_background": True, "status": "started"}),
    "decided": (
        "decisions.decide(REJECT, 'one', added=[DECIDED])",
        {"decided": [DECIDED.model_dump(mode="json")]},
    ),
    "confirmed": (
        "session.note.confirmed.append(ConfirmedLabel(kind='extra', x=7)); session.notes.add('label is right')",
        {"confirmed": [ConfirmedLabel(kind="extra", x=7).model_dump(mode="json")]},
    ),
    "undone": ("session.verdict_steps.set_verdicts([session.key], 'NG'); session.undo()", {"verdict": None}),
}


def killed(changes: list[tuple[Path, str]]) -> None:
    """Make changes in sessions on projects, (folder, statements) each, in processes that are killed afterwards."""
    subprocess.run(
        [sys.executable, "-c", KILLED, json.dumps([(str(root), words) for root, words in changes]), "lot1/p042.png"],
        cwd=ROOT,
        env={**worker_environment(), "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"},
        timeout=300,
        check=True,
    )


def reopened(root) -> tuple[Session, list]:
    session, problems_met = Session(save_delay=600), []
    session.problem_met.connect(problems_met.append)
    assert session.open_project(root) and session.flush()
    return session, problems_met


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_notes_changed_before_kill_are_recovered(root, qapp):
    """Each change is made in a session of its own, whose process is killed; the sessions are forks of one process."""
    roots = {name: copy_project(root, root.with_name(f"project {number}")) for number, name in enumerate(CHANGES)}
    changes = [(roots[name], changes) for name, (changes, _) in CHANGES.items()]
    killed([*changes, (root, "session.verdict_steps.set_verdicts(session.keys, 'NG')")])
    key = "lot1/p042.png"
    for name, (_, expected) in CHANGES.items():
        session, problems_met = reopened(roots[name])
        note = annotation.load_note(session.project, key)
        content = note.content()
        assert {field: content[field] for field in expected} == expected and not problems_met, name
        assert note.history, name
        if name == "status":  # a done image without a mask is a good one
            assert not annotation.read_mask(session.project.mask_path(key)).any()
        assert [path for path in (roots[name] / "journal").rglob("*") if path.is_file()] == [], name
        session.close_project()
    # The last one: verdicts of all images.
    session, problems_met = reopened(root)
    keys = session.project.images()
    assert [annotation.load_note(session.project, key).verdict for key in keys] == ["NG"] * len(
        keys
    ) and not problems_met
    assert [path for path in (root / "journal").rglob("*") if path.is_file()] == []
    session.close_project()


@pytest.fixture
def left(root):
    """Return a function that leaves a change of the first note in the journal, as a killed session does."""
    with Project.open(root) as project:
        key = project.images()[0]

    def leave(**fields) -> str:
        journal = Journal(root / "journal")
        before = Note(status="done").content()
        journal.append_note(NoteChange(key, difference(before, {**before, **fields}), size=(96, 80)))
        journal.close()
        return key

    return leave


def write_note(root, key: str, **fields) -> bytes:
    path = root / "notes" / f"{key}.json"
    path.write_text(json.dumps({"format": 1, "status": "done", **fields}))
    return path.read_bytes()


def test_change_of_another_field_is_kept(root, left, qapp):
    key = left(verdict="NG")
    write_note(root, key, pin="val", decided=[DECIDED.model_dump(mode="json")])
    session, problems_met = reopened(root)
    note = annotation.load_note(session.project, key)
    assert (note.verdict, note.pin, note.decided) == ("NG", "val", [DECIDED]) and not problems_met
    session.close_project()


def test_conflicting_note_is_stored_separately(root, left, qapp):
    key = left(verdict="NG", pin="test")
    write_note(root, key, verdict="OK")
    session, problems_met = reopened(root)
    note = annotation.load_note(session.project, key)
    assert (note.verdict, note.pin) == ("OK", "test")
    assert [type(problem) for problem in problems_met] == [problems.NoteDoesNotFit]
    kept = json.loads(Path(problems_met[0].fields["kept"]).read_bytes())
    assert (kept["verdict"], kept["pin"]) == ("NG", "test")
    session.close_project()
    session, problems_met = reopened(root)
    assert not problems_met
    session.close_project()


# Record of one stroke in "a.png", 96 x 80 pixels, in the format of earlier versions.
RECORD = bytes.fromhex(
    "b10000001b1e5f5d770000007b22666f726d6174223a20322c20226b6579223a2022612e706e67222c202277686174223a20227061696e74"
    "222c20227768656e223a20312e352c202273697a65223a205b39362c2038305d2c20226578706c69636974223a206e756c6c2c20226c656e"
    "67746873223a205b32342c20302c2033305d7d0000000000000000400000004000000000000000ffffffff52780163606240406646060656"
    "0606066b202686dec1cbc000002a67021b"
)


def test_a_stroke_recorded_by_an_earlier_version_is_recovered(root, qapp):
    name = hashlib.sha256(b"a.png").hexdigest()[:32]
    (root / "journal" / f"{name}-000001.bin").write_bytes(RECORD)
    session, problems_met = reopened(root)
    mask, requested = annotation.read_mask(root / "masks" / "a.png.png"), np.zeros((80, 96), np.uint8)
    requested[4:10, 3:8] = 2
    assert np.array_equal(mask, requested) and not problems_met
    assert annotation.load_note(session.project, "a.png").status == "started"
    session.close_project()


def test_a_record_of_a_newer_version_is_kept_and_reported(root, left, qapp):
    key = left(verdict="NG")
    path = next((root / "journal").glob("*.note"))
    record = {"format": 2, "key": key, "what": "unknown"}
    path.write_bytes(path.read_bytes() + framed(json.dumps(record).encode()))
    content, note = path.read_bytes(), (root / "notes" / f"{key}.json").read_bytes()
    session, problems_met = reopened(root)
    assert [type(problem) for problem in problems_met] == [problems.NoteChangesUnreadable]
    assert path.read_bytes() == content and (root / "notes" / f"{key}.json").read_bytes() == note
    session.close_project()
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "change",
    [
        b"{}",
        b"[]",
        b"[" * 100_000,
        b"\xff",
        b'{"format": 1}',
        b'{"format":1,"key":"a",'
        b'"fields":{"status":{"from":"new","to":"odd"}},"act":"","size":null,"when":0,'
        b'"new_mask":false}',
    ],
)
def test_invalid_records_are_reported(change, root, qapp):
    (root / "journal" / f"{'0' * 32}-000001.note").write_bytes(framed(change))
    session, problems_met = reopened(root)
    assert [type(problem) for problem in problems_met] == [problems.NoteChangesUnreadable]
    session.close_project()


def test_changes_of_a_broken_note_stay_in_the_journal(root, left, qapp):
    key = left(verdict="NG")
    (root / "notes" / f"{key}.json").write_text("{broken")
    session, problems_met = reopened(root)
    assert [type(problem) for problem in problems_met] == [problems.NoteBroken]
    session.close_project()
    write_note(root, key)
    session, problems_met = reopened(root)
    assert annotation.load_note(session.project, key).verdict == "NG" and not problems_met
    session.close_project()


def test_merging_twice_changes_nothing():
    states = [Note()]
    for number in range(5):
        note = states[-1].model_copy(deep=True)
        note.add("verdict", str(number % 2))
        note.verdict = f"v{number}"
        note.decided = [DECIDED.model_copy(update={"x": number})] if number % 2 else [*note.decided, DECIDED]
        states.append(note)
    changes = [NoteChange("a", difference(one.content(), two.content())) for one, two in zip(states, states[1:])]
    for at, state in enumerate(states):
        merged = merge(state, changes)
        assert merged.conflicting is None and merged.note.verdict == "v4", at
        assert sorted(map(repr, merged.note.decided)) == sorted(map(repr, states[-1].decided))
    assert not merge(states[-1], changes).changed


def test_verdict_set_during_save_stays_in_journal(opened, qtbot):
    opened.notes.set_verdict("NG")
    opened.notes.set_status("started")  # the verdict is being saved
    runner_of(opened.autosave).finish_work()
    runner_of(opened.autosave)._deliver()
    changes = Journal(opened.project.root / "journal").leftovers().note_changes
    found = [change.fields for change in changes.get(opened.key, [])]
    assert [fields["status"]["to"] for fields in found if "status" in fields] == ["started"]
    assert opened.flush() and not list((opened.project.root / "journal").glob("*.note"))


def test_saved_note_is_a_copy(opened, qtbot, monkeypatch):
    """Entries of the lists of a note are changed in place while a thread writes the note."""
    decisions = SuggestionDecisions(opened)
    runner_of(opened.autosave).wait()
    submitted = []
    monkeypatch.setattr(runner_of(opened.autosave), "submit", lambda work, *_, **__: submitted.append(work))
    opened.note.confirmed.append(ConfirmedLabel(kind="extra", x=1))
    decisions.decide(REJECT, "one", added=[DECIDED])
    opened.note.confirmed.append(ConfirmedLabel(kind="extra", x=2))
    opened.note.history[-1].detail = "changed in place"
    monkeypatch.undo()
    submitted[0](None)
    note = annotation.load_note(opened.project, opened.key)
    assert [one.x for one in note.confirmed] == [1] and note.history[-1].detail == "one"
    opened.autosave._busy.clear()


def test_a_label_with_a_note_of_a_newer_format_cannot_be_changed(opened, root, qtbot):
    key = opened.keys[1]
    mask = (root / "masks" / f"{key}.png").read_bytes()
    data = write_note(root, key, format=2, future={"a": [1, 2]}, history="of another type")
    problems_met = []
    opened.problem_met.connect(problems_met.append)
    show(opened, qtbot, key)
    assert isinstance(opened.mask_problem, problems.NoteTooNew) and "newer" in str(opened.mask_problem)
    dot(opened, 20, 20, 2)
    opened.notes.set_status("started")
    opened.verdict_steps.set_verdicts([key], "NG")
    show(opened, qtbot, opened.keys[0])
    opened.verdict_steps.set_verdicts([key, opened.keys[0]], "NG")
    assert opened.flush()
    opened.verdict_steps.finish()
    assert problems_met and {type(problem) for problem in problems_met} == {problems.NoteTooNew}
    assert (root / "notes" / f"{key}.json").read_bytes() == data
    assert (root / "masks" / f"{key}.png").read_bytes() == mask


def test_only_leftovers_of_killed_processes_are_removed(root, qapp):
    temporary = ".0123456789abcdef.tmp"
    part = root / "exports" / ".run.0123abcd.part"
    (part / "best").mkdir(parents=True)
    held = root / "exports" / ".run.4567abcd.part"
    gone = [root / folder / temporary for folder in (".", "masks/lot0", "notes/lot0", "pictures", "journal/kept")]
    stay = [
        root / "masks" / ".mine.tmp",
        root / "pictures" / "a.tmp",
        root / "exports" / ".mine.part" / "a",
        root / "runs" / "20260101-000000-unet" / temporary,
    ]
    for path in (*gone, *stay):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    with holding_part(held):
        held.mkdir()
        reader = Session()
        assert reader.open_project(root, write=False) and reader.flush()
        reader.close_project()
        assert all(path.exists() for path in (*gone, part))
        session, problems_met = reopened(root)
        assert not problems_met and not any(path.exists() for path in (*gone, part))
        assert held.exists() and all(path.exists() for path in stay)
        session.close_project()
    assert sorted(path.name for path in (root / "exports").iterdir()) == [".mine.part"]
    shutil.rmtree(root / "exports")
