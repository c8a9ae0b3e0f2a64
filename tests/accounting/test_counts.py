"""Counts equal what the built model holds and what torch measures."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from playground import Encoder, EncoderDecoder, ModelConfig, Trace, count_parameters
from playground.accounting import Count, Term, attention_overtakes, count_encoder_decoder, count_flops, count_memory
from playground.presets import PRESETS
from tests.model.reference import vectors
from tests.model.strategies import configs, modest

SMALL = ModelConfig(vocab_size=7, d_model=12, n_heads=3, n_layers=2, d_ff=20, max_len=8, n_segments=2)


def numel(model: Encoder) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@modest
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


@pytest.mark.parametrize("name", PRESETS)
def test_presets_total_what_the_built_model_holds(name: str) -> None:
    config = PRESETS[name].config
    assert count_parameters(config).total == numel(Encoder(config, seed=None))


@modest
@given(configs(), st.integers(1, 20))
def test_each_formula_computes_its_count(config: ModelConfig, tgt_vocab_size: int) -> None:
    names = {field: getattr(config, field) for field in ("vocab_size", "d_model", "d_ff", "max_len", "n_segments")}
    for term in count_parameters(config):
        assert evaluate(term.formula, names) == term.count
    for term in count_encoder_decoder(config, tgt_vocab_size):
        assert evaluate(term.formula, names | {"tgt_vocab_size": tgt_vocab_size}) == term.count
    for term in count_flops(config, 7, 3):
        assert evaluate(term.formula, names | {"B": 3, "T": 7}) == term.count


def evaluate(formula: str, names: dict[str, int]) -> int:
    """Compute a formula that is shown to people."""
    value = eval(formula.replace("·", "*").replace("²", "**2"), {"__builtins__": {}}, names)
    assert isinstance(value, int)
    return value


CHANGES: dict[str, Any] = {
    "vocab_size": 8,
    "d_model": 24,
    "n_layers": 3,
    "d_ff": 21,
    "max_len": 9,
    "norm": "rms",
    "final_norm": True,
    "positions": "none",
    "embedding_norm": True,
    "n_segments": 0,
}
SAME: dict[str, Any] = {
    "n_heads": 4,
    "dropout": 0.5,
    "norm_placement": "pre",
    "norm_eps": 1e-3,
    "activation": "gelu",
    "scale_embeddings": False,
    "fused_qkv": True,
    "head_merge": "reshape",
    "residual": False,
    "initialisation": "torch",
}


@pytest.mark.parametrize("field", CHANGES)
def test_fields_that_change_the_parameter_count(field: str) -> None:
    config = replace(SMALL, positions="learned")
    assert count_parameters(replace(config, **{field: CHANGES[field]})).total != count_parameters(config).total


@pytest.mark.parametrize("field", SAME)
def test_fields_that_leave_the_parameter_count(field: str) -> None:
    assert count_parameters(replace(SMALL, **{field: SAME[field]})).total == count_parameters(SMALL).total


def test_every_field_either_changes_the_parameter_count_or_leaves_it() -> None:
    assert CHANGES.keys() | SAME.keys() == ModelConfig.__dataclass_fields__.keys()
    assert not CHANGES.keys() & SAME.keys()


def test_sums_by_any_property_keep_the_order_of_first_appearance() -> None:
    count = Count(
        (
            Term("b.x", "norms", "x", 1, "1", 1),
            Term("a.x", "attention", "x", 0, "10", 10),
            Term("b.y", "norms", "y", 1, "100", 100),
        )
    )
    assert count.total == 111
    assert list(count.by(lambda term: term.component).items()) == [("norms", 101), ("attention", 10)]
    assert count.by(lambda term: term.part) == {"x": 11, "y": 100}
    assert [term.name for term in count] == ["b.x", "a.x", "b.y"]


def test_nothing_counted_is_nothing() -> None:
    assert Count(()).total == 0
    assert Count(()).by(lambda term: term.layer) == {}


@pytest.mark.parametrize(
    ("config", "n_tokens", "n_sentences"),
    [
        (SMALL, 5, 1),
        (replace(SMALL, fused_qkv=True, n_layers=3), 8, 3),
        (replace(SMALL, head_merge="reshape", norm_placement="pre", norm="rms", final_norm=True), 1, 2),
        (ModelConfig(vocab_size=0, d_model=16, n_heads=4, n_layers=1, d_ff=8, max_len=40), 33, 2),
    ],
)
def test_flops_are_what_torch_counts_on_a_traced_pass(config: ModelConfig, n_tokens: int, n_sentences: int) -> None:
    model = Encoder(config)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model.encode(vectors(n_sentences, n_tokens, config.d_model), trace=Trace())
    assert count_flops(config, n_tokens, n_sentences).total == counter.get_total_flops()


def test_attention_and_feed_forward_flops_are_torchs_by_module() -> None:
    model = Encoder(SMALL)
    with FlopCounterMode(display=False, depth=4) as counter, torch.no_grad():
        model(torch.zeros(2, 7, dtype=torch.int64), trace=Trace())
    by_module = {name: sum(flops.values()) for name, flops in counter.get_flop_counts().items()}
    by_part = count_flops(SMALL, 7, 2).by(lambda term: term.name.rpartition(".")[0])
    for i in range(SMALL.n_layers):
        assert by_part[f"layers.{i}.attn"] == by_module[f"Encoder.layers.{i}.attn"]
        assert by_part[f"layers.{i}.ffn"] == by_module[f"Encoder.layers.{i}.ffn"]


@modest
@given(st.integers(1, 12), st.integers(1, 60), st.integers(1, 3))
def test_attention_overtakes_at_the_first_length_that_costs_more(d_model: int, d_ff: int, n_layers: int) -> None:
    config = ModelConfig(vocab_size=1, d_model=d_model, n_heads=1, n_layers=n_layers, d_ff=d_ff)

    def attention_costs_more(n_tokens: int) -> bool:
        cost = count_flops(config, n_tokens).by(lambda term: term.component)
        return cost["attention"] > cost["feed_forward"]

    first = attention_overtakes(config)
    assert first == next(T for T in range(1, 100) if attention_costs_more(T))
    assert attention_costs_more(first + 1)


def test_memory_is_bytes_of_real_tensors() -> None:
    config = replace(SMALL, n_heads=4)
    model, trace = Encoder(config), Trace(lambda name: name.endswith("pattern"))
    model(torch.zeros(3, 5, dtype=torch.int64), trace=trace)
    weights = sum(parameter.nbytes for parameter in model.parameters())
    patterns = sum(pattern.nbytes for pattern in trace.values())
    assert [row.n_bytes for row in count_memory(config, 5, 3)] == [weights, weights // 2, 4 * weights, patterns]


def test_adam_keeps_what_memory_says() -> None:
    model = Encoder(SMALL)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.zeros(1, 4, dtype=torch.int64)).sum().backward()
    optimizer.step()
    moments = [s[key] for s in optimizer.state.values() for key in ("exp_avg", "exp_avg_sq")]
    held = [*model.parameters(), *(p.grad for p in model.parameters() if p.grad is not None), *moments]
    training = next(row for row in count_memory(SMALL, 4) if "Adam" in row.purpose)
    assert training.n_bytes == sum(tensor.nbytes for tensor in held)


def test_more_heads_take_more_memory_for_patterns_and_nothing_else() -> None:
    few, many = count_memory(SMALL, 6), count_memory(replace(SMALL, n_heads=6), 6)
    assert [many_row.n_bytes / few_row.n_bytes for few_row, many_row in zip(few, many, strict=True)] == [1, 1, 1, 2]


def test_gpt_3_is_counted_without_being_built() -> None:
    config = PRESETS["gpt-3"].config
    flops, parameters = count_flops(config, 1).total, count_parameters(config).by(lambda term: term.component)
    # About 2 operations a parameter and token (Kaplan et al. 2020, section 2.1).
    assert flops / (parameters["attention"] + parameters["feed_forward"]) == pytest.approx(2, rel=1e-3)
    weights = count_memory(config, 2_048)[0]
    assert weights.n_bytes == 4 * 174_604_259_328
