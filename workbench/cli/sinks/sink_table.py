"""Table of the result outputs, their options, and the group of those that a command has requested."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from workbench.cli.sinks import log_files, marker_files, opcua, tcp_line, webhook
from workbench.cli.sinks.delivery_queue import Counts, DeliveryQueue, Spool
from workbench.cli.sinks.sink_base import Record, Sink
from workbench.cli.verb_runner import WrongUse

# Modules with `add_arguments` and `configure`, and the names of their outputs.
SINKS = {
    webhook: (webhook.Webhook.name,),
    tcp_line: (tcp_line.TcpLine.name,),
    log_files: (log_files.CsvLog.name, log_files.JsonlLog.name),
    marker_files: (marker_files.MarkerFiles.name,),
    opcua: (opcua.OpcuaVariables.name,),
}
SINK_NAMES = tuple(name for names in SINKS.values() for name in names)
_CAPACITY = 10_000
_CLOSE_SECONDS = 5.0  # for the records that are waiting at the end


def add_arguments(parser: argparse.ArgumentParser, *, spool: str) -> None:
    """Add the options of all outputs. spool: text of the default folder of the spool files."""
    group = parser.add_argument_group("result outputs")
    for module in SINKS:
        module.add_arguments(group)
    ok = "verdict that counts as OK in these outputs (that of the verdict rule, or OK, or good)"
    group.add_argument("--ok-verdict", metavar="NAME", help=ok)
    group.add_argument(
        "--spool", type=Path, metavar="DIR", help=f"folder for results that are not delivered yet ({spool})"
    )
    waiting = f"largest number of results that wait for one output ({_CAPACITY})"
    group.add_argument("--sink-queue", type=int, default=_CAPACITY, metavar="N", help=waiting)


@dataclass(frozen=True)
class SinkPlan:
    """Requested outputs, which can be sent to another process. spool: folder. capacity: of each queue."""

    sinks: tuple[Sink, ...]
    spool: Path
    capacity: int
    ok_verdict: str | None = None

    def open(
        self,
        *,
        durable: bool,
        log: Callable[[str], None],
        row: int = 0,
        on_change: Callable[[str, Counts], None] = lambda name, counts: None,
    ) -> SinkGroup:
        """Open the spool files and start the threads.

        durable: accepted records survive a power failure. row: number of the process that serves, from 0 on.
        Raises SpoolUnusable.
        """
        queues: list[DeliveryQueue] = []
        try:
            for sink in self.sinks:
                name = f"{sink.name}.spool" if row == 0 else f"{sink.name}-{row + 1}.spool"
                own = sink.for_process(row)
                spool = Spool(self.spool / name, durable=durable)
                queues.append(
                    DeliveryQueue(own, spool, capacity=self.capacity, durable=durable, log=log, on_change=on_change)
                )
        except BaseException:
            SinkGroup(queues).close(0)
            raise
        return SinkGroup(queues)


def plan_sinks(options: argparse.Namespace, *, spool: Path) -> SinkPlan | None:
    """Return the requested outputs, None without any. spool: default folder. Raises WrongUse, Problem."""
    sinks: list[Sink] = []
    for module in SINKS:
        made = module.configure(options)
        sinks += made if isinstance(made, list) else [made] if made is not None else []
    if options.sink_queue < 1:
        raise WrongUse("--sink-queue must be at least 1")
    if not sinks:
        if options.spool is not None or options.ok_verdict is not None:
            raise WrongUse("--spool and --ok-verdict need a result output, such as --webhook")
        return None
    return SinkPlan(tuple(sinks), (options.spool or spool).absolute(), options.sink_queue, options.ok_verdict)


class SinkGroup:
    """Running outputs of one process. A context manager that closes them."""

    def __init__(self, queues: list[DeliveryQueue]) -> None:
        self._queues = queues
        self.counts: dict[str, Counts] = {}

    def put(self, record: Record, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Store a record for every output, after waiting for full queues. Raises OSError if it cannot be stored."""
        for queue in self._queues:
            queue.put(record, cancelled)

    def offer(self, record: Record) -> None:
        """Store a record for every output whose queue is not full. Never waits."""
        for queue in self._queues:
            queue.offer(record)

    def close(self, seconds: float = _CLOSE_SECONDS) -> None:
        """Deliver waiting records for up to `seconds`; the others stay in the spool files. Sets `counts`."""
        queues, self._queues = self._queues, []
        for queue in queues:
            queue.request_close(seconds)
        self.counts |= {queue.sink.name: queue.close() for queue in queues}

    def __enter__(self) -> SinkGroup:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()


def counts_to_json(counts: dict[str, Counts]) -> dict[str, dict[str, int]]:
    return {name: asdict(count) for name, count in counts.items()}


def counts_text(name: str, counts: Counts) -> str:
    """Return the summary of one output for the end of a command."""
    parts = [f"{counts.sent} results sent"]
    if counts.failures:
        parts.append(f"{counts.failures} failed attempts")
    if counts.unsent:
        parts.append(f"{counts.unsent} not sent yet, which are kept for the next start")
    if counts.dropped:
        parts.append(f"{counts.dropped} dropped")
    return f"{name}: {', '.join(parts)}."
