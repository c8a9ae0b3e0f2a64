"""What heads do for a reversal, against plain loops and weights at zero."""

from dataclasses import replace

import numpy as np
import torch

from playground.training.network import Tagger
from playground.training.reversal import Head, mean_mirrored_weight, measure_reversal
from playground.training.trained_network import from_trainer
from tests.training.tiny import SMALL, train


def test_the_mirrored_weight_is_that_of_a_plain_loop_without_padding() -> None:
    patterns = np.random.default_rng(0).random((2, 3, 5, 5), np.float32)
    expected = [
        np.mean([patterns[row, head, i, n - 1 - i] for row, n in enumerate((5, 3)) for i in range(n)])
        for head in range(3)
    ]
    np.testing.assert_allclose(mean_mirrored_weight(patterns, (5, 3)), expected, rtol=1e-5)


def test_a_networks_accuracies_are_those_with_the_heads_own_output_weights_at_zero() -> None:
    trainer = train(replace(SMALL, task="reverse", steps=30))
    trained = from_trainer(trainer)
    examples = trainer.data.validation
    found = measure_reversal(trained, examples, [Head(0, 1)])
    network = trained.network
    assert isinstance(network, Tagger)

    def accuracy() -> float:
        with torch.inference_mode():
            answers = network.head(network.encoder(examples.ids, examples.mask[:, None])).argmax(-1)
        return float((answers == examples.targets)[examples.targets >= 0].double().mean())

    assert found.first_off == Head(0, 1)
    assert found.accuracy == accuracy()
    weight = network.state_dict()["encoder.layers.0.attn.o.weight"]
    width = trained.config.head_width
    weight[:, width : 2 * width] = 0
    np.testing.assert_allclose(found.accuracy_off, accuracy(), atol=1e-6)
