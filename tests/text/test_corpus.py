from playground.text.tokenizer import english_texts


def test_there_is_enough_english_to_learn_from() -> None:
    text = " ".join(english_texts())
    assert len(text) > 300_000
    assert text.count(" the ") > 3_000
