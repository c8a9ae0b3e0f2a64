"""A position that one layer does not see: the same as a hidden token, and each of its pairs cut before the softmax."""

import numpy as np
import pytest

from playground import Encoder, ModelConfig
from playground.model.interventions import HideToken, SetWeight
from playground.runs import run, run_variants
from playground.runs.variant_runs import run_hidden_positions
from playground.text import characters
from tests.model.reference import scramble

SHAPE = {"vocab_size": characters().vocab_size, "d_model": 16, "n_heads": 4, "n_layers": 3, "d_ff": 32, "max_len": 32}
BATCH = characters().encode_batch(["a cat", "a longer cat"])


@pytest.mark.parametrize(
    "changes", [{}, {"norm_placement": "pre", "final_norm": True}, {"norm": "rms"}, {"head_merge": "reshape"}]
)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("layer", [0, 2])
def test_hiding_a_position_is_cutting_all_its_pairs_with_others(
    changes: dict[str, str], causal: bool, layer: int
) -> None:
    encoder = scramble(Encoder(ModelConfig(**SHAPE | changes), seed=5))  # type: ignore[arg-type]
    untouched = run(encoder, BATCH, causal=causal)
    hidden = run_hidden_positions(encoder, untouched, layer, range(5))
    for position in range(5):
        readers = range(position + 1 if causal else 0, 5)
        cuts = [SetWeight(layer, None, query, position, 0.0) for query in readers if query != position]
        for same in (cuts, [HideToken(layer, None, position)] if cuts else []):
            alone = run(encoder, BATCH, causal=causal, interventions=same)
            np.testing.assert_allclose(hidden[position, :5], alone.arrays["final"][:5], rtol=1e-4, atol=1e-4)
    changed = [not np.allclose(each[:5], untouched.arrays["final"][:5], atol=1e-3) for each in hidden]
    # Nobody reads the last token where later ones are hidden: padding is no reader, even where the merge mixes rows.
    assert changed == [True, True, True, True, not causal]
    if causal:
        np.testing.assert_allclose(hidden[4], untouched.arrays["final"], atol=1e-5)


def test_variants_go_on_from_a_run_that_is_at_hand() -> None:
    encoder = scramble(Encoder(ModelConfig(**SHAPE), seed=5))  # type: ignore[arg-type]
    untouched, variants = run(encoder, BATCH, 1), [[SetWeight(layer, 1, 3, 2, 0.0)] for layer in (2, 0, 1)]
    for one, two in zip(
        run_variants(encoder, BATCH, 1, variants),
        run_variants(encoder, BATCH, 1, variants, untouched=untouched),
        strict=True,
    ):
        assert one.numbers == two.numbers
        np.testing.assert_allclose(one.final, two.final, atol=1e-5)
