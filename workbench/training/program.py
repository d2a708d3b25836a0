"""Conversion of a network to Paddle's program format.

Saving a program while another thread trains crashes Paddle, so only exports do it, which are separate processes.
"""

from __future__ import annotations

from pathlib import Path

import paddle
from paddle.static import InputSpec

from workbench.core.recipe import Recipe
from workbench.inference.writing import make_folder
from workbench.training.networks import Answer


def save_program(net: paddle.nn.Layer, recipe: Recipe, stem: Path) -> None:
    """Write stem.json and stem.pdiparams: the network with its softmax, for batches of any size.

    A UNet also accepts images of any size.
    """
    make_folder(stem.parent)
    sides = [None, None] if recipe.model == "unet" else [recipe.input_size] * 2
    answer = Answer(net)
    answer.eval()
    spec = [InputSpec([None, recipe.channels, *sides], "float32", name="picture")]
    paddle.jit.save(answer, str(stem), input_spec=spec)
