"""Requests generated from the OpenAPI description, valid and invalid: no undescribed response."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

LIMITED = settings(max_examples=30, deadline=None, database=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize(("kind", "token"), [("gray_export", None), ("verdict_export", "a-token")])
def test_every_response_is_described_in_the_schema(served, request, kind, token):
    import schemathesis  # not by every process that collects this test
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    one = served(request.getfixturevalue(kind), token=token)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    schema = schemathesis.openapi.from_asgi("/openapi.json", one.app)
    labels = set()
    for found in schema.get_all_operations():
        operation = found.ok()
        labels.add(operation.label)

        @LIMITED
        @given(case=operation.as_strategy())
        def ask(case):
            # OpenAPI cannot state that the bytes have to be an image.
            case.call_and_validate(headers=headers, excluded_checks=[positive_data_acceptance])

        ask()
    assert labels == {"POST /predict", "GET /health", "GET /metrics"}
    assert one.counters['workbench_requests_total{status="500"}'] == 0
    assert one.counters['workbench_requests_total{status="200"}'] > 3
