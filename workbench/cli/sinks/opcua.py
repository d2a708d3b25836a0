"""Output `opcua`: the newest result as variables of an OPC UA server, such as a PLC. Needs the extra `opcua`."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from workbench.cli.sinks.sink_base import OK, DeliveryFailed, Record, Sink, json_line
from workbench.cli.verb_runner import WrongUse
from workbench.core.problems import Problem
from workbench.core.runs.pip_commands import pip_command, requirement

if TYPE_CHECKING:
    from asyncua.sync import Client, SyncNode, ThreadLoop

PASSWORD_VARIABLE = "WORKBENCH_OPCUA_PASSWORD"
_NODES = "ns=2;s=Workbench."
_TIMEOUT = 5.0  # seconds
_COUNTER = "Counter"
# Name of a variable -> value of a record. A server needs only those that its program reads.
VALUES = {
    "Result": lambda record: record["result"],
    "Ok": lambda record: record["result"] == OK,
    "Name": lambda record: record["name"],
    "Id": lambda record: record["id"],
    "Verdict": lambda record: record.get("verdict") or "",
    "Regions": lambda record: len(record.get("regions", ())),
    "AnomalyScore": lambda record: float(record.get("anomaly_score") or 0.0),
    "Json": lambda record: json_line(record).decode(),
}


class OpcuaMissing(Problem):
    message = "The output --opcua needs asyncua."
    advice = "Install it with: {command}"


def add_arguments(group: Any) -> None:
    group.add_argument("--opcua", metavar="ENDPOINT", help="write each result to an OPC UA server (opc.tcp://...)")
    nodes = (
        f"node id of the variables without their last name ({_NODES}); the names are {', '.join(VALUES)}, {_COUNTER}"
    )
    group.add_argument("--opcua-nodes", metavar="PREFIX", help=nodes)
    user = f"user name at the OPC UA server; the password is read from the variable {PASSWORD_VARIABLE}"
    group.add_argument("--opcua-user", metavar="NAME", help=user)
    security = (
        "security of the connection as POLICY,MODE,CERTIFICATE,KEY, such as Basic256Sha256,SignAndEncrypt,c.der,k.pem"
    )
    group.add_argument("--opcua-security", metavar="TEXT", help=security)


def configure(options: argparse.Namespace) -> OpcuaVariables | None:
    """Return the output, None if it was not requested. Raises WrongUse, OpcuaMissing."""
    user, security = options.opcua_user, options.opcua_security
    if options.opcua is None:
        if user is not None or security is not None or options.opcua_nodes is not None:
            raise WrongUse("--opcua-nodes, --opcua-user and --opcua-security need --opcua")
        return None
    if not options.opcua.startswith("opc.tcp://") or "@" in options.opcua:
        raise WrongUse("--opcua needs an address such as opc.tcp://192.168.0.10:4840, without user name and password")
    if security is not None and security.count(",") not in (3, 4):
        raise WrongUse("--opcua-security needs POLICY,MODE,CERTIFICATE,KEY")
    if find_spec("asyncua") is None:
        raise OpcuaMissing(command=pip_command(requirement("asyncua")))
    password = os.environ.get(PASSWORD_VARIABLE)
    return OpcuaVariables(options.opcua, options.opcua_nodes or _NODES, user=user, password=password, security=security)


class OpcuaVariables(Sink):
    """OPC UA client that writes the values of a record, and then increments the variable `Counter`.

    Values are converted to the data types of the server's variables. Variables that the server does not have are left
    out; at least one must exist.
    """

    name = "opcua"

    def __init__(
        self,
        endpoint: str,
        prefix: str = _NODES,
        *,
        user: str | None = None,
        password: str | None = None,
        security: str | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._prefix = prefix
        self._user, self._password, self._security = user, password, security
        self._client: Client | None = None
        self._loop: ThreadLoop | None = None
        self._nodes: dict[str, tuple[SyncNode, Any]] = {}

    def deliver(self, record: Record) -> None:
        try:
            if self._client is None:
                self._connect()
            values = {name: make(record) for name, make in VALUES.items() if name in self._nodes}
            self._write(values)
            if _COUNTER in self._nodes:  # last: the program of the server then reads a complete result
                number = self._nodes[_COUNTER][0].read_value()
                self._write({_COUNTER: (int(number) + 1) % 2**15})  # fits every integer type except bytes
        except DeliveryFailed:
            self.close()
            raise
        except Exception as error:  # the client's errors have no common base; all can end when the server changes
            self.close()
            why = str(error).strip().partition("\n")[0] or type(error).__name__
            raise DeliveryFailed(f"the OPC UA server does not accept it ({why})") from None

    def close(self) -> None:
        client, loop = self._client, self._loop
        self._client, self._loop, self._nodes = None, None, {}
        if client is not None:
            with contextlib.suppress(Exception):  # the connection may be broken already
                client.disconnect()
        if loop is not None:
            loop.stop()

    def _connect(self) -> None:
        """Connect and find the variables. Raises DeliveryFailed and errors of asyncua."""
        from asyncua import ua
        from asyncua.sync import Client, ThreadLoop

        logging.getLogger("asyncua").setLevel(logging.CRITICAL)  # failures are reported by the queue
        self._loop = ThreadLoop(timeout=3 * _TIMEOUT)
        self._loop.daemon = True  # a server that hangs must not keep the process alive
        self._loop.start()
        self._client = client = Client(self._endpoint, timeout=_TIMEOUT, tloop=self._loop)
        if self._user is not None:
            client.set_user(self._user)
            client.set_password(self._password or "")
        if self._security is not None:
            client.set_security_string(self._security)
        client.connect()
        for name in (*VALUES, _COUNTER):
            node = client.get_node(self._prefix + name)
            try:
                self._nodes[name] = node, node.read_data_type_as_variant_type()
            except (ua.uaerrors.BadNodeIdUnknown, ua.uaerrors.BadNodeIdInvalid):
                continue
        if not self._nodes.keys() & VALUES.keys():
            raise DeliveryFailed(f"the OPC UA server has no variable {self._prefix}Result or any other of the names")

    def _write(self, values: dict[str, Any]) -> None:
        """Write variables in one request, so that a program hardly ever reads values of two results."""
        from asyncua import ua

        # Only the value: many servers refuse a written status or time.
        converted = [ua.DataValue(self._variant(name, value)) for name, value in values.items()]
        assert self._client is not None
        self._client.write_values([self._nodes[name][0] for name in values], converted)

    def _variant(self, name: str, value: Any) -> Any:
        """Return a value in the data type of its variable."""
        from asyncua import ua

        kind = self._nodes[name][1]
        if kind == ua.VariantType.String:
            value = str(value)
        elif kind == ua.VariantType.Boolean:
            value = bool(value)
        elif kind in (ua.VariantType.Float, ua.VariantType.Double):
            value = float(value)
        elif isinstance(value, (bool, int, float)):
            value = int(value)
        return ua.Variant(value, kind)
