"""The answer to the page's title: whom a query attends to, in one sentence with two weights."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from playground.charts.chart import Options
from playground.charts.figure import Array
from playground.charts.markdown import quote_place
from playground.link.opening import Focus
from playground.runs.encoder_run import Hidden, Run
from playground.text.wording import count_noun, write_weight
from playground.views.attention.explanation import ROUNDING, HeadsRun, is_hidden
from playground.views.change_names import count_changes, name_your_changes

NOT_FINITE = "left the range of 32-bit floats"


def say_who_attends(subject: HeadsRun, focus: Focus, options: Options) -> str:
    """Whom the focus's query attends to most and what the chosen key gets, of what the large map shows, in markdown."""
    run, place = subject.run, focus.within(subject.run.config)
    heads = run.pattern(place.layer)[:, place.query]  # (H, T)
    if options["attention_show"] == "difference of two heads":
        told = _compare_heads(run, place, heads, other_head(run, options))
    elif options["attention_show"] == "average of heads":
        where = f"on average over {count_noun(run.config.n_heads, 'head')} of layer {place.layer}"
        told = _describe_row(run, place, heads.mean(axis=0), where)
    else:
        where = f"in layer {place.layer}, head {place.head}"
        told = _describe_row(run, place, heads[place.head], where) + _note_off(run, place)
    with_changes = "Unchanged by" if _keeps_weights(run, place.layer) else "With"
    changed = f"{with_changes} {name_your_changes(count_changes(run))}: " if run.interventions else ""
    chance = " The weights are random, so this is chance." if subject.is_random else ""
    return f"{changed}{told}{chance}"


def other_head(run: Run, options: Options) -> int:
    """The head that the chosen one is compared with: the one that is asked for, or the last that the run has."""
    other: int = min(options["attention_other"], run.config.n_heads - 1)
    return other


def _keeps_weights(run: Run, layer: int) -> bool:
    """Whether no change reaches the weights of a layer's heads."""
    beside = {f"layers.{layer}.{point}" for point in ("attn.v", "attn.z", "attn.out", "resid_mid", "ffn.out", "out")}
    return all(each.first_layer > layer or each.point in beside for each in run.interventions)


def _note_off(run: Run, focus: Focus) -> str:
    """What it means that the head is off: its map is as before; empty where it is not."""
    off = any(each.silences_head(focus.layer, focus.head) for each in run.interventions)
    return " This head is off: it still computes its weights, and nothing reads what it gathers." if off else ""


def _describe_row(run: Run, focus: Focus, row: Array, where: str) -> str:
    """The key's weight beside that of the strongest other key; `row` (T,) is of the focus's query."""
    name = partial(_name_token, run)
    query, key = name(focus.query), name(focus.key)
    target = partial(_name_target, run, focus)
    keys = np.flatnonzero(run.allowed_in(focus.layer)[focus.query])
    if not len(keys):
        return f"{query} has no key that it may attend to."
    if not np.isfinite(row[keys]).all():
        return f"The weights of {query} {where} are no numbers: they have {NOT_FINITE}."
    order = keys[np.argsort(-row[keys], kind="stable")]
    if is_hidden(run, focus):
        strongest = f"It attends most to {target(order[0])}: **{write_weight(row[order[0]])}**, {where}."
        return f"{query} cannot look at {key}, {_explain_hidden(run, focus)}. {strongest}"
    if len(keys) == 1:
        return (
            f"{query} has only one token to look at, {target(focus.key)}: **{write_weight(row[focus.key])}**, {where}."
        )
    other = int(order[1] if order[0] == focus.key else order[0])
    mine, others = float(row[focus.key]), float(row[other])
    if mine == others == 0:
        return f"{query} attends to nothing {where}: all its weights are **0**."
    if abs(mine - others) <= ROUNDING * max(mine, others):
        both = f"{target(focus.key)} as much as to {target(other)}"
        return f"{query} attends to {both}: **{write_weight(mine)}** each, {where}. No other token gets more."
    if mine > others:
        following = f"Next comes {name(other)} with **{write_weight(others)}**."
        return f"{query} attends most to {target(focus.key)}: **{write_weight(mine)}**, {where}. {following}"
    most = f"{query} attends most to {target(other)}: **{write_weight(others)}**, {where}."
    return f"{most} {key} gets **{write_weight(mine)}**."


def _compare_heads(run: Run, focus: Focus, heads: Array, other: int) -> str:
    """The key's weights in two heads, of (H, T) weights of the focus's query."""
    query, key = _name_token(run, focus.query), _name_target(run, focus, focus.key)
    if focus.head == other:
        return f"Head {other} is compared with itself, so the difference is **0** everywhere."
    if is_hidden(run, focus):
        hidden = f"{_name_token(run, focus.key)}, {_explain_hidden(run, focus)}"
        return f"{query} cannot look at {hidden}: its weight is **0** in both heads."
    mine, others = (float(heads[head, focus.key]) for head in (focus.head, other))
    if not np.isfinite([mine, others]).all():
        return f"The weights of {query} in layer {focus.layer} are no numbers: they have {NOT_FINITE}."
    return (
        f"From {query} to {key}, head {focus.head} gives **{write_weight(mine)}** and head {other} gives "
        f"**{write_weight(others)}**, in layer {focus.layer}."
    )


def _name_token(run: Run, place: int) -> str:
    """A token and its position; with where it comes from if no visitor typed it."""
    named = quote_place(run.tokens, place)
    if run.padding[place] or not run.special[place]:
        return named
    return f"{named} (added by the tokenizer)"


def _name_target(run: Run, focus: Focus, place: int) -> str:
    return "itself" if place == focus.query else _name_token(run, place)


def _explain_hidden(run: Run, focus: Focus) -> str:
    return _WHICH_HIDDEN[run.why_hidden(focus.layer, focus.query, focus.key)]


_WHICH_HIDDEN: Mapping[Hidden, str] = {
    "padding query": "as padding asks nothing",
    "padding key": "which is padding",
    "causal": "which comes later, as the mask is causal",
    "window": "which is outside of this layer's window",
}
