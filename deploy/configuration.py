"""nginx's configuration for the copies of the app, from the one template `nginx.conf.jinja`."""

import hashlib
import runpy
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined


@dataclass(frozen=True, order=True)
class Copy:
    """One running copy of the app, by its address: `host:port`, the host a number as nginx reports it."""

    address: str

    @property
    def name(self) -> str:
        """What a visitor's cookie calls it: eight characters that do not tell its address."""
        return hashlib.sha256(self.address.encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Front:
    """How the outside reaches the app."""

    folder: Path
    """nginx's own folder: its process id, its cache and what it writes in passing."""
    port: int = 8501
    """Port of plain HTTP; with a certificate it only sends visitors on to `tls_port`."""
    certificate: Path | None = None
    """The certificate, with those between it and its root."""
    key: Path | None = None
    """The certificate's private key."""
    tls_port: int = 8443
    """Port of HTTPS, where there is a certificate."""
    tls_in_front: bool = False
    """Whether something before nginx, such as a cluster's ingress, speaks HTTPS to visitors."""
    base: str = ""
    """The path below which the whole app lies (Streamlit's `server.baseUrlPath`)."""
    access_log: str = "/dev/stdout"
    """Where nginx notes requests, without their query strings; `off` for nowhere."""

    @property
    def secure(self) -> bool:
        """Whether visitors come by HTTPS."""
        return self.certificate is not None or self.tls_in_front


NO_ANSWER = "no_answer.html"
"""Name of the page, in nginx's folder, where nginx can't pass a request on."""

NO_ANSWER_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>No answer</title>
<p>The playground can't answer right now. Please load this page again in a minute: its link keeps all that you set.</p>
</html>
"""


def configuration(copies: Sequence[Copy], front: Front) -> str:
    """The text of nginx.conf.

    The cookie that names a visitor's copy is `Partitioned` under HTTPS, so that it also works in a frame of a course's
    page; browsers take `SameSite=None` from HTTPS alone.

    Raises:
        ValueError: no copies, or a name that nginx would read as something else.
    """
    if not copies:
        raise ValueError("nginx needs at least one copy of the app to pass visitors on to.")
    names = [str(front.folder), str(front.certificate or ""), str(front.key or ""), front.base, front.access_log]
    for name in (*names, *(copy.address for copy in copies)):
        if set(name) & set(" \t\r\n;{}\"'\\$"):
            raise ValueError(f"{name!r} has a character that nginx's configuration gives a meaning to.")
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - it is no HTML; what enters is checked above
    )
    return environment.get_template("nginx.conf.jinja").render(
        copies=sorted(set(copies)),
        folder=front.folder,
        port=front.port,
        tls=front.certificate is not None,
        tls_port=front.tls_port,
        certificate=front.certificate,
        key=front.key,
        header_kilobytes=longest_address() // 1024 + 12,
        secure=front.secure,
        tls_in_front=front.tls_in_front,
        cookie_attributes="SameSite=None; Secure; Partitioned" if front.secure else "SameSite=Lax",
        base=f"/{front.base.strip('/')}".rstrip("/"),
        access_log=front.access_log,
        no_answer=NO_ANSWER,
    )


def longest_address() -> int:
    """The characters of an address that a copy takes, by the same settings; without the package, which loads torch."""
    limits = runpy.run_path(str(Path(__file__).resolve().parent.parent / "playground" / "limits.py"))
    return int(limits["MAX_ADDRESS"])


def addresses(name: str) -> set[str]:
    """Every address that a host's name stands for now, as `host:port`; `name` is `host:port` too.

    Raises:
        OSError: the name is not known.
    """
    host, _, port = name.rpartition(":")
    found = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)
    return {f"[{address[0]}]:{port}" if ":" in str(address[0]) else f"{address[0]}:{port}" for *_, address in found}
