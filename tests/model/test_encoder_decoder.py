"""The whole transformer: against torch.nn's, what it may not see, its halves, and how it is counted."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from playground import Encoder, EncoderDecoder, ModelConfig, Trace
from playground.accounting import count_encoder_decoder, count_parameters
from playground.config import Activation, NormPlacement
from playground.errors import ConfigError
from playground.model import causal_and_padding, causal_mask
from playground.presets import PRESETS
from tests.model.reference import scramble, torch_decoder_layer, torch_encoder, vectors
from tests.model.strategies import configs, modest

N_WORDS = 13
SRC = torch.tensor([[4, 2, 8, 1, 5, 3], [7, 7, 1, 0, 0, 0]])
TGT = torch.tensor([[1, 12, 3, 9], [5, 6, 0, 0]])
SRC_MASK, TGT_MASK = SRC != 0, TGT != 0


def config_of(**fields: Any) -> ModelConfig:
    sizes = {"vocab_size": 9, "d_model": 24, "n_heads": 3, "n_layers": 2, "d_ff": 40, "max_len": 8}
    return ModelConfig(**sizes | fields)


def new(seed: int | None = 0, **fields: Any) -> EncoderDecoder:
    return EncoderDecoder(config_of(**fields), tgt_vocab_size=N_WORDS, seed=seed)


def torch_decoder(model: EncoderDecoder) -> nn.TransformerDecoder:
    """torch's decoder with this model's weights, in eval mode."""
    state, config = model.decoder.state_dict(), model.config
    layers = [
        torch_decoder_layer(
            config, {n.removeprefix(f"layers.{i}."): t for n, t in state.items() if n.startswith(f"layers.{i}.")}
        )
        for i in range(config.n_layers)
    ]
    theirs = nn.TransformerDecoder(layers[0], config.n_layers)
    theirs.layers = nn.ModuleList(layers)
    if config.final_norm:
        theirs.norm = nn.LayerNorm(config.d_model, eps=config.norm_eps)
        theirs.norm.load_state_dict({"weight": state["final_norm.gain"], "bias": state["final_norm.bias"]})
    return theirs.eval()


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("final_norm", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm_placement", ["post", "pre"])
def test_it_is_torchs_transformer(
    norm_placement: NormPlacement, activation: Activation, final_norm: bool, padded: bool
) -> None:
    model = scramble(new(norm_placement=norm_placement, activation=activation, final_norm=final_norm))
    src_mask, tgt_mask = (SRC_MASK, TGT_MASK) if padded else (None, None)
    hidden_source, hidden_target = (~SRC_MASK, ~TGT_MASK) if padded else (None, None)
    memory = torch_encoder(model.encoder)(model.encoder.embed(SRC), src_key_padding_mask=hidden_source)
    decoded = torch_decoder(model)(
        model.decoder.embed(TGT),
        memory,
        tgt_mask=~causal_mask(TGT.shape[1])[0],
        tgt_key_padding_mask=hidden_target,
        memory_key_padding_mask=hidden_source,
    )
    expected = nn.functional.linear(decoded, model.fc.weight, model.fc.bias)
    torch.testing.assert_close(model(SRC, TGT, src_mask, tgt_mask), expected, atol=2e-5, rtol=1e-5)
    torch.testing.assert_close(model(SRC, TGT, src_mask, tgt_mask, Trace()), expected, atol=2e-5, rtol=1e-5)


def test_a_trace_names_both_halves_and_the_logits() -> None:
    model, trace = new(), Trace()
    logits = model(SRC, TGT, SRC_MASK, TGT_MASK, trace)
    encoder = Trace()
    memory = model.encoder(SRC, SRC_MASK, encoder)
    assert logits.shape == (2, 4, N_WORDS)
    assert torch.equal(trace["logits"], logits)
    assert torch.equal(trace["encoder.final"], memory)
    assert {name for name in trace if name.startswith("encoder.")} == {f"encoder.{name}" for name in encoder}
    assert trace["decoder.embed.out"].shape == trace["decoder.final"].shape == (2, 4, 24)
    assert torch.equal(trace["decoder.layers.1.out"], trace["decoder.final"])
    assert trace["decoder.layers.1.self_attn.pattern"].shape == (2, 3, 4, 4)
    assert trace["decoder.layers.0.cross_attn.pattern"].shape == (2, 3, 4, 6)


def test_patterns_are_zero_where_a_mask_says_so_and_sum_to_one() -> None:
    trace = Trace()
    new()(SRC, TGT, SRC_MASK, TGT_MASK, trace)
    may_attend = {"self_attn": causal_and_padding(TGT_MASK)[:, None], "cross_attn": SRC_MASK[:, None, None]}
    for attention, mask in may_attend.items():
        pattern = trace[f"decoder.layers.0.{attention}.pattern"]
        assert torch.equal(pattern > 0, mask.expand_as(pattern))
        torch.testing.assert_close(pattern.sum(-1), torch.ones(2, 3, 4))


@modest
@given(configs(head_merge="transpose"), st.integers(1, 6), st.integers(0, 99), st.booleans())
def test_no_logits_depend_on_later_target_tokens(config: ModelConfig, n_seen: int, seed: int, traced: bool) -> None:
    model = EncoderDecoder(config, N_WORDS, seed=seed).double()
    generator = torch.Generator().manual_seed(seed)
    src = torch.randint(config.vocab_size, (2, 4), generator=generator)
    tgt = torch.randint(N_WORDS, (2, 7), generator=generator)
    other = tgt.clone()
    other[:, n_seen:] = (other[:, n_seen:] + 1) % N_WORDS
    before, after = (model(src, ids, trace=Trace() if traced else None) for ids in (tgt, other))
    torch.testing.assert_close(before[:, :n_seen], after[:, :n_seen])
    torch.testing.assert_close(model(src, tgt[:, :n_seen]), before[:, :n_seen])


def test_every_logit_depends_on_each_target_token_up_to_its_own() -> None:
    model, trace = scramble(new()), Trace()
    model(SRC, TGT, trace=trace)
    embedded, logits = trace["decoder.embed.out"], trace["logits"]
    for position in range(TGT.shape[1]):
        (gradient,) = torch.autograd.grad(logits[:, position].square().sum(), embedded, retain_graph=True)
        assert ((gradient != 0).any(-1) == (torch.arange(4) <= position)).all()


def test_padding_changes_no_real_tokens_logits() -> None:
    model = scramble(new())
    logits = model(SRC, TGT, SRC_MASK, TGT_MASK)
    alone = model(SRC[1:, :3], TGT[1:, :2])
    torch.testing.assert_close(logits[1:, :2], alone, atol=1e-5, rtol=1e-5)


def test_every_logit_depends_on_every_source_token_and_on_no_padding() -> None:
    model = scramble(new())
    memory = model.encode(SRC, SRC_MASK).detach().requires_grad_()
    for position in range(TGT.shape[1]):
        (gradient,) = torch.autograd.grad(
            model.decode(TGT, memory, SRC_MASK, TGT_MASK)[:, position].square().sum(), memory
        )
        assert torch.equal(gradient.abs().sum(-1) > 0, SRC_MASK)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("norm_placement", ["post", "pre"])
def test_sentences_of_padding_alone_train_without_nan(norm_placement: NormPlacement, traced: bool) -> None:
    model, trace = scramble(new(norm_placement=norm_placement)), Trace()
    nothing = torch.zeros(2, 6, dtype=torch.bool)
    logits = model(SRC, TGT, nothing, nothing[:, :4], trace if traced else None)
    logits.square().sum().backward()
    assert logits.isfinite().all()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
    for attention in ("self_attn", "cross_attn"):
        assert not traced or not trace[f"decoder.layers.0.{attention}.z"].any()


def test_the_halves_are_the_whole() -> None:
    model, trace = scramble(new()), Trace()
    memory = model.encode(SRC, SRC_MASK, trace)
    assert torch.equal(memory, trace["encoder.final"])
    logits = model.decode(TGT, memory, SRC_MASK, TGT_MASK, trace)
    assert torch.equal(logits, trace["logits"])
    assert torch.equal(model.encode(SRC, SRC_MASK), model.encoder(SRC, SRC_MASK))
    torch.testing.assert_close(model(SRC, TGT, SRC_MASK, TGT_MASK), logits, atol=1e-5, rtol=1e-5)


def test_it_starts_in_eval_mode_and_drops_in_training() -> None:
    model = new(dropout=0.5)
    assert not any(module.training for module in model.modules())
    still = model(SRC, TGT)
    assert torch.equal(model(SRC, TGT), still)
    torch.manual_seed(0)
    assert not torch.allclose(model.train()(SRC, TGT), still, atol=1e-3)


def test_seeds_draw_the_same_weights_and_the_encoder_alone_as_well() -> None:
    first, again, other = (new(seed=seed).state_dict() for seed in (3, 3, 4))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["fc.weight"], other["fc.weight"])
    alone = Encoder(config_of(), seed=3).state_dict()
    assert all(torch.equal(first[f"encoder.{name}"], tensor) for name, tensor in alone.items())


def test_no_two_matrices_start_alike() -> None:
    matrices = [tensor for name, tensor in new().state_dict().items() if name.endswith("weight")]
    assert len({tuple(matrix.flatten()[:4].tolist()) for matrix in matrices}) == len(matrices)


def test_seed_none_allocates_nothing_and_takes_weights() -> None:
    model, source = new(seed=None), new(seed=1)
    assert all(parameter.is_meta for parameter in model.parameters())
    model.load_state_dict(source.state_dict(), assign=True)
    assert torch.equal(model(SRC, TGT), source(SRC, TGT))


def test_parameters_have_the_names_others_rely_on() -> None:
    config = config_of(n_layers=1, final_norm=True, fused_qkv=True)
    names = set(EncoderDecoder(config, N_WORDS, seed=None).state_dict())
    kinds = ("weight", "bias")
    attentions = [
        f"{name}.{part}.{kind}" for name in ("self_attn", "cross_attn") for part in ("qkv", "o") for kind in kinds
    ]
    linears = [*attentions, *(f"ffn.{part}.{kind}" for part in ("up", "down") for kind in kinds)]
    block = [*linears, *(f"norm{n}.{kind}" for n in (1, 2, 3) for kind in ("gain", "bias"))]
    assert names == {
        *(f"encoder.{name}" for name in Encoder(config, seed=None).state_dict()),
        *("decoder.embed.tokens.weight", *(f"decoder.layers.0.{name}" for name in block)),
        *("decoder.final_norm.gain", "decoder.final_norm.bias", "fc.weight", "fc.bias"),
    }


def test_source_words_and_target_words_may_differ_in_number() -> None:
    shapes = {name: tuple(tensor.shape) for name, tensor in new(seed=None).state_dict().items()}
    assert shapes["encoder.embed.tokens.weight"] == (9, 24)
    assert shapes["decoder.embed.tokens.weight"] == (N_WORDS, 24)
    assert shapes["fc.weight"] == (N_WORDS, 24)


def test_raw_vectors_may_take_the_sources_place() -> None:
    model = new(vocab_size=0)
    memory = model.encoder.encode(model.encoder.embed_vectors(vectors(2, 5, 24)))
    assert model.decode(TGT, memory).shape == (2, 4, N_WORDS)


@pytest.mark.parametrize("tgt_vocab_size", [0, -1])
def test_a_target_without_words_is_refused(tgt_vocab_size: int) -> None:
    with pytest.raises(ConfigError, match=rf"tgt_vocab_size={tgt_vocab_size} leaves no word to predict; 1 would work"):
        EncoderDecoder(config_of(), tgt_vocab_size)


def ones(*shape: int) -> Tensor:
    return torch.ones(shape, dtype=torch.bool)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((SRC, torch.zeros(2, 9, dtype=torch.int64)), r"9 tokens .* max_len=8 .* raise max_len to 9"),
        ((torch.zeros(2, 9, dtype=torch.int64), TGT), r"9 tokens .* max_len=8 .* raise max_len to 9"),
        ((SRC, TGT[0]), r"\(sentences, tokens\); these have \(4,\)"),
        ((SRC, TGT[:1]), "The memory holds 2 sentences, the target 1"),
        ((SRC, TGT, ones(2, 5)), r"\(2, 5\) fits neither keys \(2, 6\)"),
        ((SRC, TGT, ones(1, 6, 6)), r"\(1, 6, 6\) fits neither keys \(2, 6\)"),
        ((SRC, TGT, None, ones(2, 6)), r"\(2, 6\) fits neither keys \(2, 4\)"),
        ((SRC, TGT, None, torch.ones(2, 4)), r"boolean, True = may attend; this one is torch.float32"),
    ],
)
def test_what_does_not_fit_is_named(arguments: tuple[Tensor | None, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        new()(*arguments)


def test_a_memory_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\(sentences, tokens, 24\); these have \(2, 6, 23\)"):
        new().decode(TGT, torch.zeros(2, 6, 23))


# Counting.


def test_the_encoders_half_is_counted_as_an_encoder() -> None:
    config = replace(PRESETS["tutorial-e"].config, norm="rms", final_norm=True)
    both, alone = count_encoder_decoder(config, 10_000), count_parameters(config)
    encoder = [term for term in both if term.name.startswith("encoder.")]
    assert [replace(term, name=term.name.removeprefix("encoder.")) for term in encoder] == list(alone)


def test_the_papers_base_blocks_total_what_torchs_do() -> None:
    config = replace(PRESETS["vaswani-base"].config, final_norm=True)  # torch.nn.Transformer has one in each half
    blocks = count_encoder_decoder(config, 37_000).by(lambda term: term.component == "embeddings")[False]
    theirs = nn.Transformer(device="meta", batch_first=True)
    assert blocks == sum(parameter.numel() for parameter in theirs.parameters()) == 44_140_544
