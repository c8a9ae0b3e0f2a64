"""Sentences beside each other: which are alike, by which tokens and words, and from which layer on."""

from playground.analysis import sentences
from playground.limits import MAX_LISTED
from playground.views.similarity import sentences_scene, show_similarity
from playground.web.choices import widgets
from playground.web.shared import panels
from playground.web.shared.page_end import PageEndError, fragment
from playground.web.shared.renderer import Live, draw_view, session_view
from playground.words import say


def draw_list() -> None:
    """Draw the field of the list, with or without sentences that can be compared."""
    help_text = say("similarity", "list.help", most=MAX_LISTED)
    widgets.text("similarity_list", say("similarity", "list"), height=96, help_text=help_text)


@fragment
def explore_similarity() -> None:
    """The list, what was run, and what the view shows of it."""
    try:
        with panels.explain_errors():
            scene = sentences_scene(session_view("similarity"))
    except PageEndError:
        draw_list()
        raise
    draw_view("similarity", show_similarity, lambda _: scene, shown=(), live=Live(widgets={"list": draw_list}))


panels.draw_heading("How alike are the sentences' vectors?")
explore_similarity()
panels.code_behind(
    "similarity",
    sentences.pool,
    sentences.SentenceDepths.similarity,
    sentences.token_contributions,
    sentences.leave_words_out,
)
