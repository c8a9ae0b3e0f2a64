"""Every point of a pass has words of its own."""

import pytest

from playground import Encoder, ModelConfig, Trace
from playground.text import characters
from playground.views.diagnosis import name_point


@pytest.mark.parametrize(
    "fields",
    [
        {"positions": "rotary", "qk_norm": True, "n_kv_heads": 2, "gated": True, "norm_placement": "pre"},
        {"positions": "alibi", "norm_placement": "both", "embedding_norm": True, "final_norm": True},
    ],
    ids=str,
)
def test_every_point_of_a_trace_has_words(fields: dict[str, object]) -> None:
    config = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, **fields)  # type: ignore[arg-type]
    batch, trace = characters().encode_batch(["abc"]), Trace()
    Encoder(config)(batch.ids, batch.mask, trace)
    words = {name: name_point(name) for name in trace}
    assert not [name for name, told in words.items() if "`" in told]
    assert len(set(words.values())) == len(words)
