"""What the tests of pages share."""

from collections.abc import Iterator
from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.caching import clear_session_resource_cache

from playground.jobs import JobQueue, SharedRuns
from playground.training.cost import Speed
from playground.web.session.services import other_services, services
from playground.web.views import regularisers, training
from tests.waiting import job_threads, until
from tests.web.app_test import SESSION
from tests.web.experiment_pages import short_ablation


@pytest.fixture(scope="session", autouse=True)
def installed_components() -> Iterator[None]:
    """Packages are searched for components once: every AppTest would read the metadata of all of them anew."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(autouse=True)
def no_network_of_earlier_tests() -> None:
    """What another test's visitor has trained is not kept any more."""
    services().kept_networks.forget()


@pytest.fixture
def one_experiment_at_a_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A queue of the test's own, on a machine that is known to be fast; nothing runs on after the test."""
    monkeypatch.setattr(regularisers, "ablation_recipe", short_ablation)
    queue = JobQueue(1)
    for module in (training, regularisers):
        monkeypatch.setattr(module, "machine_speed", lambda: Speed(1e-6, 1e-12))
    clear_session_resource_cache(SESSION)  # every AppTest has the same session: what an earlier test had is forgotten
    with other_services(backend=queue, runs=SharedRuns(queue, max_results=8, max_bytes=10**8)):
        yield
        clear_session_resource_cache(SESSION)
        until(lambda: not job_threads())
