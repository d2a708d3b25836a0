"""Output `mqtt`: each result as a message to an MQTT broker, acknowledged by it. Needs the extra `mqtt`."""

from __future__ import annotations

import argparse
import contextlib
import os
import ssl
import threading
import urllib.parse
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from workbench.cli.sinks.sink_base import DeliveryFailed, Record, Sink, json_line
from workbench.cli.verb_runner import WrongUse
from workbench.core.problems import Problem
from workbench.core.runs.pip_commands import pip_command, requirement

if TYPE_CHECKING:
    from paho.mqtt.client import Client

PASSWORD_VARIABLE = "WORKBENCH_MQTT_PASSWORD"
_PORTS = {"mqtt": 1883, "mqtts": 8883}
_CONNECT_SECONDS, _SEND_SECONDS = 5.0, 10.0


class MqttMissing(Problem):
    message = "The output --mqtt needs paho-mqtt."
    advice = "Install it with: {command}"


def add_arguments(group: Any) -> None:
    address = "publish each result as JSON to a topic of an MQTT broker (mqtt://HOST[:PORT]/TOPIC, or mqtts:// for TLS)"
    group.add_argument("--mqtt", metavar="URL", help=address)
    user = f"user name at the MQTT broker; the password is read from the variable {PASSWORD_VARIABLE}"
    group.add_argument("--mqtt-user", metavar="NAME", help=user)
    ca = "certificates (PEM) that the broker's certificate must descend from (those of the system)"
    group.add_argument("--mqtt-ca", metavar="FILE", help=ca)


def configure(options: argparse.Namespace) -> MqttMessages | None:
    """Return the output, None if it was not requested. Raises WrongUse, MqttMissing."""
    user, ca = options.mqtt_user, options.mqtt_ca
    if options.mqtt is None:
        if user is not None or ca is not None:
            raise WrongUse("--mqtt-user and --mqtt-ca need --mqtt")
        return None
    try:
        url = urllib.parse.urlsplit(options.mqtt)
        host, port = url.hostname, url.port or _PORTS.get(url.scheme, 0)
    except ValueError:
        host, port = None, 0
    topic = urllib.parse.unquote(options.mqtt.partition("://")[2].partition("/")[2])
    if not host or not port or not topic or set("#+\0") & set(topic):
        raise WrongUse("--mqtt needs an address with a topic without # and +, such as mqtt://192.168.0.10/line/results")
    if "@" in url.netloc:
        raise WrongUse("--mqtt must not contain a user name or password: see --mqtt-user")
    if ca is not None and url.scheme != "mqtts":
        raise WrongUse("--mqtt-ca needs an address that begins with mqtts://")
    if ca is not None:
        try:
            ssl.create_default_context(cafile=ca)
        except OSError as error:  # also SSLError
            raise WrongUse(f"the certificates {ca} cannot be read ({error.strerror or error})") from None
    if find_spec("paho") is None:
        raise MqttMissing(command=pip_command(requirement("paho-mqtt")))
    secret = os.environ.get(PASSWORD_VARIABLE)
    return MqttMessages(host, port, topic, tls=url.scheme == "mqtts", ca=ca, user=user, password=secret)


class MqttMessages(Sink):
    """MQTT client (3.1.1). A record is delivered once the broker has acknowledged its message (quality of service 1).

    The message may arrive twice after a failure; `id` of the record tells so.
    """

    name = "mqtt"

    def __init__(
        self,
        host: str,
        port: int,
        topic: str,
        *,
        tls: bool = False,
        ca: str | None = None,
        user: str | None = None,
        password: str | None = None,
    ) -> None:
        self._address, self._topic = (host, port), topic
        self._tls, self._ca = tls, ca
        self._user, self._password = user, password
        self._client: Client | None = None

    def deliver(self, record: Record) -> None:
        try:
            if self._client is None:
                self._client = self._connect()
            message = self._client.publish(self._topic, json_line(record), qos=1)
            message.wait_for_publish(_SEND_SECONDS)
            if not message.is_published():
                raise TimeoutError("the broker does not acknowledge the message")
        except (OSError, ValueError, RuntimeError) as error:
            self.close()
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise DeliveryFailed(f"the MQTT broker does not accept it ({why})") from None

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with contextlib.suppress(OSError, ValueError, RuntimeError):  # the connection may be broken already
                client.disconnect()
            client.loop_stop()

    def _connect(self) -> Client:
        """Return a connected client. Raises OSError."""
        from paho.mqtt.client import Client
        from paho.mqtt.enums import CallbackAPIVersion

        client = Client(CallbackAPIVersion.VERSION2, reconnect_on_failure=False)  # the queue repeats
        client.connect_timeout = _CONNECT_SECONDS
        if self._user is not None:
            client.username_pw_set(self._user, self._password)
        if self._tls:
            client.tls_set_context(ssl.create_default_context(cafile=self._ca))
        answered, reasons = threading.Event(), []

        def answer(client: Client, data: Any, flags: Any, reason: Any, properties: Any) -> None:
            reasons.append(reason)
            answered.set()

        client.on_connect = answer
        client.connect(*self._address, keepalive=30)
        client.loop_start()
        if answered.wait(_CONNECT_SECONDS) and not reasons[0].is_failure:
            return client
        client.loop_stop()
        raise ConnectionRefusedError(str(reasons[0]) if reasons else "no answer to the request to connect")
