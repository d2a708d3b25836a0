"""ONNX files that the user chooses: checks before they are read, and sessions of ONNX Runtime.

Models of the workbench: nodes and constants in the order of computation. `onnx` is imported with the first of them,
because the start of the window needs none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench import __version__
from workbench.core.messages import Message, first_line
from workbench.inference.io.file_access import NotRegular, read_regular, require_regular
from workbench.inference.model_settings import EngineOptions

if TYPE_CHECKING:
    import onnx
    import onnxruntime

OPSET, IR_VERSION = 17, 8  # both of 2022: runtimes in production may be some years old
PRODUCER = "defect-workbench"
Shape = Sequence[int | str]


class GraphBuilder:
    """Builder of a graph, in which a value is identified by its name.

    prefix: beginning of every name that is not chosen by the caller, so that graphs can be joined.
    """

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def add(self, operator: str, inputs: Sequence[str], name: str = "", **attributes: Any) -> str:
        """Add one node. Return the name of its output."""
        from onnx import helper

        name = name or f"{self.prefix}{operator.lower()}.{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, array: np.ndarray) -> str:
        """Add a constant. Return its name."""
        from onnx import numpy_helper

        name = f"{self.prefix}constant.{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def integers(self, values: Sequence[int]) -> str:
        return self.constant(np.array(values, np.int64))

    def number(self, value: float) -> str:
        return self.constant(np.array(value, np.float32))

    def network(self, inputs: Mapping[str, Shape], outputs: Mapping[str, Shape]) -> onnx.ModelProto:
        """Return the checked model. inputs, outputs: shapes of the values, all float32, by name."""
        from onnx import TensorProto, helper

        entries, endings = (
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape)) for name, shape in values.items()]
            for values in (inputs, outputs)
        )
        return checked_model(helper.make_graph(self.nodes, "network", entries, endings, self.constants))


def checked_model(graph: onnx.GraphProto) -> onnx.ModelProto:
    """Return the model of a graph of standard operators."""
    import onnx
    from onnx import helper

    model: onnx.ModelProto = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name=PRODUCER,
        producer_version=__version__,
    )
    onnx.checker.check_model(model, full_check=True)
    return model


def frozen_session(model: onnx.ModelProto, *, threads: int = 0, arena: bool = True) -> onnxruntime.InferenceSession:
    """Return a session for a model of the workbench that computes features beside other work.

    threads: of ONNX Runtime; 0 for all. arena: keep memory for the next image.
    """
    import onnxruntime

    from workbench.inference.engines.onnx_engine import providers, session_options

    options = session_options(EngineOptions(threads=threads, spin=False, arena=arena))
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=providers())


MAX_FILE = 2**31 - 1  # bytes: limit of the file format; more weights are in a file of their own


class NetworkRefused(Exception):
    """Network that cannot be used; the text is a Message, a part of a sentence."""

    def __init__(self, id: str, **fields: object) -> None:
        super().__init__(Message(id, **fields))

    @property
    def why(self) -> str:
        return self.args[0]


def network_stamp(path: Path) -> tuple[int, int]:
    """Return the time of the last change and the size of a file. Raises NetworkRefused if it cannot be a network."""
    try:
        require_regular(path)
        state = path.stat()
    except FileNotFoundError as error:
        raise NetworkRefused("file.missing") from error
    except NotRegular as error:
        raise NetworkRefused("network.no_file") from error
    except OSError as error:
        raise unreadable(error) from error
    if state.st_size > MAX_FILE:
        raise NetworkRefused("network.too_large", n=2)
    return state.st_mtime_ns, state.st_size


def unreadable(error: OSError) -> NetworkRefused:
    """Return the refusal of a file, or of the file of its weights, that cannot be read."""
    return NetworkRefused("network.unreadable", why=error.strerror or first_line(error))


def open_session(source: Path | bytes, threads: int = 0, *, gpu: bool = False) -> onnxruntime.InferenceSession:
    """Return a session for a file or for the content of one. gpu: use a GPU if possible. Raises NetworkRefused."""
    import onnxruntime

    from workbench.inference.engines.onnx_engine import providers, session_options

    def load(network: bytes | str) -> onnxruntime.InferenceSession:
        options = session_options(EngineOptions(threads=threads))
        names = providers() if gpu else ["CPUExecutionProvider"]
        return onnxruntime.InferenceSession(network, options, providers=names)

    try:
        content = source if isinstance(source, bytes) else read_regular(source)
    except OSError as error:
        raise unreadable(error) from error
    try:
        return load(content)  # from bytes, because the library cannot open all paths on Windows
    except Exception as error:  # the library raises many kinds
        first = error
    reasons = [first_line(first)]
    if isinstance(source, Path):
        try:
            return load(str(source))  # weights in a second file are found through the path only
        except Exception as error:
            reasons.append(first_line(error))
    raise NetworkRefused("network.not_loaded", why="; ".join(dict.fromkeys(reasons))) from first
