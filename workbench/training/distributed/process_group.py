"""Data-parallel training by several processes: each computes its places of every batch, all run the same step.

Rank 0 leads: it keeps the time, receives orders, evaluates on validation images, and alone writes the run's events
and checkpoints. Before each step it sends a command to the others.
"""

from __future__ import annotations

import os
import socket
import time
import zlib
from collections.abc import Callable, Iterable
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
from workbench.training.device import is_out_of_memory

_LOSS_TIMEOUT = 3.0  # seconds in which a lost process may still report its failure


class RankCommand(IntEnum):
    """Next command of rank 0 to the other processes."""

    STEP = 0  # step, rate
    RELABEL = 1  # item: index in the list of labels that joined the data set
    LOAD = 2  # restore the state of last/
    WAIT = 3  # until the next command, without time limit
    END = 4


@dataclass(frozen=True)
class CommandMessage:
    """One command. rate is transmitted exactly, in 64 bits."""

    command: RankCommand
    step: int = 0
    rate: float = 0.0
    item: int = 0


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
        if size > 1:
            self._processes = self._exchange_ids()

    @property
    def is_leader(self) -> bool:
        return self.number == 0

    def batch_positions(self, batch: int) -> range:
        """Return the places of a batch that this process computes: every size-th, so defects are shared equally."""
        return range(self.number, batch, self.size)

    @property
    def local_processes(self) -> int:
        """Number of processes on this computer."""
        return max(1, sum(host == _host() for _, host in self._processes))

    # --- commands ---------------------------------------------------------------------------------

    def send_command(self, command: RankCommand, *, step: int = 0, rate: float = 0.0, item: int = 0) -> None:
        """Send a command; rank 0 only. Raise WorkerFailed if another process is gone."""
        if self.size == 1:
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
        """Block until the next command of rank 0; all other ranks. Raise WorkerFailed if rank 0 is gone."""
        while True:
            message = paddle.zeros([4], "float64")
            self._broadcast(message)
            do, step, rate, item = message.tolist()
            if RankCommand(int(do)) is not RankCommand.WAIT:
                return CommandMessage(RankCommand(int(do)), int(step), rate, int(item))
            self._waits += 1
            self._await(f"rest-{self._waits}")

    def barrier(self) -> None:
        """Block until all processes have called this, without time limit."""
        if self.size > 1:
            self._mark(f"met-{self.number}")
            for number in range(self.size):
                self._await(f"met-{number}")

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
        value, failure = 0.0, None
        try:
            value = compute()
        except Exception as error:
            failure = error
        no_memory = failure is not None and is_out_of_memory(failure)
        status = paddle.to_tensor([value, float(no_memory), float(failure is not None and not no_memory)], "float64")
        self._reduce(status)
        value, no_memories, failures = status.tolist()
        self.broken = failures > 0
        if failure is not None:
            raise failure
        if failures:
            raise self._lost("another process has failed")
        if no_memories:
            raise MemoryError("Out of memory in another process")
        return value

    @paddle.no_grad()
    def combine(self, parameters: Iterable[paddle.Tensor]) -> None:
        """Sum the gradients of all processes and average the running statistics of their norms, in one message."""
        if self.size == 1:
            return
        tensors = [p if p.stop_gradient else p.grad for p in parameters if p.stop_gradient or p.grad is not None]
        statistic = [p.stop_gradient for p in parameters if p.stop_gradient or p.grad is not None]
        parts = [t.astype("float32").flatten() / (self.size if s else 1) for t, s in zip(tensors, statistic)]
        whole = paddle.concat(parts)
        self._reduce(whole)
        for tensor, part in zip(tensors, paddle.split(whole, [part.size for part in parts])):
            paddle.assign(part.reshape(tensor.shape).astype(tensor.dtype), tensor)

    @paddle.no_grad()
    def share(self, net: paddle.nn.Layer) -> None:
        """Copy rank 0's weights to all processes. Blocks until all have called it."""
        if self.size > 1:
            for tensor in net.state_dict().values():
                self._broadcast(tensor)

    def normalize_together(self, net: paddle.nn.Layer) -> paddle.nn.Layer:
        """On GPUs, convert batch norms to use the whole batch instead of the part on one GPU. Names are unchanged.

        Paddle has no such norm for CPUs; there each process normalizes its own part.
        """
        if self.size == 1 or not paddle.get_device().startswith("gpu"):
            return net
        return paddle.nn.SyncBatchNorm.convert_sync_batchnorm(net)

    # --- messages ---------------------------------------------------------------------------------

    def _broadcast(self, tensor: paddle.Tensor) -> None:
        try:
            distributed.broadcast(tensor, 0)
        except RuntimeError as error:
            raise self._lost(str(error)) from error

    def _reduce(self, tensor: paddle.Tensor) -> None:
        try:
            distributed.all_reduce(tensor)
        except RuntimeError as error:
            raise self._lost(str(error)) from error

    def _mark(self, name: str) -> None:
        try:
            core.create_or_get_global_tcp_store().set(name, b"1")
        except (RuntimeError, ValueError) as error:
            raise self._lost(str(error)) from error

    def _await(self, name: str) -> None:
        try:
            core.create_or_get_global_tcp_store().get(name)
        except (RuntimeError, ValueError) as error:
            raise self._lost(str(error)) from error

    def _exchange_ids(self) -> list[tuple[int, int]]:
        table = np.zeros((self.size, 2), np.float64)
        table[self.number] = os.getpid(), _host()
        tensor = paddle.to_tensor(table)
        self._reduce(tensor)
        return [(int(pid), int(host)) for pid, host in tensor.tolist()]

    def _lost(self, error: str) -> WorkerFailed:
        """Return the problem that names the lost process and the reason, as far as known."""
        self.broken = True
        why = Message("ranks.connection_lost", n=self.size, why=error.strip().splitlines()[-1][:200])
        log = self.folder / "launcher.log" if self.folder else Path()
        until = time.monotonic() + (_LOSS_TIMEOUT if self._processes else 0.0)
        while True:
            for number, (pid, host) in enumerate(self._processes):
                if number == self.number:
                    continue
                failed = self._failure_of(number)
                if failed is not None:
                    words = Message("ranks.process_failed", n=number + 1, m=self.size, why=failed.why.rstrip("."))
                    return WorkerFailed(what=Message("process.training"), why=words, log=failed.log or str(log))
                if host == _host() and not _is_alive(pid):
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
    """Connect to the other processes of this run, if there are several. Raise BadSettings, WorkerFailed."""
    number, size = rank_of_this_process()
    if size == 1:
        return ProcessGroup()
    check_batch(batch, size)
    try:
        distributed.init_parallel_env()
    except RuntimeError as error:
        why = Message("ranks.not_connected", n=size, why=str(error).strip().splitlines()[-1][:200])
        raise WorkerFailed(what=Message("process.training"), why=why, log=str(folder / "launcher.log")) from error
    return ProcessGroup(number, size, folder)


def check_batch(batch: int, size: int) -> None:
    """Raise BadSettings if the batch has fewer images than there are processes."""
    if batch < size:
        why = Message("ranks.batch_too_small", n=size, m=size)
        raise BadSettings(key="batch", value=batch, why=why)


def _host() -> int:
    return zlib.crc32(socket.gethostname().encode())


def _is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
