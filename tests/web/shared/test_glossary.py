"""The glossary: short plain explanations, sent to the browser only while the panel is open."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from playground.web.shared.glossary import GLOSSARY


def test_terms_are_in_alphabetical_order() -> None:
    assert list(GLOSSARY) == sorted(GLOSSARY, key=str.lower)


@pytest.mark.parametrize("term", GLOSSARY)
def test_a_term_is_explained_in_one_to_three_short_plain_sentences(term: str) -> None:
    sentences = re.split(r"(?<=[.!?;:]) ", GLOSSARY[term])
    assert GLOSSARY[term][0].isupper()
    assert GLOSSARY[term].endswith(".")
    assert len(re.findall(r"\.(?= |$)", GLOSSARY[term])) <= 4
    assert max(len(sentence.split()) for sentence in sentences) <= 22
    assert not set(term + GLOSSARY[term]) & set("<>&`$*[]"), "neither HTML nor markdown"


def test_the_text_is_sent_only_while_the_panel_is_open() -> None:
    def script() -> None:
        from playground.web.shared.glossary import draw_glossary

        draw_glossary()

    app = AppTest.from_function(script).run()
    assert not app.markdown
    app.session_state["glossary"] = True
    app.run()
    assert not app.exception
    (text,) = app.markdown
    assert [term for term in GLOSSARY if f"**{term}**: " not in text.value] == []
