"""The glossary: short plain explanations, sent to the browser only while the panel is open."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from playground.web.sidebar.controls import GLOSSARY

MEANINGS = {
    term: meaning.replace("\n", " ")
    for term, meaning in (part.strip().removeprefix("**").split("**: ") for part in GLOSSARY.split("\n\n"))
}


def test_every_term_is_explained_once_and_in_alphabetical_order() -> None:
    assert GLOSSARY.count("**: ") == len(MEANINGS)
    assert list(MEANINGS) == sorted(MEANINGS, key=str.lower)


@pytest.mark.parametrize("term", MEANINGS)
def test_a_term_is_explained_in_one_to_three_short_plain_sentences(term: str) -> None:
    sentences = re.split(r"(?<=[.!?;:]) ", MEANINGS[term])
    assert MEANINGS[term][0].isupper()
    assert MEANINGS[term].endswith(".")
    assert len(re.findall(r"\.(?= |$)", MEANINGS[term])) <= 4
    assert max(len(sentence.split()) for sentence in sentences) <= 22
    assert not set(term + MEANINGS[term]) & set("<>&`$*[]"), "neither HTML nor markdown"


def test_the_text_is_sent_only_while_the_panel_is_open() -> None:
    def script() -> None:
        from playground.web.sidebar.controls import draw_glossary

        draw_glossary()

    app = AppTest.from_function(script).run()
    assert not app.markdown
    app.session_state["glossary"] = True
    app.run()
    assert not app.exception
    assert [text.value for text in app.markdown] == [GLOSSARY.strip()]
