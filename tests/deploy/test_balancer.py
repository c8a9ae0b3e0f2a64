"""What nginx does with visitors: by real nginx, in front of copies that only say their names."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.balancer import Balancer
from deploy.configuration import Copy, Front, configuration
from tests.deploy.conftest import Site, reloaded, wait_for

MakeSite = Callable[..., Site]
WEBSOCKET = {"Upgrade": "websocket", "Connection": "Upgrade"}
LONG = "x" * 30_000
"""As long as the longest text in non-Latin letters, encoded."""


def test_a_visitor_stays_with_the_copy_that_answered_first(site: MakeSite) -> None:
    running = site(n=2)
    first = [running.ask("/attention") for _ in range(4)]
    assert {answer.seen["port"] for answer in first} == {copy.port for copy in running.copies}
    for answer in first:
        assert answer.headers["set-cookie"].endswith("; Path=/; HttpOnly; SameSite=Lax")
        assert str(answer.seen["port"]) not in answer.cookie
        for path in ("/", "/_stcore/health", "/media/picture.png"):
            again = running.ask(path, answer.cookie)
            assert (again.seen["port"], "set-cookie" in again.headers) == (answer.seen["port"], False)
    unknown = running.ask("/", "playground_copy=00000000")
    assert running.ask("/", unknown.cookie).seen["port"] == unknown.seen["port"]


def test_a_copy_that_is_gone_gives_its_visitors_to_another_and_the_cookie_goes_with_them(site: MakeSite) -> None:
    running = site(n=3)
    before = running.ask("/attention?seed=3")
    next(copy for copy in running.copies if copy.port == before.seen["port"]).stop()
    health = running.ask("/_stcore/health", before.cookie)
    assert health.status == 200
    assert health.seen["port"] != before.seen["port"]
    assert health.cookie != before.cookie
    socket = running.ask("/_stcore/stream", health.cookie, headers=WEBSOCKET)
    assert (socket.status, "set-cookie" in socket.headers) == (101, False)
    moved = running.ask("/_stcore/stream", before.cookie, headers=WEBSOCKET)
    assert moved.status == 101
    assert moved.cookie not in {"", before.cookie}


def test_other_copies_are_taken_up_while_it_runs(site: MakeSite) -> None:
    running = site(n=2)
    one, two = running.copies
    on_two = next(answer for answer in iter(lambda: running.ask("/"), None) if answer.seen["port"] == two.port)
    with reloaded(running.balancer):
        running.balancer.use([one.copy])
    assert running.ask("/", on_two.cookie).seen["port"] == one.port
    with pytest.raises(RuntimeError, match="host not found"):
        running.balancer.use([Copy("there-is-no-such-host.invalid:1")])
    assert running.ask("/").seen["port"] == one.port


def test_who_meets_a_full_copy_may_try_another(site: MakeSite) -> None:
    running = site(n=2)
    answer = running.ask("/")
    full = next(copy for copy in running.copies if copy.port == answer.seen["port"])
    full.full = True
    refused = running.ask("/", answer.cookie)
    assert refused.status == 503
    assert "playground_copy=; Max-Age=0" in refused.headers["set-cookie"]
    assert {running.ask("/").status for _ in range(4)} == {200, 503}


def test_what_reaches_a_copy(site: MakeSite) -> None:
    running = site(n=1)
    seen = running.ask(f"/attention?text={LONG}").seen
    assert seen["path"].endswith(LONG)
    assert seen["headers"]["Host"] == f"127.0.0.1:{running.front.port}"
    assert seen["headers"]["X-Forwarded-For"] == "127.0.0.1"
    assert seen["headers"]["X-Forwarded-Proto"] == "http"
    assert running.ask("/_stcore/upload_file/a/b", method="PUT", body=bytes(106_000_000)).status == 204
    assert running.ask("/_stcore/upload_file/a/b", method="PUT", headers={"Content-Length": "230000000"}).status == 413


def test_an_upload_needs_no_disk_of_nginx_and_leaves_no_session_in_its_log(site: MakeSite) -> None:
    running = site(n=1)
    shutil.rmtree(running.front.folder / "body")  # as where nothing more can be written there
    path = "/_stcore/upload_file/session-of-ann/file-1"
    assert running.ask(path, method="PUT", body=bytes(5_000_000)).status == 204
    wait_for(lambda: '"PUT /_stcore/upload_file/..." 204' in running.log())
    assert "ann" not in running.log()


def test_what_nginx_cannot_pass_on_is_one_sentence(site: MakeSite) -> None:
    running = site(n=1)
    running.copies[0].stop()
    answer = running.ask("/attention?text=my+secret")
    assert (answer.status, answer.headers["content-type"]) == (502, "text/html")
    assert b"load this page again" in answer.body
    assert answer.headers["content-security-policy"] == "default-src 'none'"
    assert b"nginx" not in answer.body
    assert running.ask("/no_answer.html").status == 404, "it is no page of its own"


def test_what_nginx_says_itself_has_headers_and_a_copys_answer_keeps_its_own(site: MakeSite) -> None:
    running = site(n=1)
    names = ["content-security-policy", "x-content-type-options", "referrer-policy"]
    too_large = {"Content-Length": "230000000"}
    own = [running.ask("/operators/metrics"), running.ask(f"/?text={'a' * 200_000}")]
    own += [running.ask("/_stcore/upload_file/a/b", method="PUT", headers=too_large), running.ask("/no_answer.html")]
    passed = running.ask("/")
    assert [each.status for each in own] == [404, 414, 413, 404]
    for answer in own:
        assert [answer.headers.get(name) for name in names] == ["default-src 'none'", "nosniff", "no-referrer"]
    assert [passed.headers.get(name) for name in names] == [None, "nosniff", None]


def test_nobody_chooses_the_address_that_copies_are_told(site: MakeSite) -> None:
    forged = {"X-Forwarded-For": "198.51.100.1, 192.0.2.7"}
    assert site(n=1).ask("/", headers=forged).seen["headers"]["X-Forwarded-For"] == "127.0.0.1"


def test_behind_an_ingress_a_visitors_address_is_the_one_that_it_names(site: MakeSite) -> None:
    named = {"X-Forwarded-For": "198.51.100.1, 192.0.2.7"}
    running = site(n=1, tls_in_front=True)
    assert running.ask("/", headers=named).seen["headers"]["X-Forwarded-For"] == "192.0.2.7"
    assert running.ask("/").seen["headers"]["X-Forwarded-For"] == "127.0.0.1"


def test_a_file_of_the_front_end_is_asked_for_once_by_encoding(site: MakeSite) -> None:
    running = site(n=2)
    codings = {
        "gzip": "gzip",
        "gzip, deflate, br, zstd": "br",
        "br;q=0, gzip;q=0.5": "gzip",
        "identity": None,
        "": None,
    }
    for accepted, coding in codings.items():
        for _ in range(3):
            answer = running.ask("/static/js/one.js", headers={"Accept-Encoding": accepted})
            assert answer.seen["headers"].get("Accept-Encoding") == coding
            assert answer.headers["vary"] == "Accept-Encoding"
            assert "set-cookie" not in answer.headers
    assert sum(copy.requests.count("/static/js/one.js") for copy in running.copies) == 3


@pytest.mark.parametrize("base", ["", "play"])
def test_what_is_for_whoever_runs_the_app_is_not_for_visitors(site: MakeSite, base: str) -> None:
    running = site(n=1, base=base)
    root = f"/{base}" if base else ""
    for path in (
        "/_stcore/metrics",
        "/_stcore/metrics/",
        "//_stcore/metrics",
        "/_stcore/%6detrics",
        "/operators/metrics",
    ):
        answer = running.ask(f"{root}{path}")
        assert (path, answer.status) == (path, 404)
    assert running.ask("/operators/metrics").status == 404
    assert [path for path in running.copies[0].requests if "metrics" in path or "operators" in path] == []
    assert running.ask(f"{root}/_stcore/health").status == 200


def test_the_log_has_paths_and_no_texts(site: MakeSite) -> None:
    running = site(n=2)
    answer = running.ask("/attention?text=my+secret")
    for copy in running.copies:
        copy.stop()
    assert running.ask("/attention?text=my+secret", answer.cookie).status == 502
    wait_for(lambda: all(f'"GET /attention" {status}' in running.log() for status in (200, 502)))  # in any order
    assert "secret" not in running.log()
    assert str(answer.seen["port"]) not in running.log()


def test_with_a_certificate_visitors_come_by_https(site: MakeSite, certificate: dict[str, Path]) -> None:
    running = site(n=2, **certificate)
    answer = running.ask("/attention")
    assert answer.headers["strict-transport-security"] == "max-age=31536000"
    assert answer.headers["set-cookie"].endswith("; Path=/; HttpOnly; SameSite=None; Secure; Partitioned")
    assert answer.seen["headers"]["X-Forwarded-Proto"] == "https"
    assert "strict-transport-security" in running.ask("/static/js/one.js").headers
    plain = Site(Front(running.front.folder, port=running.front.port), [], running.balancer).ask("/attention?seed=3")
    assert plain.status == 301
    assert plain.headers["location"] == f"https://127.0.0.1:{running.front.tls_port}/attention?seed=3"


@pytest.mark.parametrize("address", ["127.0.0.1:8601", "[::1]:8601"])
def test_nginx_accepts_the_configuration(folder: Path, address: str, certificate: dict[str, Path]) -> None:
    for options in ({}, {"base": "/play/"}, {"tls_in_front": True}, {**certificate, "tls_port": 443}):
        front = Front(folder, **options)
        balancer = Balancer.__new__(Balancer)
        balancer.front, balancer.file = front, folder / "nginx.conf"
        balancer._write([Copy(address), Copy("192.0.2.7:8501")])


def test_a_name_with_a_meaning_for_nginx_is_refused(tmp_path: Path) -> None:
    for copies, options in (
        ([], {}),
        ([Copy("127.0.0.1:1; include /etc/passwd")], {}),
        ([Copy("127.0.0.1:1")], {"base": "play { }"}),
        ([Copy("127.0.0.1:1")], {"access_log": "/dev/null\ninclude x"}),
    ):
        with pytest.raises(ValueError, match="nginx"):
            configuration(copies, Front(tmp_path, **options))  # type: ignore[arg-type]
