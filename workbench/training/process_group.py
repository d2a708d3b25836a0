"""Data-parallel training by several processes: each computes its places of every batch, all run the same step.

Rank 0 leads: it keeps the time, receives commands, evaluates on validation images, and alone writes the run's events
and checkpoints. Before each step it sends a command to the others.

Forward and backward passes contain no messages: each process normalizes its own part of a batch, and the running
statistics are averaged with the gradients. So a process that fails in them still answers the message that follows, and
no process waits for one that never comes.
"""

from __future__ import annotations

import os
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import numpy as np
import paddle
import psutil
from paddle import distributed
from paddle.base import core

from workbench.core.messages import Message
from workbench.core.problems import BadSettings, WorkerFailed
from workbench.core.runs.events import Failed, decode
from workbench.core.runs.launch import rank_of_this_process
from workbench.training.device import first_line, is_out_of_memory
from workbench.training.reporter import awake_time


class RankCommand(IntEnum):
    """Next command of rank 0 to the other processes."""

    STEP = 0  # step, rate
    RELABEL = 1  # item: index in the list of labels that joined the data set
    LOAD = 2  # restore the state of last/
    WAIT = 3  # until the next command, without time limit
    END = 4
    FP32 = 5  # continue in 32 bits


@dataclass(frozen=True)
class CommandMessage:
    """One command. rate is transmitted exactly, in 64 bits."""

    command: RankCommand
    step: int = 0
    rate: float = 0.0
    item: int = 0


class MessageTimer:
    """Timer of one message at a time. on_timeout: called once, in another thread; without it nothing is timed.

    seconds: longest duration of a message, including the time until the other processes send theirs.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.on_timeout: Callable[[], None] | None = None
        self._deadline: float | None = None
        self._thread: threading.Thread | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        if self.on_timeout is not None and self._thread is None:
            self._thread = threading.Thread(target=self._watch, daemon=True, name="messages")
            self._thread.start()
        self._deadline = awake_time() + self.seconds
        try:
            yield
        finally:
            self._deadline = None

    def _watch(self) -> None:
        while True:
            time.sleep(min(1.0, self.seconds / 4))
            deadline, on_timeout = self._deadline, self.on_timeout
            if deadline is not None and on_timeout is not None and awake_time() > deadline:
                on_timeout()
                return


LOSS_TIMEOUT = 3.0  # seconds in which a lost process may still report its failure
_MESSAGE_SECONDS = 600.0  # a step in the slowest process; longer pauses of rank 0 are announced by `wait_idle`
_FAILURES = (RuntimeError, OSError)  # raised by gloo; raised by NCCL


class ProcessGroup:
    """All processes of a run, from the view of one of them; a run in one process has size 1.

    number: of this process, 0 to size - 1. folder: where each of the others writes its events, `rank-N.jsonl`.
    """

    def __init__(self, number: int = 0, size: int = 1, folder: Path | None = None) -> None:
        self.number, self.size, self.folder = number, size, folder
        self.broken = False
        self._waits = 0
        self._waiting = False
        self._processes: list[tuple[int, int]] = []  # pid and host of each rank
        self._timer = MessageTimer(_MESSAGE_SECONDS)
        if size > 1:
            self._processes = self.exchange_ids()

    @property
    def is_leader(self) -> bool:
        return self.number == 0

    def batch_positions(self, batch: int) -> range:
        """Return the places of a batch that this process computes: every size-th, so defects are shared equally."""
        return range(self.number, batch, self.size)

    @property
    def local_processes(self) -> int:
        """Number of processes on this computer."""
        return max(1, sum(host == host_number() for _, host in self._processes))

    # --- commands ---------------------------------------------------------------------------------

    def send_command(self, command: RankCommand, *, step: int = 0, rate: float = 0.0, item: int = 0) -> None:
        """Send a command; effective in rank 0 only. Raises WorkerFailed if another process is gone."""
        if self.size == 1 or not self.is_leader:
            return
        if self._waiting:
            self._waiting = False
            self._mark(f"rest-{self._waits}")
        self._broadcast(paddle.to_tensor([float(command), float(step), rate, float(item)], "float64"))

    def wait_idle(self) -> None:
        """Suspend the other processes while rank 0 is busy: a pending message would time out after half a minute."""
        if self.size > 1 and not self._waiting:
            self.send_command(RankCommand.WAIT)
            self._waiting = True
            self._waits += 1

    def receive_command(self) -> CommandMessage:
        """Block until the next command of rank 0; all other ranks. Raises WorkerFailed if rank 0 is gone."""
        while True:
            message = paddle.zeros([4], "float64")
            self._broadcast(message)
            command, step, rate, item = message.tolist()
            if RankCommand(int(command)) is not RankCommand.WAIT:
                return CommandMessage(RankCommand(int(command)), int(step), rate, int(item))
            self._waits += 1
            self._await(f"rest-{self._waits}")

    def barrier(self) -> None:
        """Block until all processes have called this, without time limit."""
        if self.size > 1:
            self._mark(f"met-{self.number}")
            for number in range(self.size):
                self._await(f"met-{number}")

    def limit_messages(self, on_timeout: Callable[[WorkerFailed], None]) -> None:
        """Call `on_timeout` in another thread, while this one is blocked, if a message is not answered in time."""
        seconds = self._timer.seconds
        self._timer.on_timeout = lambda: on_timeout(self.lost_error(f"no answer for {seconds:.0f} s"))

    def dismiss(self) -> None:
        """Let the other processes end. No effect if they are gone or have ended by the same failure."""
        if self.is_leader and not self.broken:
            self.send_command(RankCommand.END)

    # --- a step -----------------------------------------------------------------------------------

    def together(self, compute: Callable[[], float]) -> float:
        """Return the sum over all processes of the result of `compute`. A failure in one process fails in all.

        So no process waits for gradients that never arrive. Raise what `compute` raises, MemoryError if that was
        raised in another process, and WorkerFailed for any other failure there.
        """
        if self.size == 1:
            return compute()
        value, failure, no_memory = 0.0, None, False
        try:
            value = float(compute())
        except Exception as error:
            no_memory = is_out_of_memory(error)
            # Without its traceback, which refers to all tensors of the step.
            failure = error.with_traceback(None) if no_memory else error
        status = paddle.to_tensor([value, float(no_memory), float(failure is not None and not no_memory)], "float64")
        self._reduce(status)
        value, no_memories, failures = status.tolist()
        self.broken = failures > 0
        if failure is not None:
            raise failure
        if failures:
            raise self.lost_error("another process has failed")
        if no_memories:
            raise MemoryError("Out of memory in another process")
        return value

    @paddle.no_grad()
    def pack(self, parameters: Iterable[paddle.Tensor]) -> paddle.Tensor | None:
        """Return the message of `combine`. A part of the step that may fail: it needs memory."""
        if self.size == 1:
            return None
        return paddle.concat(
            [t.astype("float32").flatten() / (self.size if s else 1) for t, s in _exchanged(parameters)]
        )

    @paddle.no_grad()
    def combine(self, parameters: Iterable[paddle.Tensor], message: paddle.Tensor | None = None) -> None:
        """Sum the gradients of all processes and average the running statistics of their norms, in one message.

        message: made by `pack`; by default made here.
        """
        if self.size == 1:
            return
        parameters = list(parameters)
        whole = self.pack(parameters) if message is None else message
        assert whole is not None
        self._reduce(whole)
        tensors = [tensor for tensor, _ in _exchanged(parameters)]
        for tensor, part in zip(tensors, paddle.split(whole, [tensor.size for tensor in tensors])):
            paddle.assign(part.reshape(tensor.shape).astype(tensor.dtype), tensor)

    @paddle.no_grad()
    def share(self, net: paddle.nn.Layer) -> None:
        """Copy rank 0's weights to all processes. Blocks until all have called it."""
        if self.size > 1:
            for tensor in net.state_dict().values():
                self._broadcast(tensor)

    # --- messages ---------------------------------------------------------------------------------

    def _broadcast(self, tensor: paddle.Tensor) -> None:
        try:
            with self._timer.running():
                distributed.broadcast(tensor, 0)
                _wait_for(tensor)
        except _FAILURES as error:
            raise self.lost_error(first_line(error)) from error

    def _reduce(self, tensor: paddle.Tensor) -> None:
        try:
            with self._timer.running():
                distributed.all_reduce(tensor)
                _wait_for(tensor)
        except _FAILURES as error:
            raise self.lost_error(first_line(error)) from error

    def _mark(self, name: str) -> None:
        try:
            core.create_or_get_global_tcp_store().set(name, b"1")
        except (*_FAILURES, ValueError) as error:
            raise self.lost_error(first_line(error)) from error

    def _await(self, name: str) -> None:
        try:
            core.create_or_get_global_tcp_store().get(name)
        except (*_FAILURES, ValueError) as error:
            raise self.lost_error(first_line(error)) from error

    def exchange_ids(self) -> list[tuple[int, int]]:
        """Return process id and number of the host of each process, by rank."""
        table = np.zeros((self.size, 2), np.float64)
        table[self.number] = os.getpid(), host_number()
        tensor = paddle.to_tensor(table)
        self._reduce(tensor)
        return [(int(pid), int(host)) for pid, host in tensor.tolist()]

    def failed(self, why: str) -> WorkerFailed:
        """Return the problem of a failure of this process that the others cannot know of."""
        self.broken = True
        log = self.folder / f"rank-{self.number}.log" if self.folder else Path()
        return WorkerFailed(what=Message("process.training"), why=why, log=str(log))

    def lost_error(self, error: str) -> WorkerFailed:
        """Return the problem that names the lost process and the reason, as far as known."""
        self.broken = True
        why = Message("ranks.connection_lost", n=self.size, why=error)
        log = self.folder / "launcher.log" if self.folder else Path()
        until = time.monotonic() + (LOSS_TIMEOUT if self._processes else 0.0)
        while True:
            for number, (pid, host) in enumerate(self._processes):
                if number == self.number:
                    continue
                failed = self._failure_of(number)
                if failed is not None:
                    words = Message("ranks.process_failed", n=number + 1, m=self.size, why=failed.why.rstrip("."))
                    return WorkerFailed(what=Message("process.training"), why=words, log=failed.log or str(log))
                if host == host_number() and not _is_alive(pid):
                    log = self.folder / f"rank-{number}.log" if self.folder else log
                    words = Message("ranks.process_gone", n=number + 1, m=self.size)
                    return WorkerFailed(what=Message("process.training"), why=words, log=str(log))
            if time.monotonic() > until:
                return WorkerFailed(what=Message("process.training"), why=why, log=str(log))
            time.sleep(0.05)

    def _failure_of(self, number: int) -> Failed | None:
        try:
            lines = (self.folder / f"rank-{number}.jsonl").read_text("utf-8").splitlines() if self.folder else []
        except OSError:
            return None
        last = decode(lines[-1]) if lines else None
        return last if isinstance(last, Failed) else None


def join(folder: Path, batch: int) -> ProcessGroup:
    """Connect to the other processes of this run, if there are several. Raises BadSettings, WorkerFailed."""
    number, size = rank_of_this_process()
    if size == 1:
        return ProcessGroup()
    check_batch(batch, size)
    try:
        distributed.init_parallel_env()
    except (*_FAILURES, AttributeError, NotImplementedError) as error:  # the latter without NCCL
        why = Message("ranks.not_connected", n=size, why=first_line(error))
        raise WorkerFailed(what=Message("process.training"), why=why, log=str(folder / "launcher.log")) from error
    return ProcessGroup(number, size, folder)


def check_batch(batch: int, size: int) -> None:
    """Raise BadSettings if the batch has fewer images than there are processes."""
    if batch < size:
        why = Message("ranks.batch_too_small", n=size, m=size)
        raise BadSettings(key="batch", value=batch, why=why)


def _exchanged(parameters: Iterable[paddle.Tensor]) -> list[tuple[paddle.Tensor, bool]]:
    """Return the tensors that processes exchange: gradients, and running statistics (with True)."""
    return [
        (p, True) if p.stop_gradient else (p.grad, False) for p in parameters if p.stop_gradient or p.grad is not None
    ]


def _wait_for(tensor: paddle.Tensor) -> None:
    """Wait until a message is complete. With NCCL it is only queued; reading one value waits for it.

    The value is copied first, because `numpy` would read the whole memory to which it belongs.
    """
    if tensor.place.is_gpu_place():
        tensor.flatten()[:1].clone().numpy()


def host_number() -> int:
    """Return a number that identifies the host."""
    return zlib.crc32(socket.gethostname().encode())


def _is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
