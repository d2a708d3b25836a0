"""Multinomial logistic regression with a penalty on the weights, also of more features than examples.

Each class has the same total weight, however many examples it has.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

PENALTIES = (100.0, 10.0, 1.0, 0.1)  # of the squared weights, relative to the loss of one example
_FOLDS = 4
_ROUNDS, _MEMORY, _TOLERANCE = 150, 8, 1e-4


@dataclass(frozen=True)
class FittedHead:
    """Head with the logits ((features - center) * scale) @ weights + bias, all float64.

    center, scale: (features,). weights: (features, classes). bias: (classes,).
    """

    center: np.ndarray
    scale: np.ndarray
    weights: np.ndarray
    bias: np.ndarray

    def probabilities(self, features: np.ndarray) -> np.ndarray:
        """Return float64 (N, classes)."""
        return _softmax((features - self.center) * self.scale @ self.weights + self.bias)


@dataclass(frozen=True)
class CrossFit:
    """Head fitted to all examples. probabilities: float64 (N, classes), of each example by a head without its part.

    penalty: the one of PENALTIES with the lowest loss of these probabilities.
    """

    head: FittedHead
    probabilities: np.ndarray
    penalty: float


def cross_fit(features: np.ndarray, truth: np.ndarray, parts: Sequence[str], classes: int) -> CrossFit:
    """Fit a head whose penalty is chosen by cross-fitting over parts.

    features: float (N, features). truth: int (N,), numbers of classes. parts: of the examples, in the order in which
    neighboring parts resemble each other.
    """
    center, scale = features.mean(axis=0), 1 / (features.std(axis=0) + 1e-6)
    standard = (features - center) * scale
    folds, weight = _folds(truth, parts), _example_weights(truth, classes)
    outside = np.zeros((len(PENALTIES), len(truth), classes))
    for fold in range(_FOLDS):
        inside, start = folds != fold, None
        if inside.all() or not inside.any():
            continue
        for number, penalty in enumerate(PENALTIES):  # the largest first, whose result is near that of the next
            start = fit(standard[inside], truth[inside], classes, penalty, start=start)
            outside[number, ~inside] = _softmax(standard[~inside] @ start[:-1] + start[-1])
    losses = [-(weight * np.log(np.maximum(p[np.arange(len(truth)), truth], 1e-12))).sum() for p in outside]
    best = int(np.argmin(losses))
    solution = fit(standard, truth, classes, PENALTIES[best])
    return CrossFit(FittedHead(center, scale, solution[:-1], solution[-1]), outside[best], PENALTIES[best])


def fit(
    features: np.ndarray, truth: np.ndarray, classes: int, penalty: float, *, start: np.ndarray | None = None
) -> np.ndarray:
    """Return float64 (features + 1, classes): the weights and, in the last row, the bias, which has no penalty."""
    size, example_weight = features.shape[1], _example_weights(truth, classes)
    target = np.eye(classes)[truth]

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        solution = flat.reshape(size + 1, classes)
        probabilities = _softmax(features @ solution[:-1] + solution[-1])
        logs = np.log(np.maximum(probabilities[target > 0], 1e-300))
        value = penalty / 2 * float((solution[:-1] ** 2).sum()) - float(example_weight @ logs)
        error = (probabilities - target) * example_weight[:, None]
        gradient = np.concatenate([features.T @ error + penalty * solution[:-1], error.sum(axis=0)[None]])
        return value, gradient.ravel()

    initial = np.zeros((size + 1, classes)) if start is None else start
    return minimize(loss, initial.ravel()).reshape(size + 1, classes)


def minimize(function: Callable[[np.ndarray], tuple[float, np.ndarray]], start: np.ndarray) -> np.ndarray:
    """Return the minimum of a convex function by L-BFGS (Nocedal, Wright 2006, algorithm 7.4), float64 (n,).

    function: returns value and gradient.
    """
    x, (value, gradient) = start, function(start)
    pairs = deque[tuple[np.ndarray, np.ndarray]](maxlen=_MEMORY)
    first = max(1.0, float(np.linalg.norm(gradient)))
    for _ in range(_ROUNDS):
        if np.linalg.norm(gradient) <= _TOLERANCE * first:
            break
        direction, factors = -gradient, []
        for moved, changed in reversed(pairs):
            factors.append(float(moved @ direction) / float(moved @ changed))
            direction = direction - factors[-1] * changed
        if pairs:
            moved, changed = pairs[-1]
            direction = direction * (float(moved @ changed) / float(changed @ changed))
        for (moved, changed), factor in zip(pairs, reversed(factors)):
            direction = direction + (factor - float(changed @ direction) / float(moved @ changed)) * moved
        slope, step = float(gradient @ direction), 1.0 if pairs else 1 / first
        reached, next_gradient = function(x + step * direction)
        while reached > value + 1e-4 * step * slope and step > 1e-10:
            step /= 2
            reached, next_gradient = function(x + step * direction)
        pairs.append((step * direction, next_gradient - gradient))
        if float(pairs[-1][0] @ pairs[-1][1]) <= 0:
            break
        x, value, gradient = x + step * direction, reached, next_gradient
    return x


def _softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _example_weights(truth: np.ndarray, classes: int) -> np.ndarray:
    """Return float64 (N,) with the sum N, equal for each class that occurs."""
    counts = np.bincount(truth, minlength=classes)
    return len(truth) / np.count_nonzero(counts) / counts[truth]


def _folds(truth: np.ndarray, parts: Sequence[str]) -> np.ndarray:
    """Return the fold of each example, int (N,): neighboring parts of a class are in one fold, whole parts always.

    A part with several classes counts for the rarest of them.
    """
    counts = np.bincount(truth)
    of_class: dict[int, dict[str, None]] = {}
    rarest: dict[str, int] = {}
    for part, number in zip(parts, truth.tolist()):
        rarest[part] = min(rarest.get(part, number), number, key=lambda each: (counts[each], each))
    for part, number in rarest.items():
        of_class.setdefault(number, {})[part] = None
    fold = {part: n * _FOLDS // len(names) for names in of_class.values() for n, part in enumerate(names)}
    return np.array([fold[part] for part in parts])
