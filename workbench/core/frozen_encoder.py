"""Features of the pretrained encoder (`core.lite0`), whose weights stay as they are, computed by ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.core import lite0
from workbench.core.runs.onnx_files import GraphBuilder, frozen_session
from workbench.inference.model_settings import ModelSettings
from workbench.inference.tiles import normalize

_INPUT = "image"


def add_levels(
    graph: GraphBuilder, x: str, depth: int, weights: Callable[[lite0.Convolution], tuple[np.ndarray, np.ndarray]]
) -> list[str]:
    """Add the first levels of the encoder to an ONNX graph and return their names, see `lite0.levels`.

    x: name of the image, (N, inputs of the stem, H, W). weights: kernel, with the factor of its channels, and summand
    of a layer.
    """

    def convolve(layer: lite0.Convolution, x: str) -> str:
        kernel, shift = weights(layer)
        (top, bottom), side = layer.margins, layer.kernel
        x = graph.add(
            "Conv",
            [x, graph.constant(kernel), graph.constant(shift)],
            kernel_shape=[side, side],
            strides=[layer.stride] * 2,
            pads=[top, top, bottom, bottom],
            group=layer.groups,
        )
        return graph.add("Clip", [x, graph.number(0), graph.number(6)]) if layer.active else x

    return lite0.levels(x, depth, convolve, lambda a, b: graph.add("Add", [a, b]))


def add_pretrained_levels(graph: GraphBuilder, x: str, depth: int = len(lite0.WIDTHS)) -> list[str]:
    """Add the first levels with the pretrained weights. x: float32 (N, 3, H, W), normalized as by `input_settings`."""
    arrays = lite0.read_weights()

    def weights(layer: lite0.Convolution) -> tuple[np.ndarray, np.ndarray]:
        gain = arrays[f"{layer.name}.gain"]
        return arrays[f"{layer.name}.weight"] * gain[:, None, None, None], arrays[f"{layer.name}.shift"]

    return add_levels(graph, x, depth, weights)


def input_settings(full_scale: float = 255.0, low: float = 0.0, high: float = 255.0) -> ModelSettings:
    """Return the conversion of images to the encoder's input; gray values are repeated for the three colors.

    full_scale, low, high: see `ModelSettings`.
    """
    mean, std = (lite0.PIXEL_MEAN,) * 3, (lite0.PIXEL_STD,) * 3
    return ModelSettings(
        task="classification",
        name="features",
        verdicts=("first", "second"),
        channels=3,
        full_scale=full_scale,
        low=low,
        high=high,
        mean=mean,
        std=std,
    )


class FrozenEncoder:
    """Pretrained encoder up to a depth. Threads may share one.

    depth: number of levels. threads: of ONNX Runtime; 0 for all. arena: keep memory for the next image.
    """

    def __init__(self, depth: int = len(lite0.WIDTHS), threads: int = 1, *, arena: bool = True) -> None:
        self.depth = depth
        self.stride = 2**depth
        graph = GraphBuilder()
        names = add_pretrained_levels(graph, _INPUT, depth)
        outputs = {
            name: ("N", width, f"H{number}", f"W{number}")
            for number, (name, width) in enumerate(zip(names, lite0.WIDTHS))
        }
        model = graph.network({_INPUT: ("N", 3, "H", "W")}, outputs)
        self._session = frozen_session(model, threads=threads, arena=arena)

    def levels(self, batch: np.ndarray) -> list[np.ndarray]:
        """Return the levels, float32 (N, width, H / stride, W / stride) at the strides 2, 4, 8, …

        batch: float32 (N, 3, H, W), normalized; H and W are multiples of `stride`.
        """
        return [np.asarray(level) for level in self._session.run(None, {_INPUT: batch})]

    def image_levels(self, image: np.ndarray, settings: ModelSettings) -> list[np.ndarray]:
        """Return the levels of one image, float32 (width, ceil(H / stride), ceil(W / stride)).

        image: (H, W) or (H, W, 3) RGB, uint8, uint16 or float32; it is continued by its edge values to a multiple of
        the stride. settings: see `input_settings`. Memory: about 600 bytes for each pixel.
        """
        values = normalize(image, settings)
        height, width = values.shape[1:]
        margins = [(0, 0), (0, -height % self.stride), (0, -width % self.stride)]
        levels = self.levels(np.pad(values, margins, mode="edge")[None])
        return [
            level[0, :, : -(-height // 2 ** (number + 1)), : -(-width // 2 ** (number + 1))]
            for number, level in enumerate(levels)
        ]
