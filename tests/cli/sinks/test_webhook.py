"""Output webhook against an HTTP server of this machine."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import json
import os
import time
from pathlib import Path

import pytest

from tests.cli.sinks.conftest import EndlessReceiver, record, wait_until
from workbench.cli.sinks import tcp_line, webhook
from workbench.cli.sinks.sink_base import Counts, DeliveryFailed, DeliveryQueue, Spool
from workbench.cli.sinks.tcp_line import TcpLine
from workbench.cli.sinks.webhook import Webhook, signed_headers


def test_request_holds_the_record_and_a_valid_signature(http_receiver):
    receiver = http_receiver()
    sent = record(3, "NG", name="Teil ü 零件")
    Webhook(receiver.url, b"secret").deliver(sent)
    [(headers, body)] = receiver.received
    assert json.loads(body) == sent and headers["content-type"] == "application/json"
    assert headers["webhook-id"] == sent["id"] and abs(int(headers["webhook-timestamp"]) - time.time()) < 60
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(b"secret", signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"


def test_signature_of_the_published_example():
    # Example of the specification: https://github.com/standard-webhooks/standard-webhooks
    secret = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    headers = signed_headers(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_unsigned_request_without_a_secret(http_receiver):
    receiver = http_receiver()
    Webhook(receiver.url).deliver(record())
    assert "webhook-signature" not in receiver.received[0][0]


@pytest.mark.parametrize(
    ("status", "refused"), [(400, True), (401, True), (302, True), (408, False), (429, False), (500, False)]
)
def test_statuses_that_are_repeated(http_receiver, status, refused):
    receiver = http_receiver()
    receiver.answers, receiver.headers = [status], {"Retry-After": "7", "Location": "/elsewhere"}
    with pytest.raises(DeliveryFailed, match=f"the receiver answers {status}") as failed:
        Webhook(receiver.url).deliver(record())
    assert failed.value.refused is refused and failed.value.retry_after == 7
    assert len(receiver.received) == 1  # a redirection is not followed


def test_request_through_the_proxy_of_the_environment(http_receiver, monkeypatch):
    proxy = http_receiver()
    monkeypatch.setenv("http_proxy", f"http://user:word@127.0.0.1:{proxy.port}")
    monkeypatch.delenv("no_proxy", raising=False)
    sink = Webhook("http://mes.example:8080/results", b"secret")
    proxy.answers = [407, 502]
    for status in (407, 502):
        with pytest.raises(DeliveryFailed, match=f"answers {status}") as failed:
            sink.deliver(record(1))
        assert not failed.value.refused  # the receiver has not seen the result
    sink.deliver(record(1))
    headers, body = proxy.received[-1]
    assert headers["host"] == "mes.example:8080" and json.loads(body) == record(1)
    assert headers["proxy-authorization"] == "Basic " + base64.b64encode(b"user:word").decode()
    assert headers["webhook-signature"].startswith("v1,")


def test_proxy_that_is_away_and_a_receiver_that_needs_none(http_receiver, monkeypatch):
    receiver, proxy = http_receiver(), http_receiver()
    proxy.close = lambda: None
    proxy.server.shutdown()
    proxy.server.server_close()
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
    monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.port}")
    for url in ("http://mes.example/results", "https://mes.example/results"):
        with pytest.raises(DeliveryFailed, match="cannot be reached") as failed:
            Webhook(url).deliver(record())
        assert not failed.value.refused
    Webhook(receiver.url).deliver(record())  # on this computer: the proxy would look on its own
    assert len(receiver.accepted) == 1


def test_receiver_that_cannot_be_reached(http_receiver):
    receiver = http_receiver()
    receiver.close = lambda: None
    receiver.server.shutdown()
    receiver.server.server_close()
    with pytest.raises(DeliveryFailed, match="cannot be reached") as failed:
        Webhook(receiver.url).deliver(record())
    assert not failed.value.refused


def test_queue_repeats_until_the_receiver_answers(http_receiver, tmp_path):
    receiver = http_receiver()
    receiver.answers = [503, 500, 429]
    queue = DeliveryQueue(
        Webhook(receiver.url),
        Spool(tmp_path / "s", durable=True),
        capacity=9,
        durable=True,
        log=lambda text: None,
        pauses=(0.01, 0.02),
    )
    for number in range(3):
        queue.put(record(number), lambda: False)
    wait_until(lambda: queue.counts.sent == 3)
    queue.request_close(1)
    assert queue.close() == Counts(sent=3, failures=3)
    assert receiver.names == ["part 0", "part 1", "part 2"] and len(receiver.received) == 6


def test_body_of_the_answer_is_read_for_a_limited_time_and_does_not_decide(monkeypatch):
    monkeypatch.setattr(webhook, "_TIMEOUT", 0.3)
    receiver = EndlessReceiver(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    Webhook(f"http://127.0.0.1:{receiver.port}/results").deliver(record(0))
    assert receiver.left.wait(60)
    receiver.close()


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
