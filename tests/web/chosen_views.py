"""A link of every page on which nothing is as it is by itself."""

SETUP: dict[str, str] = {
    "text": "Zwölf Boxkämpfer jagen Viktor\nquer über den großen Sylter Deich. 🥊",
    "sentence": "2",
    "weights": "random",
    "tokenizer": "char",
    "d_model": "64",
    "n_heads": "4",
    "n_layers": "3",
    "d_ff": "96",
    "norm_placement": "pre",
    "norm": "rms",
    "positions": "sinusoidal",
    "causal": "true",
    "seed": "12345",
}
VIEWS: dict[str, dict[str, str]] = {
    "": {},
    "attention": {"layer": "2", "head": "3", "query": "4", "attention_closer": "true", "attention_view": "rollout"},
    "norms": {"norms_view": "cosines", "norms_layer": "2", "query": "7"},
    "parameters": {"parameters_view": "layers"},
    "compare": {"b_norm_placement": "post", "b_n_layers": "5", "layer": "1", "head": "3", "query": "9"},
    "what-if": {"layer": "1", "head": "2", "whatif_view": "which parts matter", "whatif_parts": "sublayers"},
    "step-by-step": {"layer": "1", "head": "2", "query": "6", "key": "0", "step_stage": "softmax"},
    "positions": {"positions_view": "curves", "positions_curve_2": "7", "positions_curve_3": "12"},
    "encoder-decoder": {
        "encdec_source": "your text",
        "encdec_attention": "decoder self",
        "encdec_layer": "1",
        "encdec_target": "one\ntwo words",
    },
    "gradient-flow": {"gradient_layers": "5", "gradient_scale": "1.4", "gradient_of": "stream"},
    "training": {"training_task": "Sort", "training_lr": "0.001", "training_d_model": "32", "training_warmup": "50"},
    "regularisers": {"regularisers_task": "Sort", "regularisers_clip": "0.5", "regularisers_measure": "loss"},
    "tutorials": {"tutorials_against": "B", "tutorials_letter": "C", "tutorials_differences": "true"},
    "exercises": {"exercises_key": "number-of-heads", "exercises_variant": "3"},
    "lessons": {"lessons_view": "handout"},
    "diagnosis": {},
    "similarity": {
        "similarity_list": "one cat\ntwo dogs",
        "similarity_pooling": "first token",
        "similarity_how": "true",
        "similarity_second": "3",
        "similarity_view": "map by depth",
        "similarity_depth": "1",
    },
}
"""By the page, as the address names it."""
