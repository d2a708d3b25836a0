"""Output tcp against a TCP server of this machine."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from tests.cli.sinks.conftest import EndlessReceiver, record, wait_until
from workbench.cli.sinks import tcp_line
from workbench.cli.sinks.sink_base import DeliveryFailed
from workbench.cli.sinks.tcp_line import TcpLine


def test_one_line_per_image_over_one_connection(tcp_receiver):
    receiver = tcp_receiver()
    sink = TcpLine("127.0.0.1", receiver.port)
    sent = [record(number, name="a\nb \u2028 零件") for number in range(3)]
    for each in sent:
        sink.deliver(each)
    wait_until(lambda: len(receiver.lines) == 3)
    sink.close()
    assert receiver.lines == sent and receiver.connections == 1


def test_new_connection_after_the_receiver_closed_it(tcp_receiver):
    receiver = tcp_receiver(ack=True, close_after=1)
    sink = TcpLine("127.0.0.1", receiver.port, ack=True)
    delivered = 0
    for number in range(3):
        for _ in range(3):  # the end of the connection may arrive after it was checked; the queue repeats then
            try:
                sink.deliver(record(number))
                delivered += 1
                break
            except DeliveryFailed:
                continue
    sink.close()
    assert delivered == 3 and receiver.connections == 3
    assert [line["name"] for line in receiver.lines] == ["part 0", "part 1", "part 2"]


def test_restarted_receiver(tcp_receiver):
    first = tcp_receiver()
    sink = TcpLine("127.0.0.1", first.port)
    sink.deliver(record(0))
    wait_until(lambda: first.lines)
    sink.close()
    first.server.shutdown()
    first.server.server_close()
    with pytest.raises(DeliveryFailed, match=f"127.0.0.1:{first.port} cannot be reached"):
        sink.deliver(record(1))
    second = tcp_receiver(first.port)
    sink.deliver(record(1))
    wait_until(lambda: second.lines)
    sink.close()
    assert second.lines[0]["name"] == "part 1"


def test_without_an_answer_the_record_is_not_delivered(tcp_receiver):
    receiver = tcp_receiver(close_after=1)
    sink = TcpLine("127.0.0.1", receiver.port, ack=True)
    with pytest.raises(DeliveryFailed):
        sink.deliver(record(0))
    sink.close()


def test_time_of_an_answer_is_limited(monkeypatch):
    monkeypatch.setattr(tcp_line, "_SEND_SECONDS", 0.3)
    receiver = EndlessReceiver()
    sink = TcpLine("127.0.0.1", receiver.port, ack=True)
    with pytest.raises(DeliveryFailed, match="too slow"):
        sink.deliver(record(0))
    assert receiver.left.wait(60)
    receiver.close()


@pytest.mark.skipif(os.name != "posix", reason="Windows counts no sockets among the files")
def test_connection_of_a_server_with_many_open_files(tcp_receiver):
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 1200:
        pytest.skip("this machine allows fewer open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1200), hard))
    try:
        with contextlib.ExitStack() as stack:
            for _ in range(1030):
                stack.enter_context(Path(os.devnull).open("rb"))
            receiver = tcp_receiver()
            sink = TcpLine("127.0.0.1", receiver.port)
            stack.callback(sink.close)
            for number in range(2):
                sink.deliver(record(number))
            wait_until(lambda: len(receiver.lines) == 2)
            assert receiver.connections == 1
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
