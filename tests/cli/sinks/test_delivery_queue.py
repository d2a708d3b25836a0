"""Queue of an output: back-pressure, repetition, spool file, end."""

from __future__ import annotations

import threading

import pytest

from tests.cli.sinks.conftest import record, wait_until
from workbench.cli.sinks.marker_files import MarkerFiles
from workbench.cli.sinks.sink_base import Counts, DeliveryFailed, DeliveryQueue, Sink, Spool, SpoolUnusable

PAUSES = (0.01, 0.02)


class Receiver(Sink):
    """Output in memory. faults: exceptions of the next deliveries. gate: blocks deliveries."""

    name = "test"

    def __init__(self, *faults: Exception) -> None:
        self.faults = list(faults)
        self.names: list[str] = []
        self.attempts = 0
        self.closed = False
        self.gate = threading.Event()
        self.gate.set()

    def deliver(self, content):
        self.attempts += 1
        assert self.gate.wait(30)
        if self.faults:
            raise self.faults.pop(0)
        self.names.append(content["name"])

    def close(self):
        self.closed = True


@pytest.fixture
def queue(tmp_path):
    """Return a function that starts a queue on one spool file."""
    made = []

    def start(sink, *, capacity=100, durable=False, log=lambda text: None, **options):
        spool = Spool(tmp_path / "test.spool", durable=durable)
        made.append(DeliveryQueue(sink, spool, capacity=capacity, durable=durable, log=log, pauses=PAUSES, **options))
        return made[-1]

    yield start
    for each in made:
        if isinstance(each.sink, Receiver):
            each.sink.gate.set()
        each.request_close(0)
        each.close()


def end(queue, seconds=30):
    queue.request_close(seconds)
    return queue.close()


def names(*numbers):
    return [f"part {number}" for number in numbers]


def test_records_arrive_in_order_and_leave_the_spool_file(queue):
    sink = Receiver()
    running = queue(sink)
    for number in range(20):
        assert running.offer(record(number))
    assert end(running) == Counts(sent=20)
    assert sink.names == names(*range(20)) and sink.closed
    assert end(queue(Receiver())) == Counts()


def test_put_waits_for_a_free_place(queue):
    sink = Receiver()
    sink.gate.clear()
    running = queue(sink, capacity=2)
    for number in range(2):
        running.put(record(number), lambda: False)
    third = threading.Thread(target=running.put, args=(record(2), lambda: False))
    third.start()
    third.join(0.3)
    assert third.is_alive() and running.counts.unsent == 2
    sink.gate.set()
    third.join(30)
    assert not third.is_alive() and end(running) == Counts(sent=3)


def test_put_stops_waiting_when_canceled_and_keeps_the_record(queue):
    sink = Receiver()
    sink.gate.clear()
    running = queue(sink, capacity=1)
    running.put(record(0), lambda: False)
    running.put(record(1), lambda: True)
    assert running.counts.unsent == 2


def test_put_does_not_wait_for_a_receiver_that_fails(queue):
    sink = Receiver(*[OSError("cable")] * 10_000)
    running = queue(sink, capacity=1)
    for number in range(5):
        running.put(record(number), lambda: False)
    assert running.counts.unsent == 5
    wait_until(lambda: running.counts.failures > 1)
    sink.faults.clear()
    wait_until(lambda: running.counts.sent == 5)
    assert sink.names == names(*range(5))


def test_offer_drops_and_counts_at_a_full_queue(queue):
    notes, changes = [], []
    sink = Receiver()
    sink.gate.clear()
    running = queue(sink, capacity=3, log=notes.append, on_change=lambda name, counts: changes.append((name, counts)))
    assert [running.offer(record(number)) for number in range(6)] == [True] * 3 + [False] * 3
    assert running.counts == Counts(dropped=3, unsent=3)
    assert notes == ["test: results are dropped, because the queue is full."]
    sink.gate.set()
    assert end(running) == Counts(sent=3, dropped=3)
    assert sink.names == names(0, 1, 2) and changes[-1] == ("test", Counts(sent=3, dropped=3))


def test_failures_are_repeated_and_logged_once(queue):
    notes = []
    faults = [OSError(5, "no cable"), DeliveryFailed("the receiver answers 503"), OSError("again")]
    running = queue(Receiver(*faults), log=notes.append)
    running.offer(record(0))
    wait_until(lambda: running.counts == Counts(sent=1, failures=3))
    assert notes == [
        "test: no result can be sent, because no cable. Sending is repeated.",
        "test: works again.",
    ]


@pytest.mark.parametrize("fault", [DeliveryFailed("the receiver answers 400", refused=True), ValueError("a bug")])
def test_refused_record_does_not_block_the_others_and_is_sent_at_the_next_start(queue, fault):
    first = Receiver(fault)
    running = queue(first)
    for number in range(3):
        running.offer(record(number))
    assert end(running) == Counts(sent=2, failures=1, unsent=1)
    assert first.names == names(1, 2)
    second = Receiver()
    assert end(queue(second)) == Counts(sent=1) and second.names == names(0)


def test_name_that_the_folder_cannot_hold_does_not_block_the_others(queue, tmp_path):
    running = queue(MarkerFiles(tmp_path / "markers"))
    for name in ("x" * 300, "part 1"):
        running.offer({**record(0), "id": name, "name": name})
    assert end(running) == Counts(sent=1, failures=1, unsent=1)
    assert [path.name for path in (tmp_path / "markers").iterdir()] == ["part 1.OK"]


def test_end_does_not_wait_for_a_receiver_that_fails(queue):
    running = queue(Receiver(*[OSError("cable")] * 10_000))
    running.put(record(0), lambda: False)
    wait_until(lambda: running.counts.failures)
    final = end(running)
    assert final.sent == 0 and final.unsent == 1 and final.failures < 10_000


def test_end_does_not_wait_longer_than_requested_for_a_receiver_that_hangs(queue):
    sink = Receiver()
    sink.gate.clear()
    running = queue(sink)
    running.put(record(0), lambda: False)
    wait_until(lambda: sink.attempts)
    assert end(running, 0).unsent == 1
    assert not running.offer(record(1)) and running.counts.dropped == 1
    later = Receiver()
    assert end(queue(later)).sent == 1 and later.names == names(0)


def test_repeated_record_replaces_its_unsent_version(queue):
    sink = Receiver()
    sink.gate.clear()
    running = queue(sink)
    running.put(record(9), lambda: False)
    wait_until(lambda: sink.attempts)
    for result in ("OK", "NG"):
        running.put(record(1, result), lambda: False)
    assert running.counts.unsent == 2
    sink.gate.set()
    assert end(running) == Counts(sent=2) and sink.names == names(9, 1)


def test_spool_file_is_used_by_one_program_and_checked(tmp_path):
    path = tmp_path / "a" / "webhook.spool"
    spool = Spool(path, durable=True)
    spool.add(record(1, name="Stück \udcff"))
    with pytest.raises(SpoolUnusable, match="another program is using it"):
        Spool(path, durable=True)
    spool.close()
    again = Spool(path, durable=False)
    assert again.next(0)[1]["name"] == "Stück \udcff"
    again._base.execute("PRAGMA user_version=2")
    again.close()
    with pytest.raises(SpoolUnusable, match="newer version"):
        Spool(path, durable=True)
    path.write_bytes(b"this is no spool file, but text" * 99)
    with pytest.raises(SpoolUnusable, match="not a database"):
        Spool(path, durable=True)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SpoolUnusable, match="exists|directory"):
        Spool(tmp_path / "file" / "webhook.spool", durable=True)
