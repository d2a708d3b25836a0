"""Connection of the result outputs with a watched folder and with a server."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from workbench.cli.sinks.delivery_queue import Counts
from workbench.cli.sinks.sink_base import RecordMaker, image_key
from workbench.cli.sinks.sink_table import SinkGroup, SinkPlan, counts_text, counts_to_json
from workbench.cli.verb_runner import Console
from workbench.inference.batch.interrupts import GracefulInterrupt
from workbench.inference.batch.results_folder import EntryCallback
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import Prediction


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
        self._maker = RecordMaker(settings, plan.ok_verdict) if plan else None
        self._group = SinkGroup([])

    @property
    def on_entry(self) -> EntryCallback | None:
        """Callback of `ResultsFolder`, None without outputs."""
        return self._accept if self._maker else None

    @property
    def summary(self) -> dict[str, Any]:
        """JSON object with the final counts; empty without outputs."""
        return {"sinks": counts_to_json(self._group.counts)} if self._plan else {}

    def __enter__(self) -> WatchOutputs:
        if self._plan:
            self._group = self._plan.open(durable=True, log=self._console.note)
        return self

    def __exit__(self, *error: Any) -> None:
        self._group.close()
        for name, counts in self._group.counts.items():
            self._console.note(counts_text(name, counts))

    def _accept(self, path: str, state: tuple[int, int], name: str, entry: dict[str, Any]) -> None:
        assert self._maker is not None
        record = self._maker.make(entry, key=image_key(self._fingerprint, path, state), name=name)
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
        on_change: Callable[[str, Counts], None],
    ) -> None:
        self._log = log
        self._maker = RecordMaker(settings, plan.ok_verdict)
        self._group = plan.open(durable=False, row=row, log=log, on_change=on_change)

    def __enter__(self) -> ServeOutputs:
        return self

    def __exit__(self, *error: Any) -> None:
        self._group.close()
        for name, counts in self._group.counts.items():
            self._log(counts_text(name, counts))

    def offer(self, result: Prediction | str, name: str | None) -> None:
        """Pass on a result, or the reason why there is none. name: of the image; None: the id of the record."""
        entry = {"why": result} if isinstance(result, str) else result.to_json()
        key = uuid.uuid4().hex
        self._group.offer(self._maker.make(entry, key=key, name=name or key))
