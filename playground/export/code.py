"""An encoder and its sentence, an encoder–decoder and its pair, or a training run, as a file or a notebook."""

from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from playground.accounting import count_parameters
from playground.config import ModelConfig
from playground.errors import InputError
from playground.export.rendering import (
    architecture_values,
    build_call,
    id_tensor,
    list_sections,
    number_list,
    render_sections,
    string_list,
)
from playground.export.written import Export, Section, save_weights, weights_values
from playground.link.lab import Lab
from playground.link.opening import Focus
from playground.runs.encoder_run import Run
from playground.runs.pair_run import PairRun, Side
from playground.text import Batch
from playground.text.wording import count_noun
from playground.training.recipe import Data, Recipe
from playground.training.tasks import TASKS
from playground.training.trainer import Trainer
from playground.weights import checkpoint

SHOWN = 6
"""Numbers that are compared one by one, of the output and of a pattern."""


def export_lab(lab: Lab, focus: Focus) -> Export:
    """Return the encoder and sentence of a lab, without changes; the code prints the attention of the focus.

    Raises:
        InputError: the sentence has no token, or a number is not finite.
        TooLargeError: the weights, or the attention patterns, are too many to keep.
    """
    computed, is_own = lab.without_changes.run, lab.weights not in ("random", "minilm")
    encoder = lab.source.encoder(lab.weights, computed.config, lab["seed"]) if is_own else None
    return export_run(
        computed,
        lab.batch,
        lab.sentence,
        seed=lab["seed"],
        weights=lab.weights if encoder is None else "file",
        tokenizer=lab.tokenizer.name,
        causal=lab["causal"],
        focus=focus,
        own_weights=None if encoder is None else save_weights(encoder),
    )


def export_run(
    computed: Run,
    batch: Batch,
    sentence: int,
    *,
    seed: int,
    weights: str,
    tokenizer: str,
    causal: bool,
    focus: Focus,
    own_weights: bytes | None = None,
) -> Export:
    """Return a run, whose arrays have `final` and every pattern, with its encoder; own weights are `file`."""
    config, tokens, ids = computed.config, batch.tokens[sentence], batch.ids[sentence].tolist()
    if not tokens:
        raise InputError("This sentence has no token: there is nothing to write down.")
    focus = replace(focus.within(config), query=min(focus.query, len(tokens) - 1))
    output = computed.arrays["final"]
    patterns = [computed.arrays[f"layers.{layer}.attn.pattern"] for layer in range(config.n_layers)]
    _refuse_infinite(output, *patterns)
    n_padding = len(ids) - len(tokens)
    values: dict[str, Any] = {
        **architecture_values(config, has_mask=causal or n_padding > 0),
        **({} if own_weights is None else weights_values(own_weights)),
        "seed": seed,
        "weights": weights,
        "minilm": {
            "package": checkpoint.MINILM_PACKAGE,
            "requirement": checkpoint.MINILM_REQUIREMENT,
            "sha256": {name: checkpoint.MINILM_SHA256[name] for name in (checkpoint.WEIGHTS, checkpoint.VOCABULARY)},
        },
        "text": batch.sentences[sentence],
        "tokenizer": tokenizer,
        "tokens": tokens,
        "n_tokens": len(tokens),
        "ids": ids,
        "width": len(ids),
        "n_padding": n_padding,
        "n_cut": batch.truncated[sentence],
        "pad_id": ids[-1],
        "causal": causal,
        "focus": focus,
        "expected": {
            "output": output[0, :SHOWN].tolist(),
            "pattern": patterns[focus.layer][focus.head, focus.query, :SHOWN].tolist(),
            "sums": [_sum_weighted(array) for array in (output, *patterns)],
        },
        "n_parameters": f"{count_parameters(config).total:_}",
    }
    names = {"minilm": "trained weights", "random": f"random weights of seed {seed}"}
    layers, heads = count_noun(config.n_layers, "layer"), count_noun(config.n_heads, "head")
    origin = names.get(weights, "weights of its own")
    first_line = f"A transformer encoder: {layers}, {heads}, d_model {config.d_model}, {origin}."
    sections = render_sections(list_sections(config, weights), values)
    return Export("encoder", first_line, sections, render_sections(["another_encoder"], values), own_weights)


def _refuse_infinite(*arrays: np.ndarray) -> None:
    if not all(np.isfinite(array).all() for array in arrays):
        raise InputError("The numbers of this model grow beyond what fp32 holds: there is nothing to compare with.")


def _sum_weighted(array: np.ndarray) -> float:
    """Return a sum of all numbers, each with its own weight from 1 to 3, as the written code computes it."""
    weights = 2 + np.cos(np.arange(array.size, dtype=np.float32)).astype(np.float64)
    return float(array.astype(np.float64).ravel() @ weights / np.sqrt(array.size))


_ABOUT_PAIR = """Both halves of the transformer, by the playground's package. The encoder reads the source, the decoder
the target so far: padding may not be attended to, nor later tokens of the target. The scores and the attention at the
end are those of the page."""

_PAIR = """config = {config}
{model}
{source}
{target}
causal = torch.ones(tgt_ids.shape[1], tgt_ids.shape[1], dtype=torch.bool).tril()  # (Tt, Tt)
trace = Trace()
with torch.inference_mode():
    memory = model.encode(src_ids, src_mask.expand(1, src_ids.shape[1], -1), trace)  # (B, Ts, d_model)
    logits = model.decode(tgt_ids, memory, src_mask, causal & tgt_mask[:, None], trace)  # (B, Tt, tgt_vocab_size)
cross = trace["decoder.layers.{layer}.cross_attn.pattern"][0, {head}]  # (Tt, Ts)
for token, key in zip(tgt_tokens, cross.argmax(dim=-1), strict=False):
    print(f"layer {layer}, head {head}: {{token}} attends most to {{src_tokens[key]}}")
shown_logits = {shown_logits}
shown_pattern = {shown_pattern}
close = partial(torch.testing.assert_close, atol=1e-5, rtol=1e-5)
close(logits[0, 0, : len(shown_logits)], torch.tensor(shown_logits))
close(cross[{query}, : len(shown_pattern)], torch.tensor(shown_pattern))
print("The scores and the attention are those of the page.")"""


def export_pair(
    run: PairRun, tgt_vocab_size: int, *, seed: int, focus: Focus, own_weights: bytes | None = None
) -> Export:
    """Return an encoder–decoder and its pair as a script that runs the package and prints the focus's attention."""
    config = run.config
    if not (run.source.n_real and run.target.n_real):
        raise InputError("Source or target has no token: there is nothing to write down.")
    _refuse_infinite(run.logits, *run.patterns.values())
    focus = replace(focus.within(config), query=min(focus.query, run.target.n_real - 1))
    model = f"model = EncoderDecoder(config, tgt_vocab_size={tgt_vocab_size}, seed={seed})"
    if own_weights:
        model = f"model = EncoderDecoder(config, tgt_vocab_size={tgt_vocab_size})\nmodel.load_state_dict(load(weights))"
    script = _PAIR.format(
        config=build_call("ModelConfig", config),
        model=model,
        source=_write_side("src", run.source),
        target=_write_side("tgt", run.target),
        layer=focus.layer,
        head=focus.head,
        query=focus.query,
        shown_logits=number_list(run.logits[0, :SHOWN].tolist()),
        shown_pattern=number_list(run.patterns["cross"][focus.layer, focus.head, focus.query, :SHOWN].tolist()),
    )
    weights = "weights of its own" if own_weights else f"random weights of seed {seed}"
    first_line = (
        f"A transformer: {count_noun(config.n_layers, 'layer')} in each half, d_model {config.d_model}, {weights}."
    )
    sections = [
        *(render_sections(["own_weights"], weights_values(own_weights)) if own_weights else []),
        Section("pair", "Source, target and both halves", _ABOUT_PAIR, script),
    ]
    return Export("encoder_decoder", first_line, sections, weights=own_weights)


def _write_side(name: str, side: Side) -> str:
    return (
        f"{name}_tokens = {string_list(side.tokens[: side.n_real])}\n"
        f"{name}_ids = {id_tensor(side.ids.tolist())}  # (B, T)\n"
        f"{name}_mask = torch.arange({len(side.ids)})[None] < {side.n_real}  # (B, T), True = a token, not padding"
    )


SHOWN_LOSSES = 5
"""Of the first steps, which the code has to give."""

_ABOUT_TRAINING = """`playground/training/trainer.py` has the loop. Every random choice follows from the recipe's seed.
The losses of the first steps are those of the page; later steps can differ in the last digits from machine to machine.
"""

_SCRIPT = """config = {config}
recipe = {recipe}
trainer = Trainer(config, recipe)
losses = {first}.history.loss
for step in trainer.run():
    if step % {report} == 0:
        print(f"step {{step}}: loss {{losses[-1]:.4f}}")
print(trainer.message())
shown_losses = {losses}
torch.testing.assert_close(losses[: len(shown_losses)], shown_losses, atol=1e-4, rtol=1e-4)
validation = trainer.history.evaluations[-1].validation
print(f"The first losses are those of the page. Right in {{validation.accuracy:.1%}} of the validation set.")"""


def export_training(config: ModelConfig, recipe: Recipe, data: Data | None = None) -> Export:
    """Return the script of a training run, whose first steps are taken here to compare with; raises RecipeError."""
    trainer = Trainer(config, recipe, data=data, watch=False)
    losses = (trainer.teacher or trainer).history.loss
    for _ in islice(trainer.run(), min(SHOWN_LOSSES, recipe.steps)):
        pass
    script = _SCRIPT.format(
        config=build_call("ModelConfig", trainer.config),
        recipe=build_call("Recipe", recipe),
        first="trainer" if trainer.teacher is None else "trainer.teacher",
        report=max(1, recipe.steps // 10),
        losses=number_list(losses[:SHOWN_LOSSES]),
    )
    layers, steps = count_noun(trainer.config.n_layers, "layer"), count_noun(recipe.steps, "step")
    first_line = f"{TASKS[recipe.task].title}: {layers}, d_model {trainer.config.d_model}, {steps}."
    return Export("training", first_line, [Section("training", "The training run", _ABOUT_TRAINING, script)])
