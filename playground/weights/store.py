"""Networks that were trained here, kept on disk for everybody who asks for the same."""

import contextlib
import logging
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from playground.errors import PlaygroundError

logger = logging.getLogger(__name__)

VARIABLE = "PLAYGROUND_NETWORKS"

MAX_BYTES = 500_000_000

T = TypeVar("T")


def default_folder() -> Path:
    """The folder that `VARIABLE` names, or one in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get(VARIABLE) or Path(cache) / "transformer-encoder-playground" / "networks")


class NetworkStore:
    """A folder of files, named by a hash; processes may share it. Above `max_bytes` the least lately used go."""

    def __init__(self, folder: Path, max_bytes: int = MAX_BYTES) -> None:
        self.folder, self.max_bytes = folder, max_bytes

    def path(self, key: str) -> Path:
        """Where the file of a key is, or would be; ValueError for no hash."""
        if not re.fullmatch("[0-9a-f]{32}", key):
            raise ValueError(f"{key!r} is no hash.")
        return self.folder / f"{key}.safetensors"

    def find(self, key: str, read: Callable[[bytes], T]) -> T | None:
        """What `read` makes of the file of a key, if it is kept; one that it refuses is deleted."""
        path = self.path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        try:
            found = read(content)
        except PlaygroundError as error:
            logger.warning("%s is deleted, and will be made again: %s", path, error)
            self._delete(path)
            return None
        with contextlib.suppress(OSError):  # its folder can't note that it was used
            os.utime(path)
        return found

    def keep(self, key: str, content: bytes) -> None:
        """Write a file, unless there is one of this key. Without room, log and go on."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.folder, prefix=".", suffix=".part") as file:
                file.write(content)
                file.flush()
                os.link(file.name, self.path(key))  # atomic; fails where the file is there
        except FileExistsError:
            return
        except OSError as error:
            logger.warning("A trained network can't be kept in %s: %s", self.folder, error.strerror)
            return
        self._trim(self.path(key))

    def _trim(self, newest: Path) -> None:
        files = []
        for path in self.folder.glob("*.safetensors"):
            try:
                files.append((path.stat().st_mtime_ns, path.stat().st_size, path))
            except OSError:  # another process has deleted it
                continue
        n_bytes = sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if n_bytes <= self.max_bytes:
                return
            if path != newest:
                self._delete(path)
                n_bytes -= size

    def _delete(self, path: Path) -> None:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            logger.warning("%s can't be deleted: %s", path, error.strerror)
