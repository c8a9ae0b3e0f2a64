"""What does *not* change? A sentence, its negation, the word that did it, and the same said in other words."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from playground.analysis.sentences import LeftOutWords
from playground.charts.markdown import escape_markdown, quote_beginning, quote_token
from playground.learn.tour import (
    Choices,
    Conclusion,
    Evidence,
    SmallNumbers,
    Step,
    Tour,
    TourState,
    Verdict,
    judge_guess,
)
from playground.limits import MAX_LISTED
from playground.link.changes import Changes
from playground.text import split_sentences
from playground.text.sentences import is_punctuation, split_words
from playground.text.wording import quote_sentence
from playground.views.similarity.sentences import OPPOSITE, Sentences

NEAR, FAR = 0.7, 0.3
"""The cosines between which it is in the middle."""

_NEGATIONS = frozenset({"not", "no", "never", "nobody", "nothing", "neither", "nor", "without"})
_AUXILIARIES = frozenset({"do", "does", "did"})
_JOINED = re.compile(r"n['’]t\b|(?<=can)not\b", re.IGNORECASE)
_AFTER = re.compile(
    r"\b(is|are|am|was|were|can|could|will|would|should|must|may|might|do|does|did)\b(?! not\b)", re.IGNORECASE
)
_ALIKE = 0.5
"""The share of words that a sentence and its negation have in common, at least."""

_GUESSES = {"near": f"Over {NEAR}", "middle": f"{FAR} to {NEAR}", "far": f"Under {FAR}"}


class NegatedPair(NamedTuple):
    """Two sentences of a list, counted from 0, one of which has a negation more."""

    first: int
    second: int


def find_negation(sentences: Sequence[str], n_own: int | None = None) -> NegatedPair | None:
    """The first two sentences that share most of their words, one with a negation more; None where there are none.

    The first of them is one of the first `n_own`, where that is given.
    """
    read = [_count_negations(sentence) for sentence in sentences]
    for second, (words, n) in enumerate(read):
        for first, (others, m) in enumerate(read[:second][:n_own]):
            shared = len(words & others) / max(len(words | others), 1)
            if n != m and shared >= _ALIKE:
                return NegatedPair(first, second)
    return None


def _count_negations(sentence: str) -> tuple[frozenset[str], int]:
    """A sentence's other words, without a negation's *do*, and how many negations it has."""
    plain = _JOINED.sub(" not", sentence).lower()
    words = [plain[word.start : word.end] for word in split_words(plain)]
    kept = {word for word in words if not is_punctuation(word)} - _NEGATIONS - _AUXILIARIES
    # Without an ending that *do* takes over: likes, does not like.
    return frozenset(re.sub(r"(?<=\w\w)(ed|d|s)$", "", word) for word in kept), sum(map(_NEGATIONS.__contains__, words))


def negate(sentence: str) -> str | None:
    """The sentence with one negation more, or without the first it has; None where no simple rule makes one."""
    for pattern in (_JOINED, re.compile(r" not\b", re.IGNORECASE)):
        if pattern.search(sentence):
            return re.sub(r"\bca\b", "can", re.sub(r"\bwo\b", "will", pattern.sub("", sentence, count=1)))
    return _AFTER.sub(r"\1 not", sentence, count=1) if _AFTER.search(sentence) else None


def list_sentences(state: TourState) -> tuple[str, ...]:
    """The visitor's own sentences as the page Similarity has them, without its example."""
    typed = split_sentences(str(state.values["text"])).sentences
    pasted = split_sentences(str(state.values["similarity_list"]), MAX_LISTED).sentences
    return (*typed, *pasted)[:MAX_LISTED]


def _find_others(state: TourState) -> tuple[NegatedPair | None, int | None]:
    """The pair, and the last sentence beside it, which says the same in other words; None where there is none."""
    sentences = list_sentences(state)
    n_typed = len(split_sentences(str(state.values["text"])).sentences)
    pair = find_negation(sentences, n_typed or None)
    other = next((i for i in reversed(range(len(sentences))) if pair and i not in pair), None)
    return pair, other


def _start(_: Evidence) -> Choices:
    chosen = {"similarity_list": "", "similarity_pooling": "mean", "similarity_view": "token by token"}
    return {"weights": "minilm", "do": Changes(), "similarity_first": 1, "similarity_second": 2, **chosen}


def _ask_for_cosine(state: TourState) -> str:
    whose = "your" if list_sentences(state) else "a"
    return (
        f"The encoder makes one vector of {whose} sentence, and one of the same with a *not* added or taken away. "
        "How high is their cosine? 1 is the same direction, 0 a right angle."
    )


def _ask_for_pair(state: TourState) -> str:
    if not split_sentences(str(state.values["text"])).sentences:
        return "Type a sentence into **Your text**. Then write its opposite below **More sentences to compare**."
    return (
        "Below **More sentences to compare**, write your sentence once more, with a *not* added or taken away. Then "
        "press **Compare**."
    )


def _explain_pair(state: TourState) -> str | None:
    if len(list_sentences(state)) < 2:
        return None
    return (
        "No sentence there is yours with a word such as *not* added or taken away: most of its words should be yours."
    )


def _write_pair(evidence: Evidence) -> Choices:
    sentences = list_sentences(evidence.state)
    opposite = negate(sentences[0]) if sentences else None
    if opposite is None or find_negation([sentences[0], opposite]) is None:
        return {"text": OPPOSITE[0], "similarity_list": OPPOSITE[1]}
    return {"similarity_list": opposite}


def _ask_for_word(_: TourState) -> str:
    return "Which words bring the two together, and which keep them apart? Set **View** to *leave a word out*."


def _say_words(evidence: Evidence) -> str:
    """Which words count most for the pair's cosine."""
    pair, _ = _find_others(evidence.state)
    if pair is None:
        return "There are no two sentences any more, one of which denies the other: go back, and write them."
    found = describe_words(evidence.compare_sentences(list_sentences(evidence.state)), pair)
    return f"{found or 'No word alone moves their cosine by 0.005 or more.'} The bars show every word."


def _ask_for_paraphrase(state: TourState) -> str:
    pair, _ = _find_others(state)
    own = "your sentence." if pair is None else quote_sentence(escape_markdown(list_sentences(state)[pair.first]))
    return (
        "Does a higher cosine mean more of the same? Below **More sentences to compare**, add a third sentence. It "
        f"says this in other words: {own} Then press **Compare**."
    )


def _write_paraphrase(_: Evidence) -> Choices:
    return {"text": OPPOSITE[0], "similarity_list": "\n".join(OPPOSITE[1:])}


def _is_paraphrased(state: TourState) -> bool:
    return _find_others(state)[1] is not None and state.has_changed("similarity_list")


def conclude(evidence: Evidence) -> Conclusion:
    """How near a sentence is to its negation, and whether the same in other words is nearer."""
    state, sentences = evidence.state, list_sentences(evidence.state)
    pair, other = _find_others(state)
    if pair is None:
        return Conclusion(
            "There are no two sentences here, one of which denies the other.",
            "So nothing could be tested. Go back, and write a sentence and its negation.",
            "untested",
        )
    found = evidence.compare_sentences(sentences)
    cosines = found.depths.similarity("mean")
    own, opposite = (quote_beginning(sentences[i]) for i in pair)
    near = float(cosines[pair])
    if not np.isfinite(near):
        return Conclusion(f"{own} and {opposite} have no cosine: numbers overflowed.", "Nothing to test.", "untested")
    said = f"{own} and {opposite} have a cosine of {near:.2f}, though one denies the other."
    if found.weights == "random":
        said += " The weights are random: this is chance, nothing was learnt."
    more = describe_words(found, pair)
    if other is None:
        test = "This could not be tested: there is no third sentence that says the same in other words."
        return Conclusion(said, test, "untested", more)
    verdict, test = judge_meaning(near, float(cosines[pair.first, other]))
    third = f"Suppose {quote_beginning(sentences[other])} says the same as the first."
    return Conclusion(said, f"A claim: a higher cosine means more of the same. {third} {test}", verdict, more)


def judge_meaning(opposite: float, paraphrase: float) -> tuple[Verdict, str]:
    """Whether the cosine puts the same in other words nearer than the negation, as one that shows meaning would."""
    beside = f"it is at {paraphrase:.2f}, the negation at {opposite:.2f}"
    if f"{opposite:.2f}" == f"{paraphrase:.2f}":
        return "undecided", f"Then it would be nearer than the negation: {beside}, so neither is."
    if opposite > paraphrase:
        return "refuted", f"Then it would be nearer than the negation: {beside}. The opposite is nearer."
    return "held", f"Then it would be nearer than the negation: {beside}. So it is, here; try another one."


def describe_words(found: Sentences, pair: NegatedPair) -> str:
    """Which word of the two keeps them apart the most, and which holds them together the most."""
    cosine = float(found.depths.similarity("mean")[pair])
    changes: dict[tuple[int, str, int], float] = {}
    for side, other in (pair, pair[::-1]):
        left_out: LeftOutWords = found.leave_words_out(side, other, "mean")
        for word, similarity in zip(left_out.words, left_out.similarities, strict=True):
            if not is_punctuation(word):
                changes[side, word, len(changes)] = similarity - cosine
    if not changes:
        return ""
    apart, together = max(changes, key=lambda each: changes[each]), min(changes, key=lambda each: changes[each])
    parts = []
    if changes[apart] >= 0.005:
        parts.append(
            f"{quote_token(apart[1])} keeps them apart the most: without it they are {changes[apart]:.2f} nearer."
        )
    if changes[together] <= -0.005:
        parts.append(
            f"{quote_token(together[1])} holds them together the most: without it in one of them, they are "
            f"{-changes[together]:.2f} farther apart."
        )
    return " ".join(parts)


def _judge_guess(evidence: Evidence) -> str:
    """The two sentences' cosine, and whether the visitor's guess was right."""
    guess, sentences = evidence.state.answers.get("guess"), list_sentences(evidence.state)
    pair, _ = _find_others(evidence.state)
    if pair is None:
        return ""
    own, opposite = (quote_beginning(sentences[i]) for i in pair)
    cosine = float(evidence.compare_sentences(sentences).depths.similarity("mean")[pair])
    if not np.isfinite(cosine):
        return "They have no cosine: numbers overflowed."
    if guess not in _GUESSES:
        return f"The cosine of {own} and {opposite} is {cosine:.2f}, where 1 is the same."
    right = "near" if cosine > NEAR else "far" if cosine < FAR else "middle"
    return f"The cosine of {own} and {opposite} is {cosine:.2f}. {judge_guess(guess, right, _GUESSES)}"


def _draw_numbers(evidence: Evidence) -> SmallNumbers:
    """The cosine of a sentence with the same in other words; that with its negation is to be guessed."""
    cosine = evidence.compare_sentences((OPPOSITE[0], OPPOSITE[2])).depths.similarity("mean")[0, 1]
    numbers = {"good – I enjoyed it": f"{cosine:.2f}", "good – not good": "?"}
    good, negation, enjoyed = (each.rstrip(".") for each in OPPOSITE)
    return SmallNumbers(
        numbers,
        f"The cosine of *{good}* and *{enjoyed}*; 1 is the same direction. Will that with *{negation}* be higher?",
    )


NEGATION = Tour(
    name="negation",
    title="What does *not* change?",
    question="A cosine says how similar two sentences are. Does it see that one denies the other?",
    minutes=3,
    page="similarity",
    starts=_start,
    steps=(
        Step(
            "guess",
            _ask_for_cosine,
            lambda state: "guess" in state.answers,
            page="similarity",
            target="similarity_list",
            answers=lambda _: _GUESSES,
            hides=("answer", "similarity_picture", "similarity_example", "similarity_details"),
        ),
        Step(
            "write",
            _ask_for_pair,
            lambda state: state.page == "similarity" and _find_others(state)[0] is not None,
            page="similarity",
            target="similarity_list",
            hides=("similarity_picture", "similarity_example", "similarity_details"),
            hint=_explain_pair,
            sets=_write_pair,
            result=_judge_guess,
        ),
        Step(
            "word",
            _ask_for_word,
            lambda state: state.page == "similarity" and state.values["similarity_view"] == "leave a word out",
            page="similarity",
            target="similarity_view",
            sets=lambda _: {"similarity_view": "leave a word out"},
            scrolls=True,
            result=_say_words,
        ),
        Step(
            "meaning",
            _ask_for_paraphrase,
            _is_paraphrased,
            page="similarity",
            target="similarity_list",
            sets=_write_paraphrase,
            set_label="Use an example about a film instead",
            scrolls=True,
        ),
    ),
    conclude=conclude,
    picture=_draw_numbers,
    onward=("what-if", "Change something inside, and see what moves"),
)
