"""The small translator that comes with the app: an encoder–decoder for the task `seq2seq-translate`."""

import hashlib
from pathlib import Path

from playground.errors import WeightsError
from playground.training.after.trained_network import TrainedNetwork, load

PATH = Path(__file__).with_name("translator.safetensors")
SHA256 = "61f130b591c5032461b985318e83ba11261ee95c43b476e911169963cf5045c0"
MADE_BY = "python -m playground.training.after.make_translator"
"""The command that trains it and writes the file."""

_MAX_PARAMETERS = 1_000_000


def load_translator(path: Path = PATH) -> TrainedNetwork:
    """The shipped network.

    Raises:
        WeightsError: the file is missing, is not the one that was shipped, or does not fit this version.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise WeightsError(f"{path} can't be read: {error.strerror}.") from error
    digest = hashlib.sha256(content).hexdigest()
    if digest != SHA256:
        raise WeightsError(f"{path} is not the file that was shipped: its SHA-256 begins {digest[:12]}.")
    return load(content, max_parameters=_MAX_PARAMETERS)
