"""Trainings that are killed at any time or meet a full disk: they can be resumed with equal results."""

from __future__ import annotations

import random
import shutil

import pytest

from tests import disk
from tests.conftest import fill_project
from tests.training.conftest import arrays_of, make_run, state_of
from tests.training.killed_training import differences, train_undisturbed, train_with_kills
from workbench.core.project.project import Project
from workbench.core.runs.events import Checkpoint, Failed, Finished, Trouble, encode_command
from workbench.core.runs.run import Run
from workbench.inference.predictor import Predictor
from workbench.training.__main__ import main
from workbench.training.reporter import ControlChannel


# In the default suite: one kill of a UNet run, test_train.py.
@pytest.mark.slow
@pytest.mark.parametrize(("model", "kills"), [pytest.param("unet", 3, marks=pytest.mark.new_processes), ("resnet", 1)])
def test_a_run_killed_repeatedly_equals_an_undisturbed_one(labeled_project, model, kills):
    """tests/benchmarks/training_kills.py repeats this with fifty kills."""
    undisturbed, killed = (make_run(labeled_project, model, epochs=2 + kills, validations=2 + kills) for _ in range(2))
    seconds = train_undisturbed(undisturbed).seconds
    record = train_with_kills(killed, random.Random(4), longest=seconds, kills=kills)
    assert record.kills and differences(undisturbed, killed) == []


def test_file_of_a_write_that_was_interrupted_before_the_first_save_is_removed(labeled_project, inside):
    run = make_run(labeled_project, epochs=1, validations=1)
    interrupted = run.root / ".0123456789abcdef.tmp"
    interrupted.touch()
    assert inside("train", run.root).end() == 0 and not interrupted.exists()


def test_metrics_of_the_best_weights_are_stored_with_them(labeled_project, inside):
    """The process was killed after the newer best weights were written and before `last/` was updated."""
    run = make_run(labeled_project, epochs=2, validations=2, widths=[4, 8])
    assert inside("train", run.root).end() == 0
    before = shutil.copytree(run.last, run.root / "before")
    first = run.ending()
    run.settings_path.write_text(run.settings().model_copy(update={"epochs": 3, "validations": 3}).model_dump_json())
    assert inside("train", run.root, "--resume").end() == 0
    then = run.ending()
    assert isinstance(first, Finished) and isinstance(then, Finished)
    assert then.result["best_step"] > first.result["best_step"]
    shutil.rmtree(run.last)
    before.rename(run.last)
    # All steps are done; only the final evaluation is left.
    run.settings_path.write_text(run.settings().model_copy(update={"epochs": 2, "validations": 2}).model_dump_json())
    assert inside("train", run.root, "--resume").end() == 0
    again = run.ending()
    assert isinstance(again, Finished)
    for key in ("best_step", "metrics", "score"):
        assert again.result[key] == then.result[key]


@pytest.fixture
def small_disk(tmp_path):
    with disk.small_disk(tmp_path / "disk", kilobytes=4000) as folder:
        yield folder


def test_a_run_continues_on_a_full_disk(small_disk, child):
    with Project.create(small_disk / "p", classes=["scratch"]) as project:
        fill_project(project, 12, good=4)
        run = make_run(project, epochs=6, validations=6, widths=[4, 8])
        trainer = child("train", run.root)
        trainer.next(Checkpoint)
        trainer.next(Checkpoint)
        ballast = disk.fill_up(small_disk)
        trouble = trainer.next(Trouble)
        assert "No space left" in trouble.what and "continues" in trouble.done
        for path in (run.last / name for name in state_of(run)["files"].values()):
            assert arrays_of(path)  # the earlier checkpoint
        Predictor.open(run.best)
        ballast.unlink()
        while trainer.next(Checkpoint).which != "last":
            pass
        assert trainer.end() == 0 and isinstance(run.ending(), Finished)


@pytest.mark.slow
def test_a_run_whose_disk_was_full_to_the_end_can_be_resumed(small_disk, child):
    with Project.create(small_disk / "p", classes=["scratch"]) as project:
        fill_project(project, 12, good=4)
        full, undone = (make_run(project, epochs=6, validations=6, widths=[4, 8]) for _ in range(2))
        trainer = child("train", full.root)
        trainer.next(Checkpoint)
        trainer.next(Checkpoint)
        ballast = disk.fill_up(small_disk)
        assert trainer.end() == 1 and isinstance(trainer.last, Failed)
        assert "No space left" in trainer.last.why and full.resumable
        ballast.unlink()
        assert child("train", full.root, "--resume").end() == 0
        assert child("train", undone.root).end() == 0
        assert differences(undone, Run(full.root)) == []


@pytest.mark.parametrize("asked", [True, False])
def test_signal_during_the_start_is_a_failure_only_without_a_request_to_stop(labeled_project, monkeypatch, asked):
    """The import of Paddle can take longer than a request to stop waits before it sends a signal."""
    run = make_run(labeled_project)

    def interrupted(run, report, channel, clock, resume):
        if asked:
            channel.apply(encode_command("stop"))
        raise KeyboardInterrupt

    monkeypatch.setattr("workbench.training.__main__._train", interrupted)
    monkeypatch.setattr("workbench.training.__main__.claim_stdout", lambda: None)
    monkeypatch.setattr(ControlChannel, "listen", lambda self: None)
    main(["train", str(run.root)])
    ending = list(run.events())[-1]
    assert isinstance(ending, Failed) and ending.problem == ("RunUnusable" if asked else "WorkerFailed")
