"""Who does *it* mean? One head that looks from a pronoun at a noun, a rival, a swap of the two, and the head off."""

from collections.abc import Mapping

import numpy as np

from playground.analysis.attribution import NAMES
from playground.analysis.changes import sentence_change
from playground.analysis.counterfactuals import (
    Claim,
    Counterfactual,
    Kind,
    Outcome,
    change_text,
    compare,
    find_claim,
    judge_swap,
    list_alike,
    run_tests,
)
from playground.charts.markdown import escape_markdown, quote_token
from playground.errors import InputError
from playground.learn.tour import Choices, Conclusion, Evidence, SmallMap, Step, Tour, TourState, Verdict
from playground.link.changes import Changes, MadeChange
from playground.link.opening import Focus, choose_pair
from playground.link.params import AUTOMATIC
from playground.model.changes import Change
from playground.runs.encoder_run import Run
from playground.text.nouns import choose_pronoun, find_nouns
from playground.text.sentences import split_sentences, split_words
from playground.text.wording import join_words, quote_sentence, write_weight
from playground.views.attention.counterfactuals import describe_swap, read_other_texts
from playground.views.attention.explanation import HeadsRun, explain_cell

LAYER, HEAD = 3, 1
"""The head of the trained encoder that looks from a pronoun at what it may mean, in many sentences."""

_EXAMPLE = "The trophy doesn't fit in the suitcase because it is too big."

_MOST_OFFERED = 6
"""Words that can be guessed by a button."""


def _start(evidence: Evidence) -> Choices:
    """The head for pronouns, in the row of the visitor's own; no key yet: that is for the visitor to find."""
    place = evidence.state.pronoun
    there = {} if place is None else {"query": place, "key": place}
    head = {"layer": LAYER, "head": HEAD, "attention_show": "one head", "attention_rival": AUTOMATIC}
    return {"weights": "minilm", "do": Changes(), **head, **there}


def _ask_for_cell(state: TourState) -> str:
    if state.pronoun is None:
        return f"Type a sentence with a word such as *it* or *she*, for example: “{_EXAMPLE}”"
    word = state.word(state.pronoun)
    return (
        f"At which other word does {word} look most? Press it here, or its cell in the row of {word} in the large map. "
        "A stronger colour is more weight."
    )


def list_nouns(state: TourState) -> Mapping[str, str]:
    """Nouns that the pronoun may mean, by their places: those before it first, and of these the nearest ones."""
    pronoun = state.pronoun
    if pronoun is None:
        return {}
    places = [place for place in find_nouns(_read_words(state)) if len(state.tokens[place]) > 1]
    nearest = sorted(places, key=lambda place: (place > pronoun, abs(place - pronoun)))
    offered = {state.tokens[place].lower(): place for place in reversed(nearest)}  # the nearest of equal ones
    kept = [place for place in nearest if place in offered.values()]
    return {str(place): state.tokens[place] for place in sorted(kept[:_MOST_OFFERED])}


def _read_words(state: TourState) -> list[str]:
    """The tokens, those that are words as they stand in the text."""
    words = ["" if special else token for token, special in zip(state.tokens, state.special, strict=True)]
    row = int(state.values["sentence"]) - 1
    if state.batch is None or row >= len(state.batch.sentences):
        return words
    spans = state.batch.offsets[row][: len(words)]
    written = [state.batch.sentences[row][start:end] for start, end in spans]
    return [text if text.lower() == word.lower() else word for text, word in zip(written, words, strict=True)]


def _has_chosen_cell(state: TourState) -> bool:
    is_chosen = "cell chosen" in state.actions or "find" in state.answers
    return state.page == "attention" and is_chosen and _has_answer(state)


def _has_answer(state: TourState) -> bool:
    """Whether the focus is on a pronoun, and a word that it may mean."""
    query, key = state.place("query"), state.place("key")
    return query is not None and query == state.pronoun and query != key and state.is_word(key)


def _say_cell(evidence: Evidence) -> str:
    """Whether the chosen word has the most weight in this head, with the weights, and what that does not say."""
    focus, run = evidence.find_focus(), evidence.heads().run
    row = run.pattern(focus.layer)[focus.head, focus.query]
    best = choose_pair(run, focus, focus.query).key
    query, key, most = (quote_token(run.tokens[place]) for place in (focus.query, focus.key, best))
    is_guessed = "find" in evidence.state.answers or "cell chosen" in evidence.state.actions
    if best == focus.key:
        weight = write_weight(row[best])
        told = f"Of all other words, {query} looks most at {key}: weight {weight}, where its whole row has 1."
    else:
        weight, more = write_weight(row[focus.key]), write_weight(row[best])
        told = f"{query} gives {key} a weight of {weight}. It looks more at {most}: {more}."
    judged = ("Right for this head. " if best == focus.key else "Not in this head. ") if is_guessed else ""
    return f"{judged}{told} Looking at a word is not the same as meaning it: next, test what this look depends on."


def _explain_cell(state: TourState) -> str | None:
    if state.page != "attention" or "cell chosen" not in state.actions or state.pronoun is None:
        return None
    query, key = state.place("query"), state.place("key")
    if query != state.pronoun:
        return f"This is another row. {state.word(state.pronoun)} has row {state.pronoun}."
    if key == query:
        return f"This is {state.word(query)} itself: press another word in its row."
    return (
        f"{state.word(key)} is no word of the sentence, but a sign that heads look at for want of a word. Press a word."
    )


def _choose_cell(evidence: Evidence) -> Choices:
    if evidence.state.pronoun is None:
        return {"text": _EXAMPLE}
    if _has_answer(evidence.state):
        return {name: evidence.state.place(name) for name in ("query", "key")}
    pair = choose_pair(evidence.heads().run, evidence.find_focus(), evidence.state.pronoun)
    return {"query": pair.query, "key": pair.key}


_ANY_RIVAL = "Choose one for me"
"""What the button is called that takes the noun with the most weight as rival."""


def _ask_for_rival(state: TourState) -> str:
    query, key = state.word(state.place("query")), state.word(state.place("key"))
    asked = f"Could {query} mean another word than {key}?"
    if _is_rival(state):
        rival = state.word(state.place("attention_rival"))
        return f"{asked} Beside it stands {rival}: keep it, or choose another in the list **Compare it with a rival**."
    return f"{asked} Choose such a rival in the list **Compare it with a rival**, or press **{_ANY_RIVAL}**."


def _has_chosen_rival(state: TourState) -> bool:
    is_chosen = state.has_changed("attention_rival") or "rival" in state.answers
    is_here = state.page == "attention" and state.values["attention_show"] == "one head"
    return is_here and is_chosen and _is_rival(state)


def _offer_rival(state: TourState) -> Mapping[str, str]:
    """The rival that stands there already, to be kept."""
    return {"keep": f"Keep {state.word(state.place('attention_rival'))}"} if _is_rival(state) else {}


def _begin_with_rival(evidence: Evidence) -> Choices:
    """The noun with the most weight, where the visitor has no rival yet and there is one."""
    return {} if _is_rival(evidence.state) or not _other_nouns(evidence) else _choose_rival(evidence)


def _is_rival(state: TourState) -> bool:
    rival = state.place("attention_rival")
    return state.is_word(rival) and rival not in (state.place("query"), state.place("key"))


def _explain_rival(state: TourState) -> str | None:
    if state.values["attention_show"] != "one head":
        return "Set **Show** to *one head* first: the answer is about one head."
    if state.has_changed("attention_rival") and not _is_rival(state):
        return "Choose a word of the sentence as the rival."
    return None


def _say_rival(evidence: Evidence) -> str:
    """The weights of the two words, and how to read what made the difference."""
    focus, run, rival = evidence.find_focus(), evidence.heads().run, evidence.state.place("attention_rival")
    if rival is None:
        return ""
    row = run.pattern(focus.layer)[focus.head, focus.query]
    query, key, other = (quote_token(run.tokens[place]) for place in (focus.query, focus.key, rival))
    said = (
        f"{query} gives {key} {write_weight(row[focus.key])} and {other} {write_weight(row[rival])}. The bars show "
        f"what made the difference: to the right they speak for {key}, to the left for {other}."
    )
    found = explain_cell(evidence.heads(), focus, str(rival))
    if not found.has_parts:
        return said
    largest = found.verdict.largest
    whom = key if found.verdict.amounts[largest] > 0 else other
    return f"{said} The longest bar is “{NAMES[largest]}”: it speaks for {whom}."


def _choose_rival(evidence: Evidence) -> Choices:
    focus, heads = evidence.find_focus(), evidence.heads()
    row = heads.run.pattern(focus.layer)[focus.head, focus.query]
    most = max(_other_nouns(evidence), key=lambda place: float(row[place]), default=None)
    claim = _find_claim(evidence, heads, most)
    if claim is None:
        raise InputError("No other word of this sentence can be the rival: choose another key, or type a longer one.")
    return {"attention_rival": str(claim.positions[2]), "attention_show": "one head"}


def _other_nouns(evidence: Evidence) -> list[int]:
    """Places of the nouns beside the query and the key."""
    focus = evidence.find_focus()
    return [place for place in map(int, list_nouns(evidence.state)) if place not in (focus.query, focus.key)]


def _ask_for_guess(state: TourState) -> str:
    key, rival = state.word(state.place("key")), state.word(state.place("attention_rival"), "its rival")
    swapped = _swap_words(state)
    told = f": {quote_sentence(escape_markdown(swapped))}" if swapped else "."
    return (
        f"Let {key} and {rival} change places{told} Which of them has more weight then? The same one, if the word "
        "decides; the other, if the place decides. Guess."
    )


def _swap_words(state: TourState) -> str:
    """The sentence with the key's word and the rival's in each other's place; empty where they cannot change places."""
    query, key, rival = (state.place(name) for name in ("query", "key", "attention_rival"))
    row = int(state.values["sentence"]) - 1
    if state.batch is None or query is None or key is None or rival is None or row >= len(state.batch.sentences):
        return ""
    n = len(state.batch.offsets[row])
    claim = find_claim(state.batch, row, np.zeros(n, np.float32), [True] * n, (query, key), rival)
    swap = change_text(claim, "")["swap"] if isinstance(claim, Claim) and claim.is_asked else None
    return swap.text if isinstance(swap, Counterfactual) else ""


_GUESSED_ABOUT = ("text", "sentence", "layer", "head", "query", "key", "attention_rival")
"""The parameters that a guess is about: where one is changed, the question is another one."""


def _has_guessed(state: TourState) -> bool:
    return "swap" in state.answers and not any(map(state.has_changed, _GUESSED_ABOUT))


_GUESSES = {"word": "The word decides", "place": "The place decides"}
"""Which of two words has more weight when they have changed places."""


def _ask_to_switch_off(_: TourState) -> str:
    return "How much does the whole sentence need this head? Press **What if this head were off?**"


def _is_head_off(state: TourState) -> bool:
    layer, head = state.values["layer"], state.values["head"]
    made = state.values["do"].made
    return any(is_on and each.kind == "zero" and (each.layer, each.head) == (layer, head) for each, is_on in made)


def _switch_off(evidence: Evidence) -> Choices:
    focus = evidence.find_focus()
    return {"do": Changes((MadeChange(Change("zero", focus.layer, focus.head)),))}


def _find_claim(evidence: Evidence, heads: HeadsRun, rival: int | None) -> Claim | None:
    """What the swap tests: that the query looks at the key's word rather than at the rival's; None where it cannot."""
    focus, lab, run = evidence.find_focus(), heads.lab, heads.run
    weights, pair = run.pattern(focus.layer)[focus.head, focus.query], (focus.query, focus.key)
    allowed = (run.allowed_in(focus.layer)[focus.query] & ~run.padding).tolist()
    claim = find_claim(lab.batch, lab.sentence, weights, allowed, pair, rival)
    return claim if isinstance(claim, Claim) else None


def conclude(evidence: Evidence) -> Conclusion:
    """Which word the head looks at and which not, and whether that is still so after the two change places."""
    heads, focus = evidence.heads(), evidence.find_focus()
    run = heads.run
    where = f"Layer {focus.layer}, head {focus.head}"
    query, key = (quote_token(run.tokens[place]) for place in (focus.query, focus.key))
    weight = float(run.pattern(focus.layer)[focus.head, focus.query, focus.key])
    lost = _describe_loss(evidence, run, Change("zero", focus.layer, focus.head))
    tested = _test_claim(evidence)
    if tested is None:
        test = f"This could not be tested: nothing can change places with {key}. Choose two words of the sentence."
        return Conclusion(f"{where} looks from {query} at {key} with weight {weight:.2f}.", test, "untested", lost)
    claim, found = tested
    order, most = compare(claim.weights), choose_pair(run, focus, focus.query).key
    names = [quote_token(claim.word(place)) for place in (claim.key, claim.rival)]
    (winner, loser), (more, less) = (names, claim.weights) if order >= 0 else (names[::-1], claim.weights[::-1])
    looks = f"{where} looks from {query} at {winner} ({more:.2f}) more than at {loser} ({less:.2f})."
    if not order:
        looks = f"{where} gives {winner} and {loser} the same weight from {query}, {more:.2f}."
    row = run.pattern(focus.layer)[focus.head, focus.query]
    if most not in claim.positions and compare((float(row[most]), more)) > 0:
        looks += f" Of all other words, {query} looks most at {quote_token(run.tokens[most])} ({row[most]:.2f})."
    if heads.is_random:
        looks += " The weights are random: this is chance, nothing was learnt."
    swap = found["swap"]
    if not isinstance(swap, Outcome):
        return Conclusion(looks, f"This could not be tested by a swap: {swap}.", "untested", lost)
    guess = evidence.state.answers.get("swap")
    claimed = "place" if guess == "place" else "word"
    if order:
        whose = "Your guess as a claim" if guess else "A claim to be tested"
        ends = "place decides, not the word" if claimed == "place" else "word decides, not the place where it stands"
        looks += f" {whose}: between {winner} and {loser}, the {ends}."
    test = f"Swap the two: “{escape_markdown(swap.text.text)}” {describe_swap(claim, swap.weights)}"
    decides = judge_swap(claim.weights, swap.weights)
    verdict: Verdict = "undecided" if decides == "close" else "held" if decides == claimed else "refuted"
    means = f"What {query} means, no weight says by itself."
    return Conclusion(looks, test, verdict, f"{_describe_another_word(claim, found['replace'])}{lost} {means}")


def _test_claim(evidence: Evidence) -> tuple[Claim, Mapping[Kind, Outcome | str]] | None:
    """The claim about the visitor's two words, and what the head does in other sentences; None where it has none."""
    heads = evidence.heads()
    claim = _find_claim(evidence, heads, evidence.state.place("attention_rival"))
    if claim is None:
        return None
    focus, lab = evidence.find_focus(), heads.lab
    another = next(iter(list_alike(claim.word(claim.key), claim.text)), "")
    found = run_tests(
        claim,
        lab.batch,
        lab.sentence,
        lambda layer, texts: read_other_texts(lab, layer, tuple(texts)),
        focus.layer,
        focus.head,
        another,
    )
    return claim, found


def _judge_guess(evidence: Evidence) -> str:
    """Whether the visitor's guess was right, with the weights before → after; or why it cannot be tested."""
    guess = evidence.state.answers.get("swap")
    tested = _test_claim(evidence)
    if tested is None:
        return "This could not be tested: these two cannot change places. Go back, and choose two words."
    claim, swap = tested[0], tested[1]["swap"]
    if not isinstance(swap, Outcome):
        return f"This could not be tested by a swap: {swap}."
    verdict = judge_swap(claim.weights, swap.weights)
    decides = "it is too close to tell" if verdict == "close" else f"the {verdict} decides"
    told = "You were right:" if guess == verdict else f"You guessed the {guess}, but"
    words = (claim.word(place) for place in (claim.key, claim.rival))
    moved = [
        f"{quote_token(word)} {write_weight(before)} → {write_weight(after)}"
        for word, before, after in zip(words, claim.weights, swap.weights, strict=True)
    ]
    said = f"{told} {decides}. Their weights, before → after the swap: {join_words(moved)}."
    return said + (_reconcile_with_bars(evidence, claim) if verdict == "place" else "")


def _reconcile_with_bars(evidence: Evidence, claim: Claim) -> str:
    """Why the place can decide though the bar of the positions is not the longest; empty where that is not so."""
    focus = evidence.find_focus()
    if not claim.is_asked or focus.layer == 0:
        return ""
    found = explain_cell(evidence.heads(), focus, str(claim.positions[2]))
    amounts, placing = found.verdict.amounts, {"position", "distance"}
    if not found.has_parts or found.verdict.largest in placing or not amounts.keys() & placing:
        return ""
    bars = join_words([f"“{NAMES[group]}”" for group in amounts if group in placing])
    return (
        f" The longest bar is not {bars}: bars say what wrote the two keys' vectors, and the place can also act "
        "through what earlier layers wrote."
    )


def _describe_another_word(claim: Claim, found: Outcome | str) -> str:
    """Whether another word in the key's place has more weight than the rival too; empty where none can stand there."""
    if isinstance(found, str):
        return ""
    new, rival = quote_token(found.text.new), quote_token(claim.word(claim.rival))
    order = {1: "more than", 0: "as much as", -1: "less than"}[compare(found.weights)]
    return (
        f"With {new} in the place of {quote_token(claim.word(claim.key))}, that word has {found.weights[0]:.2f}, "
        f"{order} {rival} ({found.weights[1]:.2f}). "
    )


def _say_loss(evidence: Evidence) -> str:
    """What is lost without the head that was switched off."""
    focus = evidence.find_focus()
    lost = _describe_loss(evidence, evidence.heads().run, Change("zero", focus.layer, focus.head))
    if not lost:
        return "What moved is beyond the range of 32-bit floats."
    return f"{lost} Is that much? A link at the end of this experiment compares it with all heads."


def _describe_loss(evidence: Evidence, run: Run, off: Change) -> str:
    moved = float(sentence_change(run, evidence.run_changed([off])).relative)
    if not np.isfinite(moved):
        return ""
    return f"With this head off, the vector of the whole sentence moves by {moved:.1%} of its length."


def _ask_for_pronoun(state: TourState) -> str:
    sentences = split_sentences(str(state.values["text"])).sentences
    shown = sentences[min(int(state.values["sentence"]), len(sentences)) - 1] if sentences else ""
    words = [shown[word.start : word.end] for word in split_words(shown)]  # also where tokens are letters
    if not shown or state.pronoun is not None or choose_pronoun(words) is not None:
        return ""
    return f"Your sentence has no pronoun, a word such as *it* or *she*. Try this one: “{_EXAMPLE}”"


def _draw_map(evidence: Evidence) -> SmallMap | None:
    """The map of the head for pronouns in the visitor's sentence, between its own tokens; the pronoun's row is lit.

    None where there is no pronoun.
    """
    heads = evidence.heads()
    run = heads.run
    place = Focus(LAYER, HEAD, 0, 0).within(run.config)
    real = ~run.padding & ~run.special
    if not real.any():
        raise InputError("This sentence has no token of its own: type another one.")
    cells = np.nan_to_num(run.pattern(place.layer)[place.head][np.ix_(real, real)])
    state, n_heads = evidence.state, run.config.n_layers * run.config.n_heads
    random = " The weights are random: this is chance." if heads.is_random else ""
    caption = (
        f"Layer {place.layer}, head {place.head}, one of {n_heads} attention patterns. Row = the token that attends, "
        f"column = the token attended to; a stronger colour is more weight.{random}"
    )
    row = state.pronoun
    if row is None or not real[row]:
        return None  # the card says what the sentence lacks
    weights = run.pattern(place.layer)[place.head][row]
    nouns = sorted((int(key) for key in list_nouns(state)), key=lambda key: -weights[key])
    most = sorted(nouns[:2])
    asked = f"{' or '.join(map(state.word, most))}: at which of them does {state.word(row)} look more?"
    if len(most) < 2:
        asked = "Type a sentence with two nouns, to compare them."

    def locate(token: int) -> tuple[int, str]:
        return int(real[:token].sum()), state.tokens[token]

    return SmallMap(cells, caption, asked, locate(row), tuple(map(locate, most)))


PRONOUN = Tour(
    name="pronoun",
    title="Who does *it* mean?",
    own_title=lambda state: f"Who does {state.word(state.pronoun, '*it*')} mean?",
    question="One head links a pronoun to a noun. Why this noun and not the other one?",
    needs=_ask_for_pronoun,
    example=_EXAMPLE,
    minutes=3,
    page="attention",
    starts=_start,
    rivals=list_nouns,
    steps=(
        Step(
            "find",
            _ask_for_cell,
            _has_chosen_cell,
            page="attention",
            target="attention_pattern",
            has_target=lambda state: state.pronoun is not None,
            hint=_explain_cell,
            answers=list_nouns,
            sets_answer=lambda evidence, word: {"query": evidence.state.pronoun, "key": int(word)},
            sets=_choose_cell,
            result=_say_cell,
            is_needed=True,
            hides=("answer", "beside_map", "why_tests"),
        ),
        Step(
            "rival",
            _ask_for_rival,
            _has_chosen_rival,
            page="attention",
            target="why",
            target_on_phone="why_rival_choice",
            scrolls=True,
            hint=_explain_rival,
            has_target=lambda state: state.values["attention_show"] == "one head",
            begins=_begin_with_rival,
            answers=_offer_rival,
            sets_answer=lambda _, word: {"attention_show": "one head"},
            sets=_choose_rival,
            set_label=_ANY_RIVAL,
            result=_say_rival,
            is_needed=True,
            hides=("why_tests",),
        ),
        Step(
            "swap",
            _ask_for_guess,
            _has_guessed,
            page="attention",
            target="why_tests",
            has_target=lambda state: state.values["attention_show"] == "one head",
            scrolls=True,
            meanwhile="why",
            answers=lambda _: _GUESSES,
            hides=("why_tests",),
            result=_judge_guess,
        ),
        Step(
            "off",
            _ask_to_switch_off,
            _is_head_off,
            page="attention",
            target="quick_changes",
            has_target=lambda state: state.values["attention_show"] == "one head",
            sets=_switch_off,
            result=_say_loss,
            scrolls=True,
        ),
    ),
    conclude=conclude,
    picture=_draw_map,
    onward=("what-if", "Is that much? Compare it with all heads"),
)
