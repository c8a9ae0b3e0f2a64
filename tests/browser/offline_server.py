"""Starts the server as on a machine without a network: `python -m tests.browser.offline_server <app>`.

Whatever asks for another machine is refused, and the file in CONNECTIONS gets a line on it.
"""

import ipaddress
import os
import sys
from typing import Any

ASKING = {"socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}
"""Python's events before a process turns to another; no module and no library in C can avoid them."""


def refuse_network(file: str) -> None:
    """Let this process reach nothing but its own machine from now on."""

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in ASKING:
            return
        address = arguments[1] if event in {"socket.connect", "socket.sendto"} else arguments
        host = address[0] if isinstance(address, tuple) else None  # a path is a socket on this machine
        if host is None or is_own(host):
            return
        with open(file, "a", encoding="utf-8") as connections:
            connections.write(f"{event} {address!r}\n")
        raise OSError(f"There is no network: {event} {address!r}")

    sys.addaudithook(watch)


def is_own(host: str | bytes) -> bool:
    """Whether a host is this machine."""
    name = host.decode() if isinstance(host, bytes) else host
    try:
        return name in {"", "localhost"} or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


if __name__ == "__main__":
    refuse_network(os.environ["CONNECTIONS"])

    from streamlit.web import cli

    sys.argv[:1] = ["streamlit", "run"]
    cli.main()
