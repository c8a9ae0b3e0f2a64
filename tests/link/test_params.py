"""What each query parameter means and stands at. Old links depend on every line of this."""

from typing import Any

from playground.config import ModelConfig
from playground.link import query
from playground.link.changes import Changes, read_changes
from playground.link.kinds import Choice, Notation, Several, Size, Switch, Whole
from playground.link.params import (
    ARCHITECTURE,
    LOCKED,
    OWN,
    PARAMS,
    RECIPE,
    SHARED,
    TASK_TITLES,
    page_parameters,
    write,
    write_all,
)
from playground.pages import PAGES
from playground.presets import PRESETS
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS
from playground.web.choices.shortcuts import preset_values

DEFAULTS = {
    "text": "The animal didn't cross the street because it was too tired.",
    "sentence": 1,
    "weights": "minilm",
    "untrained": False,
    "tokenizer": "wordpiece",
    "vocab_size": 2_000,
    "table_rows": 0,
    "dropout": 0.1,
    "d_model": 384,
    "n_heads": 12,
    "n_layers": 6,
    "d_ff": 1_536,
    "max_len": 512,
    "norm_eps": 1e-12,
    "n_segments": 2,
    "norm_placement": "post",
    "norm": "layer",
    "activation": "gelu",
    "gated": False,
    "bias": True,
    "n_kv_heads": 0,
    "d_head": 0,
    "qk_norm": False,
    "share_layers": False,
    "first_norm": True,
    "position_offset": 0,
    "rotary_base": 10_000,
    "local_rotary_base": 0,
    "relative_buckets": 32,
    "relative_distance": 128,
    "window": 0,
    "global_every": 0,
    "d_embedding": 0,
    "positions": "learned",
    "head_merge": "transpose",
    "initialisation": "xavier",
    "final_norm": False,
    "scale_embeddings": False,
    "embedding_norm": True,
    "fused_qkv": False,
    "residual": True,
    "causal": False,
    "seed": 0,
    "mask": -1,
    "do": Changes(),
    "layer": 3,
    "head": 1,
    "query": 10,
    "key": 2,
    "tour": 0,
    "lesson": "",
    "overview_shapes": False,
    "overview_batch": "this text",
    "attention_show": "one head",
    "attention_view": "lines",
    "attention_why": "sources",
    "attention_rival": "automatic",
    "attention_hide": False,
    "attention_colours": "square root",
    "attention_drawing": False,
    "attention_steps": False,
    "attention_closer": False,
    "norms_view": "tokens",
    "norms_norm": 0,
    "norms_closer": False,
    "positions_view": "this sentence",
    "positions_first": 2,
    "positions_second": 8,
    "positions_table": False,
    "positions_closer": False,
    "step_path": "as the data moves",
    "step_stage": "embedding",
    "step_dropout": False,
    "step_ways": False,
    "whatif_view": "what followed",
    "whatif_parts": "heads",
    "whatif_on": "sentence vector",
    "whatif_other": 2,
    "whatif_pruned": 20,
    "whatif_more": False,
    "whatif_tokens": False,
    "whatif_chosen": False,
    "compare_head": False,
    "gradient_layers": 12,
    "gradient_of": "whole layer",
    "gradient_first": "no norm",
    "gradient_second": "no norm, no residual",
    "gradient_six": False,
    "parameters_model": "sidebar",
    "parameters_view": "components",
    "parameters_formulas": False,
    "parameters_costs": False,
    "parameters_bought": False,
    "tutorials_letter": "A",
    "tutorials_mistakes": False,
    "tutorials_five": False,
    "tutorials_differences": False,
    "exercises_key": "",
    "exercises_variant": 0,
    "lab_seed": 0,
    "lab_level": "easy",
    "lab_tests": (),
    "lab_accused": (),
    "encdec_source": "trained example",
    "encdec_example": "the small black cat sees a white house",
    "encdec_example_attention": "cross",
    "encdec_example_layer": 1,
    "encdec_example_head": 3,
    "encdec_example_position": 0,
    "encdec_target": "Het dier stak de straat niet over, omdat het te moe was.",
    "encdec_attention": "cross",
    "encdec_layer": 0,
    "encdec_head": 0,
    "encdec_position": 0,
    "encdec_show_training": False,
    "encdec_show_masks": False,
    "run": "",
    "training_task": "Reverse",
    "training_text": "",
    "training_length": 12,
    "training_n_symbols": 10,
    "training_n_train": 4_096,
    "training_steps": 600,
    "training_batch_size": 64,
    "training_optimizer": "adam",
    "training_schedule": "paper",
    "training_lr": 0.002,
    "training_warmup": 100,
    "training_dropout_attention": 0.0,
    "training_dropout_residual": 0.0,
    "training_causal": True,
    "training_weight_decay": 0.0,
    "training_layer_norm": True,
    "training_label_smoothing": 0.0,
    "training_patience": 0,
    "training_token_masking": 0.0,
    "training_clip": 0.0,
    "training_distill": 0.0,
    "training_temperature": 2.0,
    "training_attention": "self",
    "training_layer": 0,
    "training_head": 0,
    "training_moment": 20,
    "training_sequence": "",
    "training_prompt": "The ",
    "training_heat": 0.7,
    "training_top_k": 0,
    "regularisers_task": "Reverse",
    "regularisers_data": "small",
    "regularisers_seeds": "1",
    "regularisers_chosen": ("Dropout on attention weights", "Weight decay", "Label smoothing", "Early stopping"),
    "regularisers_measure": "accuracy",
    "regularisers_optimizer": "adamw",
    "regularisers_lr": 0.002,
    "regularisers_dropout_attention": 0.1,
    "regularisers_weight_decay": 0.3,
    "regularisers_label_smoothing": 0.1,
    "regularisers_patience": 5,
    "regularisers_token_masking": 0.1,
    "regularisers_clip": 1.0,
    "regularisers_distill": 0.5,
    "regularisers_dropout_residual": 0.1,
    "parts_view": "one part away",
    "parts_row": 12,
    "parts_rung": 8,
    "parts_column": 2,
    "parts_costs": False,
    "similarity_list": "",
    "similarity_pooling": "mean",
    "similarity_first": 1,
    "similarity_second": 2,
    "similarity_view": "token by token",
    "similarity_closer": False,
    "similarity_ranking": False,
    "similarity_how": False,
}
"""Of version 2."""


def test_defaults_are_frozen() -> None:
    """A default is what a link means by leaving a parameter out: every link ever sent changes with it."""
    assert query.VERSION == "2", "A new version: renew the defaults above with it."
    defaults = {key: param.default for key, param in PARAMS.items()}
    assert defaults == DEFAULTS, (
        "A changed default changes old links: raise link_values.VERSION, then renew the defaults above."
    )
    assert {key: type(value) for key, value in defaults.items()} == {
        key: type(value) for key, value in DEFAULTS.items()
    }


def test_every_parameter_is_the_sidebars_or_starts_with_its_page() -> None:
    assert not SHARED.keys() & OWN.keys()
    paths = ["" if name == "overview" else name for name in PAGES]
    assert sorted(key for path in paths for key in page_parameters(path)) == sorted(OWN)


def test_the_architecture_is_the_configs_fields() -> None:
    assert set(ModelConfig.__dataclass_fields__) == {*ARCHITECTURE, "vocab_size"}
    assert set(LOCKED) == {"tokenizer", "table_rows", *ARCHITECTURE}
    assert all(param.help_text for param in ARCHITECTURE.values())


def test_stops_rise_and_hold_the_default_and_every_preset() -> None:
    for param in PARAMS.values():
        if isinstance(param, Size):
            assert list(param.options) == sorted(set(param.options))
            assert param.default in param.options
    for name in PRESETS:
        for key, value in preset_values(name).items():
            param = SHARED[key]
            if isinstance(param, Choice | Size):
                assert value in param.options, (name, key)


def domain(key: str) -> list[object]:
    """Values of a parameter: all of them, or the ends of a range."""
    param = PARAMS[key]
    if isinstance(param, Choice | Size):
        return list(param.options)
    if isinstance(param, Switch):
        return [False, True]
    if isinstance(param, Whole):
        return [param.low, param.default, param.high]
    if isinstance(param, Several):
        return [(), param.default, tuple(param.options), tuple(reversed(param.options))]
    if key == "run":
        return ["", 32 * "a", 32 * "0" + "-9876"]
    if isinstance(param, Notation):
        return [read_changes(text)[0] for text in ("", "3.1:zero", "-2.ffn:off~0.5,embed:patch_4_2")]
    return ["", " two\nlines ", "א🙂"]


def test_what_is_written_is_read_back() -> None:
    for key in PARAMS:
        for value in domain(key):
            read, complaint = query.read(key, write_all(value))
            assert (read, type(read), complaint) == (value, type(value), None)


def test_written_values_are_what_streamlit_puts_into_the_address() -> None:
    assert [write(value) for value in (True, False, 7, 1e-12, 0.001, "pre")] == [
        "true", "false", "7", "1e-12", "0.001", "pre",
    ]  # fmt: skip
    assert [write_all(value) for value in (True, "", (), [], ("a", "b"), ["a"])] == [
        ["true"], [""], [""], [""], ["a", "b"], ["a"],
    ]  # fmt: skip


def test_titles_of_tasks_are_words_of_links_and_must_not_change() -> None:
    public = [
        "Copy", "Reverse", "Sort", "Count", "Match brackets", "Fill in the gaps", "Next character",
        "Copy, with a decoder", "Reverse, with a decoder", "Translate, with a decoder",
    ]  # fmt: skip
    assert [title for title in TASK_TITLES if title in public] == public


def test_a_trainings_defaults_are_those_of_the_first_task_and_stand_on_stops() -> None:
    plain: dict[str, Any] = {name: param.default for name, param in RECIPE.items()}
    assert all(getattr(Recipe(**TASKS["reverse"].defaults), name) == value for name, value in plain.items())
    for task in TASKS.values():
        for name, value in task.defaults.items():
            assert RECIPE[name].read_all([f"{value:g}" if isinstance(value, float) else str(value)]) == (value, None)
