"""What operators see: readiness, counters, and log lines that hold nothing of what students typed."""

import time
from contextlib import nullcontext
from unittest.mock import Mock

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest
from streamlit.runtime.backend_operation_handler import _LOGGER, DeferredFileHandler

import streamlit_app
from playground.errors import UnavailableError
from playground.web.server.settings import Settings
from playground.web.session.services import Services, services
from tests.waiting import run_coroutine
from tests.web.app_test import open_page


def amount(name: str, **labels: str) -> float:
    """A sample's value; 0 before the first."""
    return services().meters.registry.get_sample_value(name, labels) or 0.0


def test_ready_means_that_models_are_loaded_and_a_seat_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    here, answers = Services(Settings(max_sessions=2)), []
    visitors = here.visitors
    monkeypatch.setattr(streamlit_app, "here", here)
    routes = [Route("/ready", streamlit_app.say_ready), Route("/operators/metrics", streamlit_app.write_metrics)]
    with TestClient(Starlette(routes=routes)) as client:
        for visitors.loaded, visitors.open in ((False, 0), (True, 2), (True, 1)):
            answer = client.get("/ready")
            assert answer.json() == {"ready": answer.status_code == 200}
            answers.append(answer.status_code)
        metrics = client.get("/operators/metrics").text
    assert answers == [503, 503, 200]
    assert "playground_visitors 1.0" in metrics


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(None, "drawn"), (ValueError("what Ann typed"), "failed"), (KeyboardInterrupt(), "interrupted")],
)
def test_every_run_is_counted_and_one_that_fails_is_logged(
    error: BaseException | None, outcome: str, caplog: pytest.LogCaptureFixture
) -> None:
    labels = {"page": "norms", "part": "page", "outcome": outcome}
    before = amount("playground_run_seconds_count", **labels)
    with nullcontext() if error is None else pytest.raises(type(error)), services().meters.watch_rerun("norms"):
        if error is not None:
            raise error
    assert amount("playground_run_seconds_count", **labels) == before + 1
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == (outcome == "failed")
    assert "Ann" not in "".join(lines)


def test_a_slow_run_is_logged(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    clock = iter([10.0, 17.5])
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    with services().meters.watch_rerun("attention", "explore_heads"):
        pass
    assert [record.getMessage() for record in caplog.records] == [
        "run page=attention part=explore_heads outcome=drawn seconds=7.50"
    ]


def test_a_file_that_is_refused_is_one_line_and_a_mistake_of_ours_keeps_its_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    media = Mock()
    handler, request = DeferredFileHandler(lambda: media), BackendOperationRequest()
    _LOGGER.addFilter(streamlit_app.hide_visitors)
    try:
        for error in (UnavailableError("Ann has left."), KeyError("x")):
            media.execute_deferred.side_effect = error
            assert run_coroutine(handler.handle(request, "one")).error_msg
    finally:
        _LOGGER.removeFilter(streamlit_app.hide_visitors)
    assert [(record.levelname, bool(record.exc_info)) for record in caplog.records] == [
        ("WARNING", False),
        ("ERROR", True),
    ]
    assert caplog.records[0].getMessage() == "refusal kind=UnavailableError"


def test_a_page_counts_its_run_and_its_results_are_in_the_cache_that_is_watched() -> None:
    labels = {"page": "norms", "part": "page", "outcome": "drawn"}
    before = amount("playground_run_seconds_count", **labels)
    open_page("norms")
    assert amount("playground_run_seconds_count", **labels) == before + 1
    assert amount("playground_cache_bytes") > 0
