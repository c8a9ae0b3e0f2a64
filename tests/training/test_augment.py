"""Augmentation changes what it says it changes, as often as it says, and nothing else."""

from collections import Counter
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from playground import Encoder, ModelConfig
from playground.training.augment import WINDOW, add_noise, augment, draw_span
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS, make_data
from playground.training.tasks.symbol_tasks import MadeUpTask
from playground.training.tasks.task import MASK_ID

N, LENGTH = 2_000, 12
DATA = make_data(Recipe(length=LENGTH, n_train=N, n_validation=1)).train
OFF = Recipe()
SOME = {"token_masking": 0.3, "token_swapping": 0.4, "span_masking": 0.25}


def changed(recipe: Recipe, ids: Tensor = DATA.ids, seed: int = 0) -> Tensor:
    before = ids.clone()
    found = augment(ids, recipe, *(torch.Generator().manual_seed(each) for each in (seed, seed + 100)))
    assert torch.equal(ids, before), "the batch itself must stay as it is"
    assert found.shape == ids.shape
    assert found.dtype == ids.dtype
    return found


@pytest.mark.parametrize("name", [*SOME, "shuffling"])
def test_padding_and_special_tokens_are_never_touched(name: str) -> None:
    ids = DATA.ids.clone()
    ids[:, 3], ids[:, 5] = 1, 2
    ids = ids.masked_fill(~DATA.mask, 0)
    found = changed(replace(OFF, **{name: 0.95}), ids)  # type: ignore[arg-type]
    special = ids < 3
    assert torch.equal(found[special], ids[special])
    assert ((found >= 2) | special).all()
    assert not torch.equal(found, ids)


@pytest.mark.parametrize("p", [0.05, 0.95])
def test_token_masking_hides_each_token_with_its_probability(p: float) -> None:
    found = changed(replace(OFF, token_masking=p))
    hidden = found == MASK_ID
    assert torch.equal(found[~hidden], DATA.ids[~hidden])
    n = int(DATA.mask.sum())
    assert abs(hidden.sum().item() - n * p) < 4 * (n * p * (1 - p)) ** 0.5
    together = (hidden[:, :-1] & hidden[:, 1:])[DATA.mask[:, 1:]].float().mean().item()
    assert together == pytest.approx(p * p, abs=0.02), "neighbours must be hidden independently"


@pytest.mark.parametrize("p", [0.5, 1.0])
def test_token_swapping_exchanges_disjoint_neighbours(p: float) -> None:
    places = torch.arange(3, LENGTH + 3).repeat(N, 1).masked_fill(~DATA.mask, 0)  # every token says where it stood
    found = changed(replace(OFF, token_swapping=p), places)
    move = (found - places)[DATA.mask]
    assert set(move.tolist()) <= {-1, 0, 1}
    moved = found - places
    right, left = moved == 1, moved == -1
    assert torch.equal(right[:, :-1], left[:, 1:]), "the neighbour must have come here"
    assert not right[:, -1].any()
    assert torch.equal(found.sort(1).values, places.sort(1).values)
    lengths = DATA.mask.sum(1)
    pairs = (lengths // 2 + (lengths - 1) // 2).sum().item() / 2  # a pair begins at an even place, or at an odd one
    assert right.sum().item() == pytest.approx(pairs * p, rel=0.05)
    even, odd = right[:, 0::2].any(1), right[:, 1::2].any(1)
    assert not (even & odd).any()
    assert min(even.sum(), odd.sum()) > 0.15 * N


@pytest.mark.parametrize("share", [0.05, 0.25, 0.5, 0.95])
def test_span_masking_hides_one_run_of_the_right_length_anywhere(share: float) -> None:
    hidden = changed(replace(OFF, span_masking=share)) == MASK_ID
    lengths = DATA.mask.sum(1).tolist()
    for row, length in zip(hidden.tolist(), lengths, strict=True):
        size = round(share * length)
        assert sum(row) == size
        if size:
            start = row.index(True)
            assert all(row[start : start + size])
            assert start + size <= length


def test_every_place_of_a_span_is_equally_likely() -> None:
    mask = torch.ones(7_000, 9, dtype=torch.bool)
    found = draw_span(mask, 1 / 3, torch.rand(7_000, 1, generator=torch.Generator().manual_seed(0)))
    counts = found.to(torch.int64).argmax(1).bincount(minlength=9)
    assert counts[7:].sum() == 0
    assert (((counts[:7] - 1_000) ** 2) / 1_000).sum() < 22.5  # χ² of 6: 99.9 %


def test_the_largest_draw_still_fits() -> None:
    mask = torch.ones(1, 256, dtype=torch.bool)
    last = torch.tensor([[1 - 2**-24]])
    assert draw_span(mask, 0.5, last)[0].nonzero().flatten().tolist() == list(range(128, 256))


def test_switching_one_on_leaves_the_others_their_draws() -> None:
    everything = changed(Recipe(**SOME)) == MASK_ID  # type: ignore[arg-type]
    single = changed(replace(OFF, token_masking=SOME["token_masking"])) == MASK_ID
    run = changed(replace(OFF, span_masking=SOME["span_masking"])) == MASK_ID
    assert torch.equal(everything, single | run)
    swapped = changed(replace(OFF, token_swapping=SOME["token_swapping"]))
    assert torch.equal(changed(Recipe(**SOME))[~everything], swapped[~everything])  # type: ignore[arg-type]
    generators = [torch.Generator().manual_seed(0) for _ in range(2)]
    for generator, recipe in zip(generators, (replace(OFF, token_masking=0.1), Recipe(**SOME)), strict=True):  # type: ignore[arg-type]
        augment(DATA.ids, recipe, generator, torch.Generator())
    first, second = (torch.rand(3, generator=generator) for generator in generators)
    assert torch.equal(first, second), "the next batch must find the generator in the same state"


def test_the_generator_decides() -> None:
    assert torch.equal(changed(OFF), DATA.ids)
    for recipe in (Recipe(**SOME), Recipe(shuffling=0.5)):  # type: ignore[arg-type]
        assert torch.equal(changed(recipe), changed(recipe))
        assert not torch.equal(changed(recipe), changed(recipe, seed=1))


def test_sequences_of_one_token_are_left_in_place() -> None:
    ids = torch.full((50, 1), 5)
    assert torch.equal(changed(Recipe(token_swapping=1.0, shuffling=1.0), ids), ids)
    assert set(changed(Recipe(span_masking=0.6), ids).flatten().tolist()) == {MASK_ID}


def test_where_the_next_token_is_asked_no_other_order_shows_it() -> None:
    recipe = Recipe(task="characters", length=LENGTH, n_train=50, n_validation=1, token_swapping=1.0, shuffling=1.0)
    batch = make_data(recipe).train
    assert torch.equal(changed(recipe, batch.ids), batch.ids)
    assert not torch.equal(changed(replace(recipe, token_masking=0.3), batch.ids), batch.ids)


@pytest.mark.parametrize("p", [0.25, 1.0])
def test_shuffling_is_a_plain_loop_over_windows(p: float) -> None:
    """Every row that is drawn: each window's ordinary tokens sorted by their draws, all else in place."""
    ids = DATA.ids.clone()
    ids[::3, 2], ids[::5, 6] = MASK_ID, 1
    ids = ids.masked_fill(~DATA.mask, 0)
    random = torch.Generator().manual_seed(100)
    chosen, order = torch.rand(N, 1, generator=random)[:, 0].tolist(), torch.rand(N, LENGTH, generator=random).tolist()
    expected = ids.tolist()
    for row, draw, keys in zip(expected, chosen, order, strict=True):
        for start in range(0, LENGTH, 4) if draw < p else ():
            places = [i for i in range(start, min(start + 4, LENGTH)) if row[i] > 2]
            tokens = [row[i] for i in sorted(places, key=lambda i: keys[i])]
            for place, token in zip(places, tokens, strict=True):
                row[place] = token
    assert changed(replace(OFF, shuffling=p), ids).tolist() == expected


def test_every_order_of_a_window_is_equally_likely_and_no_token_leaves_it() -> None:
    ids = torch.arange(3, 3 + 2 * WINDOW).repeat(24_000, 1)
    found = changed(replace(OFF, shuffling=1.0), ids)
    for half in (slice(0, WINDOW), slice(WINDOW, 2 * WINDOW)):
        assert torch.equal(found[:, half].sort(1).values, ids[:, half])
        counts = Counter(map(tuple, found[:, half].tolist()))
        assert len(counts) == 24
        assert max(abs(count - 1_000) for count in counts.values()) < 5 * 1_000**0.5


def test_shuffling_leaves_the_other_three_their_draws() -> None:
    plain, both = (changed(Recipe(**SOME, shuffling=p)) for p in (0.0, 1.0))  # type: ignore[arg-type]
    assert torch.equal(plain == MASK_ID, both == MASK_ID)
    assert not torch.equal(plain, both)


@pytest.mark.parametrize("name", ["copy", "reverse", "sort", "count", "seq2seq-copy", "seq2seq-reverse"])
def test_sorting_alone_asks_for_no_order(name: str) -> None:
    """As the explanation of shuffling says: every answer of another task may become wrong."""
    recipe = Recipe(task=name, length=LENGTH, n_train=200, n_validation=1, shuffling=1.0)
    data, task = make_data(recipe), TASKS[name]
    assert isinstance(task, MadeUpTask)
    shuffled = changed(recipe, data.train.ids)
    assert torch.equal(task.examples(shuffled, LENGTH).targets, data.train.targets) is (name == "sort")


@pytest.mark.parametrize("std", [0.1, 2.0])
def test_noise_is_normal_and_in_training_alone(std: float) -> None:
    config = ModelConfig(vocab_size=13, d_model=64, n_heads=2, n_layers=1, d_ff=8, dropout=0.0)
    plain, noisy = Encoder(config, seed=0), Encoder(config, seed=0)
    add_noise(noisy, std, torch.Generator().manual_seed(0))
    assert noisy.state_dict().keys() == plain.state_dict().keys()
    ids = DATA.ids[:500]
    assert torch.equal(noisy.embed(ids), plain.embed(ids))
    added = (noisy.train().embed(ids) - plain.embed(ids)).detach().flatten() / std
    assert added.mean().item() == pytest.approx(0, abs=0.01)
    assert added.std().item() == pytest.approx(1, abs=0.01)
    assert (added.abs() > 2).float().mean().item() == pytest.approx(0.0455, abs=0.003)
    again = (noisy.embed(ids) - plain.embed(ids)).detach().flatten() / std
    assert torch.corrcoef(torch.stack([added, again]))[0, 1].abs() < 0.02, "each step must draw anew"


def test_without_noise_an_encoder_stays_as_it_is() -> None:
    encoder = Encoder(ModelConfig(vocab_size=13, d_model=8, n_heads=2, n_layers=1, d_ff=8), seed=0)
    before = encoder.embed.dropout
    add_noise(encoder, 0.0, torch.Generator())
    assert encoder.embed.dropout is before
