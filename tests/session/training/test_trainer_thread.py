"""Training as a real child process: events, commands, and every kind of end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import psutil
import pytest

from workbench.core.project.project import Project
from workbench.core.runs import child_process
from workbench.core.runs.child_process import ChildProcess, StopTimeouts
from workbench.core.runs.events import BestKept, Checkpoint, Failed, Finished, Started, Step, Trouble, decode, encode
from workbench.core.runs.run import Run, create_run
from workbench.core.runs.training_settings import request
from workbench.session.training import trainer_thread
from workbench.session.training.trainer_thread import TrainerThread
from workbench.session.training.training_control import RunProgress

QUICK = StopTimeouts(command=0.3, terminate=0.3)
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.fixture
def run(root) -> Run:
    with Project.open(root) as project:
        return create_run(project, request("unet", epochs=1, device="cpu"))


@pytest.fixture
def begin(run, trainer_command, qtbot):
    """Return a function (behavior, ...) that starts a thread, whose events and endings are collected."""
    threads = []

    def begin(behavior: str, **how) -> TrainerThread:
        thread = TrainerThread(run, command=trainer_command(behavior, run), timeouts=QUICK, **how)
        return listen(thread)

    def listen(thread: TrainerThread) -> TrainerThread:
        thread.events, thread.endings, thread.pasts = [], [], []
        thread.recalled.connect(thread.pasts.append)
        thread.reported.connect(thread.events.append)
        thread.ended.connect(thread.endings.append)
        threads.append(thread)
        thread.start()
        return thread

    begin.listen = listen
    yield begin
    for thread in threads:
        thread.stop()
        thread.detach()
        thread.wait()


def received_commands(thread: TrainerThread) -> list[str]:
    return [event.what.removeprefix("received ") for event in thread.events if isinstance(event, Trouble)]


def wait_for(qtbot, thread: TrainerThread, kind) -> None:
    qtbot.waitUntil(lambda: any(isinstance(event, kind) for event in thread.events), timeout=10_000)


def wait_end(qtbot, thread: TrainerThread):
    qtbot.waitUntil(lambda: bool(thread.endings), timeout=10_000)
    thread.wait()
    assert len(thread.endings) == 1 and not thread.live
    return thread.endings[0]


def test_events_arrive_typed_and_in_order(begin, run, qtbot):
    trainer_thread.send_command(run, "a command for an earlier process")
    thread = begin("done")
    ending = wait_end(qtbot, thread)
    assert isinstance(ending, Finished) and ending.why == "done"
    assert [type(event) for event in thread.events] == [Started, Step, Step, Step, Finished]
    assert thread.events == list(run.events())
    assert "output of a library" in run.log_path.read_text()
    assert not trainer_thread.commands_path(run).exists()


def test_commands_are_sent_through_the_pipe(begin, qtbot, monkeypatch, niceness_of_children):
    monkeypatch.setattr(child_process, "NICENESS", niceness_of_children)
    thread = begin("execute")
    thread.pause()  # sent when the child is ready
    wait_for(qtbot, thread, Started)
    assert thread.live
    thread.resume()
    thread.watch("划痕 😀.png")
    thread.report_labels("b.png")
    thread.stop()
    ending = wait_end(qtbot, thread)
    assert isinstance(ending, Finished) and ending.why == "stopped"
    assert received_commands(thread) == ["pause", "resume", "watch", "labels_changed", "stop"]
    troubles = [event for event in thread.events if isinstance(event, Trouble)]
    assert troubles[2].picture == "划痕 😀.png"
    if os.name == "posix":
        assert troubles[0].done == "10"  # lower priority than the window


@posix
def test_killed_child_is_described(begin, run, qtbot):
    ending = wait_end(qtbot, begin("killed"))
    assert isinstance(ending, Failed) and ending.problem == "WorkerFailed"
    assert "signal 9 (SIGKILL)" in ending.why and "memory" in ending.why and str(run.log_path) in ending.why
    assert run.ending() == ending  # also stored on the disk


def test_crashed_child_is_described_with_its_error_output(begin, run, qtbot):
    ending = wait_end(qtbot, begin("exit"))
    assert "exit code 1" in ending.why and "No module named 'paddle'" in ending.why
    assert ending.log == str(run.log_path)


def test_child_without_final_event_has_failed(begin, qtbot):
    ending = wait_end(qtbot, begin("no_final_event"))
    assert isinstance(ending, Failed) and "exit code 0" in ending.why


def test_missing_program_is_reported(run, begin, qtbot):
    thread = begin.listen(TrainerThread(run, command=["/no/such/program"]))
    ending = wait_end(qtbot, thread)
    assert isinstance(ending, Failed) and any(words in ending.why for words in ("No such file", "[WinError 2]"))


def test_broken_settings_are_reported(run, begin, qtbot):
    run.settings_path.write_text("{")
    ending = wait_end(qtbot, begin("done"))
    assert ending.problem == "RunBroken" and "recipe.json" in ending.why


@posix
def test_unresponsive_child_is_killed_and_its_checkpoint_kept(begin, run, qtbot):
    (run.last).mkdir()
    (run.last / "state.json").write_text("{}")
    thread = begin("unresponsive")
    wait_for(qtbot, thread, Trouble)
    pid = thread.events[0].process
    thread.stop()
    ending = wait_end(qtbot, thread)
    assert isinstance(ending, Finished) and ending.why == "stopped"
    assert ending.result == {"forced": True, "usable": False, "resumable": True}
    assert not psutil.pid_exists(pid)
    assert run.ending() == ending


def test_saving_child_gets_more_time(run, begin, trainer_command, qtbot):
    patient = StopTimeouts(command=0.2, terminate=0.1, saving=60)
    thread = begin.listen(TrainerThread(run, command=trainer_command("slow", run, "0.8"), timeouts=patient))
    wait_for(qtbot, thread, Started)
    thread.stop()
    ending = wait_end(qtbot, thread)
    assert isinstance(ending, Finished) and not ending.result and (run.root / "saved.txt").exists()


@posix
def test_forced_stop_does_not_wait(run, begin, trainer_command, qtbot):
    patient = StopTimeouts(command=300, terminate=0.1, saving=300)
    thread = begin.listen(TrainerThread(run, command=trainer_command("slow", run, "600"), timeouts=patient))
    wait_for(qtbot, thread, Started)
    thread.stop()
    wait_for(qtbot, thread, Checkpoint)
    thread.stop(force=True)
    assert wait_end(qtbot, thread).problem == "RunUnusable"


@posix
def test_unresponsive_child_without_checkpoint_has_failed(begin, qtbot):
    thread = begin("unresponsive")
    wait_for(qtbot, thread, Trouble)
    thread.stop()
    assert wait_end(qtbot, thread).problem == "RunUnusable"


def test_detached_child_saves_and_ends(begin, run, qtbot):
    thread = begin("execute")
    wait_for(qtbot, thread, Started)
    process = psutil.Process(thread.events[0].process)
    thread.detach()
    thread.wait()
    process.wait(10)
    assert (run.root / "saved.txt").read_text() == "window closed"
    assert not thread.endings


def test_child_has_its_own_process_group(begin, qtbot):
    thread = begin("execute")
    wait_for(qtbot, thread, Started)
    if os.name == "posix":
        assert os.getpgid(thread.events[0].process) != os.getpgid(0)
    thread.stop()
    wait_end(qtbot, thread)


@posix
def test_pipe_held_open_by_a_grandchild_does_not_delay_the_end(tmp_path):
    script = (
        "import subprocess, sys\n"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        'print(\'{"kind": "trouble", "what": "%d"}\' % p.pid, flush=True)\n'
        "sys.exit(3)\n"
    )
    child = ChildProcess([sys.executable, "-c", script], log=tmp_path / "log.txt")
    (event,) = list(child.events())
    assert child.returncode == 3
    grandchild = int(event.what)
    for _ in range(100):
        if not psutil.pid_exists(grandchild) or psutil.Process(grandchild).status() == psutil.STATUS_ZOMBIE:
            break
        threading.Event().wait(0.02)
    else:
        pytest.fail("the grandchild was left behind")


# --- following a run of another process --------------------------------------------------------------


@pytest.fixture
def orphan(run, trainer_command):
    """Return a running trainer without a pipe to a parent."""
    process = subprocess.Popen(trainer_command("orphan", run), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    process.stdout.readline()
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_steps_are_not_decoded_to_find_the_process(run, monkeypatch):
    """A run of a million steps would block the window for seconds."""
    step = Step(step=1, loss=1.0, rate=0.1)
    run.events_path.write_text("".join(f"{encode(e)}\n" for e in (Started(model="unet", device="cpu"), *[step] * 50)))
    decoded = []
    monkeypatch.setattr("workbench.core.runs.run.decode", lambda line: decoded.append(line) or decode(line))
    assert trainer_thread.find_live_process(run) is None and len(decoded) == 1


def test_live_run_is_followed_and_stopped_by_file(begin, run, orphan, qtbot):
    assert trainer_thread.find_live_process(run).pid == orphan.pid
    thread = begin.listen(TrainerThread(run, attach=True, timeouts=QUICK))
    wait_for(qtbot, thread, Started)
    assert thread.live
    thread.watch("a.png")
    wait_for(qtbot, thread, Trouble)
    with run.events_path.open("a") as file:  # a line written in two parts
        line = encode(Step(step=7, loss=0.5, rate=0.1))
        file.write(line[:20])
        file.flush()
        threading.Event().wait(2 * trainer_thread.POLL)
        file.write(line[20:] + "\n")
    wait_for(qtbot, thread, Step)
    thread.stop()
    ending = wait_end(qtbot, thread)
    assert isinstance(ending, Finished) and ending.why == "stopped"
    assert received_commands(thread) == ["watch", "stop"] and thread.events == list(run.events())


@posix
def test_end_of_a_killed_followed_run_is_noticed(begin, run, orphan, qtbot):
    thread = begin.listen(TrainerThread(run, attach=True))
    wait_for(qtbot, thread, Started)
    orphan.kill()
    orphan.wait()
    ending = wait_end(qtbot, thread)
    assert isinstance(ending, Failed) and "left no report" in ending.why


def test_past_run_is_replayed(begin, run, qtbot):
    events = [Started(model="unet", device="cpu", process=os.getpid()), Step(step=1, loss=1.0, rate=0.1)]
    torn = encode(Step(step=2, loss=0.5, rate=0.1))[:-9]
    run.events_path.write_text("\n".join([*map(encode, events), torn]))
    thread = begin.listen(TrainerThread(run, attach=True))
    ending = wait_end(qtbot, thread)  # the id of this process, which is no trainer
    assert thread.events[0] == events[0] and isinstance(ending, Failed)
    past = thread.pasts[0]
    assert past.state.step == events[1] and list(past.series.steps["loss"]) == [1.0] and past.ending is None
    with run.events_path.open("a") as file:
        file.write("\n" + encode(Finished(why="done", result={"score": 1})) + "\n")
    again = begin.listen(TrainerThread(run, attach=True))
    assert wait_end(qtbot, again).result == {"score": 1}
    assert not again.live


@pytest.mark.parametrize(
    ("code", "log", "words"),
    [
        (-9, "", "SIGKILL"),
        (137, "", "SIGKILL"),
        (-11, "", "crashed with signal 11"),
        (-15, "", "ended by signal 15"),
        (1, "x\nMemoryError\n", "ran out of memory"),
        (1, "ResourceExhaustedError: Out of memory error on GPU 0.\n", "out of memory"),
        (3221225477, "", "access violation"),
        (0, "", "exit code 0"),
        (2, "  \nlast line\n\n", "last output: last line"),
        (None, "", "no longer exists"),
    ],
)
def test_cause_of_every_exit(code, log, words):
    assert words in child_process.cause(code, log)


def test_problem_survives_the_process_boundary():
    from workbench.core import problems

    received = child_process.from_problem(problems.ParityFailed(why="0.1", report="r.json"))
    back = child_process.to_problem(received, "export", child_process.Path("log"))
    assert type(back) is problems.ParityFailed and back.fields == {"why": "0.1", "report": "r.json"}
    other = child_process.to_problem(Failed(why="odd", problem="ParityFailed"), "export", child_process.Path("log"))
    assert isinstance(other, problems.WorkerFailed) and "odd" in str(other)
    assert isinstance(
        child_process.to_problem(Failed(why="x", problem="annotations"), "export", child_process.Path("log")),
        problems.WorkerFailed,
    )


@pytest.fixture
def progress() -> RunProgress:
    return RunProgress()


def step(time: float, share: float) -> Step:
    return Step(time=time, step=1, loss=0.5, rate=0.1, progress=share)


def test_time_of_a_planned_run_is_known(progress):
    progress.add(Started(model="unet", device="cpu", seconds_planned=60.0))
    progress.add(step(45.0, 0.9))
    assert (progress.remaining_seconds, progress.share, progress.steps) == (15.0, 0.75, 0.9)
    progress.add(step(70.0, 1.2))
    assert (progress.remaining_seconds, progress.share, progress.steps) == (0.0, 1.0, 1.0)


def test_time_of_a_run_by_epochs_is_estimated_from_its_steps(progress):
    progress.add(Started(model="unet", device="cpu", steps_planned=100))
    assert progress.remaining_seconds is None and progress.share == 0.0
    progress.add(step(10.0, 0.25))
    assert progress.remaining_seconds == pytest.approx(30.0) and progress.share == 0.25


def test_run_that_is_kept_open_is_complete(progress):
    progress.add(Started(model="unet", device="cpu", seconds_planned=60.0))
    progress.add(BestKept(time=60.0, step=9, round=1, waiting=True))
    assert progress.share == 1.0 and progress.kept_open_event.waiting
