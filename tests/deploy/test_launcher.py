"""The launcher's command line, and how it follows names; with fake copies."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.configuration import Front, addresses
from deploy.copies import free_ports
from deploy.serve import Service, environment, parse
from tests.deploy.conftest import Site, reloaded, wait_for
from tests.deploy.fake_copy import FakeCopy


@pytest.fixture
def fake() -> Iterator[FakeCopy]:
    running = FakeCopy()
    yield running
    running.stop()


@pytest.mark.parametrize(
    "words",
    [["--copies", "0"], ["--certificate", "only.pem"], ["--at", "app"], ["--at", "app:http"], ["--port", "no"]],
)
def test_a_command_line_that_makes_no_sense_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(words)
    assert words[0].removeprefix("--") in capsys.readouterr().err


def test_a_certificate_brings_https_and_a_path_comes_from_streamlits_own_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("STREAMLIT_SERVER_BASE_URL_PATH", "/play/")
    n, names, front = parse(["--copies", "3", "--certificate", "a.pem", "--key", "b.pem", "--port", "80"])
    assert (n, names, front.secure, front.port, front.base) == (3, [], True, 80, "/play/")
    assert environment(front)["STREAMLIT_SERVER_XSRF_COOKIE_SAME_SITE"] == "none"
    assert "STREAMLIT_SERVER_XSRF_COOKIE_SAME_SITE" not in environment(Front(Path()))
    monkeypatch.setenv("PLAYGROUND_MAX_TRAININGS", "7")
    assert "PLAYGROUND_MAX_TRAININGS" not in environment(front)  # what was set stays


def test_a_name_stands_for_every_address_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(2, 1, 6, "", ("192.0.2.1", 8501)), (2, 1, 6, "", ("192.0.2.2", 8501)), (10, 1, 6, "", ("2001:db8::1", 1))]
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: found)
    assert addresses("app:8501") == {"192.0.2.1:8501", "192.0.2.2:8501", "[2001:db8::1]:8501"}


def test_copies_elsewhere_come_and_go_with_the_names(fake: FakeCopy, folder: Path) -> None:
    front = Front(folder, port=free_ports(1)[0], access_log="off")
    service = Service(front, 0, [f"127.0.0.1:{fake.port}"])
    site, other = Site(front, [], service.balancer), FakeCopy()
    try:
        wait_for(lambda: site.ask("/").seen["port"] == fake.port)
        service.names = [f"127.0.0.1:{other.port}"]
        with reloaded(service.balancer):
            service._follow_names()
        assert site.ask("/").seen["port"] == other.port
        service.names = ["there-is-no-such-host.invalid:1"]
        service._follow_names()
        assert site.ask("/").seen["port"] == other.port
    finally:
        service.stop()
        other.stop()
