"""A trace holds what was asked for, under exact names, and nobody else keeps it."""

import torch

from playground import Encoder, Trace
from tests.model.reference import small_config

IDS = torch.tensor([[1, 2, 3]])


def test_keep_is_asked_once_for_each_full_name_and_keeps_what_it_accepts() -> None:
    asked: list[str] = []

    def keep(name: str) -> bool:
        asked.append(name)
        return name.endswith(".pattern") or name == "final"

    model, everything, some = Encoder(small_config()), Trace(), Trace(keep)
    out = model(IDS, trace=some)
    assert torch.equal(out, model(IDS, trace=everything))
    assert asked == list(everything)
    assert list(some) == ["layers.0.attn.pattern", "layers.1.attn.pattern", "final"]
    assert len(some) == 3
    assert some["final"] is out
    assert all(torch.equal(some[name], everything[name]) for name in some)


def test_a_pass_in_train_mode_names_both_sides_of_every_dropout() -> None:
    model, evaluated, trained = Encoder(small_config()), Trace(), Trace()
    model(IDS, trace=evaluated)
    model.train()(IDS, trace=trained)
    sides = {
        "embed.dropout": ("embed.sum", "embed.out"),
        "layers.1.attn.weight_dropout": ("layers.1.attn.pattern", None),
        "layers.1.attn.dropout": (None, "layers.1.attn.out"),
        "layers.1.ffn.hidden_dropout": ("layers.1.ffn.hidden", None),
        "layers.1.ffn.dropout": (None, "layers.1.ffn.out"),
    }
    assert len(set(trained) - set(evaluated)) == 2 * (1 + 4 * 2)
    for name, points in sides.items():
        for end, point in zip(("in", "out"), points, strict=True):
            assert point is None or trained[f"{name}.{end}"] is trained[point]
