"""What each query parameter means and stands at. Old links depend on every line of this."""

from typing import Any

from playground.config import ModelConfig
from playground.link import query
from playground.link.kinds import Changes, read_changes, read_param, write
from playground.link.params import (
    ARCHITECTURE,
    LOCKED,
    OWN,
    PARAMS,
    RECIPE,
    SHARED,
    TASK_TITLES,
    page_parameters,
    write_all,
)
from playground.pages import PAGES
from playground.presets import PRESETS
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS
from playground.web.choices.shortcuts import preset_values

OFF = """untrained gated qk_norm share_layers final_norm scale_embeddings fused_qkv causal overview_shapes
attention_hide attention_closer norms_closer positions_table
positions_closer step_dropout step_ways whatif_more whatif_tokens whatif_chosen
compare_head gradient_six parameters_formulas parameters_costs parameters_bought
tutorials_mistakes tutorials_five tutorials_differences encdec_show_training encdec_show_masks
parts_costs similarity_closer similarity_ranking similarity_how present"""
ON = "bias first_norm embedding_norm residual training_causal training_layer_norm"
NUMBERS = """sentence=1 vocab_size=2000 table_rows=0 dropout=0.1 d_model=384 n_heads=12 n_layers=6 d_ff=1536 max_len=512
norm_eps=1e-12 n_segments=2 n_kv_heads=0 d_head=0 position_offset=0 rotary_base=10000 local_rotary_base=0
relative_buckets=32 relative_distance=128 window=0 global_every=0 d_embedding=0 seed=0 mask=-1 layer=3 head=1 query=10
key=2 tour=0 norms_norm=0 positions_first=2 positions_second=8 whatif_other=2 gradient_layers=12
exercises_variant=0 lab_seed=0 encdec_example_layer=1 encdec_example_head=3
encdec_example_position=0 encdec_layer=0 encdec_head=0 encdec_position=0 training_length=12 training_n_symbols=10
training_n_train=4096 training_steps=600 training_batch_size=64 training_lr=0.002 training_warmup=100
training_dropout_attention=0.0 training_dropout_residual=0.0 training_weight_decay=0.0 training_label_smoothing=0.0
training_patience=0 training_token_masking=0.0 training_clip=0.0 training_distill=0.0 training_temperature=2.0
training_layer=0 training_head=0 training_moment=20 regularisers_lr=0.002
regularisers_dropout_attention=0.1 regularisers_weight_decay=0.3 regularisers_label_smoothing=0.1
regularisers_patience=5 regularisers_token_masking=0.1 regularisers_clip=1.0 regularisers_distill=0.5
regularisers_dropout_residual=0.1 parts_row=12 parts_rung=8 parts_column=2 similarity_first=1 similarity_second=2"""
WORDS = """weights=minilm,tokenizer=wordpiece,norm_placement=post,norm=layer,activation=gelu,positions=learned
tied=separate,position_join=add
head_merge=transpose,initialisation=xavier,overview_batch=this text,attention_show=one head,attention_view=lines
attention_rival=automatic,attention_colours=square root
norms_view=tokens,positions_view=this sentence
step_path=as the data moves,step_stage=embedding,whatif_view=what followed
whatif_parts=heads,whatif_on=sentence vector
gradient_of=whole layer,gradient_first=no norm,gradient_second=no norm; no residual
parameters_model=sidebar,parameters_view=components,tutorials_letter=A,lab_level=easy
encdec_source=trained example,encdec_example=the small black cat sees a white house,encdec_example_attention=cross
encdec_attention=cross,training_task=Reverse,training_optimizer=adam,training_schedule=paper,training_attention=self
regularisers_task=Reverse,regularisers_data=small,regularisers_seeds=1,regularisers_measure=accuracy
regularisers_optimizer=adamw,parts_view=one part away,similarity_pooling=mean
similarity_view=token by token"""
EMPTY = "lesson exercises_key run training_text training_sequence similarity_list similarity_word"


def number(text: str) -> float:
    return float(text) if "." in text or "e" in text else int(text)


DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(OFF.split(), False),
    **dict.fromkeys(ON.split(), True),
    **dict.fromkeys(EMPTY.split(), ""),
    **{key: number(text) for key, _, text in (each.partition("=") for each in NUMBERS.split())},
    **{
        key: text.replace(";", ",")
        for line in WORDS.splitlines()
        for key, _, text in (each.partition("=") for each in line.split(","))
    },
    "text": "The animal didn't cross the street because it was too tired.",
    "do": Changes(),
    "lab_tests": (),
    "lab_accused": (),
    "encdec_target": "Het dier stak de straat niet over, omdat het te moe was.",
    "training_prompt": "The ",
    "regularisers_chosen": ("Dropout on attention weights", "Weight decay", "Label smoothing", "Early stopping"),
}
"""Of version 2."""


def test_defaults_are_frozen() -> None:
    """A default is what a link means by leaving a parameter out: every link ever sent changes with it."""
    assert query.VERSION == "2", "A new version: renew the defaults above with it."
    assert {key: (param.default, type(param.default)) for key, param in PARAMS.items()} == {
        key: (value, type(value)) for key, value in DEFAULTS.items()
    }, "A changed default changes old links: raise query.VERSION, then renew the defaults above."


def test_every_parameter_is_the_sidebars_or_starts_with_its_page() -> None:
    assert not SHARED.keys() & OWN.keys()
    assert sorted(key for path in PAGES for key in page_parameters(path)) == sorted(OWN)
    assert set(ModelConfig.__dataclass_fields__) == {*ARCHITECTURE, "vocab_size"}
    assert set(LOCKED) == {"tokenizer", "table_rows", *ARCHITECTURE}
    assert all(param.help_text for param in SHARED.values())


def test_stops_rise_and_hold_the_default_and_every_preset() -> None:
    for param in PARAMS.values():
        if param.kind == "size":
            assert list(param.options) == sorted(set(param.options))
            assert param.default in param.options
    for name in PRESETS:
        for key, value in preset_values(name).items():
            param = SHARED[key]
            if param.kind in ("choice", "size"):
                assert value in param.options, (name, key)


def domain(key: str) -> list[object]:
    """Values of a parameter: all of them, or the ends of a range."""
    param = PARAMS[key]
    match param.kind:
        case "choice" | "size" | "switch":
            return list(param.options)
        case "whole":
            return [param.options[0], param.default, param.options[-1]]
        case "several":
            return [(), param.default, tuple(param.options), tuple(reversed(param.options))]
        case "text":
            return ["", " two\nlines ", "א🙂"]
    if key == "run":
        return ["", 32 * "a", 32 * "0" + "-9876"]
    return [read_changes(text)[0] for text in ("", "3.1:zero", "-2.ffn:off~0.5,embed:patch_4_2")]


def test_what_is_written_is_read_back() -> None:
    for key in PARAMS:
        for value in domain(key):
            read, complaint = query.read(key, write_all(value))
            assert (read, type(read), complaint) == (value, type(value), None)


def test_titles_of_tasks_are_words_of_links_and_must_not_change() -> None:
    public = [
        "Copy", "Reverse", "Sort", "Count", "Fill in the gaps", "Next character",
        "Copy, with a decoder", "Reverse, with a decoder", "Translate, with a decoder",
    ]  # fmt: skip
    assert [*TASK_TITLES] == public


def test_a_trainings_defaults_are_those_of_the_first_task_and_stand_on_stops() -> None:
    plain: dict[str, Any] = {name: param.default for name, param in RECIPE.items()}
    assert all(getattr(Recipe(**TASKS["reverse"].defaults), name) == value for name, value in plain.items())
    for task in TASKS.values():
        for name, value in task.defaults.items():
            assert read_param(RECIPE[name], [write(value)]) == (value, None)
