"""The policy on scripts, in the browser: every visitor of these tests fails where it is violated, as this shows."""

from tests.browser.visitor import Visitor

_ADD_SCRIPT = """() => {
  const script = document.createElement("script")
  script.textContent = "window.reached = true"
  document.body.append(script)
  return window.reached ?? false
}"""


def test_a_script_from_elsewhere_does_not_run_and_a_visitor_of_the_tests_hears_of_it(visitor: Visitor) -> None:
    visitor.open("/parameters")
    assert visitor.errors == []
    assert visitor.page.evaluate(_ADD_SCRIPT) is False
    visitor.eventually(lambda: any("Content Security Policy" in error for error in visitor.errors), "a violation")
    visitor.errors.clear()
