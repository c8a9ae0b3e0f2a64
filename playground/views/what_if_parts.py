"""Which parts matter, how many heads can go, and where the difference of two sentences sits.

Legend: L layers; H heads; T tokens; N variants. NaN is what is not measured yet.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from playground.analysis import comparison, sentences
from playground.analysis.comparison import Order, Score, list_pairs, pruned_sizes, remove_heads
from playground.charts import colour_scales, palette
from playground.charts.chart import (
    Axis,
    Button,
    Columns,
    Control,
    Curves,
    Heatmap,
    Item,
    Options,
    Paragraph,
    Widget,
    token_axis,
)
from playground.charts.figure import Array, Curve
from playground.charts.heads import CLICK_CELL, LEAST_CELL, head_map, number_by_head
from playground.charts.names import escape_markdown, quote_place, shortened
from playground.config import ModelConfig
from playground.language.answers import score_word
from playground.language.text import IDS, MASK_ID
from playground.link.kinds import Changes
from playground.link.lab import Lab, once, read_text
from playground.link.opening import Focus
from playground.model.changes import SUBLAYERS, Change
from playground.runs.encoder_run import Run
from playground.runs.variant_runs import Variant
from playground.text import Batch
from playground.views.change_names import offer_changes
from playground.words import say

RANDOM_SEEDS = (0, 1, 2)
"""Of the random orders in which heads are taken out."""

LEAST_NEARER = 0.005
"""The smallest share that a whole percentage does not round to 0."""


class SweepKey(NamedTuple):
    """What is measured of a sentence that nothing changes."""

    kind: str
    """As `whatif_parts`, or `patches`."""
    layer: int = 0
    """Of the head whose pairs are cut."""
    head: int = 0
    source: int = 0
    """The sentence that patches are taken from."""
    order: Order = ()
    """In which heads are taken out, beside random ones."""
    on_word: bool = False
    """Whether the hidden word's probability is measured, and not how far the sentence's vector moves."""


Numbers = Callable[[Lab, SweepKey], Array]
"""What is measured of a sweep by now, a number a variant."""


def list_variants(key: SweepKey, run: Run) -> Sequence[Variant]:
    """Return what each row of a sweep changes; of heads taken out: the sizes of its order, then of random ones."""
    config = run.config
    match key.kind:
        case "heads":
            return [[part] for part in comparison.list_heads(config)]
        case "sublayers":
            return [[part] for part in comparison.list_sublayers(config)]
        case "pairs of one head":
            return [[part] for part in comparison.list_cuts(run, key.layer, key.head)]
        case "patches":
            return [[place] for place in comparison.list_patches(config.n_layers, run.n_real, key.source)]
    orders = [key.order, *(comparison.order_at_random(config, seed) for seed in RANDOM_SEEDS)]
    return [remove_heads(each, n, config) for each in orders for n in pruned_sizes(config)]


def measure_rows(lab: Lab, key: SweepKey, rows: Sequence[int] | None = None) -> Array:
    """Return the numbers of some variants of a sweep, of all by default; raises as `comparison.measure_variants`."""
    run, variants, hidden, sources = lab.run, list_variants(key, lab.run), _find_hidden_word(lab), None
    score: Score = comparison.score_change(run)
    if key.kind == "patches":
        source = lab.run_of(key.source)
        score, sources = comparison.score_nearness(run, source), {key.source: source.arrays}
    elif key.kind == "heads taken out":
        score = comparison.score_similarity(run)
    elif key.on_word and hidden is not None:
        score = lambda final: _score_hidden(lab, hidden, final)[:, None]  # noqa: E731
    options = {"sentence": lab.sentence, "seed": lab["seed"], "causal": lab["causal"], "sources": sources}
    asked = variants if rows is None else [variants[row] for row in rows]
    with lab.source.turn():
        return comparison.measure_variants(asked, score, lab.encoder, lab.batch, run, **options)[:, 0]


@once
def measure_all(lab: Lab, key: SweepKey) -> Array:
    """Return all numbers of a sweep."""
    return measure_rows(lab, key)


def _find_hidden_word(lab: Lab) -> tuple[int, str] | None:
    """Return the masked word's position and the word itself, if the small English has one to fill in."""
    key = lab.text_key
    if (
        not lab.state.is_english
        or key.hidden is None
        or lab.batch.tokens[lab.sentence][key.hidden[1] :][:1] != ["[MASK]"]
    ):
        return None
    word = read_text(lab.source, replace(key, hidden=None)).tokens[lab.sentence][key.hidden[1]]
    return (key.hidden[1], word) if IDS.get(word, MASK_ID) > MASK_ID else None


def _score_hidden(lab: Lab, hidden: tuple[int, str], final: Array) -> Array:
    """Return the hidden word's probability from what leaves the encoder: (N, T, D) → (N,)."""
    network = lab.source.english_network(lab.weights, lab.config, lab["seed"])
    return score_word(network.network, final, hidden[0], IDS[hidden[1]])


# --- which parts matter


@dataclass(frozen=True, eq=False)
class Parts:
    """The effects of some parts of an untouched run."""

    run: Run
    effects: Array
    """(parts,): how far the sentence's vector moves without each; or what is added to the word's probability."""
    word: str = ""
    """The hidden word, if effects are on it."""
    before: float = 0.0
    """Its probability with every part."""


def find_largest(parts: Parts) -> tuple[int, dict[str, float]] | None:
    """The part that matters most among those that are measured, its effect, and the median size; None without any."""
    sizes = np.abs(parts.effects)
    if not np.isfinite(sizes).any():
        return None
    largest = int(np.nanargmax(sizes))
    effect = float(parts.effects[largest])
    return largest, {"effect": effect, "after": parts.before + effect, "median": float(np.nanmedian(sizes))}


def show_parts(lab: Lab, numbers: Numbers, focus: Focus, options: Options) -> Iterator[Item]:
    """The choice of parts, and of what their absence is measured on; the map, and what is read off it."""
    kind, untouched = options["whatif_parts"], lab.without_changes
    run = untouched.run
    on = Control("whatif_on", say("what_if", "on"), say("what_if", "on.help"))
    yield Columns(((Control("whatif_parts", say("what_if", "parts")),), (on,)))
    if kind == "pairs of one head" and not list_pairs(run, focus.layer):
        yield Paragraph(say("what_if", "needs-pairs"), "info")
        return
    if kind == "heads taken out":
        yield from _show_pruning(lab, numbers, options)
        return
    hidden = _find_hidden_word(untouched) if options["whatif_on"] == "right answers" else None
    if hidden is None and options["whatif_on"] == "right answers":
        yield Paragraph(say("what_if", "needs-word"), "info")
    place = (focus.layer, focus.head) if kind == "pairs of one head" else (0, 0)
    key = SweepKey(kind, *place, on_word=hidden is not None)
    yield Widget("measure", {"name": "whatif_effects", "lab": untouched, "sweep": key})
    parts = Parts(run, numbers(untouched, key))
    if hidden is not None:
        before = float(_score_hidden(untouched, hidden, run.arrays["final"][None])[0])
        parts = Parts(run, parts.effects - np.float32(before), hidden[1], before)
    names, chart, offers = KINDS_OF_PARTS[kind](parts, focus)
    found = find_largest(parts)
    if found is None:
        yield Paragraph(say("what_if", "largest-none"), "answer")
    else:
        case, told = "word" if parts.word else "vector", {"part": names(found[0]), "word": parts.word, **found[1]}
        yield Paragraph(say("what_if", f"largest-{case}", before=parts.before, **told), "answer")
    yield chart
    yield offer_changes(lab, "whatif_switch", offers)


def _measured(parts: Parts) -> dict[str, Any]:
    if not parts.word:
        return {"reading": lambda _: say("what_if", "measured-vector"), "bar": "change", "more": "a larger effect"}
    return {
        "reading": lambda _: say("what_if", "measured-word", word=parts.word, before=parts.before),
        "bar": "change",
        "more": "a larger effect",
        "number": "+.4g",
        "colours": colour_scales.around_zero,
    }


Shown = tuple[Callable[[int], str], Heatmap[Any], Mapping[str, Sequence[Change]]]
"""What each part is called, the map of effects, and offers to make the focus's part a change."""


def _show_heads(parts: Parts, focus: Focus) -> Shown:
    n_heads = parts.run.config.n_heads
    chart = number_by_head(
        key="head_effects",
        values=lambda _: parts.effects.reshape(-1, n_heads),
        caption=say("what_if", "part-heads.caption"),
        alt=say("what_if", "part-heads.alt"),
        **_measured(parts),
    )
    label = say("what_if", "offer-head", layer=focus.layer, head=focus.head)
    offers = {label: [Change("zero", focus.layer, focus.head)]}
    return lambda i: "Layer {}, head {}".format(*divmod(i, n_heads)), chart, offers


def _show_sublayers(parts: Parts, focus: Focus) -> Shown:
    n_layers = parts.run.config.n_layers
    names = [f"Layer {layer}, {name}" for layer in range(n_layers) for name in SUBLAYERS.values()]
    chart = Heatmap[Any](
        key="sublayer_effects",
        values=lambda _: parts.effects.reshape(n_layers, -1),
        rows=Axis("layer", place="layer"),
        columns=Axis("sublayer", lambda _: list(SUBLAYERS.values()), options={"tickangle": 0}),
        magnitude=1.0,
        gap=1,
        hover="layer %{y}, %{x}",
        caption=say("what_if", "part-sublayers.caption"),
        alt=say("what_if", "part-sublayers.alt"),
        click=say("what_if", "part-sublayers.click"),
        height=110 + 34 * n_layers,
        **_measured(parts),
    )
    offers = {
        say("what_if", "offer-sublayer", name=name, layer=focus.layer): [Change("off", focus.layer, None, (sublayer,))]
        for sublayer, name in SUBLAYERS.items()
    }
    return names.__getitem__, chart, offers


def _show_pairs(parts: Parts, focus: Focus) -> Shown:
    run, pairs = parts.run, list_pairs(parts.run, focus.layer)
    cells = np.full((len(run.tokens), len(run.tokens)), np.nan, np.float32)
    cells[tuple(np.transpose(pairs))] = parts.effects

    def name(query: int, key: int) -> str:
        return f"{quote_place(run.tokens, query)} → {quote_place(run.tokens, key)}"

    chart: Heatmap[Any] = head_map(
        key="pair_effects",
        alt=say("what_if", "part-pairs.alt"),
        caption=say("what_if", "part-pairs.caption", layer=focus.layer, head=focus.head),
        weights=lambda _: cells,
        tokens=lambda _: run.tokens,
        allowed=lambda _: np.isfinite(cells),
        visible=lambda _: ~run.padding,
        magnitude=None if np.nanmax(np.abs(cells), initial=0) > 1e-6 else 1.0,
        hover="%{y} does not attend to %{x}",
        click=CLICK_CELL,
        **{"colours": colour_scales.from_zero} | _measured(parts),
    )
    label = say("what_if", "offer-pair", pair=name(focus.query, focus.key))
    cut = Change("weight", focus.layer, focus.head, (focus.query, focus.key, 0.0))
    return lambda i: name(*pairs[i]), chart, {label: [cut]}


KINDS_OF_PARTS: Mapping[str, Callable[[Parts, Focus], Shown]] = {
    "heads": _show_heads,
    "sublayers": _show_sublayers,
    "pairs of one head": _show_pairs,
}
"""By the value of `whatif_parts`; `heads taken out` is `_show_pruning`."""


# --- heads taken out


def _show_pruning(lab: Lab, numbers: Numbers, options: Options) -> Iterator[Item]:
    """What is left without `whatif_pruned` heads, the least effect first: a number, curves, and a button."""
    untouched, config = lab.without_changes, lab.config
    sizes = pruned_sizes(config)
    yield Control("whatif_pruned", say("what_if", "pruned"), high=sizes[-1])
    yield Widget("measure", {"name": "whatif_effects", "lab": untouched, "sweep": SweepKey("heads")})
    alone = numbers(untouched, SweepKey("heads"))
    if not np.isfinite(alone).all():  # the order follows from all of them
        return
    key = SweepKey("heads taken out", order=comparison.order_by_effect(alone))
    yield Widget("measure", {"name": "whatif_pruning", "lab": untouched, "sweep": key})
    left = numbers(untouched, key).reshape(-1, len(sizes))
    place = min(options["whatif_pruned"] // sizes.step, len(sizes) - 1)
    n = sizes[place]
    if np.isfinite(left[:, place]).all():
        told = {"n": n, "heads": len(alone), "left": float(left[0, place]), "random": float(left[1:, place].mean())}
        yield Paragraph(say("what_if", "left", **told), "answer")
    else:
        yield Paragraph(say("what_if", "largest-none"), "answer")
    names = ["least effect first", *(f"random order {number}" for number in range(len(left) - 1))]
    yield Curves[Any](
        key="pruning_curves",
        alt=say("what_if", "curves.alt"),
        caption=say("what_if", "curves.caption"),
        curves=lambda _: draw_curves(np.array(sizes), left),
        x=Axis("heads taken out", options={"range": [-0.5, sizes[-1] + 0.5]}),
        y=lambda _: {"title": "cosine"},
        marks={"": n},
        height=340,
        table=lambda _: pd.DataFrame(left.T, pd.Index(sizes, name="heads taken out"), names),
    )
    yield offer_changes(lab, "whatif_take_out", {say("what_if", "offer-heads", n=n): take_out(key.order, n, config)})


def draw_curves(sizes: Array, left: Array) -> list[Curve]:
    """Random orders as a band with their mean, where all of them are measured, and the line of the order, first."""
    random = left[1:]
    known = np.isfinite(random).all(axis=0)
    low, mean, high = (bound(random[:, known], axis=0) for bound in (np.min, np.mean, np.max))
    return [
        Curve("random order", sizes[known], mean, palette.RESIDUAL, low, high, marker=0),
        Curve("least effect first", sizes, left[0], palette.ATTENTION, marker=0),
    ]


def take_out(order: Order, n: int, config: ModelConfig) -> list[Change]:
    """The changes that take n heads out, as few as there can be: one for a layer of which every head is out."""
    merged: list[Change] = []
    for layer in range(config.n_layers):
        out = [each for each in remove_heads(order, n, config) if each.layer == layer]
        merged += [Change("zero", layer)] if len(out) == config.n_heads > 1 else out
    return merged


# --- where the difference sits


def find_nearest(shares: Array, columns: Sequence[int]) -> tuple[int, int, float] | None:
    """The depth and token, of some tokens, of the largest share (L + 1, T); None if none is above `LEAST_NEARER`."""
    chosen = np.full(shares.shape, -np.inf)
    chosen[:, list(columns)] = np.nan_to_num(shares[:, list(columns)], nan=-np.inf)
    depth, token = divmod(int(chosen.argmax()), shares.shape[1])
    return (depth, token, float(chosen[depth, token])) if chosen[depth, token] >= LEAST_NEARER else None


def show_patches(lab: Lab, numbers: Numbers, focus: Focus, options: Options) -> Iterator[Item]:
    """The other sentence, the map of places, the largest of them in words, and buttons that patch the chosen one."""
    untouched, n, sentence = lab.without_changes, len(lab.text.sentences), lab.sentence
    partners = sentences.find_partners(lab.batch, sentence)
    if not partners:
        yield Paragraph(say("what_if", "patch-needs"), "answer")
        yield _offer_copy(lab, focus)
        return
    source = min(partners, key=lambda each: ((each - options["whatif_other"] + 1) % n, each))
    other = source + 1
    if len(partners) > 1:
        yield Control("whatif_other", say("what_if", "other"), high=n)
    yield Paragraph(
        say("what_if", "other.shown", other=other, text=escape_markdown(lab.text.sentences[source])), "caption"
    )
    key = SweepKey("patches", source=source)
    yield Widget("measure", {"name": "whatif_patches", "lab": untouched, "sweep": key})
    tokens, changed = untouched.run.real_tokens, sentences.changed_tokens(lab.batch, sentence, source)
    shares = numbers(untouched, key).reshape(-1, len(tokens))
    for name, columns in {"nearest": range(len(tokens)), "shared": sorted({*range(len(tokens))} - {*changed})}.items():
        if found := find_nearest(shares, columns):
            told = {"token": quote_place(tokens, found[1]), "depth": found[0], "share": found[2], "other": other}
            yield Paragraph(say("what_if", f"patch-{name}", **told), "answer" if name == "nearest" else "text")
        elif name == "nearest":
            yield Paragraph(say("what_if", "patch-none", other=other), "answer")
    yield map_patches(shares, tokens, lab.batch.tokens[source], changed, other)
    token = quote_place(tokens, focus.query)
    offers = {
        say("what_if", "offer-patch", token=token, layer=focus.layer): ("out", focus.layer),
        say("what_if", "offer-embedding", token=token): ("embed", None),
    }
    patches = {
        label: [Change("patch", layer, None, (point, focus.query, source))] for label, (point, layer) in offers.items()
    }
    yield offer_changes(lab, "whatif_patch", patches)
    yield _offer_copy(lab, focus)


def map_patches(
    shares: Array, tokens: Sequence[str], others: Sequence[str], changed: Sequence[int], other: int
) -> Heatmap[Any]:
    """The shares (L + 1, T) by depth and token; tokens that differ from those of the other sentence are framed."""
    n_depths = len(shares)
    names = [
        f"{shortened(others[i], 9)} for {shortened(token, 9)}" if i in changed else token
        for i, token in enumerate(tokens)
    ]
    return Heatmap(
        key="patched_places",
        alt=say("what_if", "patches.alt", other=other),
        caption=say("what_if", "patches.caption", other=other),
        values=lambda _: shares.astype(np.float32),
        rows=Axis("blocks passed", place="layer", numbers=lambda _: [None, *range(n_depths - 1)]),
        columns=token_axis(lambda _: names),
        bar="nearer by",
        hover="%{x}, depth %{y}, nearer by",
        more="nearer",
        number=".1%",
        colours=lambda numbers: replace(colour_scales.around_zero(numbers), ticks={"tickformat": ".0%"}),
        magnitude=1.0,
        gap=1,
        frames=lambda _: [((0, n_depths - 1), (column, column), palette.EMBEDDINGS, 3) for column in changed],
        height=int(np.clip(215 + 30 * n_depths, 320, 660)),
        flat_bar=True,
        least_cell=LEAST_CELL,
        click=say("what_if", "patches.click"),
    )


def _offer_copy(lab: Lab, focus: Focus) -> Button:
    """A button for a copy of the sentence with the focused word changed, which is then looked at."""
    n, key = len(lab.text.sentences), lab.text_key

    def encode(sentences: Sequence[str]) -> Batch:
        """Sentences as the tokenizer cuts them: a vocabulary of the text's own words is made of theirs."""
        tokenizer = lab.source.tokenizer(replace(key, sentences=tuple(sentences)))
        return tokenizer.encode_batch(list(sentences), key.max_tokens)

    copied = sentences.corrupt_word(encode, lab.batch, lab.sentence, focus.query)
    text = None if copied is None else sentences.append_sentences(lab["text"], n, [copied[0]])
    if copied is None or text is None:
        return Button(
            "whatif_corrupt", say("what_if", "copy.none"), {}, say("what_if", "copy.missing"), is_disabled=True
        )
    old, new = (escape_markdown(shortened(word)) for word in copied[2:])
    # A change that names a token by its position would mean another one in another sentence.
    kept = Changes(tuple(each._replace(is_on=each.is_on and each.change.names_no_token) for each in lab.changes))
    chosen = {"text": text, "sentence": n + 1, "whatif_other": lab.sentence + 1, "query": copied[1], "do": kept}
    label = say("what_if", "copy", old=f"“{old}”", new=f"“{new}”")
    return Button("whatif_corrupt", label, chosen, say("what_if", "copy.help"), ":material/playlist_add:")
