"""Networks of the small English that were trained here, kept on disk for everybody who asks for the same."""

import logging
import os
import tempfile
from pathlib import Path

from playground.errors import WeightsError
from playground.language.network import EnglishNetwork, Spec, load, save

logger = logging.getLogger(__name__)

VARIABLE = "PLAYGROUND_NETWORKS"
"""The environment variable that names the folder."""

MAX_BYTES = 500_000_000


def default_folder() -> Path:
    """The folder that `VARIABLE` names, or one in the user's cache folder."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get(VARIABLE) or Path(cache) / "transformer-encoder-playground" / "networks")


class NetworkStore:
    """A folder of networks, a file each, named by the key of its spec; several processes may share it.

    Args:
        folder: made when the first network is kept.
        max_bytes: of all files together; the least lately used go first.
    """

    def __init__(self, folder: Path, max_bytes: int = MAX_BYTES) -> None:
        self.folder, self.max_bytes = folder, max_bytes

    def path(self, spec: Spec) -> Path:
        """Where a spec's file is, or would be."""
        return self.folder / f"{spec.key}.safetensors"

    def find(self, spec: Spec) -> EnglishNetwork | None:
        """The network of a spec, if it is kept; a file that is damaged or of another network is deleted."""
        path = self.path(spec)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        try:
            found = load(content, spec)
        except WeightsError as error:
            logger.warning("%s is deleted, and will be made again: %s", path, error)
            self._delete(path)
            return None
        try:
            os.utime(path)
        except OSError:
            logger.debug("%s was used, which its folder can't note", path)
        return found

    def keep(self, trained: EnglishNetwork) -> None:
        """Write a network, unless there is a file of its spec: the first one stays. Without room, log and go on."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.folder, prefix=".", suffix=".part") as file:
                file.write(save(trained))
                file.flush()
                os.link(file.name, self.path(trained.spec))  # atomic; fails where the file is there
        except FileExistsError:
            return
        except OSError as error:
            logger.warning("A trained network can't be kept in %s: %s", self.folder, error.strerror)
            return
        self._trim(self.path(trained.spec))

    def _trim(self, newest: Path) -> None:
        """Delete the files that were used longest ago until the rest fits, but never the newest."""
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
