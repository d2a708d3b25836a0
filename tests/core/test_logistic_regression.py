"""Logistic regression with a penalty, and its cross-fitting over parts."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.logistic_regression import cross_fit, fit


def blobs(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return float64 (60, 5) around three centers, and their classes; the first class has half of the examples."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], [30, 20, 10])
    return rng.normal(size=(3, 5))[truth] + rng.normal(size=(60, 5)), truth


@pytest.mark.parametrize("penalty", [1.0, 10.0])
def test_the_solution_is_that_of_another_library(penalty):
    from sklearn.linear_model import LogisticRegression  # not by every process that collects this test

    features, truth = blobs()
    solution = fit(features, truth, 3, penalty)
    other = LogisticRegression(C=1 / penalty, class_weight="balanced", max_iter=1000, tol=1e-8).fit(features, truth)
    np.testing.assert_allclose(solution[:-1], other.coef_.T, atol=5e-3)
    bias = solution[-1] - solution[-1].mean()
    np.testing.assert_allclose(bias, other.intercept_ - other.intercept_.mean(), atol=5e-3)


def test_every_example_is_predicted_by_a_head_without_its_part():
    """Examples of a part are equal and classes are random: whoever saw the part knows its class."""
    rng = np.random.default_rng(1)
    parts = [f"part {number // 6:02d}" for number in range(240)]
    features = np.repeat(rng.normal(size=(40, 100)), 6, axis=0)
    truth = np.repeat(rng.permutation(40) % 2, 6)
    found = cross_fit(features, truth, parts, 2)
    assert (found.head.probabilities(features).argmax(axis=1) == truth).all()
    assert (found.probabilities.argmax(axis=1) == truth).mean() < 0.8


def test_a_class_of_a_single_part_cannot_be_predicted_without_it():
    features, truth = blobs()
    parts = ["one" if number == 2 else f"part {place}" for place, number in enumerate(truth)]
    found = cross_fit(features, truth, parts, 3)
    assert (found.probabilities[truth == 2, 2] < 0.1).all()
    assert np.isfinite(found.probabilities).all()
