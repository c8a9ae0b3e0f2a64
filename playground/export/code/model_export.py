"""An encoder and a sentence, or an encoder–decoder and a pair of them, as a file or a notebook."""

from playground.errors import InputError
from playground.export.code.export import Export, OwnWeights, Section
from playground.export.code.rendering import (
    build_call,
    comparison_sections,
    encoder_sections,
    id_tensor,
    number_list,
    render_sections,
    string_list,
)
from playground.export.code.shown import SHOWN, Place, ShownEncoder, refuse_infinite
from playground.runs.pair_run import PairRun, Side
from playground.text.wording import count_noun


def export_encoder(shown: ShownEncoder) -> Export:
    """Return the sections of an encoder and its sentence."""
    return Export("encoder", _describe(shown), encoder_sections(shown), comparison_sections(shown), shown.own_weights)


def _describe(shown: ShownEncoder) -> str:
    """One line on what is written down, at most 110 characters."""
    config = shown.config
    names = {"minilm": "trained weights", "random": f"random weights of seed {shown.seed}"}
    weights = names.get(shown.weights, "weights of its own")
    layers, heads = count_noun(config.n_layers, "layer"), count_noun(config.n_heads, "head")
    return f"A transformer encoder: {layers}, {heads}, d_model {config.d_model}, {weights}."


def export_pair(
    run: PairRun, tgt_vocab_size: int, *, seed: int, place: Place, own_weights: OwnWeights | None = None
) -> Export:
    """The sections of an encoder–decoder and its pair, which run the playground's package.

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
    weights = "weights of its own" if own_weights else f"random weights of seed {seed}"
    layers = count_noun(config.n_layers, "layer")
    sections = [
        *(render_sections(["own_weights"], own_weights.values) if own_weights else []),
        Section(
            "pair_model",
            "The model",
            "Both halves of the transformer, by the playground's package.",
            f"config = {build_call('ModelConfig', config)}\n"
            + (
                f"model = EncoderDecoder(config, tgt_vocab_size={tgt_vocab_size})\nmodel.load_state_dict(load(weights))"
                if own_weights
                else f"model = EncoderDecoder(config, tgt_vocab_size={tgt_vocab_size}, seed={seed})"
            ),
        ),
        Section(
            "pair_tokens",
            "Source and target as tokens",
            "The encoder reads the source, the decoder the target so far. A mask says which tokens may be attended to: "
            "padding may not, nor may later tokens of the target.",
            f"{_write_side('src', run.source)}\n{_write_side('tgt', run.target)}\n"
            "causal = torch.ones(tgt_ids.shape[1], tgt_ids.shape[1], dtype=torch.bool).tril()  # (Tt, Tt)",
        ),
        Section("pair_run", "Run it", "The trace keeps every attention pattern.", _RUN.format(layer=layer, head=head)),
        Section(
            "pair_proof",
            "The page's own numbers",
            "Running this shows that the scores and the attention are those of the page.",
            f"shown_logits = {number_list(run.logits[0, :SHOWN].tolist())}\n"
            f"shown_pattern = {number_list(run.patterns['cross'][layer, head, query, :SHOWN].tolist())}\n"
            f"{_PROOF.format(query=query)}",
        ),
    ]
    first_line = f"A transformer: {layers} in each half, d_model {config.d_model}, {weights}."
    return Export("encoder_decoder", first_line, sections, weights=own_weights)


_RUN = """trace = Trace()
with torch.inference_mode():
    memory = model.encode(src_ids, src_mask.expand(1, src_ids.shape[1], -1), trace)  # (B, Ts, d_model)
    logits = model.decode(tgt_ids, memory, src_mask, causal & tgt_mask[:, None], trace)  # (B, Tt, tgt_vocab_size)
cross = trace["decoder.layers.{layer}.cross_attn.pattern"][0, {head}]  # (Tt, Ts)
for token, key in zip(tgt_tokens, cross.argmax(dim=-1), strict=False):
    print(f"layer {layer}, head {head}: {{token}} attends most to {{src_tokens[key]}}")"""

_PROOF = """close = partial(torch.testing.assert_close, atol=1e-5, rtol=1e-5)
close(logits[0, 0, : len(shown_logits)], torch.tensor(shown_logits))
close(cross[{query}, : len(shown_pattern)], torch.tensor(shown_pattern))
print("The scores and the attention are those of the page.")"""


def _write_side(name: str, side: Side) -> str:
    """Lines that make a sentence's tokens, ids and mask."""
    return (
        f"{name}_tokens = {string_list(side.tokens[: side.n_real])}\n"
        f"{name}_ids = {id_tensor(side.ids.tolist())}  # (B, T)\n"
        f"{name}_mask = torch.arange({len(side.ids)})[None] < {side.n_real}  # (B, T), True = a token, not padding"
    )
