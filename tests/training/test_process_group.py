"""Distributed training with Paddle's launcher, two ranks, and messages by gloo."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
import types
from pathlib import Path

import numpy as np
import paddle
import psutil
import pytest

from tests.training.conftest import arrays_of, make_run, state_of
from workbench.core import problems
from workbench.core.project.storage import write_json
from workbench.core.runs.dataset import AddedImage
from workbench.core.runs.events import Checkpoint, Failed, Finished, Preview, Started, Step, decode, encode_command
from workbench.core.runs.launch import (
    launcher_command,
    launcher_environment,
    processes,
    training_process,
    worker_command,
)
from workbench.core.runs.run import Run
from workbench.training import device, process_group, rank_launcher, reporter, training_context, training_loop
from workbench.training.learner import Learner
from workbench.training.networks import UNet
from workbench.training.optimizers import Precision, PrecisionChoice, make_optimizer
from workbench.training.process_group import CommandMessage, ProcessGroup, RankCommand, distributed
from workbench.training.reporter import Clock, ControlChannel, Reporter

TINY = {"widths": [4, 8], "patch": 32, "batch": 4, "average": 0.5}
LONG = {**TINY, "minutes": 60.0, "epochs": None, "validations": 200}


def ranks_of(run: Run) -> dict[int, psutil.Process]:
    """Return the training processes by rank."""
    found = {}
    for process in psutil.process_iter():
        try:
            words, environment = process.cmdline(), process.environ()
        except psutil.Error:
            continue
        is_rank = str(run.root) in words and "--apart" in words and "paddle.distributed.launch" not in words
        if is_rank and "PADDLE_TRAINER_ID" in environment:
            found[int(environment["PADDLE_TRAINER_ID"])] = process
    return found


def of_run(run: Run) -> list[psutil.Process]:
    """Return all processes with the run in their command line."""
    found = []
    for process in psutil.process_iter():
        try:
            if str(run.root) in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def wait_until_ended(run: Run, patience: float = 240.0) -> bool:
    until = time.monotonic() + patience
    while of_run(run) and time.monotonic() < until:
        time.sleep(0.1)
    return not of_run(run)


# --- whole runs ---------------------------------------------------------------------------------------


# The wider network has layers for both optimizers; the narrow one has none for Muon.
@pytest.mark.parametrize("widths", [pytest.param([4, 8], marks=pytest.mark.slow), [16, 24]])
def test_two_processes_equal_two_replicas_in_one_process(labeled_project, child, inside, widths):
    choices = {**TINY, "widths": widths, "patch": 64, "workers": 2, "epochs": 1, "validations": 1}
    several, alone = (make_run(labeled_project, device=name, **choices) for name in ("cpu:2", "cpu"))
    trainer = child("train", several.root)
    assert trainer.end() == 0, (several.ranks / "rank-0.log").read_text()
    assert inside("train", alone.root).end() == 0
    started, ended = trainer.events[0], trainer.last
    assert isinstance(started, Started) and started.device == "cpu:2" and ended.why == "done"
    assert [event.kind for event in trainer.events if event.kind in ("started", "finished")] == ["started", "finished"]
    assert "".join(trainer.lines) == several.events_path.read_text("utf-8")  # one writer, and no output of the launcher
    for name in ("weights", "average", "optimiser"):
        first, second = (arrays_of(run.last / state_of(run)["files"][name]) for run in (several, alone))
        assert first.keys() == second.keys()
        for key in first:
            # Kernels for two and for four images round differently on some CPUs, and the optimizers divide by the size
            # of the gradient: up to 0.0015 of an array of weights and 0.005 of one of moments. Gradients that are not
            # summed change some by more than 0.8.
            difference = np.linalg.norm(np.float64(first[key]) - second[key])
            limit = 0.02 if name == "optimiser" else 0.005
            assert difference <= limit * np.linalg.norm(second[key]) + 1e-9, key
    assert several.ending().result["metrics"] == alone.ending().result["metrics"]
    losses = [{e.step: e.loss for e in run.events() if isinstance(e, Step)} for run in (several, alone)]
    for step in losses[0].keys() & losses[1].keys():
        assert losses[0][step] == pytest.approx(losses[1][step], rel=1e-4)
    printed = {path.name for path in several.ranks.iterdir()}
    # and no files with environment variables
    assert printed == {"launcher.log", "rank-0.log", "rank-1.log", "rank-1.jsonl"}


@pytest.mark.slow
def test_killed_rank_is_reported(labeled_project, child):
    run = make_run(labeled_project, device="cpu:2", **LONG)
    trainer = child("train", run.root)
    trainer.next(Step)
    ranks_of(run)[1].kill()
    assert trainer.end() == 1
    assert isinstance(trainer.last, Failed) and trainer.last.problem == "WorkerFailed"
    assert re.search("process 2 of 2 ended without a report", trainer.last.why) and trainer.last.fields["log"].endswith(
        "rank-1.log"
    )
    assert [event.kind for event in trainer.events].count("failed") == 1 and wait_until_ended(run) and run.resumable


@pytest.mark.slow
def test_run_with_a_killed_leader_can_resume(labeled_project, child):
    run = make_run(labeled_project, device="cpu:2", **LONG)
    key = run.dataset().of("train")[0].key
    first = child("train", run.root)
    first.next(Step)
    ranks_of(run)[0].kill()  # the rank that reports events
    assert first.end() == 1 and first.last.problem == "WorkerFailed" and wait_until_ended(run)
    assert "process 1: the process was killed by signal 9" in first.last.why and first.last.fields["log"].endswith(
        "rank-0.log"
    )
    resumed = child("train", run.root, "--resume")
    assert resumed.next(Started).resumed
    resumed.next(Step)
    resumed.send(encode_command("watch", key))
    resumed.send(encode_command("labels_changed", key))
    preview = resumed.next(Preview)
    while preview.picture != key:
        preview = resumed.next(Preview)
    resumed.send(encode_command("pause"))
    resumed.next(Checkpoint)
    resumed.send(encode_command("resume"))
    resumed.next(Step)
    resumed.process.terminate()  # as a window does without an answer
    assert resumed.end() == 0 and isinstance(resumed.last, Finished) and resumed.last.why == "stopped"
    assert run.usable and wait_until_ended(run)


@pytest.mark.slow
def test_ranks_hold_the_lock_and_end_if_the_launcher_is_killed(labeled_project, child, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    run = make_run(labeled_project, device="cpu:2", **LONG)
    trainer = child("train", run.root)
    trainer.next(Step)
    assert training_process(run.root) not in (None, trainer.process.pid)  # the first rank
    second = child("train", run.root, "--resume", "--lock-seconds", "1")
    assert second.end() == 1 and second.last.problem == "RunInUse"
    assert [event.kind for event in run.events()].count("started") == 1 and (run.ranks / "launcher.log").exists()
    trainer.process.kill()
    trainer.process.wait()
    assert wait_until_ended(run)
    assert run.ending().why == "stopped" and run.usable and run.resumable
    assert not list(tmp_path.glob("workbench-launcher-*"))  # it contains all environment variables


@pytest.mark.slow
def test_run_on_two_hosts(labeled_project):
    """Two launchers that share only an address, as started by a scheduler on each host."""
    run = make_run(labeled_project, device="cpu:2", **TINY)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    environment = {**launcher_environment("cpu:1"), "POD_IP": "127.0.0.1"}
    hosts = []
    for number in range(2):
        logs = run.root / f"host-{number}"
        command = [sys.executable, "-m", "paddle.distributed.launch", "--master", address, "--nnodes", "2"]
        command += ["--rank", str(number), "--nproc_per_node", "1", "--log_dir", str(logs)]
        command += worker_command("train", run.root, "--keep-running")
        hosts.append(
            subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        )
    try:
        codes = [host.wait(90) for host in hosts]
    finally:
        for host in hosts:
            host.kill()
            host.wait()
        for process in of_run(run):
            process.kill()
    assert codes == [0, 0], "".join(path.read_text("utf-8") for path in run.root.glob("host-?/workerlog.*"))
    assert run.ending().why == "done" and run.usable
    started = next(event for event in run.events() if isinstance(event, Started))
    assert started.device == "cpu:2"


@pytest.mark.skipif(sys.platform == "win32", reason="one GPU is used there")
def test_impossible_run_is_reported_once(labeled_project, child):
    run = make_run(labeled_project, **{**TINY, "device": "gpu:0,1"})
    trainer = child("train", run.root)
    assert trainer.end() == 1
    assert [event.kind for event in trainer.events] == ["failed"]
    assert trainer.last.problem == "DeviceMissing" and "gpu:0,1" in trainer.last.why and wait_until_ended(run)
    assert trainer.last.fields["device"] == "gpu:0,1" and not run.usable


@pytest.mark.slow
def test_diverged_training_is_rolled_back_in_all_ranks(labeled_project, child):
    run = make_run(labeled_project, device="cpu:2", std=[1e-38], local_contrast=False, **TINY)
    trainer = child("train", run.root)
    assert trainer.end() == 1 and "diverged 4 times" in trainer.last.why
    assert [event.kind for event in trainer.events].count("trouble") == 3 and wait_until_ended(run)
    others = [decode(line) for line in (run.ranks / "rank-1.jsonl").read_text("utf-8").splitlines()]
    assert [event.kind for event in others] == ["finished"]  # released, not killed


# --- one process with simulated others -------------------------------------------------


@pytest.fixture
def peer(monkeypatch):
    """Simulate the other process of two: each message is answered with the next given one."""
    sent: list[np.ndarray] = []

    def all_reduce(tensor: paddle.Tensor) -> None:
        with paddle.no_grad():
            paddle.assign(tensor + paddle.to_tensor(sent.pop(0)).astype(tensor.dtype), tensor)

    monkeypatch.setattr(ProcessGroup, "exchange_ids", lambda self: [])
    monkeypatch.setattr(distributed, "all_reduce", all_reduce)
    return sent


def test_worker_rank_executes_commands(labeled_project, monkeypatch):
    """A worker rank mirrors a leader, with a batch that once exceeds the memory."""
    run = make_run(labeled_project, device="cpu", workers=1, **TINY)
    stages = [training_context.prepare(run, Reporter(None, Clock()), ControlChannel(None), Clock()) for _ in range(2)]
    leader, follower = stages
    leader.save_last()
    follower.ranks.number = 1
    key = run.dataset().of("train")[0].key
    record = run.dataset()
    record.joined.append(AddedImage(step=0, item=record.of("train")[0]))
    write_json(run.dataset_path, record.model_dump(mode="json"))
    # The first and the third command fail for lack of memory: a rollback sets the number of parts back to one.
    received = [
        CommandMessage(RankCommand.STEP, 0, 1e-3),
        CommandMessage(RankCommand.LOAD),
        CommandMessage(RankCommand.RELABEL, item=0),
    ]
    received += [CommandMessage(RankCommand.STEP, step, 1e-3) for step in (0, 0, 1)] + [CommandMessage(RankCommand.END)]
    monkeypatch.setattr(follower.ranks, "receive_command", lambda: received.pop(0))
    take, forgotten = follower.loader.take, []
    monkeypatch.setattr(follower.sampler.cache, "remove", forgotten.append)

    def take_or_fail(step: int):
        if follower.learner.parts == 1:
            raise MemoryError("ResourceExhaustedError: Out of memory error on GPU 0.")
        return take(step)

    monkeypatch.setattr(follower.loader, "take", take_or_fail)
    parts = []
    split = follower.learner.split
    monkeypatch.setattr(follower.learner, "split", lambda batch: (parts.append(batch), split(batch)))
    session = training_loop.TrainingLoop(follower)
    training_loop.run_worker(follower, reduce_memory=session.reduce_memory)
    leader.learner.parts = 2
    for step in (0, 1):
        leader.learner.step(*leader.loader.take(step), 1e-3)
    assert received == [] and parts == [4, 4] and forgotten == [key]
    for one, other in zip(leader.learner.net.parameters(), follower.learner.net.parameters()):
        assert (one.numpy() == other.numpy()).all()
    for stage in stages:
        stage.loader.close()


def test_worker_rank_without_leader_ends(monkeypatch):
    left = []
    monkeypatch.setattr(reporter, "EXIT_SECONDS", 0.0)
    monkeypatch.setattr(reporter.os, "read", lambda pipe, most: b"")
    monkeypatch.setattr(reporter.os, "_exit", left.append)
    ControlChannel(None).read_pipe()
    assert left == []
    ControlChannel(None, in_group=True).read_pipe()
    assert left == [1]


def test_failure_is_read_from_the_launcher_log(tmp_path):
    run = Run(tmp_path)
    run.ranks.mkdir()
    (run.ranks / "launcher.log").write_text("no such module\n")
    assert "exit code 1; last output: no such module" in str(rank_launcher.failure_of(run, 1))
    words = "Container rank 3 status failed cmd ['python', '-m', 'x y'] code -11 log /tmp/workerlog.3"
    (run.ranks / "launcher.log").write_text(f"LAUNCH ERROR 2026-01-01 Container failed !!!\n{words}\n")
    (run.ranks / "rank-3.log").write_text("Segmentation fault\n")
    received = rank_launcher.failure_of(run, 1)
    assert "process 4: the process crashed with signal 11" in str(received) and str(received.fields["log"]).endswith(
        "rank-3.log"
    )


def test_failure_in_one_process_fails_in_all(peer):
    group = ProcessGroup(0, 2)
    peer.append(np.array([0.25, 0, 0]))
    assert group.together(lambda: 0.5) == 0.75
    peer.append(np.array([0.0, 1, 0]))
    with pytest.raises(MemoryError):
        group.together(lambda: 0.5)
    assert not group.broken
    peer.append(np.array([0.25, 0, 0]))

    def full() -> float:
        raise RuntimeError("ResourceExhaustedError: Out of memory error on GPU 0.")

    with pytest.raises(RuntimeError, match="Out of memory"):
        group.together(full)
    assert not group.broken  # all of them split their batches and continue
    peer.append(np.array([0.0, 0, 1]))
    with pytest.raises(problems.WorkerFailed, match="another"):
        group.together(lambda: 0.5)
    assert group.broken
    group.dismiss()  # no other process is left


def test_gradients_are_summed_and_statistics_averaged(peer):
    weight = paddle.create_parameter([2, 2], "float32")
    frozen = paddle.create_parameter([3], "float32")
    frozen.stop_gradient = True
    (weight * paddle.to_tensor([[1.0, 2], [3, 4]])).sum().backward()
    frozen.set_value(np.array([1.0, 2, 3], np.float32))
    # its share of the mean is halved in the other process, too
    peer.append(np.array([10.0, 10, 10, 10, 0.5, 0.5, 0.5]))
    ProcessGroup(0, 2).combine([weight, frozen])
    assert weight.grad.tolist() == [[11, 12], [13, 14]] and frozen.tolist() == [1, 1.5, 2]


def test_wait_for_a_message_reads_a_single_value(monkeypatch):
    """Of a view, `numpy` would read all gradients in every step."""
    sizes = []

    def numpy(tensor):
        sizes.append(tensor._holder_size())
        return read(tensor)

    read = paddle.Tensor.numpy
    monkeypatch.setattr(paddle.Tensor, "numpy", numpy)
    on_gpu = types.SimpleNamespace(is_gpu_place=lambda: True)
    process_group._wait_for(types.SimpleNamespace(place=on_gpu, flatten=paddle.zeros([100, 1000]).flatten))
    assert sizes and max(sizes) <= 256


def test_places_of_a_batch_are_split_without_overlap():
    shares = []
    for number in range(3):
        group = ProcessGroup()
        group.number, group.size = number, 3
        shares.append(list(group.batch_positions(8)))
    assert sorted(sum(shares, [])) == list(range(8)) and [len(share) for share in shares] == [3, 3, 2]


# --- devices ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "count"), [("auto", 1), ("cpu", 1), ("gpu", 1), ("gpu:3", 1), ("gpu:0,1,5", 3), ("cpu:2", 2), ("cpu:x", 1)]
)
def test_number_of_processes_of_a_device(name, count):
    assert processes(name) == count


def test_launcher_gets_the_visible_gpu_numbers(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    command = launcher_command("gpu:0,2", Path("logs"), "python", "-m", "x")
    assert command[command.index("--devices") + 1] == "0,2" and command[-3:] == ["python", "-m", "x"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5,7")
    command = launcher_command("gpu:0,2", Path("logs"))
    assert command[command.index("--devices") + 1] == "4,7"
    assert "--devices" not in launcher_command("cpu:2", Path("logs"))
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert launcher_command("cpu:2", Path("logs"))[1:3] == ["--worker", "launch"]


@pytest.fixture
def simulated_gpus(monkeypatch):
    """Simulate a machine with two GPUs for Paddle; calls of set_device are recorded."""
    chosen: list[str] = []
    cuda = paddle.device.cuda
    monkeypatch.setattr(paddle.device, "is_compiled_with_cuda", lambda: True)
    monkeypatch.setattr(cuda, "device_count", lambda: 2)
    monkeypatch.setattr(cuda, "get_device_capability", lambda number: (9, 0))
    monkeypatch.setattr(cuda, "get_device_name", lambda number: "A card")
    monkeypatch.setattr(paddle, "set_device", chosen.append)
    return chosen


@pytest.mark.parametrize(
    ("requested", "name", "chosen"),
    [("auto", "gpu:0", "gpu:0"), ("gpu", "gpu:0", "gpu:0"), ("GPU:1", "gpu:1", "gpu:1"), ("cpu", "cpu", "cpu")],
)
def test_one_gpu_is_selected(simulated_gpus, requested, name, chosen):
    found = device.choose(requested)
    assert found.name == name and simulated_gpus == [chosen]
    assert found.capability == ((9, 0) if name != "cpu" else (0, 0))


@pytest.mark.skipif(sys.platform == "win32", reason="one GPU is used there")
def test_each_process_uses_its_assigned_gpu(simulated_gpus, monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    monkeypatch.setenv("PADDLE_TRAINER_ID", "1")
    monkeypatch.setenv("FLAGS_selected_gpus", "1")
    found = device.choose("gpu:0,1")
    assert (found.name, found.title) == ("gpu:0,1", "2 × A card") and simulated_gpus == ["gpu:1"]
    assert device.choose("auto").name == "gpu:1"
    monkeypatch.setenv("FLAGS_selected_gpus", "5")
    with pytest.raises(problems.DeviceMissing, match="no GPU 5"):
        device.choose("auto")
    for requested, words in (("gpu:0,2", "no GPU 2"), ("gpu:1,1", "named twice")):
        with pytest.raises(problems.DeviceMissing, match=words):
            device.check(requested)


def test_broken_group_names_the_cause(tmp_path, monkeypatch):
    processes = [(1, 0), (2**22 + 1, process_group.host_number()), (3, 0)]
    monkeypatch.setattr(ProcessGroup, "exchange_ids", lambda self: processes)
    group = ProcessGroup(0, 3, tmp_path)
    assert "process 2 of 3 ended without a report" in str(group.lost_error("reset by peer"))
    (tmp_path / "rank-2.jsonl").write_text('{"kind": "failed", "time": 1.0, "why": "The disk is full."}\n')
    monkeypatch.setattr(ProcessGroup, "exchange_ids", lambda self: [(1, 0), (2, 0), (3, 0)])
    assert "process 3 of 3 failed: The disk is full" in str(ProcessGroup(0, 3, tmp_path).lost_error("reset by peer"))
    monkeypatch.setattr(process_group, "LOSS_TIMEOUT", 0.0)
    (tmp_path / "rank-2.jsonl").unlink()
    assert "reset by peer" in str(ProcessGroup(0, 3, tmp_path).lost_error("reset by peer"))


# --- processes that fail in the middle of a step ------------------------------------------------------

_RANK = """
import os, sys, time
import numpy as np, paddle
from pathlib import Path
from workbench.training import process_group

number = int(os.environ["PADDLE_TRAINER_ID"])
process_group._MESSAGE_SECONDS = 2.0
process_group.LOSS_TIMEOUT = 0.1
group = process_group.join(Path(sys.argv[1]), 4)
group.limit_messages(lambda problem: (print("timeout:", problem, flush=True), os._exit(3)))

def compute(fault):
    if number == 1 and fault == "memory":
        raise OSError("(External) CUDA error(2), out of memory. [Hint: 'cudaErrorMemoryAllocation'.]")
    if number == 1 and fault == "error":
        raise ValueError("(InvalidArgument) something else")
    if number == 1 and fault == "hang":
        time.sleep(60)
    return 1.0

for fault in ("memory", "none", "error", "hang"):
    try:
        print(fault, group.together(lambda: compute(fault)), flush=True)
    except Exception as error:
        print(fault, type(error).__name__, error, flush=True)
"""


@pytest.mark.slow
def test_no_process_waits_for_one_that_fails(tmp_path):
    """Two real processes with gloo, one of which runs out of memory, computes, fails, and hangs in a forward pass."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        ports = [free.getsockname()[1] + offset for offset in (0, 1)]
    script = tmp_path / "rank.py"
    script.write_text(_RANK)
    ranks = []
    for number in range(2):
        environment = {
            **launcher_environment("cpu:2"),
            "PADDLE_TRAINER_ID": str(number),
            "PADDLE_TRAINERS_NUM": "2",
            "PADDLE_TRAINER_ENDPOINTS": ",".join(f"127.0.0.1:{port}" for port in ports),
            "PADDLE_CURRENT_ENDPOINT": f"127.0.0.1:{ports[number]}",
            "PADDLE_MASTER": f"127.0.0.1:{ports[0]}",
        }
        command = [sys.executable, str(script), str(tmp_path)]
        with (tmp_path / f"{number}.txt").open("w") as output:
            ranks.append(subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.DEVNULL))
    try:
        assert ranks[0].wait(240) == 3
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
    leader, other = ((tmp_path / f"{number}.txt").read_text() for number in range(2))
    assert "memory MemoryError Out of memory in another process" in leader and "memory OSError" in other
    assert "none 2.0" in leader and "none 2.0" in other, "after running out of memory both go on together"
    assert "error WorkerFailed" in leader and "error ValueError (InvalidArgument) something else" in other
    assert "timeout:" in leader and "no answer for 2 s" in leader


def test_failures_of_nccl_are_reported(monkeypatch):
    def broken(tensor: paddle.Tensor, *arguments: object) -> None:
        raise OSError(
            "(External) NCCL error(3), internal error. \n  [Hint: 'ncclInternalError'.] (at /paddle/nccl.cc:1)\n"
        )

    monkeypatch.setattr(ProcessGroup, "exchange_ids", lambda self: [])
    monkeypatch.setattr(distributed, "all_reduce", broken)
    monkeypatch.setattr(distributed, "broadcast", broken)
    group = ProcessGroup(0, 2)
    for exchange in (lambda: group.together(lambda: 1.0), lambda: group.send_command(RankCommand.LOAD)):
        with pytest.raises(problems.WorkerFailed, match=r"NCCL error\(3\), internal error\b") as lost:
            exchange()
        assert "Hint" not in str(lost.value)
    monkeypatch.setattr(process_group, "rank_of_this_process", lambda: (0, 2))
    monkeypatch.setattr(distributed, "init_parallel_env", lambda: broken(paddle.zeros([1])))
    with pytest.raises(problems.WorkerFailed, match=r"NCCL error\(3\)"):
        process_group.join(Path(), 4)


def test_memory_that_is_short_after_the_gradients_were_exchanged_ends_the_run(peer, monkeypatch):
    """The other process has changed its weights already, so the step cannot be repeated."""
    nets = [UNet(1, 2, [4, 8], contrast=False) for _ in range(2)]
    precision = Precision(PrecisionChoice("fp32", ""))
    optimizer = make_optimizer(nets[0], "adamw", weight_decay=0.0)
    learner = Learner(nets[0], nets[1], lambda a, t: a.mean(), precision, optimizer, grad_clip=1.0, average=0.0)
    learner.process_group = ProcessGroup(1, 2)

    def full(*arguments: object) -> None:
        raise OSError("(External) CUDNN error(2), CUDNN_STATUS_ALLOC_FAILED")

    monkeypatch.setattr(precision, "step", full)
    exchanged = sum(p.size for p in nets[0].parameters())
    peer += [np.zeros(3), np.zeros(exchanged)]
    images = np.ones((2, 1, 16, 16), np.float32)
    with pytest.raises(problems.WorkerFailed, match="memory is too small"):
        learner.step(images, images[:, 0].astype(np.uint8), 1e-3)
    assert learner.process_group.broken


def test_failure_of_the_process_that_ended_first_is_reported(tmp_path):
    run = Run(tmp_path)
    run.ranks.mkdir()
    words = "Container rank 1 status failed cmd ['python', '-m', 'x y'] code 1 log /tmp/workerlog.1"
    (run.ranks / "launcher.log").write_text(f"LAUNCH ERROR 2026-01-01 Container failed !!!\n{words}\n")
    (run.ranks / "rank-1.jsonl").write_text('{"kind": "failed", "time": 1.0, "why": "the memory is too small"}\n')
    assert "the memory is too small" in str(rank_launcher.failure_of(run, 1))


def test_forward_pass_of_several_gpus_contains_no_message(monkeypatch, labeled_project):
    """Norms use the part of the batch in one process, also on GPUs: see the module's docstring."""
    run = make_run(labeled_project, device="cpu", workers=1, **TINY)
    context = training_context.prepare(run, Reporter(None, Clock()), ControlChannel(None), Clock())
    context.loader.close()
    kinds = {type(layer).__name__ for layer in context.learner.net.sublayers()}
    assert "BatchNorm2D" in kinds and "SyncBatchNorm" not in kinds
