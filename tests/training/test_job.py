"""What stays of a training that has ended."""

import gc
import weakref
from dataclasses import replace

import torch

from playground.training.job import TrainingRequest
from playground.training.tasks import make_data
from tests.training.trained import CONFIG, RECIPE


def test_what_has_ended_keeps_neither_network_nor_training_set() -> None:
    training = TrainingRequest(CONFIG, replace(RECIPE, n_train=50)).build()
    for _ in training.run():
        pass
    assert training._trainer is not None
    example = training._trainer.data.validation[slice(0, 1)]
    trainer, train_set = weakref.ref(training._trainer), weakref.ref(training._trainer.data.train)
    training.close("finished")
    gc.collect()
    assert (trainer(), train_set()) == (None, None)
    data = training.state.data
    assert len(data.train) == 0
    assert torch.equal(data.validation.ids, example.ids)
    assert data.validation.ids.untyped_storage().nbytes() == example.ids.nbytes
    made = make_data(replace(RECIPE, n_train=50))
    for name in ("labels", "vocabulary", "baseline"):
        assert getattr(data, name) == getattr(made, name)
