"""Trains the shipped translator and writes its file: `python -m playground.training.after.make_translator`.

It takes a minute. The same machine writes the same bytes again; another one may round otherwise. The SHA-256 that it
logs belongs into `shipped_network.SHA256`. A new field of `Recipe` or `ModelConfig`
asks for a new file, unless it is among `trained_network.ADDED_LATER`.

The file that is shipped began with other weights, as its format says. A new one translates as well, and its heads have
other jobs: the Decoder page names two of them, in the defaults of `encdec_example_layer` and `encdec_example_head`,
which old links mean too, and in `example_pair.GENDER_HEAD`.
"""

import hashlib
import logging

import torch

from playground.config import ModelConfig
from playground.training.after.shipped_network import PATH
from playground.training.after.trained_network import from_trainer, save
from playground.training.recipe import Recipe
from playground.training.trainer import Trainer

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
