"""The small translator that comes with the app; `python -m playground.training.shipped_network` trains it.

Training takes a minute. The same machine writes the same bytes again; another one may round otherwise. The SHA-256
that it logs belongs into `shipped_network.SHA256`.

The file that is shipped began with other weights, as its format says. A new one translates as well, and its heads
have other jobs: the page Encoder-decoder names two of them, in the defaults of `encdec_example_layer` and
`encdec_example_head`, which old links mean too, and in its words.
"""

import hashlib
import logging
from pathlib import Path

import torch

from playground.config import ModelConfig
from playground.errors import WeightsError
from playground.training.recipe import Recipe
from playground.training.trained_network import TrainedNetwork, from_trainer, load, save
from playground.training.trainer import Trainer

PATH = Path(__file__).with_name("translator.safetensors")
SHA256 = "61f130b591c5032461b985318e83ba11261ee95c43b476e911169963cf5045c0"

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


CONFIG = ModelConfig(vocab_size=1, d_model=32, n_heads=4, n_layers=2, d_ff=64, max_len=32, dropout=0.0)
RECIPE = Recipe(task="seq2seq-translate", length=10, n_train=8_192, n_validation=512, steps=800, lr=4e-3)

logger = logging.getLogger(__name__)


def main() -> None:
    """Train with one thread, and write the file."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.set_num_threads(1)
    trainer = Trainer(CONFIG, RECIPE)
    for _ in trainer.run():
        pass
    trained = from_trainer(trainer)
    content = save(trained)
    PATH.write_bytes(content)
    accuracy = trained.results.validation_accuracy
    logger.info("%.2f %% of the validation targets are right; %s bytes", 100 * accuracy, f"{len(content):,}")
    logger.info("SHA-256: %s", hashlib.sha256(content).hexdigest())


if __name__ == "__main__":
    main()
