"""Counts equal what the built model holds and what torch measures."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from playground import Encoder, EncoderDecoder, ModelConfig, Trace, count_parameters
from playground.accounting import attention_overtakes, count_encoder_decoder, count_flops, count_memory
from playground.presets import PRESETS
from tests.model.strategies import configs

SMALL = ModelConfig(vocab_size=7, d_model=12, n_heads=3, n_layers=2, d_ff=20, max_len=8, n_segments=2)


@given(configs() | configs(vocab_size=0), st.integers(1, 20))
def test_each_term_counts_the_parameters_under_its_name(config: ModelConfig, tgt_vocab_size: int) -> None:
    for model, counted in (
        (Encoder(config, seed=None), count_parameters(config)),
        (EncoderDecoder(config, tgt_vocab_size, seed=None), count_encoder_decoder(config, tgt_vocab_size)),
    ):
        held: dict[str, int] = {}
        for name, parameter in model.named_parameters():
            owner = name.rpartition(".")[0]
            held[owner] = held.get(owner, 0) + parameter.numel()
        assert {term.name: term.count for term in counted} == held
        assert len(counted.terms) == len(held)
        assert counted.total == sum(held.values())


@given(configs(), st.integers(1, 20))
def test_each_formula_computes_its_count(config: ModelConfig, tgt_vocab_size: int) -> None:
    names = {name: value for name, value in vars(config).items() if isinstance(value, int)}
    names |= {"d_head": config.head_width, "n_kv_heads": config.kv_heads, "d_embedding": config.embedding_width}
    for term in count_parameters(config):
        assert evaluate(term.formula, names) == term.count
    for term in count_encoder_decoder(config, tgt_vocab_size):
        assert evaluate(term.formula, names | {"tgt_vocab_size": tgt_vocab_size}) == term.count
    for term in count_flops(config, 7, 3):
        assert evaluate(term.formula, names | {"B": 3, "T": 7}) == term.count


def evaluate(formula: str, names: dict[str, int]) -> int:
    """Compute a formula that is shown to people."""
    python = formula.replace("·", "*").replace("²", "**2").replace("−", "-").replace("/", "//")
    value = eval(python, {"__builtins__": {}}, names)
    assert isinstance(value, int)
    return value


def test_the_papers_base_blocks_total_what_torchs_do() -> None:
    config = replace(PRESETS["vaswani-base"].config, final_norm=True)  # torch.nn.Transformer has one in each half
    blocks = count_encoder_decoder(config, 37_000).by(lambda term: term.component == "embeddings")[False]
    theirs = nn.Transformer(device="meta", batch_first=True)
    assert blocks == sum(parameter.numel() for parameter in theirs.parameters()) == 44_140_544


@pytest.mark.parametrize(
    ("config", "n_tokens", "n_sentences"),
    [
        (replace(SMALL, fused_qkv=True, n_layers=3), 8, 3),
        (replace(SMALL, head_merge="reshape", norm_placement="pre", norm="rms", final_norm=True), 1, 2),
        (replace(SMALL, n_kv_heads=1, gated=True, positions="rotary"), 5, 2),
        (replace(SMALL, d_head=10, d_embedding=6, bias=False), 6, 1),
    ],
)
def test_flops_are_what_torch_counts_on_a_traced_pass(config: ModelConfig, n_tokens: int, n_sentences: int) -> None:
    model, count = Encoder(config), count_flops(config, n_tokens, n_sentences)
    with FlopCounterMode(display=False, depth=4) as counter, torch.no_grad():
        model(torch.zeros(n_sentences, n_tokens, dtype=torch.int64), trace=Trace())
    assert count.total == counter.get_total_flops()
    by_module = {name: sum(flops.values()) for name, flops in counter.get_flop_counts().items()}
    by_part = count.by(lambda term: term.name.rpartition(".")[0])
    for part in (f"layers.{i}.{part}" for i in range(config.n_layers) for part in ("attn", "ffn")):
        assert by_part[part] == by_module[f"Encoder.{part}"]


@given(
    st.integers(1, 12), st.integers(1, 60), st.integers(1, 3), st.booleans(), st.sampled_from([(0, 0), (4, 0), (4, 2)])
)
def test_attention_overtakes_at_the_first_length_that_costs_more(
    d_model: int, d_ff: int, n_layers: int, gated: bool, windows: tuple[int, int]
) -> None:
    config = ModelConfig(vocab_size=1, d_model=d_model, n_heads=1, n_layers=n_layers, d_ff=d_ff, gated=gated)
    config = replace(config, window=windows[0], global_every=windows[1])

    def attention_costs_more(n_tokens: int) -> bool:
        cost = count_flops(config, n_tokens).by(lambda term: term.component)
        return cost["attention"] > cost["feed_forward"]

    first = attention_overtakes(config)
    assert first == next((T for T in range(1, 200) if attention_costs_more(T)), None)
    assert first is None or attention_costs_more(first + 1)


@pytest.mark.parametrize(("n_heads", "n_kv_heads"), [(4, 0), (6, 2)])
def test_memory_is_bytes_of_real_tensors(n_heads: int, n_kv_heads: int) -> None:
    config = replace(SMALL, n_heads=n_heads, n_kv_heads=n_kv_heads)
    model, trace = Encoder(config), Trace()
    model(torch.zeros(1, 5, dtype=torch.int64), trace=trace)
    weights = sum(parameter.nbytes for parameter in model.parameters())
    patterns, kept = (
        sum(tensor.nbytes for name, tensor in trace.items() if name.endswith(ends))
        for ends in (".pattern", ("k_projected", "v_projected") if n_kv_heads else (".k", ".v"))
    )
    assert [n_bytes for _, _, n_bytes in count_memory(config, 5)] == [
        weights,
        weights // 2,
        4 * weights,
        kept,
        patterns,
    ]
