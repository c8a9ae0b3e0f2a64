"""The locks: each package that a list asks for, and all that these lead to, in one version and with hashes."""

import re
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tests.test_package import pinned

LISTS = ["requirements", "requirements-cluster", "requirements-dev", "requirements-bench"]
"""Each includes the one before."""


Lock = list[tuple[str, str]]
"""Names and versions."""


def read_lock(file: Path) -> Lock:
    """The entries of a lock, without those that it includes; each line is understood and has hashes, or this raises."""
    text = re.sub(r"^(#|-r ).*\n", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE).replace("\\\n", "")
    entries: Lock = []
    for line in text.splitlines():
        match = re.fullmatch(r"([\w.-]+)(?:\[[\w,-]+\])?==([\w.+]+)(?: ; .+?)?(?:\s+--hash=\S+)+", line.strip())
        assert match, line
        entries.append((canonicalize_name(match[1]), match[2]))
    return entries


@pytest.fixture(scope="module")
def locks(repository: Path) -> dict[str, Lock]:
    return {file.stem: read_lock(file) for file in (repository / "locks").iterdir()}


def test_there_is_a_lock_for_each_list_and_two_for_torch(repository: Path, locks: dict[str, Lock]) -> None:
    assert locks.keys() == {*LISTS, "requirements-torch", "requirements-torch-cpu"}
    for above, name in zip([None, *LISTS], LISTS, strict=False):
        included = re.findall(r"^-r (.*)\.txt$", (repository / f"locks/{name}.txt").read_text(), re.MULTILINE)
        assert included == ([above] if above else [])


def test_every_pin_of_a_list_is_locked_at_its_version(repository: Path, locks: dict[str, Lock]) -> None:
    entries = list(locks["requirements-torch"])
    for name in LISTS:
        entries += locks[name]
        for package, requirement in pinned(repository / f"{name}.txt").items():
            versions = {version for locked, version in entries if locked == package}
            assert versions, f"{package} of {name}.txt is in no lock: `make lock` writes them anew"
            assert all(version in requirement.specifier for version in versions), package
    (usual,) = [version for name, version in locks["requirements-torch"] if name == "torch"]
    assert locks["requirements-torch-cpu"] == [("torch", f"{usual}+cpu")]
