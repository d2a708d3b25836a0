"""Result outputs of a command: their table and options, and the outputs of a watched folder and of a server."""

from __future__ import annotations

import argparse
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from workbench.cli.sinks import log_files, marker_files, modbus, mqtt, opcua, sink_base, tcp_line, webhook
from workbench.cli.verb_runner import Console, WrongUse, number_in
from workbench.core.plugins import plugins
from workbench.core.text_patterns import counted
from workbench.inference.batch.interrupts import GracefulInterrupt
from workbench.inference.batch.results_folder import EntryCallback
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import Prediction

# Modules with `add_arguments` and `configure`, and the names of their outputs.
SINKS = {
    webhook: (webhook.Webhook.name,),
    tcp_line: (tcp_line.TcpLine.name,),
    log_files: (log_files.CsvLog.name, log_files.JsonlLog.name),
    marker_files: (marker_files.MarkerFiles.name,),
    opcua: (opcua.OpcuaVariables.name,),
    mqtt: (mqtt.MqttMessages.name,),
    modbus: (modbus.ModbusRegisters.name,),
}
_plugins = plugins("workbench.sinks", lambda plugin: plugin.NAMES and plugin.add_arguments and plugin.configure)
SINKS |= {plugin: tuple(plugin.NAMES) for plugin in _plugins.values()}
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
    group.add_argument("--sink-queue", type=number_in(1), default=_CAPACITY, metavar="N", help=waiting)


@dataclass(frozen=True)
class SinkPlan:
    """Requested outputs, which can be sent to another process. spool: folder. capacity: of each queue."""

    sinks: tuple[sink_base.Sink, ...]
    spool: Path
    capacity: int
    ok_verdict: str | None = None

    def open(
        self,
        *,
        durable: bool,
        log: Callable[[str], None],
        row: int = 0,
        on_change: Callable[[str, sink_base.Counts], None] = lambda name, counts: None,
    ) -> SinkGroup:
        """Open the spool files and start the threads.

        durable: accepted records survive a power failure. row: number of the process that serves, from 0 on.
        Raises SpoolUnusable.
        """
        queues: list[sink_base.DeliveryQueue] = []
        try:
            for sink in self.sinks:
                name = f"{sink.name}.spool" if row == 0 else f"{sink.name}-{row + 1}.spool"
                own = sink.for_process(row)
                spool = sink_base.Spool(self.spool / name, durable=durable)
                queues.append(
                    sink_base.DeliveryQueue(
                        own, spool, capacity=self.capacity, durable=durable, log=log, on_change=on_change
                    )
                )
        except BaseException:
            SinkGroup(queues).close(0)
            raise
        return SinkGroup(queues)


def plan_sinks(options: argparse.Namespace, *, spool: Path) -> SinkPlan | None:
    """Return the requested outputs, None without any. spool: default folder. Raises WrongUse, Problem."""
    sinks: list[sink_base.Sink] = []
    for module in SINKS:
        made = module.configure(options)
        sinks += made if isinstance(made, list) else [made] if made is not None else []
    if not sinks:
        if options.spool is not None or (options.ok_verdict is not None and options.inbox is None):
            raise WrongUse("--spool and --ok-verdict need a result output, such as --webhook")
        return None
    return SinkPlan(tuple(sinks), (options.spool or spool).absolute(), options.sink_queue, options.ok_verdict)


class SinkGroup:
    """Running outputs of one process. A context manager that closes them."""

    def __init__(self, queues: list[sink_base.DeliveryQueue]) -> None:
        self._queues = queues
        self.counts: dict[str, sink_base.Counts] = {}

    def put(self, record: sink_base.Record, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Store a record for every output, after waiting for full queues. Raises OSError if it cannot be stored."""
        for queue in self._queues:
            queue.put(record, cancelled)

    def offer(self, record: sink_base.Record) -> None:
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


class WatchOutputs:
    """Outputs of a watched folder. An image counts as processed only after its record is stored for every output.

    A context manager: its end delivers waiting records. plan: None for no outputs. stop: ends the waiting for full
    queues. Raises NoGoodVerdict, and SpoolUnusable on entry.
    """

    def __init__(
        self,
        plan: SinkPlan | None,
        settings: ModelSettings,
        fingerprint: str,
        stop: GracefulInterrupt,
        console: Console,
    ) -> None:
        self._plan = plan
        self._fingerprint = fingerprint
        self._stop = stop
        self._console = console
        self._maker = sink_base.RecordMaker(settings, plan.ok_verdict) if plan else None
        self._group = SinkGroup([])

    @property
    def on_entry(self) -> EntryCallback | None:
        """Callback of `ResultsFolder`, None without outputs."""
        return self._accept if self._maker else None

    @property
    def summary(self) -> dict[str, Any]:
        """JSON object with the final counts; empty without outputs."""
        return {"sinks": _counts_to_json(self._group.counts)} if self._plan else {}

    def __enter__(self) -> WatchOutputs:
        if self._plan:
            self._group = self._plan.open(durable=True, log=self._console.note)
        return self

    def __exit__(self, *error: Any) -> None:
        self._group.close()
        for name, counts in self._group.counts.items():
            self._console.note(_counts_text(name, counts))

    def _accept(self, path: str, state: tuple[int, int], name: str, entry: dict[str, Any]) -> None:
        assert self._maker is not None
        record = self._maker.make(entry, key=sink_base.image_key(self._fingerprint, path, state), name=name)
        self._group.put(record, self._stop.requested)


class ServeOutputs:
    """Outputs of one server process. They never delay an answer: a record that finds a full queue is dropped.

    A context manager: its end delivers waiting records. log: called with sentences about failures, and at the end with
    the counts. on_change: called as on_change(name of the output, counts). Raises NoGoodVerdict, SpoolUnusable.
    """

    def __init__(
        self,
        plan: SinkPlan,
        settings: ModelSettings,
        *,
        row: int,
        log: Callable[[str], None],
        on_change: Callable[[str, sink_base.Counts], None],
    ) -> None:
        self._log = log
        self._maker = sink_base.RecordMaker(settings, plan.ok_verdict)
        self._group = plan.open(durable=False, row=row, log=log, on_change=on_change)

    def __enter__(self) -> ServeOutputs:
        return self

    def __exit__(self, *error: Any) -> None:
        self._group.close()
        for name, counts in self._group.counts.items():
            self._log(_counts_text(name, counts))

    def offer(self, result: Prediction | str, name: str | None) -> None:
        """Pass on a result, or the reason why there is none. name: of the image; None: the id of the record."""
        key = uuid.uuid4().hex
        self._group.offer(self._maker.make(_entry(result), key=key, name=name or key))


def _entry(result: Prediction | str) -> sink_base.Record:
    """Return a result, or the reason why there is none, as `RecordMaker.make` takes it."""
    return {"why": result} if isinstance(result, str) else result.to_json()


def known_maker(settings: ModelSettings, good: str | None) -> sink_base.RecordMaker | None:
    """Return the maker of records, None if no verdict is known to mean OK."""
    try:
        return sink_base.RecordMaker(settings, good)
    except sink_base.NoGoodVerdict:
        return None


def pass_on(
    maker: sink_base.RecordMaker | None,
    count: Callable[[sink_base.Record], None],
    outputs: ServeOutputs | None,
    result: Prediction | str,
    name: str | None,
) -> None:
    """Count a result, or the reason why there is none, and pass it to the outputs."""
    entry = _entry(result)
    count(entry if maker is None else maker.make(entry, key="", name=""))
    if outputs is not None:
        outputs.offer(result, name)


def _counts_to_json(counts: dict[str, sink_base.Counts]) -> dict[str, dict[str, int]]:
    return {name: asdict(count) for name, count in counts.items()}


def _counts_text(name: str, counts: sink_base.Counts) -> str:
    """Return the summary of one output for the end of a command."""
    parts = [f"{counted(counts.sent, 'result')} sent"]
    if counts.failures:
        parts.append(f"{counted(counts.failures, 'failed attempt')}")
    if counts.unsent:
        parts.append(f"{counts.unsent} not sent yet, which are kept for the next start")
    if counts.dropped:
        parts.append(f"{counts.dropped} dropped")
    return f"{name}: {', '.join(parts)}."
