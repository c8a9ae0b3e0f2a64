"""Copies of the app behind nginx, on one port: `python -m deploy.serve`, or `make serve`.

SIGHUP replaces the copies one after the other (an upgrade), SIGTERM and SIGINT end everything.
"""

import argparse
import logging
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from deploy.balancer import Balancer
from deploy.configuration import Copy, Front, addresses
from deploy.copies import LocalCopies, wait_until_healthy
from deploy.processes import RECORD, ProcessRecord, launcher_folder

logger = logging.getLogger("serve")

LOOK = 0.5
"""Seconds between two looks at the processes."""

LOOK_UP = 5.0
"""Seconds between two looks at which addresses a name has."""


STEADY = 5.0
"""Seconds after which nginx has its ports: it tries for two and a half, then gives up."""


class Service:
    """What runs between the start and the end: nginx, and the copies where they are ours.

    Args:
        front: how the outside reaches the app.
        n: how many copies run here; 0: they run elsewhere, at `names`.
        names: `host:port` of copies elsewhere; each address that a name has is a copy.
    """

    def __init__(self, front: Front, n: int, names: Sequence[str] = ()) -> None:
        self.names = list(names)
        self.ending = False
        self.replacing = False
        record = ProcessRecord(front.folder / RECORD)
        left_over = record.end_left_over()
        if left_over:
            logger.warning("A launcher before this one has crashed; %d of its processes were ended", len(left_over))
        self.local = LocalCopies(n, environment(front), record) if n else None
        try:
            if self.local:
                wait_until_healthy(self.local.running)
            self.balancer = Balancer(front, self._copies())
        except BaseException:
            if self.local:
                self.local.stop()
            raise

    def run(self) -> int:
        """Look after the processes until the end is asked for; returns the exit status."""
        next_look_up = time.monotonic() + LOOK_UP
        while not self.ending:
            time.sleep(LOOK)
            if self.ending:  # whoever ends us may have ended them, too
                break
            if self.balancer.ended() and not self._revive_balancer():
                return 1
            if self.replacing:
                self.replacing = False
                self._replace()
            if self.local:
                for copy in self.local.revive():
                    logger.warning("The copy on port %d had ended; it is started again", copy.port)
            elif time.monotonic() > next_look_up:
                self._follow_names()
                next_look_up = time.monotonic() + LOOK_UP
        return 0

    def _revive_balancer(self) -> bool:
        """Start nginx again, and say so; False where it gave up right after its start, as with a port in use."""
        status = self.balancer.process.returncode
        if status > 0 and time.monotonic() - self.balancer.started < STEADY:
            logger.error("nginx has ended with status %d; does something else listen on its port?", status)
            return False
        self.balancer.start()
        logger.warning("nginx had ended with status %d; it is started again", status)
        return True

    def end(self, *_: object) -> None:
        """Have `run` return soon; may be called by a signal."""
        self.ending = True

    def replace(self, *_: object) -> None:
        """Have every copy replaced; may be called by a signal."""
        self.replacing = True

    def stop(self) -> None:
        """End nginx first, so that no page looks for another copy, then the copies."""
        self.balancer.stop()
        if self.local:
            self.local.stop()

    def _copies(self) -> list[Copy]:
        if self.local:
            return self.local.copies()
        return [Copy(address) for name in self.names for address in addresses(name)]

    def _replace(self) -> None:
        """A new copy, visitors to it, the old one's end: so for each. An open page connects anew and stays as it is."""
        if not self.local:
            return
        try:
            for old, new in self.local.replace():
                self.balancer.use(self.local.copies())
                old.stop()
                old.wait()
                logger.info("The copy on port %d has taken over from port %d", new.port, old.port)
        except RuntimeError as error:
            logger.error("The remaining copies stay as they are: %s", error)

    def _follow_names(self) -> None:
        """Take up copies that have come, and leave out those that have gone; a name that is gone changes nothing."""
        try:
            self.balancer.use(self._copies())
        except (OSError, RuntimeError) as error:
            logger.warning("The copies stay as they are: %s", error)


def environment(front: Front) -> dict[str, str]:
    """What each copy on this machine is told beside the environment, which goes before."""
    told = {"PLAYGROUND_MAX_TRAININGS": "1"}  # a copy a core: each trains one network at a time
    if front.secure:
        # A browser sends no other cookie from a frame in a course's page, and uploads need theirs.
        told["STREAMLIT_SERVER_XSRF_COOKIE_SAME_SITE"] = "none"
    return {name: value for name, value in told.items() if name not in os.environ}


def parse(arguments: Sequence[str]) -> tuple[int, list[str], Front]:
    """The command line as (copies here, names of copies elsewhere, front); its folder still has to be made."""
    parser = argparse.ArgumentParser(prog="python -m deploy.serve", description=__doc__)
    parser.add_argument("--copies", type=int, default=os.cpu_count() or 1, help="copies on this machine (one a core)")
    parser.add_argument("--at", action="append", default=[], metavar="HOST:PORT", help="copies that run elsewhere")
    parser.add_argument("--port", type=int, default=8501, help="port of plain HTTP (8501)")
    parser.add_argument("--certificate", type=Path, help="file of the certificate: visitors come by HTTPS")
    parser.add_argument("--key", type=Path, help="file of the certificate's private key")
    parser.add_argument("--tls-port", type=int, default=8443, help="port of HTTPS (8443)")
    parser.add_argument("--tls-in-front", action="store_true", help="something before nginx speaks HTTPS")
    parser.add_argument("--access-log", default="/dev/stdout", help="file for requests, without query strings, or off")
    chosen = parser.parse_args(arguments)
    if (chosen.certificate is None) != (chosen.key is None):
        parser.error("--certificate and --key go together")
    if chosen.copies < 1 and not chosen.at:
        parser.error("--copies needs at least 1")
    if any(not name.rpartition(":")[2].isdigit() for name in chosen.at):
        parser.error("--at takes host:port")
    front = Front(
        folder=Path(),
        port=chosen.port,
        certificate=chosen.certificate and chosen.certificate.resolve(),
        key=chosen.key and chosen.key.resolve(),
        tls_port=chosen.tls_port,
        tls_in_front=chosen.tls_in_front,
        base=os.environ.get("STREAMLIT_SERVER_BASE_URL_PATH", ""),
        access_log=chosen.access_log,
    )
    return 0 if chosen.at else chosen.copies, chosen.at, front


def main() -> int:
    """Start everything, look after it, end it; returns the exit status."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
    n, names, front = parse(sys.argv[1:])
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(launcher_folder(front.port))
        except (OSError, RuntimeError) as error:
            logger.error("%s", error)
            return 1
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # while the copies start
        try:
            service = Service(Front(**{**vars(front), "folder": folder}), n, names)
        except (OSError, RuntimeError, ValueError) as error:
            logger.error("%s", error)
            return 1
        except KeyboardInterrupt:
            return 0
        for ending in (signal.SIGTERM, signal.SIGINT):
            signal.signal(ending, service.end)
        signal.signal(signal.SIGHUP, service.replace)
        logger.info("%d copies behind port %d", len(service.balancer.copies), front.port)
        try:
            return service.run()
        finally:
            service.stop()


if __name__ == "__main__":
    sys.exit(main())
