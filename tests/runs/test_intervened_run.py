"""A run with interventions has the arrays of the changed pass; one without is the run that it always was."""

import numpy as np
import pytest

from playground import Encoder, ModelConfig, Trace
from playground.errors import InterventionError
from playground.model.changes import Change
from playground.model.interventions import divide_changes
from playground.runs.encoder_run import run
from playground.runs.forward_pass import intervention_subject, intervention_trace
from playground.text import characters
from tests.changes import made
from tests.model.reference import scramble

BATCH = characters().encode_batch(["a cat", "a dog", "a longer cat"])
CONFIG = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=3, d_ff=32, max_len=16)
ENCODER = scramble(Encoder(CONFIG, seed=5))
SEVERAL: list[Change] = [
    made("1.2:zero"),
    made("0.1:uniform_2"),
    made("2.ffn:off~0.5"),
]


def test_the_arrays_are_those_of_the_changed_pass() -> None:
    plain, changed = run(ENCODER, BATCH), run(ENCODER, BATCH, interventions=SEVERAL)
    assert list(changed.arrays) == list(plain.arrays)
    np.testing.assert_allclose(changed.arrays["layers.0.attn.pattern"][1, 2, :5], 0.2)
    for name in ("embed.out", "layers.0.attn.in"):
        assert np.array_equal(changed.arrays[name], plain.arrays[name])
    for name in ("layers.0.attn.out", "layers.2.out", "final"):
        assert not np.allclose(changed.arrays[name], plain.arrays[name], atol=1e-4)
    with pytest.raises(ValueError, match="read-only"):
        changed.arrays["final"][...] = 0


def test_without_interventions_or_at_strength_0_the_trace_is_a_plain_one() -> None:
    zeros: list[Change] = [made("1.2:zero~0"), made("positions:shuffle_1~0")]
    for interventions in ([], zeros):
        trace = intervention_trace(
            ENCODER, BATCH, 0, [interventions], seed=0, causal=False, sources=None, keep=lambda name: True
        )
        assert type(trace) is Trace
    plain, same = run(ENCODER, BATCH), run(ENCODER, BATCH, interventions=zeros)
    assert all(np.array_equal(plain.arrays[name], same.arrays[name]) for name in plain.arrays)


@pytest.mark.parametrize("causal", [False, True])
def test_a_patch_from_another_sentence_makes_its_run(causal: bool) -> None:
    other = run(ENCODER, BATCH, 1, causal=causal)
    changed = run(ENCODER, BATCH, 0, causal=causal, interventions=[made("embed:patch_*_2")])
    assert np.array_equal(changed.arrays["final"], other.arrays["final"])
    assert changed.tokens != other.tokens


@pytest.mark.parametrize(
    "wrong",
    [
        made("3.0:zero"),
        made("0.out:patch_1_3"),
        made("0.0:force_1_5"),
        made("0.out:patch_1_4"),
    ],
)
def test_what_cannot_apply_is_refused_before_anything_runs(wrong: Change) -> None:
    subject = intervention_subject(ENCODER.config, BATCH)
    applied, refused = divide_changes(subject, (*SEVERAL, wrong))
    assert list(applied) == SEVERAL
    assert len(refused) == 1
    with pytest.raises(InterventionError, match="cannot be made"):
        run(ENCODER, BATCH, interventions=[*SEVERAL, wrong])
