"""An encoder and a sentence, as a file or a notebook."""

from playground.export.code.export import Export
from playground.export.code.rendering import encoder_sections, exercise_sections
from playground.export.code.shown import ShownEncoder


def export_encoder(shown: ShownEncoder) -> Export:
    """The sections of an encoder and its sentence, and tutorial D's exercises on it."""
    return Export("encoder", _describe(shown), encoder_sections(shown), exercise_sections(shown), shown.own_weights)


def _describe(shown: ShownEncoder) -> str:
    """One line on what is written down, at most 110 characters."""
    config = shown.config
    names = {"minilm": "trained weights", "random": f"random weights of seed {shown.seed}"}
    weights = names.get(shown.weights, "weights of its own")
    layers = "1 layer" if config.n_layers == 1 else f"{config.n_layers} layers"
    heads = "1 head" if config.n_heads == 1 else f"{config.n_heads} heads"
    return f"A transformer encoder: {layers}, {heads}, d_model {config.d_model}, {weights}."
