"""Writes `locks/`: every package that the lists `requirements*.txt` lead to, in one version, with its files' hashes.

`make lock` runs it. One resolution holds for all supported Pythons and machines; each lock has what its list adds to
the one before. torch has two locks of its own, as package indexes have it in two builds: the CPU build, which needs
nothing else, and the usual one, which on Linux brings CUDA's libraries. An installation tries the first, then the
second.
"""

import hashlib
import logging
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

logger = logging.getLogger(__name__)

ROOT = Path(__file__).resolve().parent.parent
LISTS = ("requirements", "requirements-cluster", "requirements-dev", "requirements-bench")
"""Each includes the one before."""

PYTHONS = ("3.11", "3.12", "3.13")
MACHINES = ("x86_64", "aarch64")

_OF_TORCH = re.compile(r"(torch|triton|nvidia-|cuda-)")
"""Names of packages that stand in torch's lock: itself, and the libraries of its usual build."""


def main() -> None:
    """Write every lock anew, with the newest versions that the lists allow, by the environment's uv and pip."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    entries = {name: _resolve(ROOT / f"{name}.txt") for name in LISTS}
    run, *_ = entries.values()
    torch = {line for line in run if _OF_TORCH.match(line)}
    _write("requirements-torch", "torch as the usual index has it, with what that build alone needs", sorted(torch))
    (version,) = re.findall(r"^torch==(\S+) ", "\n".join(torch), re.MULTILINE)
    _write_cpu_build(version)
    before, above = {_version(entry) for entry in torch}, ""
    for name, locked in entries.items():
        added = sorted(entry for entry in locked if _version(entry) not in before)
        _write(name, f"what {name}.txt leads to", [f"-r {above}.txt"] * bool(above) + added)
        before, above = before | {_version(entry) for entry in locked}, name


def _version(entry: str) -> str:
    """Name and version; markers differ where a longer list needs a package on Pythons that this project has not."""
    return entry.split()[0]


def _resolve(requirements: Path) -> list[str]:
    """The packages that a list leads to, an entry each: name, version, marker, and the hashes on lines of their own."""
    options = ["--universal", "--generate-hashes", "--no-annotate", "--no-header", "--no-config", "--quiet"]
    options += ["--no-strip-extras"]  # pip, with hashes, takes the newest version of what is asked for with an extra
    command = [
        sys.executable,
        "-m",
        "uv",
        "pip",
        "compile",
        "--python-version",
        PYTHONS[0],
        *options,
        str(requirements),
    ]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603 - a fixed command
    return re.findall(r"^\S.*(?:\n .*)*", text, re.MULTILINE)


def _write_cpu_build(version: str) -> None:
    """Write the lock of torch's CPU build, for the Pythons and machines for which pip's index has it here."""
    hashes = []
    for python in PYTHONS:
        for machine in MACHINES:
            with TemporaryDirectory() as folder:
                command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
                build = ["--python-version", python, "--platform", f"manylinux_2_28_{machine}", "--dest", folder]
                missing = subprocess.run(  # noqa: S603 - a fixed command
                    [*command, *build, f"torch=={version}+cpu"], capture_output=True
                ).returncode
                logger.info(
                    "torch %s+cpu, Python %s, %s: %s", version, python, machine, "missing" if missing else "locked"
                )
                hashes += [hashlib.sha256(file.read_bytes()).hexdigest() for file in Path(folder).iterdir()]
    if not hashes:
        logger.warning("No CPU build of torch was found: its lock stays as it was")
        return
    entry = " \\\n    ".join([f"torch=={version}+cpu", *(f"--hash=sha256:{digest}" for digest in sorted(hashes))])
    _write("requirements-torch-cpu", "torch's CPU build, which some indexes have", [entry])


def _write(name: str, content: str, entries: Iterable[str]) -> None:
    header = f"# `make lock` writes this: {content}."
    (ROOT / "locks" / f"{name}.txt").write_text("\n".join([header, *entries, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
