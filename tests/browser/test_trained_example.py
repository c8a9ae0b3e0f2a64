"""The Decoder page's two sources: each has its own link, and neither stays in the other's."""

from playwright.sync_api import expect

from tests.browser.visitor import Visitor


def test_example_and_own_text_are_one_switch_apart(visitor: Visitor, classmate: Visitor) -> None:
    visitor.open("/encoder-decoder")
    expect(visitor.widget("encdec_pattern")).to_contain_text("layer 1, head 3")
    visitor.click_head(1, 1, "encdec_grid")
    expect(visitor.widget("encdec_pattern")).to_contain_text("layer 1, head 1")
    chosen = {"encdec_example_head": ["1"]}
    assert visitor.settled().query() == chosen
    theirs = classmate.open(visitor.copied_link())
    assert theirs.notices() == ""
    assert theirs.charts() == visitor.charts()
    visitor.choose("encdec_source", "your text")
    expect(visitor.widget("encdec_pattern")).to_contain_text("layer 0, head 0")
    expect(visitor.widget("text").locator("textarea")).to_be_visible()  # the sidebar's fold has opened
    assert visitor.settled().query() == {"encdec_source": ["your text"]}
    visitor.choose("encdec_source", "trained example")
    expect(visitor.widget("encdec_pattern")).to_contain_text("layer 1, head 1")
    assert visitor.settled().query() == chosen


def test_a_row_of_the_map_chooses_the_step_that_the_answer_is_about(visitor: Visitor) -> None:
    visitor.open("/encoder-decoder")
    expect(visitor.widget("answer")).to_contain_text("After [BOS]₀")
    visitor.click_cell("encdec_pattern", 3, 5)
    expect(visitor.widget("answer")).to_contain_text("After chat₃")
    assert visitor.settled().query() == {"encdec_example_position": ["3"]}
    expect(visitor.widget("encdec_next_tokens")).to_contain_text("So far: [BOS] le petit chat")


def test_the_encoders_map_has_no_step_to_choose_also_where_the_decoders_stood_before(visitor: Visitor) -> None:
    visitor.open("/encoder-decoder")
    visitor.click_cell("encdec_pattern", 3, 5)
    answered = {"encdec_example_position": ["3"]}
    assert visitor.settled().query() == answered
    visitor.choose("encdec_example_attention", "encoder self")
    expect(visitor.widget("encdec_pattern")).to_contain_text("encoder self, layer 1, head 3")
    visitor.click_cell("encdec_pattern", 1, 2)
    assert visitor.settled().query() == answered | {"encdec_example_attention": ["encoder self"]}


def test_on_a_phone_the_step_is_framed_also_where_its_row_is_wider_than_the_window(phone: Visitor) -> None:
    phone.open(f"/encoder-decoder?encdec_example={'the+cat+' * 17}")
    expect(phone.widget("encdec_pattern")).to_contain_text("cross, layer 1, head 3")
    expect(phone.widget("encdec_pattern").locator(".frame")).to_be_visible()
