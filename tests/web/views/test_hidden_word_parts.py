"""Which parts matter to the word that an encoder of the small English fills in."""

import torch

from playground.language.family import change, load_shipped
from playground.language.text import IDS, MASK_ID
from playground.link import english
from playground.link.params import SHARED
from playground.model.changes import Change
from playground.runs.encoder_run import run
from playground.web.choices.setup import setup_of
from playground.web.session.answers import fill_in, head_costs, hidden_word
from playground.web.views.what_if.measurements import SweepKey, measure_on_hidden_word


def test_each_heads_effect_is_that_of_a_pass_without_it() -> None:
    values = {**{key: param.default for key, param in SHARED.items()}, **english.default_settings({}),
              **english.values_of(change(n_layers=1)), "weights": "english"}  # fmt: skip
    key = setup_of(values).untouched_key
    assert hidden_word(key) == (english.PLACE, "animal")
    network = load_shipped(change(n_layers=1))
    batch = network.tokenizer.encode_batch([english.TEXT])
    batch.ids[0, english.PLACE] = MASK_ID

    def probability(*changes: Change) -> float:
        final = run(network.encoder, batch, interventions=changes).arrays["final"][english.PLACE]
        scores = network.network.head(torch.tensor(final))
        return float(scores.softmax(-1)[IDS["animal"]])

    assert abs(fill_in(key)[-1, IDS["animal"]] - probability()) < 1e-6
    measured = measure_on_hidden_word(key, SweepKey("heads"), "animal")
    measured.growing.advance(measured.measure, 60)
    expected = [probability(Change("zero", 0, head)) - probability() for head in range(4)]
    assert abs(measured.effects().values - expected).max() < 1e-5
    assert abs(-head_costs(key, "animal")[0] - expected).max() < 1e-5
