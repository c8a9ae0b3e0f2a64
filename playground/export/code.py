"""An encoder and its sentence, an encoder–decoder and its pair, or a training run, as a file or a notebook."""

from itertools import islice

from playground.config import ModelConfig
from playground.errors import InputError
from playground.export.rendering import (
    build_call,
    comparison_sections,
    encoder_sections,
    id_tensor,
    number_list,
    render_sections,
    string_list,
)
from playground.export.shown import SHOWN, Place, ShownEncoder, refuse_infinite
from playground.export.written import Export, OwnWeights, Section
from playground.runs.pair_run import PairRun, Side
from playground.text.wording import count_noun
from playground.training.recipe import Data, Recipe
from playground.training.tasks import TASKS
from playground.training.trainer import Trainer


def export_encoder(shown: ShownEncoder) -> Export:
    """Return the sections of an encoder and its sentence."""
    config = shown.config
    names = {"minilm": "trained weights", "random": f"random weights of seed {shown.seed}"}
    weights = names.get(shown.weights, "weights of its own")
    layers, heads = count_noun(config.n_layers, "layer"), count_noun(config.n_heads, "head")
    first_line = f"A transformer encoder: {layers}, {heads}, d_model {config.d_model}, {weights}."
    return Export("encoder", first_line, encoder_sections(shown), comparison_sections(shown), shown.own_weights)


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
    run: PairRun, tgt_vocab_size: int, *, seed: int, place: Place, own_weights: OwnWeights | None = None
) -> Export:
    """Return an encoder–decoder and its pair as a script that runs the playground's package.

    Args:
        run: the page's.
        tgt_vocab_size: words that the decoder chooses from.
        seed: of random weights.
        place: whose cross-attention is printed and compared.
        own_weights: None if they are random.
    """
    config = run.config
    if not (run.source.n_real and run.target.n_real):
        raise InputError("Source or target has no token: there is nothing to write down.")
    refuse_infinite(run.logits, *run.patterns.values())
    layer, head = min(place.layer, config.n_layers - 1), min(place.head, config.n_heads - 1)
    query = min(place.query, run.target.n_real - 1)
    model = f"model = EncoderDecoder(config, tgt_vocab_size={tgt_vocab_size}, seed={seed})"
    if own_weights:
        model = f"model = EncoderDecoder(config, tgt_vocab_size={tgt_vocab_size})\nmodel.load_state_dict(load(weights))"
    script = _PAIR.format(
        config=build_call("ModelConfig", config),
        model=model,
        source=_write_side("src", run.source),
        target=_write_side("tgt", run.target),
        layer=layer,
        head=head,
        query=query,
        shown_logits=number_list(run.logits[0, :SHOWN].tolist()),
        shown_pattern=number_list(run.patterns["cross"][layer, head, query, :SHOWN].tolist()),
    )
    weights = "weights of its own" if own_weights else f"random weights of seed {seed}"
    first_line = (
        f"A transformer: {count_noun(config.n_layers, 'layer')} in each half, d_model {config.d_model}, {weights}."
    )
    sections = [
        *(render_sections(["own_weights"], own_weights.values) if own_weights else []),
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
"""Of a run's first steps, which the written code has to give."""

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
    """Return the script of a training run, whose first steps are taken here to compare with.

    Args:
        config: the architecture; the task decides its vocabulary.
        recipe: the run.
        data: the recipe's data, if it is there already.

    Raises:
        RecipeError: the recipe does not fit its task or the architecture.
    """
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
