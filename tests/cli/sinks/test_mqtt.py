"""Output mqtt against an MQTT broker in a thread of the test."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import json
import threading

import pytest

from tests.cli.sinks.conftest import Relay, free_port, record, wait_until
from workbench.cli.sinks.mqtt import MqttMessages
from workbench.cli.sinks.sink_base import DeliveryFailed

pytest.importorskip("paho")
pytest.importorskip("amqtt")
pytest.importorskip("cryptography")

from amqtt.broker import Broker
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

TOPIC = "line 1/结果"


def write_certificate(folder) -> str:
    """Write a certificate of 127.0.0.1 that is signed by itself, with its key. Return the path of the file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "broker")])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = folder / "broker.pem"
    path.write_bytes(private + certificate.public_bytes(pem))
    return str(path)


class LineBroker:
    """Broker for clients with a user name. received: messages of all topics, as a subscriber got them."""

    def __init__(self, folder) -> None:
        self.port, self.tls_port, self.certificate = free_port(), free_port(), write_certificate(folder)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        tls = {"ssl": True, "certfile": self.certificate, "keyfile": self.certificate}
        listener = {
            "default": {"type": "tcp", "bind": f"127.0.0.1:{self.port}"},
            "tls": {"type": "tcp", "bind": f"127.0.0.1:{self.tls_port}", **tls},
        }
        plugins = {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": False}}
        self._broker = self._run(self._make({"listeners": listener, "plugins": plugins}))
        self.received: list[tuple[str, dict]] = []
        self._reader = Client(CallbackAPIVersion.VERSION2)
        self._reader.username_pw_set("reader", "")
        self._reader.on_connect = lambda client, *_: client.subscribe("#", qos=1)
        subscribed = threading.Event()
        self._reader.on_subscribe = lambda *_: subscribed.set()
        self._reader.on_message = lambda _, __, message: self.received.append(
            (message.topic, json.loads(message.payload))
        )
        self._reader.connect("127.0.0.1", self.port)
        self._reader.loop_start()
        assert subscribed.wait(30)

    async def _make(self, config) -> Broker:
        broker = Broker(config)
        await broker.start()
        return broker

    def _run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(30)

    def close(self) -> None:
        self._reader.disconnect()
        self._reader.loop_stop()
        self._run(self._broker.shutdown())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)
        self._loop.close()


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    broker = LineBroker(tmp_path_factory.mktemp("broker"))
    yield broker
    broker.close()


def test_each_result_is_a_message(broker):
    sink = MqttMessages("127.0.0.1", broker.port, TOPIC, user="line")
    sent = [record(1), record(2, "NG", verdict="划痕")]
    for each in sent:
        sink.deliver(each)
    sink.close()
    wait_until(lambda: len(broker.received) >= 2)
    assert broker.received == [(TOPIC, each) for each in sent]


def test_broken_connection_is_opened_again(broker):
    relay = Relay(broker.port)
    sink = MqttMessages("127.0.0.1", relay.port, TOPIC, user="line")
    try:
        sink.deliver(record(3))
        relay.cut()
        with pytest.raises(DeliveryFailed, match="the MQTT broker does not accept it"):
            while True:  # the client notices the end of a connection in its own thread
                sink.deliver(record(4))
        sink.deliver(record(5))
        wait_until(lambda: broker.received[-1][1] == record(5))
    finally:
        sink.close()
        relay.close()


def test_broker_that_refuses_or_is_not_there(broker):
    with pytest.raises(DeliveryFailed, match="[Nn]ot authori[sz]ed"):
        MqttMessages("127.0.0.1", broker.port, TOPIC).deliver(record(1))
    with pytest.raises(DeliveryFailed, match="does not accept it"):
        MqttMessages("127.0.0.1", free_port(), TOPIC).deliver(record(1))


# paho leaves the socket of a failed TLS connection to the garbage collection
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_certificate_of_the_broker_is_checked(broker):
    def sink(**options):
        return MqttMessages("127.0.0.1", broker.tls_port, TOPIC, tls=True, user="line", **options)

    trusting = sink(ca=broker.certificate)
    trusting.deliver(record(6))
    trusting.close()
    wait_until(lambda: any(each[1] == record(6) for each in broker.received))
    with pytest.raises(DeliveryFailed, match="certificate"):
        sink().deliver(record(7))
