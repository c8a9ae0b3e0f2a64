"""The page Decoder: one pair of sentences."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch

from playground.accounting import count_encoder_decoder
from playground.charts import palette
from playground.charts.chart import (
    Axis,
    Columns,
    Control,
    Group,
    HeadGrid,
    Heatmap,
    Item,
    Options,
    Paragraph,
    Table,
    fill_panel,
)
from playground.charts.colour_scales import Colours
from playground.charts.heads import FOR_FINGERS, head_map, shrink
from playground.charts.names import escape_markdown, quote_place, quote_token
from playground.charts.scene import Scene
from playground.link.lab import find_pair, read_text, run_pair
from playground.link.opening import LinkedView
from playground.link.state import TRANSLATOR, is_random
from playground.runs.arrays import Array
from playground.runs.pair_run import PairRun
from playground.text import Tokenizer
from playground.training.tasks.translation import ENGLISH, TRANSLATE, WORDS, is_sentence
from playground.training.trained_network import TrainedNetwork
from playground.words import say

N_ROWS = 5
"""Of the table of next tokens."""

MASKS = ("no peek", "target padding", "combined", "source padding")

_TWO_COLOURS = [[0, palette.MUTED], [0.5, palette.MUTED], [0.5, palette.ATTENTION], [1, palette.ATTENTION]]


@dataclass(frozen=True)
class Pair:
    """A run of a pair, and its model."""

    run: PairRun
    vocabulary: Tokenizer
    """Of the target."""
    weights: str = "random"
    """`random`, `translator`, or `trained` here."""
    n_cut: int = 0
    """Tokens left out."""
    translator: TrainedNetwork | None = None
    """If the pair is the shipped example."""

    def key(self, name: str) -> str:
        """Return a parameter's key; the example has its own."""
        return f"encdec_{name}" if self.translator is None else f"encdec_example_{name}"


def pair_scene(view: LinkedView) -> Scene[Pair]:
    """Return the pair; raises as `find_pair`, `run_pair`."""
    key, source = find_pair(view.lab, view.values), view.lab.source
    run, vocabulary = run_pair(source, key), source.tokenizer(key.target)
    if key.weights == TRANSLATOR:
        return Scene(Pair(run, vocabulary, "translator", translator=source.translator()))
    n_cut = read_text(source, key.source).truncated[key.sentence] + read_text(source, key.target).truncated[key.line]
    return Scene(Pair(run, vocabulary, "random" if is_random(key.weights) else "trained", n_cut))


def show_encoder_decoder(scene: Scene[Pair], options: Options) -> Iterator[Item]:
    """Yield the next token, the translation, attention, and masks."""
    pair, translator = scene.now, scene.now.translator
    yield Paragraph(say("encoder_decoder", "next", **find_next(pair, options)), "answer")
    if translator is not None:
        yield Paragraph(say("encoder_decoder", "written", text=" ".join(pair.run.target.tokens[1:])))
        case, right = check_translation(pair)
        yield Paragraph(say("encoder_decoder", f"written-{case}", right=right), "caption")
    yield from show_attention(pair, options)
    yield Paragraph(say("encoder_decoder", "run", **_describe_run(pair)), "caption")
    yield _show_next_tokens(pair, options)
    if translator is not None:
        title = say("encoder_decoder", "training")
        yield fill_panel(
            options, "encdec_show_training", title, lambda: _describe_training(translator), ":material/school:"
        )
    title = say("encoder_decoder", "masks")
    yield fill_panel(options, "encdec_show_masks", title, lambda: [show_masks(pair.run)], ":material/functions:")


def find_next(pair: Pair, options: Options) -> dict[str, Any]:
    """Return the likeliest next token, and where the chosen head looks most."""
    run, position, attention = pair.run, _chosen_position(pair, options), str(options[pair.key("attention")])
    (layer, head), (queries, keys) = _chosen_head(pair, options), run.sides(attention)
    pattern = _shown_patterns(run, attention)[layer, head]
    row = position if queries is run.target else int(pattern.max(axis=1).argmax())
    key = int(pattern[row].argmax())
    return {
        "read": quote_place(run.target.tokens, position),
        "token": quote_token(pair.vocabulary.id_to_token(int(run.logits[position].argmax()))),
        "percent": 100 * run.next_words(position).max(),
        "attention": attention.replace(" ", "-"),
        "layer": layer,
        "head": head,
        "query": quote_place(queries.tokens, row),
        "key": quote_place(keys.tokens, key),
        "weight": float(pattern[row, key]),
    }


def _describe_run(pair: Pair) -> dict[str, Any]:
    config, run = pair.run.config, pair.run
    total = count_encoder_decoder(config, pair.vocabulary.vocab_size).total
    sizes = {"source": run.source.n_real, "target": run.target.n_real, "layers": config.n_layers}
    return {**sizes, "heads": config.n_heads, "cut": pair.n_cut, "weights": pair.weights, "total": f"{total:,}"}


def _chosen_position(pair: Pair, options: Options) -> int:
    return min(int(options[pair.key("position")]), pair.run.target.n_real - 1)


def _chosen_head(pair: Pair, options: Options) -> tuple[int, int]:
    n_layers, n_heads = pair.run.patterns["cross"].shape[:2]
    return min(options[pair.key("layer")], n_layers - 1), min(options[pair.key("head")], n_heads - 1)


def check_translation(pair: Pair) -> tuple[str, str]:
    """Return whether the translation is `right`, `wrong` or, of no sentence of the grammar, `open`; the right one."""
    words = pair.run.source.tokens
    if not is_sentence(words):
        return "open", ""
    symbols, ids = TRANSLATE.symbols(0), torch.tensor([[TRANSLATE.first_id + ENGLISH.index(word) for word in words]])
    right = [symbols[i - TRANSLATE.first_id] for i in TRANSLATE.answers(ids)[0].tolist()]
    return "right" if list(pair.run.target.tokens[1:]) == right else "wrong", " ".join(right)


def _shown_patterns(run: PairRun, attention: str) -> Array:
    """Return weights (L, H, Tq, Tk), 0 for padded queries."""
    weights, (queries, _) = run.patterns[attention], run.sides(attention)
    return np.where(queries.padding[:, None], weights.dtype.type(0), weights)


def show_attention(pair: Pair, options: Options) -> Iterator[Item]:
    """Yield one head large, and every head small."""
    attention, position = str(options[pair.key("attention")]), pair.key("position")
    queries, keys = pair.run.sides(attention)
    patterns = _shown_patterns(pair.run, attention)
    n_layers, n_heads = patterns.shape[:2]
    places = pair.key("layer"), pair.key("head")
    layer, head = _chosen_head(pair, options)
    grid = HeadGrid[Pair](
        key="encdec_grid",
        alt=say("encoder_decoder", "grid.alt", layers=n_layers, heads=n_heads, attention=attention),
        caption=say("encoder_decoder", "grid.caption"),
        thumbnails=lambda _: shrink(patterns),
        weights=lambda _: patterns,
        queries=lambda _: queries.tokens,
        keys=lambda _: keys.tokens,
        places=places,
        chosen=dict(zip(places, (layer, head), strict=True)),
        click=say("encoder_decoder", "grid.click"),
        opens="encdec_pattern",
        saved_as=f"{attention}_attention_all_heads",
    )
    kind = attention.replace(" ", "-")
    is_step = queries is pair.run.target
    pattern: Heatmap[Pair] = head_map(
        key="encdec_pattern",
        alt=say("encoder_decoder", "pattern.alt", attention=attention, layer=layer, head=head),
        caption=say("encoder_decoder", "pattern.caption", attention=kind, name=attention, layer=layer, head=head),
        weights=lambda _: patterns[layer, head],
        allowed=lambda _: pair.run.allowed(attention) & ~queries.padding[:, None],
        tokens=lambda _: queries.tokens,
        keys=lambda _: keys.tokens,
        places=(position if is_step else "", ""),
        chosen={position: _chosen_position(pair, options)} if is_step else {},
        click=say("encoder_decoder", "pattern.click") if is_step else "",
        **FOR_FINGERS,
        saved_as=f"{attention}_attention_layer{layer}_head{head}",
    )
    yield Control(pair.key("attention"), say("encoder_decoder", "attention"))
    controls = (Control(places[0], "layer", high=n_layers - 1), Control(places[1], "head", high=n_heads - 1))
    yield Group("", controls, is_row=True)
    yield Columns(((pattern,), (Group("", (grid,), is_late=True),)), shares=(3, 2))


def _show_next_tokens(pair: Pair, options: Options) -> Group:
    target, position = pair.run.target, _chosen_position(pair, options)
    so_far = escape_markdown(" ".join(target.tokens[: position + 1]))
    table = Table[Pair](
        key="encdec_next",
        frame=lambda subject: rank_next_tokens(subject, position),
        formats={"probability, %": "%.4g", "logit": "%.3f"},
    )
    items: tuple[Item, ...] = (
        Paragraph(say("encoder_decoder", "logits.title"), "header"),
        Paragraph(say("encoder_decoder", "logits"), "caption"),
        Control(pair.key("position"), say("encoder_decoder", "step"), high=target.n_real - 1),
        Paragraph(say("encoder_decoder", "step.so-far", text=so_far)),
        table,
    )
    return Group("encdec_next_tokens", items)


def rank_next_tokens(pair: Pair, position: int) -> pd.DataFrame:
    """Return the likeliest tokens after a target position."""
    probabilities = pair.run.next_words(position)
    best = np.argsort(-probabilities, kind="stable")[:N_ROWS]
    return pd.DataFrame(
        {
            "next token": [pair.vocabulary.id_to_token(int(token)) for token in best],
            "probability, %": 100 * probabilities[best],
            "logit": pair.run.logits[position, best],
        },
        index=pd.RangeIndex(1, len(best) + 1, name="place"),
    )


def _describe_training(translator: TrainedNetwork) -> Iterator[Paragraph]:
    recipe, results = translator.recipe, translator.results
    yield Paragraph(
        say(
            "encoder_decoder", "training.text",
            sentences=recipe.n_train, steps=results.kept_step, others=recipe.n_validation,
            percent=100 * results.validation_accuracy, task=translator.task.title,
        )
    )  # fmt: skip
    yield Paragraph(
        "  \n".join(f"**{kind}**: {' · '.join(word for word, _, _ in forms)}" for kind, forms in WORDS.items())
    )


def show_masks(run: PairRun) -> Group:
    """Return who may look at whom."""
    n_padding = run.target.padding.size - run.target.n_real
    items = (
        Paragraph(say("encoder_decoder", "masks.colours"), "caption"),
        Columns(tuple((_mask_map(run, name),) for name in MASKS), gap="small"),
        Paragraph(say("encoder_decoder", "masks.rows", padding=n_padding), "caption"),
    )
    return Group("encdec_masks", items)


def _mask_map(run: PairRun, name: str) -> Heatmap[Pair]:
    side, mask = "source" if name == "source padding" else "target", run.masks[name]
    n_allowed, cells = int(mask.sum()), mask.astype(np.float32)
    return Heatmap[Pair](
        key=f"encdec_mask_{name.replace(' ', '_')}",
        alt=say("encoder_decoder", "mask.alt", name=name, allowed=n_allowed, pairs=mask.size),
        caption=say("encoder_decoder", f"mask-{name.replace(' ', '-')}", hidden=mask.size - n_allowed, pairs=mask.size),
        values=lambda _: cells,
        rows=Axis("query: target token"),
        columns=Axis(f"key: {side} token"),
        bar="",
        hover="%{y} looks at %{x}; 1 is allowed, 0 is hidden",
        number=".0f",
        more="",
        colours=lambda _: Colours({"zmin": 0, "zmax": 1, "colorscale": _TWO_COLOURS}),
        height=230,
        is_tabulated=False,
    )
