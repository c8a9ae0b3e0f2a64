"""The test of a why: three texts in which one thing is different, as a sentence, a table, and a link to each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, urlencode

import pandas as pd

from playground.analysis.changes import list_row_changes
from playground.analysis.counterfactuals import (
    CLOSE,
    Claim,
    Kind,
    Outcome,
    ReadText,
    Untestable,
    clean_word,
    compare,
    find_claim,
    judge_swap,
    list_alike,
    read_texts,
    run_tests,
)
from playground.analysis.walkthrough import Walk
from playground.charts.chart import Item, Paragraph, Table, Widget
from playground.charts.markdown import quote_place, quote_token
from playground.limits import MAX_CHARACTERS, MAX_TOKENS
from playground.link.changes import fit_changes
from playground.link.lab import Lab, once
from playground.link.query import write_query
from playground.model.changes import Change
from playground.text import Batch, words

SMALL = 0.1
"""Weights below this, in both orders, are said to be small."""


@once
def read_other_texts(lab: Lab, layer: int, texts: tuple[str, ...]) -> list[ReadText | str]:
    """What a layer makes of other sentences in this one's place, with the changes that fit; raises as a run."""
    config, batch = lab.config, lab.batch
    # Words that are vectors need no table: each has the one that its letters and the seed give it.
    tokenizer = lab.tokenizer if config.vocab_size else words([*batch.sentences, *texts])

    def fit(together: Batch, row: int) -> tuple[Change, ...]:
        return fit_changes(lab.changes, config, together, row, causal=lab["causal"]).applied

    return read_texts(
        lab.encoder,
        tokenizer,
        batch,
        texts,
        layer,
        max_tokens=min(lab.text_key.max_tokens, MAX_TOKENS),
        seed=lab["seed"],
        causal=lab["causal"],
        fit=fit if lab.switched_on else None,
    )


def link_text(lab: Lab, sentence: str, places: Mapping[str, Any]) -> str:
    """A link to another sentence, pinned against the present; empty where it would show other weights.

    The tokenizer word numbers words as they come, so another text has another table.
    """
    if lab["weights"] not in ("minilm", "random") or (lab["tokenizer"] == "word" and lab.config.vocab_size):
        return ""
    sentences = list(lab.text.sentences)
    sentences[lab.sentence] = sentence
    text = "\n".join(sentences)
    if len(text) > MAX_CHARACTERS:
        return ""
    texts = parse_qs(write_query({**lab.values, "text": text, **places}, lab.values), keep_blank_values=True)
    texts |= {place: [str(places[place])] for place in ("query", "key")}
    return f"attention?{urlencode(texts, doseq=True)}"


def show_test(lab: Lab, walk: Walk, rival: int | None, typed: str) -> Iterator[Item]:
    """What three other texts say of a weight; one sentence where none can be made. Raises as the run.

    Args:
        lab: that of the walk's run.
        walk: whose query looks at whose key.
        rival: the key that it is set beside; None where that is the mean.
        typed: the word to put in the key's place; by default the first of its kind that the text has not.
    """
    asked = "**Test it.** Does the head look for this word, or at this place? The bars are about this sentence alone"
    if list_row_changes(walk):
        text = "Your changes set weights of this row: switch them off to test what the head itself does."
        yield Paragraph(f"{asked}. {text}")
        return
    weights = walk.of_query("attn.pattern")
    claim = find_claim(lab.batch, lab.sentence, weights, walk.allowed.tolist(), (walk.query, walk.key), rival)
    if not isinstance(claim, Claim):
        yield Paragraph(f"{asked}. {_explain_untestable(walk, claim)}")
        return
    yield Paragraph(f"{asked}; three other sentences tell.")
    alike = list_alike(claim.word(claim.key), claim.text)

    def read(layer: int, texts: Sequence[str]) -> list[ReadText | str]:
        return read_other_texts(lab, layer, tuple(texts))

    new = clean_word(typed) or next(iter(alike), "")
    outcomes = run_tests(claim, lab.batch, lab.sentence, read, walk.layer.layer, walk.head, new)
    yield Paragraph(_describe(claim, outcomes["swap"], is_random=lab.state.is_random))
    if isinstance(outcomes["swap"], Outcome) and not walk.layer.run.interventions:
        yield Widget("ten_sentences", {"layer": walk.layer.layer, "head": walk.head})
    rows = {_link(lab, walk, claim, kind, found, new): _write_row(claim, found) for kind, found in outcomes.items()}
    columns = ["weight of the key's word", f"weight of {quote_token(claim.word(claim.rival))}", "the key's word gets"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    yield Table[Any](key="why_test", frame=lambda _: table, is_markdown=True, compares=False)
    changed = " Your changes are made in each sentence, where they fit." if walk.layer.run.interventions else ""
    is_linked = any(title.startswith("[") for title in rows)
    unlinked = "" if is_linked else " No link can show these sentences with the same weights."
    yield Paragraph(f"{_explain_table(lab, claim)}{changed}{unlinked}", "caption")
    yield Widget("why_word", {"words": alike})


def _explain_untestable(walk: Walk, why: Untestable) -> str:
    """One sentence on why nothing can be tested here."""
    tokens = walk.layer.run.tokens
    query, key = quote_place(tokens, walk.query), quote_place(tokens, walk.key)
    return {
        "one word": "Your sentence has one word, and a swap needs two: write a longer sentence to test this.",
        "no word": f"{key} is no word of your sentence, so it cannot be moved: choose a word as key to test it.",
        "own word": f"{query} looks at its own word here: choose another word as key to test it.",
        "no second word": "A swap needs a second word that the query may look at, spelled otherwise, and not the query "
        "itself: this sentence has none.",
    }[why]


def _describe(claim: Claim, swap: Outcome | str, *, is_random: bool) -> str:
    """What the swap shows, in one sentence and a note where the weights are random."""
    random = " The weights are random: this is chance, nothing was learnt." if is_random else ""
    if isinstance(swap, str):
        return f"The two words cannot be swapped here: {swap}."
    return f"{describe_swap(claim, swap.weights)}{random}"


def _explain_table(lab: Lab, claim: Claim) -> str:
    """How to read the table, in markdown."""
    query = quote_place(lab.batch.tokens[lab.sentence], claim.positions[0])
    key, rival = (quote_token(claim.word(place)) for place in (claim.key, claim.rival))
    told = f"Each row is another sentence. It shows the weight that {query} gives to a word: before → after."
    if not claim.is_asked:
        told += f" {rival} stands for the rival: it is the word with the most weight that can be swapped with {key}."
    return f"{told} A word of several tokens has the sum of their weights."


def _link(lab: Lab, walk: Walk, claim: Claim, kind: Kind, found: Outcome | str, new: str) -> str:
    """What a row does, as a link to it where there is one."""
    key, rival = (quote_token(claim.word(place)) for place in (claim.key, claim.rival))
    title = {
        "swap": f"{key} and {rival} change places",
        "replace": f"{quote_token(new)} instead of {key}",
        "move": f"{key} two places away",
    }[kind]
    if isinstance(found, str):
        return title
    if kind == "move":
        title = f"{key} two places further {'right' if found.text.steps > 0 else 'left'}"
    query, place, other = found.positions
    places = {"layer": walk.layer.layer, "head": walk.head, "query": query, "key": place, "attention_rival": str(other)}
    link = link_text(lab, found.text.text, places)
    return f"[{title}]({link})" if link else title


def _write_row(claim: Claim, found: Outcome | str) -> list[str]:
    """The weights of both words before and after, and which is larger now."""
    if isinstance(found, str):
        return ["–", "–", f"not possible: {found}"]
    pairs = zip(claim.weights, found.weights, strict=True)
    order = describe_order(claim.weights, found.weights, claim.word(claim.rival))
    return [*(f"{before:.2f} → **{after:.2f}**" for before, after in pairs), order]


def describe_swap(claim: Claim, after: tuple[float, float]) -> str:
    """What the swap shows, in markdown, with the weights of both words in both orders."""
    names = quote_token(claim.word(claim.key)), quote_token(claim.word(claim.rival))
    (first, second), verdict = (claim.weights, after), judge_swap(claim.weights, after)
    # The word that has more weight comes first; the key where both have the same.
    winner = 1 if compare(first) < 0 else 0
    name, other = names[winner], names[1 - winner]
    a, b = first if winner == 0 else first[::-1]
    a_swapped, b_swapped = second if winner == 0 else second[::-1]
    if verdict == "word":
        told = (
            f"**In this sentence, between {name} and {other}, the head follows the word.** In both orders "
            f"{name} has more weight: {a:.2f} against {b:.2f}, and after the swap "
            f"{a_swapped:.2f} against {b_swapped:.2f}."
        )
        if abs(a - a_swapped) > a_swapped - b_swapped:
            told += " The place counts too: the swap alone moves its weight by more than what is left between the two."
    elif verdict == "place":
        told = (
            f"**In this sentence, between {name} and {other}, the head follows the place, not the word.** "
            f"{name} has more weight, {a:.2f} against {b:.2f}. After the swap {other} stands there and has more, "
            f"{b_swapped:.2f} against {a_swapped:.2f}. A place is more than a position: "
            "which words stand around it counts too."
        )
    else:
        told = (
            f"**In this sentence, between {name} and {other}, it is too close to tell.** {name} has {a:.2f} "
            f"and {other} {b:.2f}; after the swap they have {a_swapped:.2f} and {b_swapped:.2f}. "
            f"To tell, they have to be {CLOSE:.2f} apart in "
            "both orders."
        )
    if max(*first, *second) < SMALL:
        told += f" All these weights are under {SMALL:.2f}: most of the attention goes elsewhere."
    return told


def describe_order(before: tuple[float, float], after: tuple[float, float], rival: str) -> str:
    """Whether a word has more weight than its rival, in a few words, and whether that was so before."""
    first, second = compare(before), compare(after)
    words = {1: "more than", 0: "as much as", -1: "less than"}
    return f"{'still' if first == second else 'now'} {words[second]} {quote_token(rival)}"
