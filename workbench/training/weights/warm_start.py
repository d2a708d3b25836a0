"""Weights of an earlier run as initial weights: all that fit; of the last layer, the classes common to both runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import paddle

from workbench.core.messages import Message
from workbench.core.problems import BadSettings
from workbench.core.project.project import Project
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.events import Trouble
from workbench.core.runs.pruning_plan import is_smaller
from workbench.core.runs.run import find_run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.training import checkpoint
from workbench.training.learner import Arrays, load_weights, weights
from workbench.training.reporter import Reporter
from workbench.training.weights.channel_pruning import prune

_HEAD = ("head.weight", "head.bias")


def start_from(
    project: Project, settings: TrainingSettings, dataset: Dataset, net: paddle.nn.Layer, report: Reporter
) -> None:
    """Load the best weights of the run named in the settings into `net`; of a wider UNet, its strongest channels.

    Outputs are matched by class id or name of the verdict: a class added since starts untrained. Raise UnknownRun,
    RunUnusable, RunBroken, BadSettings.
    """
    assert settings.start_from is not None
    name = settings.start_from
    earlier = find_run(project.root, name)
    if not (earlier.best / checkpoint.WEIGHTS).exists():
        earlier.need_usable()
    arrays = checkpoint.load_arrays(earlier.best / checkpoint.WEIGHTS)
    earlier_dataset = earlier.dataset()
    if earlier_dataset.model != dataset.model:
        raise BadSettings(
            key="start_from",
            value=name,
            why=Message("warm_start.other_model", before=earlier_dataset.model, now=dataset.model),
        )
    if is_smaller(settings, earlier.settings()):
        arrays = prune(arrays, earlier.settings().widths, settings.widths, str(earlier.best))
    initial = weights(net)
    if all(part in arrays and part in initial for part in _HEAD):
        _match_output_layers(arrays, initial, _output_layers(earlier_dataset), _output_layers(dataset))
    if not any(_fits(arrays, initial, part) for part in initial if part not in _HEAD):
        raise BadSettings(key="start_from", value=name, why=Message("warm_start.other_network"))
    fitted = load_weights(net, arrays, str(earlier.best), strict=False)
    if fitted < len(initial):
        what = Message("training.weights_fit", n=fitted, m=len(initial), run=earlier.name)
        report(Trouble(what=what, done=Message("training.others_untrained")))
    added = [str(output) for output in _output_layers(dataset) if output not in _output_layers(earlier_dataset)]
    if added:
        what = Message("warm_start.new_classes", run=earlier.name, n=len(added), m=len(_output_layers(dataset)))
        report(Trouble(what=what, done=Message("warm_start.last_layer")))


def _fits(arrays: Arrays, initial: Arrays, part: str) -> bool:
    return part in arrays and arrays[part].shape == initial[part].shape


def _output_layers(dataset: Dataset) -> list[object]:
    """Return the meaning of the network's outputs, in order: "" is the background."""
    return ["", *(info.id for info in dataset.classes)] if dataset.model == "unet" else list(dataset.verdicts)


def _match_output_layers(
    arrays: Arrays, initial: Arrays, earlier_outputs: Sequence[object], outputs: Sequence[object]
) -> None:
    """Replace the last layer in `arrays` by that of `initial`, with the trained weights of the outputs common to both.

    In a UNet outputs are rows (times the output pixels of each), in a ResNet columns.
    """
    for part in _HEAD:
        old, new = arrays[part], initial[part].copy()
        axis = old.ndim - 1 if old.ndim == 2 else 0
        old, new = np.moveaxis(old, axis, 0), np.moveaxis(new, axis, 0)
        rows = len(new) // len(outputs)
        if len(old) == rows * len(earlier_outputs) and old.shape[1:] == new.shape[1:]:
            for index, output in enumerate(outputs):
                if output in earlier_outputs:
                    earlier_index = earlier_outputs.index(output)
                    new[index * rows : (index + 1) * rows] = old[earlier_index * rows : (earlier_index + 1) * rows]
            arrays[part] = np.ascontiguousarray(np.moveaxis(new, 0, axis))
