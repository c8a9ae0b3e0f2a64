"""An encoder and a sentence, or an encoder–decoder and a pair of them, as a file or a notebook."""

from dataclasses import dataclass

import numpy as np

from playground.accounting import count_encoder_decoder
from playground.config import ModelConfig
from playground.errors import InputError
from playground.export.code.export import Export, OwnWeights, Section
from playground.export.code.rendering import (
    MASK,
    NO_MASK,
    OPTIONAL_MASK,
    architecture_values,
    encoder_sections,
    exercise_sections,
    memory_masks,
    render_sections,
)
from playground.export.code.shown import SHOWN, Expected, Place, ShownEncoder, checksum, cut_text, refuse_infinite
from playground.model import EncoderDecoder
from playground.runs.pair_run import PairRun, Side, run_pair
from playground.text import split_sentences
from playground.text.wording import count_noun


def export_encoder(shown: ShownEncoder) -> Export:
    """The sections of an encoder and its sentence, and tutorial D's exercises on it."""
    return Export("encoder", _describe(shown), encoder_sections(shown), exercise_sections(shown), shown.own_weights)


def _describe(shown: ShownEncoder) -> str:
    """One line on what is written down, at most 110 characters."""
    config = shown.config
    names = {"minilm": "trained weights", "random": f"random weights of seed {shown.seed}"}
    weights = names.get(shown.weights, "weights of its own")
    layers, heads = count_noun(config.n_layers, "layer"), count_noun(config.n_heads, "head")
    return f"A transformer encoder: {layers}, {heads}, d_model {config.d_model}, {weights}."


@dataclass(frozen=True)
class ShownSide:
    """One sentence, with the padding of its batch."""

    tokens: tuple[str, ...]
    """Without padding."""
    ids: tuple[int, ...]
    """With padding."""

    @property
    def n_padding(self) -> int:
        """Padding tokens after the sentence's own."""
        return len(self.ids) - len(self.tokens)


@dataclass(frozen=True)
class ShownPair:
    """An encoder–decoder and a pair of sentences."""

    config: ModelConfig
    tgt_vocab_size: int
    seed: int
    tokenizer: str
    source: ShownSide
    target: ShownSide
    place: Place
    """Of the cross-attention that is printed."""
    expected: Expected
    own_weights: OwnWeights | None = None
    """None where they are random."""


def show_pair(
    config: ModelConfig, seed: int, text: str, target: str, tokenizer: str, sentence: int, place: Place
) -> ShownPair:
    """Run a sentence and its target line as a page does; arguments and errors as of `export_config`."""
    lines = split_sentences(target).sentences
    if not lines:
        raise InputError("The target has no sentence: the decoder needs at least one token.")
    source_batch, _ = cut_text(config, text, tokenizer, sentence)
    line = min(sentence, len(lines) - 1)
    target_batch, tgt_vocab_size = cut_text(config, target, tokenizer, line, of_table=False)
    run = run_pair(EncoderDecoder(config, tgt_vocab_size, seed), source_batch, target_batch, sentence, line)
    return of_pair_run(run, tgt_vocab_size, seed=seed, tokenizer=tokenizer, place=place)


def of_pair_run(
    run: PairRun,
    tgt_vocab_size: int,
    *,
    seed: int,
    tokenizer: str,
    place: Place,
    own_weights: OwnWeights | None = None,
) -> ShownPair:
    """What is written down of an encoder–decoder's run that is there already."""
    config, patterns = run.config, run.patterns["cross"]
    if not (run.source.n_real and run.target.n_real):
        raise InputError("Source or target has no token: there is nothing to write down.")
    refuse_infinite(run.logits, *run.patterns.values())
    place = Place(
        min(place.layer, config.n_layers - 1),
        min(place.head, config.n_heads - 1),
        min(place.query, run.target.n_real - 1),
    )
    return ShownPair(
        config=config,
        tgt_vocab_size=tgt_vocab_size,
        seed=seed,
        tokenizer=tokenizer,
        source=_side(run.source),
        target=_side(run.target),
        place=place,
        expected=Expected(
            output=run.logits[0, :SHOWN].tolist(),
            pattern=patterns[place.layer, place.head, place.query, :SHOWN].tolist(),
            sums=[checksum(array) for array in (run.logits, *run.patterns.values())],
        ),
        own_weights=own_weights,
    )


def export_pair(shown: ShownPair) -> Export:
    """The sections of an encoder–decoder and its pair."""
    weights = "weights of its own" if shown.own_weights else f"random weights of seed {shown.seed}"
    layers = count_noun(shown.config.n_layers, "layer")
    first_line = f"A transformer: {layers} in each half, d_model {shown.config.d_model}, {weights}."
    return Export("encoder_decoder", first_line, _sections(shown), weights=shown.own_weights)


def _sections(shown: ShownPair) -> list[Section]:
    own = shown.own_weights
    names = [
        "numbers",
        *(["own_weights"] if own else []),
        "pair_tokens",
        *(["norm"] if shown.config.norm != "none" else []),
        *("attention", "feedforward", "block", "embedding", "encoder", "decoder_block", "encoder_decoder"),
        *([] if own else ["random_weights"]),
        *("pair_run", "pair_proof"),
    ]
    has_padding = shown.source.n_padding > 0
    values = architecture_values(
        shown.config,
        mask=MASK if has_padding else NO_MASK,
        attention_mask=MASK if has_padding else OPTIONAL_MASK,
    )
    values |= {
        "has_memory": True,
        "has_two_tables": True,
        "has_halves": True,
        **memory_masks(values, has_padding=has_padding),
        "has_plain_head": True,
        "forward_masks": ", ".join([*(["src_mask: Tensor"] if has_padding else []), "tgt_mask: Tensor"]),
        "tgt_vocab_size": shown.tgt_vocab_size,
        "seed": shown.seed,
        "weights": "file" if own else "random",
        **(own.values if own else {}),
        "tokenizer": shown.tokenizer,
        "source": shown.source,
        "target": shown.target,
        "focus": shown.place,
        "expected": shown.expected,
        "n_parameters": f"{count_encoder_decoder(shown.config, shown.tgt_vocab_size).total:_}",
    }
    return list(render_sections(names, values))


def _side(side: Side) -> ShownSide:
    return ShownSide(side.tokens[: side.n_real], tuple(np.asarray(side.ids).tolist()))
