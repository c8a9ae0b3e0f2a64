"""What the encoder and the whole transformer promise as modules: modes, copies, precision; what the encoder refuses."""

import pytest
import torch
from torch import Tensor

from playground import Encoder, EncoderDecoder, Trace
from tests.model.reference import small_config, vectors

IDS = torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]])


def new(pair: bool = False, seed: int | None = 0, **fields: object) -> Encoder | EncoderDecoder:
    config = small_config(**fields)
    return EncoderDecoder(config, 9, seed) if pair else Encoder(config, seed)


def out_of(model: Encoder | EncoderDecoder, trace: Trace | None = None) -> Tensor:
    """The output for IDS, on both sides where there are two."""
    output: Tensor = model(IDS, IDS, trace=trace) if isinstance(model, EncoderDecoder) else model(IDS, trace=trace)
    return output


both = pytest.mark.parametrize("pair", [False, True], ids=["encoder", "encoder-decoder"])


@both
@pytest.mark.parametrize("traced", [False, True])
def test_training_drops_numbers_reproducibly(traced: bool, pair: bool) -> None:
    model = new(pair, dropout=0.5)
    still = out_of(model)
    model.train()
    outputs = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        outputs.append(out_of(model, Trace() if traced else None))
    assert torch.equal(outputs[0], outputs[1])
    assert not torch.equal(outputs[0], outputs[2])
    assert not torch.equal(outputs[0], still)
    assert torch.equal(out_of(model.eval()), still)


@pytest.mark.parametrize("shape", [(4,), (2, 4, 8), ()])
def test_ids_of_another_shape_are_named(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="sentences, tokens") as caught:
        new()(torch.zeros(shape, dtype=torch.int64))
    assert str(shape) in str(caught.value)


@pytest.mark.parametrize("positions", ["sinusoidal", "sinusoidal-doubled", "learned", "none"])
def test_a_sentence_over_the_table_is_refused(positions: str) -> None:
    model = new(positions=positions)
    assert model(torch.zeros(1, 8, dtype=torch.int64)).shape == (1, 8, 24)
    if positions == "none":
        assert model(torch.zeros(1, 20, dtype=torch.int64)).shape == (1, 20, 24)
    else:
        with pytest.raises(ValueError, match=r"9 tokens .* max_len=8 .* raise max_len to 9"):
            model(torch.zeros(1, 9, dtype=torch.int64))


@pytest.mark.parametrize("x", [vectors(4, 24), vectors(2, 4, 23), torch.zeros(2, 4, 24, dtype=torch.int64)])
@pytest.mark.parametrize("half", ["encode", "embed_vectors"])
def test_vectors_of_another_shape_or_kind_are_refused(half: str, x: Tensor) -> None:
    with pytest.raises(ValueError, match="sentences, tokens, 24") as caught:
        getattr(new(), half)(x)
    assert str(tuple(x.shape)) in str(caught.value)
