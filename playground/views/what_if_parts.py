"""Which parts matter, and where the difference of two sentences sits.

Legend: L layers; H heads; T tokens; N variants. NaN is what is not measured yet.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from playground.analysis import comparison, sentences
from playground.analysis.comparison import Score, list_pairs
from playground.charts import colour_scales, palette
from playground.charts.chart import (
    Axis,
    Button,
    Columns,
    Control,
    Group,
    Heatmap,
    Item,
    Options,
    Paragraph,
    Widget,
    token_axis,
)
from playground.charts.figure import Array
from playground.charts.heads import CLICK_CELL, LEAST_CELL, head_map, number_by_head
from playground.charts.names import escape_markdown, quote_place, shortened
from playground.link.kinds import Changes
from playground.link.lab import Lab, hidden_word, once, run_sentence, score_hidden
from playground.link.opening import Focus
from playground.model.changes import SUBLAYERS, Change
from playground.runs.encoder_run import Run
from playground.runs.variant_runs import Variant
from playground.text import Batch
from playground.views.scenes import offer_changes
from playground.words import say

LEAST_NEARER = 0.005
"""The smallest share that a whole percentage does not round to 0."""


class SweepKey(NamedTuple):
    """What is measured of a sentence that nothing changes."""

    kind: str
    """As `whatif_parts`, or `patches`."""
    layer: int = 0
    head: int = 0
    source: int = 0
    on_word: bool = False
    """Whether the hidden word's probability is measured, and not how far the sentence's vector moves."""


Numbers = Callable[[Lab, SweepKey], Array]
"""What is measured of a sweep by now, a number a variant."""


def list_variants(key: SweepKey, run: Run) -> list[Variant]:
    """Return what each row of a sweep changes."""
    match key.kind:
        case "heads":
            changes = comparison.list_heads(run.config)
        case "sublayers":
            changes = comparison.list_sublayers(run.config)
        case "pairs of one head":
            changes = comparison.list_cuts(run, key.layer, key.head)
        case _:
            changes = comparison.list_patches(run.config.n_layers, run.n_real, key.source)
    return [[each] for each in changes]


def measure_rows(lab: Lab, key: SweepKey, rows: Sequence[int] | None = None) -> Array:
    """Return the numbers of some variants, or of all; raises as `comparison.measure_variants`."""
    run, variants, sources = lab.run, list_variants(key, lab.run), None
    score: Score = comparison.score_change(run)
    if key.kind == "patches":
        source = run_sentence(lab.source, lab.key_of(key.source))
        score, sources = comparison.score_nearness(run, source), {key.source: source.arrays}
    elif key.on_word:
        score = lambda final: score_hidden(lab, final)[:, None]  # noqa: E731
    options = {"sentence": lab.sentence, "seed": lab["seed"], "causal": lab["causal"], "sources": sources}
    asked = variants if rows is None else [variants[row] for row in rows]
    with lab.source.turn():
        return comparison.measure_variants(asked, score, lab.encoder, lab.batch, run, **options)[:, 0]


@once
def measure_all(lab: Lab, key: SweepKey) -> Array:
    """Return all numbers of a sweep."""
    return measure_rows(lab, key)


def _find_hidden_word(lab: Lab) -> str:
    """Return the hidden word, if the small English has one that is known."""
    hidden = hidden_word(lab)
    return "" if hidden is None else hidden[1]


# --- which parts matter


def find_largest(effects: Array) -> tuple[int, float, float] | None:
    """Return the part with the largest effect, the effect, and the median size, if any."""
    sizes = np.abs(effects)
    if not np.isfinite(sizes).any():
        return None
    largest = int(np.nanargmax(sizes))
    return largest, float(effects[largest]), float(np.nanmedian(sizes))


def show_parts(lab: Lab, numbers: Numbers, focus: Focus, options: Options) -> Iterator[Item]:
    """Yield the choice of parts, their map, and the largest effect."""
    kind, untouched = options["whatif_parts"], lab.without_changes
    run = untouched.run
    on = Control("whatif_on", say("what_if", "on"), say("what_if", "on.help"))
    yield Columns(((Control("whatif_parts", say("what_if", "parts")),), (on,)))
    if kind == "pairs of one head" and not list_pairs(run, focus.layer):
        yield Paragraph(say("what_if", "needs-pairs"), "info")
        return
    hidden = _find_hidden_word(untouched) if options["whatif_on"] == "right answers" else ""
    if not hidden and options["whatif_on"] == "right answers":
        yield Paragraph(say("what_if", "needs-word"), "info")
    place = (focus.layer, focus.head) if kind == "pairs of one head" else (0, 0)
    key = SweepKey(kind, *place, on_word=hidden != "")
    yield Widget("measure", {"name": "whatif_effects", "lab": untouched, "sweep": key})
    effects, case, before, told = numbers(untouched, key), "vector", 0.0, dict[str, Any]()
    look: dict[str, Any] = {"bar": "change", "more": "a larger effect"}
    if hidden:
        before = float(score_hidden(untouched, run.arrays["final"][None])[0])
        effects, case, told = effects - np.float32(before), "word", {"word": hidden, "before": before}
        look |= {"number": "+.4g", "colours": colour_scales.around_zero}
    look["reading"] = lambda _: say("what_if", f"measured-{case}", **told)
    names, chart, offers = KINDS_OF_PARTS[kind](run, effects, focus, look)
    if (found := find_largest(effects)) is None:
        yield Paragraph(say("what_if", "largest-none"), "answer")
    else:
        part, effect, median = found
        told |= {"part": names(part), "effect": effect, "median": median, "after": before + effect}
        yield Paragraph(say("what_if", f"largest-{case}", **told), "answer")
    yield Group("", (chart,))  # below the switch of views
    yield offer_changes(lab, "whatif_switch", offers)


Shown = tuple[Callable[[int], str], Heatmap[Any], Mapping[str, Sequence[Change]]]
"""What each part is called, the map of effects, and offers to make the focus's part a change."""


def _show_heads(run: Run, effects: Array, focus: Focus, look: dict[str, Any]) -> Shown:
    n_heads = run.config.n_heads
    chart = number_by_head(
        key="head_effects",
        values=lambda _: effects.reshape(-1, n_heads),
        caption=say("what_if", "part-heads.caption"),
        alt=say("what_if", "part-heads.alt"),
        **look,
    )
    label = say("what_if", "offer-head", layer=focus.layer, head=focus.head)
    offers = {label: [Change("zero", focus.layer, focus.head)]}
    return lambda i: "Layer {}, head {}".format(*divmod(i, n_heads)), chart, offers


def _show_sublayers(run: Run, effects: Array, focus: Focus, look: dict[str, Any]) -> Shown:
    n_layers = run.config.n_layers
    names = [f"Layer {layer}, {name}" for layer in range(n_layers) for name in SUBLAYERS.values()]
    chart = Heatmap[Any](
        key="sublayer_effects",
        values=lambda _: effects.reshape(n_layers, -1),
        rows=Axis("layer", place="layer"),
        columns=Axis("sublayer", lambda _: list(SUBLAYERS.values()), options={"tickangle": 0}),
        magnitude=1.0,
        gap=1,
        hover="layer %{y}, %{x}",
        caption=say("what_if", "part-sublayers.caption"),
        alt=say("what_if", "part-sublayers.alt"),
        click=say("what_if", "part-sublayers.click"),
        height=110 + 34 * n_layers,
        **look,
    )
    offers = {
        say("what_if", "offer-sublayer", name=name, layer=focus.layer): [Change("off", focus.layer, None, (sublayer,))]
        for sublayer, name in SUBLAYERS.items()
    }
    return names.__getitem__, chart, offers


def _show_pairs(run: Run, effects: Array, focus: Focus, look: dict[str, Any]) -> Shown:
    pairs = list_pairs(run, focus.layer)
    cells = np.full((len(run.tokens), len(run.tokens)), np.nan, np.float32)
    cells[tuple(np.transpose(pairs))] = effects

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
        **{"colours": colour_scales.from_zero} | look,
    )
    label = say("what_if", "offer-pair", pair=name(focus.query, focus.key))
    cut = Change("weight", focus.layer, focus.head, (focus.query, focus.key, 0.0))
    return lambda i: name(*pairs[i]), chart, {label: [cut]}


KINDS_OF_PARTS: Mapping[str, Callable[[Run, Array, Focus, dict[str, Any]], Shown]] = {
    "heads": _show_heads,
    "sublayers": _show_sublayers,
    "pairs of one head": _show_pairs,
}
"""By the value of `whatif_parts`."""


# --- where the difference sits


def find_nearest(shares: Array) -> tuple[int, int, float] | None:
    """Return depth, token and share of the largest share (L + 1, T), if any."""
    known = np.nan_to_num(shares, nan=-np.inf)
    depth, token = divmod(int(known.argmax()), shares.shape[1])
    share = float(known[depth, token])
    return (depth, token, share) if share >= LEAST_NEARER else None


def show_patches(lab: Lab, numbers: Numbers, focus: Focus, options: Options) -> Iterator[Item]:
    """Yield the other sentence, the map of places, the best of them, and a button that patches."""
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
    text = escape_markdown(lab.text.sentences[source])
    yield Paragraph(say("what_if", "other.shown", other=other, text=text), "caption")
    key = SweepKey("patches", source=source)
    yield Widget("measure", {"name": "whatif_patches", "lab": untouched, "sweep": key})
    tokens = untouched.run.real_tokens
    shares = numbers(untouched, key).reshape(-1, len(tokens))
    if (found := find_nearest(shares)) is None:
        yield Paragraph(say("what_if", "patch-none", other=other), "answer")
    else:
        depth, at, share = found
        told = {"token": quote_place(tokens, at), "depth": depth, "share": share, "other": other}
        yield Paragraph(say("what_if", "patch-nearest", **told), "answer")
    changed = sentences.changed_tokens(lab.batch, sentence, source)
    yield Group("", (map_patches(shares, tokens, lab.batch.tokens[source], changed, other),))
    label = say("what_if", "offer-patch", token=quote_place(tokens, focus.query), layer=focus.layer)
    patch = Change("patch", focus.layer, None, ("out", focus.query, source))
    yield offer_changes(lab, "whatif_patch", {label: [patch]})
    yield _offer_copy(lab, focus)


def map_patches(
    shares: Array, tokens: Sequence[str], others: Sequence[str], changed: Sequence[int], other: int
) -> Heatmap[Any]:
    """Draw the shares (L + 1, T); tokens that differ are framed."""
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
    n, key = len(lab.text.sentences), lab.text_key

    def encode(sentences: Sequence[str]) -> Batch:  # a vocabulary of the text's own words is made of theirs
        tokenizer = lab.source.tokenizer(replace(key, sentences=tuple(sentences)))
        return tokenizer.encode_batch(list(sentences), key.max_tokens)

    copied = sentences.corrupt_word(encode, lab.batch, lab.sentence, focus.query)
    text = None if copied is None else sentences.append_sentences(lab["text"], n, [copied[0]])
    if copied is None or text is None:
        label, why = say("what_if", "copy.none"), say("what_if", "copy.missing")
        return Button("whatif_corrupt", label, {}, why, is_disabled=True)
    old, new = (escape_markdown(shortened(word)) for word in copied[2:])
    # A change that names a token by its position would mean another one in another sentence.
    kept = Changes(tuple(each._replace(is_on=each.is_on and each.change.names_no_token) for each in lab.changes))
    chosen = {"text": text, "sentence": n + 1, "whatif_other": lab.sentence + 1, "query": copied[1], "do": kept}
    label = say("what_if", "copy", old=f"“{old}”", new=f"“{new}”")
    return Button("whatif_corrupt", label, chosen, say("what_if", "copy.help"), ":material/playlist_add:")
