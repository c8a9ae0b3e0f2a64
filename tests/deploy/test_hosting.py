"""The files in deploy/: real nginx with the real file in front of two real copies, and what compose.yaml says."""

import asyncio
import os
import re
import shutil
import signal
import ssl
import subprocess
import tempfile
import textwrap
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from email.message import Message
from http.client import HTTPConnection
from pathlib import Path
from socket import create_server
from typing import Any, NamedTuple

import pytest
import yaml
from streamlit import config
from websockets.asyncio.client import connect
from websockets.typing import Origin

from benchmarks.load.memory_bound import memory_bound
from benchmarks.load.student import Student
from playground import limits
from playground.web.server import Settings, read_settings
from tests.attacks.client import join
from tests.browser.server import Server, serve
from tests.waiting import run_coroutine, until

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin") or "nginx"
PORTS = ("8501", "8502")


class Answer(NamedTuple):
    status: int
    headers: Message
    body: bytes


@dataclass
class Site(Server):
    """nginx, by its address, in front of two copies, by their ports."""

    folder: Path = Path()
    copies: Mapping[str, Server] = field(default_factory=dict)
    nginx: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.nginx = subprocess.Popen(nginx(self.folder, "daemon off;"), start_new_session=True)
        until(self.is_up)

    def kill(self) -> None:
        assert self.nginx
        os.killpg(self.nginx.pid, signal.SIGKILL)
        self.nginx.wait()

    def is_up(self) -> bool:
        with suppress(OSError):
            return self.ask("/_stcore/health").status == 200
        return False

    def ask(self, path: str, method: str = "GET", **headers: str) -> Answer:
        """The answer to a request; a header's name has _ for -."""
        connection = HTTPConnection("127.0.0.1", int(self.url.rpartition(":")[2]), timeout=20)
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return Answer(answer.status, answer.headers, body)

    def lines(self, what: str) -> list[str]:
        return [line for line in (self.folder / "access.log").read_text().splitlines() if what in line]


def cookies(headers: Any) -> str:
    """What an answer has the browser keep, the app's own cookie included."""
    return "\n".join(headers.get_all("Set-Cookie") or [])


def port_of(headers: Any) -> str:
    """The copy that an answer's cookie names; empty if there is none."""
    return "".join(re.findall(r"^playground_copy=(\d+); ", cookies(headers), re.MULTILINE))


def nginx(folder: Path, directives: str) -> list[str]:
    return [NGINX, "-e", "stderr", "-c", f"{folder}/nginx.conf", "-g", f"pid {folder}/pid; {directives}"]


def cookie(port: str) -> dict[str, str]:
    return {"Cookie": f"playground_copy={port}"}


def write(folder: Path, ports: Mapping[str, str], *command: str) -> None:
    """nginx's two files, with a folder and ports of this test's own; `command` changes the first."""
    for name in ("nginx.conf", "copies.conf"):
        text = (DEPLOY / name).read_text(encoding="utf-8")
        if command and name == "nginx.conf":
            text = subprocess.run(command, input=text, check=True, stdout=subprocess.PIPE, text=True).stdout
        text = re.sub(r"850[012]|(?<=listen )(80|443)\b", lambda found: ports.get(found[0], found[0]), text)
        (folder / name).write_text(re.sub("/var/(log/nginx|cache)/|/etc/nginx/", f"{folder}/", text), encoding="utf-8")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))  # pytest's own shuts nginx's workers out
        folder.chmod(0o711)
        environ = {"PLAYGROUND_MAX_TRAININGS": "1", "STREAMLIT_SERVER_ALLOWED_HOSTS": "127.0.0.1"}
        serves = [serve(tmp_path_factory.mktemp("copy"), "-m", "streamlit", "run", port=0, **environ) for _ in PORTS]
        copies = {server.url.rpartition(":")[2]: server for server in map(stack.enter_context, serves)}
        own, inner = free_ports(2)
        write(folder, dict(zip((*PORTS, "8500", "80"), (*copies, inner, f"127.0.0.1:{own}"), strict=True)))
        running = Site(f"http://127.0.0.1:{own}", folder / "error.log", folder=folder, copies=copies)
        stack.callback(running.kill)
        running.start()
        yield running


def free_ports(n: int) -> list[str]:
    with ExitStack() as stack:
        return [str(stack.enter_context(create_server(("127.0.0.1", 0))).getsockname()[1]) for _ in range(n)]


def test_nginx_accepts_the_file_as_it_is(tmp_path: Path) -> None:
    write(tmp_path, {"80": "8580"})  # not everybody may take port 80
    assert subprocess.run([*nginx(tmp_path, ""), "-t", "-q"], capture_output=True, text=True).stderr == ""


def test_a_visitor_stays_with_a_copy_and_both_are_used(site: Site) -> None:
    first = [port_of(site.ask("/attention").headers) for _ in range(4)]
    assert set(first) == set(site.copies)
    for port in first:
        assert port_of(site.ask("/_stcore/health", **cookie(port)).headers) == "", "the browser has it already"
        until(lambda: site.lines("/_stcore/health")[-1].endswith(f"copy={port}"))  # noqa: B023 - at once
    assert port_of(site.ask("/", **cookie("9")).headers) in site.copies
    assert "HttpOnly; SameSite=Lax" in cookies(site.ask("/").headers)
    behind_https = site.ask("/", X_Forwarded_Proto="https").headers
    assert "SameSite=None; Secure; Partitioned" in cookies(behind_https)
    assert behind_https["Strict-Transport-Security"] == "max-age=31536000"


def test_what_is_refused(site: Site) -> None:
    for private in ("/_stcore/metrics", "//_stcore/metrics", "/_stcore/%6detrics", "/operators/metrics"):
        assert site.ask(private).status == 404
    assert site.ask("/_stcore/upload_file/a/b", "PUT", Content_Length="230000000").status == 413
    assert site.ask("/_stcore/upload_file/a/b", "PUT").status == 403  # without the token of its own page
    handshake = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                 "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}  # fmt: skip
    assert site.ask("/_stcore/stream", **handshake).status == 101
    for foreign in ({"Host": "elsewhere.example"}, {"Origin": "https://elsewhere.example"}):
        assert site.ask("/_stcore/stream", **handshake, **foreign).status == 403


def test_the_command_for_https_serves_pages_and_websockets(site: Site) -> None:
    folder = site.folder / "https"
    folder.mkdir()
    folder.chmod(0o711)
    script = re.search(r"sudo sed -i '(.+)' /etc/nginx/nginx.conf", (DEPLOY / "university.md").read_text())
    assert script
    own, plain, inner = free_ports(3)
    ports = {"443": f"127.0.0.1:{own}", "80": f"127.0.0.1:{plain}", "8500": inner}
    write(folder, ports | dict(zip(PORTS, site.copies, strict=True)), "sed", script[1])
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", f"{folder}/certificate.key", "-out", f"{folder}/certificate.pem"]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *names, *files], check=True)
    trusted, secure = ssl.create_default_context(cafile=f"{folder}/certificate.pem"), replace(site, folder=folder)
    secure.url = f"http://127.0.0.1:{plain}"

    async def shake_hands() -> None:
        address, origin = f"127.0.0.1:{own}", f"https://127.0.0.1:{own}"
        async with connect(f"wss://{address}/_stcore/stream", ssl=trusted, origin=Origin(origin)) as socket:
            assert socket.response
            assert "SameSite=None; Secure; Partitioned" in cookies(socket.response.headers)

    def redirects() -> bool:
        with suppress(OSError):
            return secure.ask("/attention?head=3").headers["Location"] == "https://127.0.0.1/attention?head=3"
        return False

    secure.nginx = subprocess.Popen(nginx(folder, "daemon off;"), start_new_session=True)
    try:
        until(redirects)
        with urllib.request.urlopen(f"https://127.0.0.1:{own}/attention", context=trusted) as page:
            assert page.headers["Strict-Transport-Security"] == "max-age=31536000"
        run_coroutine(shake_hands())
    finally:
        secure.kill()


def test_a_killed_copy_gives_its_visitors_to_the_other(site: Site) -> None:
    port, other = site.copies

    async def lose_a_copy() -> None:
        socket = await join(site, cookie(port))
        os.kill(site.copies[port].process_id, signal.SIGKILL)
        await asyncio.wait_for(socket.wait_closed(), 20)
        socket = await join(site, cookie(port))
        assert socket.response
        assert port_of(socket.response.headers) == other
        student = Student(socket, "attention", "weights=random&n_layers=2")
        await student.open()
        assert student.alerts == []
        await student.leave()

    run_coroutine(lose_a_copy())
    os.kill(site.copies[other].process_id, signal.SIGKILL)
    until(lambda: not site.is_up())
    answer = site.ask("/attention", **cookie(other))
    assert (answer.status, b"load this page again" in answer.body) == (502, True)


def test_compose_and_nginx_speak_of_the_same_copies() -> None:
    compose: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    *copies, nginx = compose["services"].values()
    assert tuple(each["environment"]["STREAMLIT_SERVER_PORT"] for each in copies) == PORTS
    assert {*nginx["depends_on"], "nginx"} == {*compose["services"]}
    for volume in nginx["volumes"]:
        assert (DEPLOY / volume.split(":")[0]).is_file()
    assert (DEPLOY.parent / copies[0]["build"]["dockerfile"]).is_file()
    here, there = ((DEPLOY / name).read_text().split("\n", 1)[1] for name in ("copies.conf", "copies-compose.conf"))
    assert re.sub(r"127\.0\.0\.1:850(\d)", r"app-\1:850\1 resolve", here) == there.split("\n", 1)[1]
    for each in copies:
        limit = int(each["deploy"]["resources"]["limits"]["memory"][:-1]) * 10**9
        assert memory_bound(read_settings(each["environment"])) <= limit
    assert all(each["read_only"] and each["cap_drop"] == ["ALL"] for each in (*copies, nginx))


DOCUMENTS = sorted(DEPLOY.rglob("*.md"))
SPACE, CLOUD = DEPLOY / "huggingface-space", DEPLOY / "streamlit-cloud"


def test_every_variable_is_known_and_every_setting_explained() -> None:
    own = {f"PLAYGROUND_{name.upper()}" for name in Settings.__dataclass_fields__}
    own |= {f"PLAYGROUND_{name}" for name in vars(limits) if name.startswith("MAX_")}
    own |= {"PLAYGROUND_DOWNLOAD", "PLAYGROUND_NETWORKS"}
    known = own | {option.env_var for option in config._config_options_template.values()} | {"PLAYGROUND_PORT"}
    for file in DEPLOY.rglob("*"):
        if file.is_file() and file.suffix not in {".py", ".png", ".pyc"}:
            assert set(re.findall(r"\b(?:PLAYGROUND|STREAMLIT)_[A-Z_]+[A-Z]", file.read_text())) <= known, file
    assert own <= set(re.findall(r"^\| `(\w+)`", (DEPLOY / "README.md").read_text(), re.MULTILINE))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(DEPLOY)))
def test_a_page_names_files_that_exist_and_fits_on_a_screen(document: Path) -> None:
    text, root = document.read_text(), DEPLOY.parent
    for name in re.findall(r"\]\(([\w/.-]+)(?:#[\w-]+)?\)", text):
        assert (document.parent / name).exists(), name
    for name in re.findall(r"(?<![\w/])(?:deploy|docs|locks|tests|\.streamlit)/[\w/.@-]*\w", text):
        assert (root / name).exists() or name == "deploy/.env", name
    assert document == DEPLOY / "README.md" or len(text.splitlines()) <= 46


def settings_in(text: str) -> dict[str, str]:
    """The settings that a page or a file has ready, as `NAME=value` or as in TOML."""
    found = re.findall(r"(?<![`\w])(PLAYGROUND_\w+) ?= ?([\d_]+)", text)
    return {"PLAYGROUND_MAX_TRAININGS": "1"} | dict(found)


@pytest.mark.parametrize(
    ("file", "named", "trained"),
    [
        (DEPLOY / "university.md", r"MemoryMax=(\d+)G", 10),
        (SPACE / "Dockerfile", r"(\d+) GB of memory", 50),
        (CLOUD / "README.md", r"it can be\s(\S+) GB", 0),
    ],
)
def test_the_settings_that_are_ready_fit_the_memory_that_is_named(file: Path, named: str, trained: int) -> None:
    text = file.read_text()
    ready, most = settings_in(text), re.search(named, text)
    assert most
    assert len(ready) > 2
    assert memory_bound(read_settings(ready), trained=trained) <= float(most[1]) * 1e9


@pytest.mark.parametrize("file", [DEPLOY / "Dockerfile", SPACE / "Dockerfile"], ids=lambda path: path.parent.name)
def test_an_image_names_one_version_no_root_and_files_that_exist(file: Path) -> None:
    steps = file.read_text()
    assert re.search(r"^FROM python:3\.11\.[0-9]+-slim-bookworm(@sha256:[0-9a-f]{64})?$", steps, re.MULTILINE)
    assert re.search(r"^USER 1000$", steps, re.MULTILINE)
    assert installs(steps) == installs((DEPLOY / "Dockerfile").read_text())
    for source in re.findall(r"^COPY (.*) \S+$", steps, re.MULTILINE):
        assert all((DEPLOY.parent / name).exists() for name in source.split())


def installs(steps: str) -> list[str]:
    return re.findall(r"^(?:ARG INSTALL|FROM|RUN \$INSTALL|    &&|COPY|CMD).*$", steps, re.MULTILINE)


def test_the_folder_of_a_space_agrees_with_its_image() -> None:
    _, header, text = (SPACE / "README.md").read_text().split("---\n", 2)
    steps, read = (SPACE / "Dockerfile").read_text(), yaml.safe_load(header)
    assert (read["sdk"], f"STREAMLIT_SERVER_PORT={read['app_port']}" in steps) == ("docker", True)
    archived = re.search(r"git archive HEAD (.+) \\", text)
    assert archived
    assert set(archived[1].split()) == set(" ".join(re.findall(r"^COPY (.*) \S+$", steps, re.MULTILINE)).split())


def test_the_requirements_of_streamlit_cloud_are_the_app_s_with_another_build_of_torch() -> None:
    def pins(file: Path) -> list[str]:
        return [line.split("#")[0].strip() for line in file.read_text().splitlines() if line[0].isalpha()]

    assert pins(CLOUD / "requirements.txt") == [
        f"{pin}+cpu" if pin.startswith("torch==") else pin for pin in pins(DEPLOY.parent / "requirements.txt")
    ]


def test_secrets_become_settings_before_they_are_read(tmp_path: Path) -> None:
    ready = re.search("```toml\n(.+?)```", (CLOUD / "README.md").read_text(), re.DOTALL)
    assert ready
    secrets = tmp_path / "secrets.toml"
    sites = "'self' https://moodle.school.example"
    secrets.write_text(textwrap.dedent(ready[1]) + f'PLAYGROUND_FRAME_ANCESTORS = "{sites}"\n')
    with serve(tmp_path, "-m", "streamlit", "run", STREAMLIT_SECRETS_FILES=str(secrets)) as server:
        with urllib.request.urlopen(server.url) as page:
            assert f"frame-ancestors {sites}" in page.headers["Content-Security-Policy"]
        assert "is ignored" not in server.log.read_text()
