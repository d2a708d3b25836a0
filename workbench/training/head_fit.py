"""Fit of the last layer of a network for verdicts to the features of all training images, before the first step."""

from __future__ import annotations

import contextlib

import numpy as np
import onnxruntime
import paddle

from workbench.core.logistic_regression import CrossFit, cross_fit
from workbench.core.messages import Message
from workbench.core.problems import Problem
from workbench.core.runs.events import Progress
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.cpu_environment import cores
from workbench.inference.engines.onnx_engine import session_options
from workbench.inference.io.natural_order import natural_key
from workbench.inference.model_settings import EngineOptions
from workbench.inference.normalize import normalize
from workbench.training.lite0_encoder import Lite0Classifier
from workbench.training.onnx_graph import INPUT, statistics_onnx
from workbench.training.training_context import TrainingContext

_BATCH = 8  # images whose features are computed at once


def fits_head(settings: TrainingSettings) -> bool:
    """Return whether the last layer is fitted before the training: that of a network which no run has trained yet."""
    return settings.model == "resnet" and settings.encoder == "lite0" and not settings.start_from


def fit_head(context: TrainingContext) -> None:
    """Fit the last layer, unless the run is stopped or images of one verdict only can be read.

    `context.state.fitted` becomes the accuracy on parts that were left out of the fit.
    """
    net = context.learner.net
    assert isinstance(net, Lite0Classifier)
    features, truth, parts = _features(context, net)
    if context.control.stop or len(set(truth)) < 2:
        return
    result = cross_fit(features, np.array(truth), parts, len(context.dataset.verdicts))
    _set_head(net, result)
    context.learner.copy_to_mean()
    context.state.fitted = float((result.probabilities.argmax(axis=1) == truth).mean())


def _features(context: TrainingContext, net: Lite0Classifier) -> tuple[np.ndarray, list[int], list[str]]:
    """Return the statistics of the readable training images, float64 (N, features), their verdicts and parts."""
    options = session_options(EngineOptions(threads=cores(), spin=False))
    model = statistics_onnx(net, context.settings.channels).SerializeToString()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    items = sorted(context.sampler.items, key=lambda item: natural_key(item.key))
    features, truth, parts = [], [], []
    for first in range(0, len(items), _BATCH):
        if context.control.stop:
            break
        context.report(Progress(what=Message("progress.features"), done=first, total=len(items)), keep=False)
        images = []
        for item in items[first : first + _BATCH]:
            with contextlib.suppress(Problem):  # reported as an image that is left out
                images.append(normalize(context.sampler.cache.get(item.key).image, context.model_settings))
                truth.append(context.dataset.verdicts.index(str(item.verdict)))
                parts.append(item.part)
        if images:
            features.append(np.asarray(session.run(None, {INPUT: np.stack(images)})[0], np.float64))
    return np.concatenate(features) if features else np.zeros((0, 0)), truth, parts


def _set_head(net: Lite0Classifier, result: CrossFit) -> None:
    head = result.head
    for tensor, values in (
        (net.center, head.center),
        (net.scale, head.scale),
        (net.head.weight, head.weights),
        (net.head.bias, head.bias),
    ):
        tensor.set_value(paddle.to_tensor(values.astype(np.float32)))
