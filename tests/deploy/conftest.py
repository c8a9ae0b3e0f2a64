"""nginx in front of copies that only say their names. Without nginx these tests fail: they are never skipped."""

import http.client
import json
import ssl
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from deploy.balancer import Balancer
from deploy.configuration import Front
from deploy.copies import free_ports
from tests.deploy.fake_copy import FakeCopy

NONE: Mapping[str, str] = {}


@dataclass(frozen=True)
class Answer:
    """What came back through nginx."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def seen(self) -> dict[str, Any]:
        """What the copy says of the request: its own port, the path, the headers."""
        said: dict[str, Any] = json.loads(self.body)
        return said

    @property
    def cookie(self) -> str:
        """The cookie as a browser would send it back."""
        return self.headers["set-cookie"].partition(";")[0]


@dataclass(frozen=True)
class Site:
    """nginx in front of fake copies."""

    front: Front
    copies: list[FakeCopy]
    balancer: Balancer

    def ask(
        self, path: str, cookie: str = "", *, method: str = "GET", body: bytes = b"", headers: Mapping[str, str] = NONE
    ) -> Answer:
        """One request on a connection of its own, by HTTPS where the site has it."""
        tls = ssl._create_unverified_context()
        connection = (
            http.client.HTTPSConnection("127.0.0.1", self.front.tls_port, timeout=10, context=tls)
            if self.front.certificate
            else http.client.HTTPConnection("127.0.0.1", self.front.port, timeout=10)
        )
        connection.request(method, path, body or None, {**headers, **({"Cookie": cookie} if cookie else {})})
        response = connection.getresponse()
        answer = Answer(
            response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
        )
        connection.close()
        return answer

    def log(self) -> str:
        """nginx's access log."""
        return Path(self.front.access_log).read_text(encoding="utf-8")


@pytest.fixture
def folder() -> Iterator[Path]:
    """nginx's own folder, outside pytest's: its workers, who are not root where root starts it, have to get there."""
    with tempfile.TemporaryDirectory() as path:
        Path(path).chmod(0o711)
        yield Path(path)


@pytest.fixture
def site(folder: Path) -> Iterator[Callable[..., Site]]:
    """Starts nginx in front of so many fake copies, with options of `Front`."""
    with ExitStack() as stack:

        def start(n: int = 2, **options: Any) -> Site:
            copies = [FakeCopy() for _ in range(n)]
            port, tls_port = free_ports(2)
            front = Front(folder, port=port, tls_port=tls_port, access_log=str(folder / "access.log"))
            running = Site(
                replace(front, **options), copies, Balancer(replace(front, **options), [c.copy for c in copies])
            )
            stack.callback(running.balancer.stop)
            for each in copies:
                stack.callback(each.stop)
            wait_for(lambda: running.ask("/").status == 200)
            return running

        yield start


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A certificate that is signed by itself, and its key, as options of `Front`."""
    folder = tmp_path_factory.mktemp("certificate")
    files = {"certificate": folder / "certificate.pem", "key": folder / "key.pem"}
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc")
    name = ("-subj", "/CN=localhost", "-days", "2")
    output = ("-out", str(files["certificate"]), "-keyout", str(files["key"]))
    subprocess.run(["openssl", "req", "-x509", *curve, *name, *output], check=True, capture_output=True)
    return files


@contextmanager
def reloaded(balancer: Balancer) -> Iterator[None]:
    """What nginx is told in the block holds for every request after it: the workers from before are gone."""
    before = workers(balancer)
    yield
    wait_for(lambda: not before & workers(balancer))


def workers(balancer: Balancer) -> set[int]:
    """The processes that nginx's master has started and that run (Linux)."""
    master = balancer.process.pid
    return set(map(int, Path(f"/proc/{master}/task/{master}/children").read_text().split()))


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait until it is true; a connection that is refused is a no."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            if condition():
                return
        except OSError:
            pass
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)
