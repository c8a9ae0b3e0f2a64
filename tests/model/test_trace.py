"""A trace holds what was asked for, under exact names, and nobody else keeps it."""

import gc
import weakref

import torch
from hypothesis import given

from playground import Encoder, ModelConfig, Trace
from playground.model.trace import UNTRACED
from tests.model.strategies import Case, cases, modest

CONFIG = ModelConfig(vocab_size=9, d_model=8, n_heads=2, n_layers=2, d_ff=12, max_len=6)
IDS = torch.tensor([[1, 2, 3]])


def documented_shapes(case: Case) -> dict[str, tuple[int, ...]]:
    """What `Trace` says about itself, for one case."""
    config = case.config
    (B, T), H = case.ids.shape, config.n_heads  # noqa: N806
    stream, heads = (B, T, config.d_model), (B, H, T, config.d_head)
    normed = dict.fromkeys(("in", "normalized", "out"), stream)
    block = {
        **{f"attn.{name}": heads for name in ("q", "k", "v", "z")},
        **{f"attn.{name}": (B, H, T, T) for name in ("scores", "pattern")},
        **{f"ffn.{name}": (B, T, config.d_ff) for name in ("up", "hidden")},
        **dict.fromkeys(("attn.in", "attn.out", "ffn.in", "ffn.out", "resid_mid", "resid_post", "out"), stream),
        **{f"{norm}.{name}": shape for norm in ("norm1", "norm2") for name, shape in normed.items()},
    }
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(("embed.tokens", "embed.sum", "embed.out", "final"), stream)
    for i in range(config.n_layers):
        shapes |= {f"layers.{i}.{name}": shape for name, shape in block.items()}
    if config.embedding_norm:
        shapes |= {f"embed.norm.{name}": shape for name, shape in normed.items()}
    if config.final_norm:
        shapes |= {f"final_norm.{name}": shape for name, shape in normed.items()}
    return shapes


@modest
@given(cases())
def test_every_name_and_shape_is_as_documented(case: Case) -> None:
    trace = Trace()
    case.model(case.ids, case.mask, trace)
    assert {name: tuple(tensor.shape) for name, tensor in trace.items()} == documented_shapes(case)


def test_keep_keeps_only_what_it_accepts() -> None:
    trace = Trace(keep=lambda name: name.endswith(".pattern") or name == "final")
    out = Encoder(CONFIG)(IDS, trace=trace)
    assert list(trace) == ["layers.0.attn.pattern", "layers.1.attn.pattern", "final"]
    assert len(trace) == 3
    assert trace["final"] is out


def test_keeping_less_changes_no_number() -> None:
    model, everything, some = Encoder(CONFIG), Trace(), Trace(keep=lambda name: "ffn" in name)
    assert torch.equal(model(IDS, trace=some), model(IDS, trace=everything))
    assert all(torch.equal(some[name], everything[name]) for name in some)


def test_keep_is_asked_for_full_names() -> None:
    asked: list[str] = []

    def keep(name: str) -> bool:
        asked.append(name)
        return False

    trace = Trace(keep)
    Encoder(CONFIG)(IDS, trace=trace)
    assert len(trace) == 0
    assert "layers.1.attn.scores" in asked
    assert len(asked) == len(set(asked))


def test_a_scope_records_under_its_name() -> None:
    trace, tensor = Trace(), torch.ones(1)
    assert trace.scope("a").scope("b").record("c", tensor) is tensor
    assert dict(trace) == {"a.b.c": tensor}


def test_untraced_records_nothing() -> None:
    tensor = torch.ones(1)
    assert UNTRACED.scope("a").record("b", tensor) is tensor
    Encoder(CONFIG)(IDS)
    assert len(UNTRACED) == 0


def test_the_halves_record_what_the_whole_does() -> None:
    model, whole, halves = Encoder(CONFIG), Trace(), Trace()
    model(IDS, trace=whole)
    model.encode(model.embed(IDS, halves.scope("embed")), trace=halves)
    assert list(halves) == list(whole)


def test_raw_vectors_are_recorded_too() -> None:
    model, trace = Encoder(CONFIG), Trace()
    out = model.embed_vectors(torch.ones(1, 3, 8), trace)
    assert list(trace) == ["embed.tokens", "embed.sum", "embed.out"]
    assert trace["embed.out"] is out


def test_the_model_keeps_nothing_of_a_pass() -> None:
    model, trace = Encoder(CONFIG), Trace()
    with torch.no_grad():
        model(IDS, trace=trace)
    left = [weakref.ref(tensor) for tensor in trace.values()]
    del trace
    gc.collect()
    assert [reference() for reference in left if reference() is not None] == []


def test_a_pass_in_train_mode_names_both_sides_of_every_dropout() -> None:
    model, evaluated, trained = Encoder(CONFIG), Trace(), Trace()
    model(IDS, trace=evaluated)
    model.train()(IDS, trace=trained)
    sides = {
        "embed.dropout": ("embed.sum", "embed.out"),
        "layers.1.attn.weight_dropout": ("layers.1.attn.pattern", None),
        "layers.1.attn.dropout": (None, "layers.1.attn.out"),
        "layers.1.ffn.hidden_dropout": ("layers.1.ffn.hidden", None),
        "layers.1.ffn.dropout": (None, "layers.1.ffn.out"),
    }
    assert len(set(trained) - set(evaluated)) == 2 * (1 + 4 * CONFIG.n_layers)
    for name, points in sides.items():
        for end, point in zip(("in", "out"), points, strict=True):
            assert point is None or trained[f"{name}.{end}"] is trained[point]
