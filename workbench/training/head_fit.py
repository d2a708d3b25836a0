"""Fit of the last layer of a network for verdicts to the features of all training images, before the first step."""

from __future__ import annotations

import contextlib

import numpy as np
import paddle

from workbench.core.logistic_regression import CrossFit, cross_fit
from workbench.core.messages import Message
from workbench.core.problems import Problem
from workbench.core.runs.events import Progress
from workbench.core.runs.onnx_files import frozen_session
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.cpu_environment import cores
from workbench.inference.text_safety import natural_key
from workbench.inference.tiles import normalize
from workbench.training.lite0_encoder import Lite0Classifier
from workbench.training.onnx_graph import INPUT, statistics_onnx
from workbench.training.training_context import TrainingContext

_REPORTED = 8  # images between two reports of the progress
_EXAMPLES, _MOST_VARIATIONS = 1200, 8  # images with their variations, of each image


def fits_head(settings: TrainingSettings) -> bool:
    """Return whether the last layer is fitted before the training: that of a network which no run has trained yet."""
    return settings.model == "resnet" and settings.encoder == "lite0" and not settings.start_from


def fit_head(context: TrainingContext) -> None:
    """Fit the last layer, unless the run is stopped or images of one verdict only can be read.

    `context.state.fitted` becomes the accuracy on parts that were left out of the fit.
    """
    net = context.learner.net
    assert isinstance(net, Lite0Classifier)
    features, verdicts, parts, variations = _features(context, net)
    truth = np.array(verdicts)
    if context.control.stop or len(set(verdicts)) < 2:
        return
    result = cross_fit(features, truth, parts, len(context.dataset.verdicts))
    _set_head(net, result)
    context.learner.copy_to_mean()
    correct = result.probabilities.argmax(axis=1) == truth
    context.state.fitted = float(correct[:: 1 + variations].mean())  # of the images without variations


def _features(context: TrainingContext, net: Lite0Classifier) -> tuple[np.ndarray, list[int], list[str], int]:
    """Return the statistics of the readable training images, float64 (N, features), their verdicts and parts.

    Each image is followed by variations of it with the augmentations of the run, whose number is returned, too.
    """
    session = frozen_session(statistics_onnx(net, context.settings.channels), threads=cores())
    items = sorted(context.sampler.items, key=lambda item: natural_key(item.key))
    features, truth, parts = [], [], []
    variations = max(1, min(_MOST_VARIATIONS, _EXAMPLES // max(1, len(items)) - 1))
    for first in range(0, len(items), _REPORTED):
        if context.control.stop:
            break
        context.report(Progress(what=Message("progress.features"), done=first, total=len(items)), keep=False)
        for number, item in enumerate(items[first : first + _REPORTED], first):
            generator = np.random.default_rng([context.settings.seed, number])
            with contextlib.suppress(Problem):  # reported as an image that is left out
                image = normalize(context.sampler.cache.get(item.key).image, context.model_settings)
                images = [image, *(context.sampler.varied_image(item, generator) for _ in range(variations))]
                features.append(np.asarray(session.run(None, {INPUT: np.stack(images)})[0], np.float64))
                truth += [context.dataset.verdicts.index(str(item.verdict))] * len(images)
                parts += [item.part] * len(images)
    return np.concatenate(features) if features else np.zeros((0, 0)), truth, parts, variations


def _set_head(net: Lite0Classifier, result: CrossFit) -> None:
    head = result.head
    for tensor, values in (
        (net.center, head.center),
        (net.scale, head.scale),
        (net.head.weight, head.weights),
        (net.head.bias, head.bias),
    ):
        tensor.set_value(paddle.to_tensor(values.astype(np.float32)))
