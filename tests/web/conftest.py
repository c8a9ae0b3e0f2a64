"""What the tests of pages share."""

from collections.abc import Iterator
from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.caching import clear_session_resource_cache
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import app_test, local_script_runner
from streamlit.testing.v1.local_script_runner import LocalScriptRunner, require_widgets_deltas

from playground.jobs import JobPool
from playground.training import variants
from playground.training.trainer import Speed
from playground.web.session import experiments
from playground.web.session.services import other_services, services
from tests.web.app_test import SESSION
from tests.web.experiment_pages import short_comparison


@pytest.fixture(scope="session", autouse=True)
def quick_app_tests() -> Iterator[None]:
    """What every AppTest would do anew is done once: packages searched for components, the pages' scripts compiled.

    And it waits for a run without asking a thousand times a second whether that is done. What a page says that an
    experiment takes is that of one machine, however busy this one is.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        patch.setattr(app_test, "ScriptCache", cache(ScriptCache))
        patch.setattr(local_script_runner, "require_widgets_deltas", _wait_for_run)
        patch.setattr(experiments, "machine_speed", lambda: Speed(1e-3, 1e-10))
        yield


def _wait_for_run(runner: LocalScriptRunner, timeout: float) -> None:
    thread = runner._script_thread
    assert thread is not None
    thread.join(timeout)
    require_widgets_deltas(runner, 1)  # which stops what still runs and raises


@pytest.fixture(autouse=True)
def own_networks(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another test's visitor has trained is not in the store."""
    monkeypatch.setattr(services().store, "folder", tmp_path_factory.mktemp("networks"))


@pytest.fixture
def one_experiment_at_a_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A queue of the test's own, on a machine that is known to be fast; nothing runs on after the test."""
    monkeypatch.setattr(variants, "comparison_recipe", short_comparison)
    pool = JobPool(1, max_results=8, max_bytes=10**8)
    monkeypatch.setattr(experiments, "machine_speed", lambda: Speed(1e-6, 1e-12))
    clear_session_resource_cache(SESSION)  # every AppTest has the same session: what an earlier test had is forgotten
    with other_services(pool=pool):
        yield
        clear_session_resource_cache(SESSION)
        pool.close()
