"""Whatever the OpenAPI description allows, and much that it does not: never an error of the server's own."""

from __future__ import annotations

import hypothesis
import pytest
import schemathesis
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error

from tests.engine.fakes import FakeRunner
from tests.engine.server.conftest import NAME, PATIENCE_S

EXAMPLES = 60
SHORT = 160  # tokens of context: a reply without a limit ends soon


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(GenerationMode), ids=str)
def test_no_request_is_answered_with_an_error_of_the_server(mode, serve):
    served = serve(FakeRunner(context_limit=SHORT))
    schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{served.server.port}/openapi.json")
    operations = [found.ok() for found in schema.get_all_operations()]
    assert {operation.path for operation in operations} >= {"/v1/chat/completions", "/v1/completions", "/v1/models"}
    statuses: dict[str, set[int]] = {}
    for operation in operations:

        @hypothesis.settings(
            max_examples=EXAMPLES, database=None, suppress_health_check=list(hypothesis.HealthCheck), derandomize=True
        )
        @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
        def call(case):
            if isinstance(case.body, dict) and isinstance(case.body.get("model"), str):
                case.body["model"] = NAME  # or hardly any request would get past the name
            response = case.call(timeout=PATIENCE_S)
            statuses.setdefault(case.operation.path, set()).add(response.status_code)
            case.validate_response(response, checks=[not_a_server_error])

        if mode is GenerationMode.POSITIVE or operation.body:
            call()
    said = set().union(*statuses.values())
    assert said & {400, 404}
    if mode is GenerationMode.POSITIVE:
        assert 200 in statuses["/v1/chat/completions"]
        assert 200 in statuses["/v1/completions"]
    assert served.chat("and now?").status_code == 200
