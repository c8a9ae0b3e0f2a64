"""Networks learn on the server while students watch, leave, come back, and close their tabs."""

import re

from playwright.sync_api import WebSocketRoute, expect

from tests.browser.visitor import Visitor

ENDLESS = "/training?training_task=Copy&training_steps=5000"
SHORT = (
    "/training?weights=random&training_task=Copy&training_length=5&training_n_symbols=6&training_n_train=256"
    "&d_model=32&n_heads=2&n_layers=1&d_ff=64&training_batch_size=32&seed=7&training_steps=50"
)
PATIENT = 60_000


def press(visitor: Visitor, name: str) -> None:
    visitor.widget(f"training_{name}").get_by_role("button").click()


def expect_status(visitor: Visitor, text: str) -> None:
    expect(visitor.page.get_by_test_id("stProgress")).to_contain_text(re.compile(text), timeout=PATIENT)


def batches(visitor: Visitor) -> float:
    """How far the curve of the loss reaches by now."""
    return float(max(visitor.array("training_loss", 0, "x"), default=0))


def final_loss(visitor: Visitor) -> str:
    """The validation loss as it is read."""
    (found,) = re.findall(r"Validation loss ([0-9.]+) nats", visitor.text())
    return str(found)


def test_two_students_share_one_seat(visitor: Visitor, classmate: Visitor) -> None:
    """They watch, leave the page, come back, stop, start again, and close a tab."""
    first, second = (who.open(f"{ENDLESS}&seed={n}") for n, who in enumerate((visitor, classmate)))
    press(first, "start")
    chart = first.widget("training_loss").locator(".js-plotly-plot")
    curve = chart.locator("path.js-line").first
    expect(curve).to_be_attached(timeout=PATIENT)
    picture, begun = chart.element_handle(), str(curve.get_attribute("d"))
    first.eventually(lambda: len(str(curve.get_attribute("d"))) > len(begun), "a curve that grows")
    assert picture.evaluate("each => each.isConnected"), "the chart was made anew, and blinked"
    press(second, "start")
    expect_status(second, "Waiting: number 1 in the queue")
    first.go_to("Norms")
    first.go_to("Training")
    expect_status(first, "Training: step")
    press(first, "stop")
    expect_status(first, "Stopped at step [0-9,]+; the weights of that step are kept")
    expect_status(second, "Training: step")
    before = batches(first.settled())
    assert before > 0
    press(first, "start")
    expect_status(first, "Waiting: number 1 in the queue")
    second.assert_well()
    second.page.close()
    expect_status(first, "Training: step")
    press(first, "stop")
    expect_status(first, "Stopped")


def test_a_connection_that_breaks_ends_the_run_and_leaves_its_curves(visitor: Visitor) -> None:
    sockets = list[WebSocketRoute]()

    def pass_on(socket: WebSocketRoute) -> None:
        sockets.append(socket.connect_to_server())

    visitor.page.route_web_socket("**/_stcore/stream", pass_on)
    visitor.open(ENDLESS)
    press(visitor, "start")
    expect_status(visitor, "Training: step [0-9]{2,}")
    sockets[-1].close()
    expect_status(visitor, "Stopped at step [0-9,]+")
    assert len(sockets) == 2, "it did not connect again"
    expect(visitor.widget("training_trials")).to_be_visible(timeout=PATIENT)
    assert batches(visitor.settled()) >= 10
    # Streamlit tells the console of looks that fell into the gap, and of the break itself; nothing more may go wrong.
    assert [error for error in visitor.errors if not error.startswith("console: ")] == []
    visitor.errors.clear()
    press(visitor, "start")
    expect_status(visitor, "Training: step")
    press(visitor, "stop")
    expect_status(visitor, "Stopped at step")


def test_the_browser_asks_before_a_reload_while_a_run_goes_on(visitor: Visitor) -> None:
    visitor.open(ENDLESS)
    asks = visitor.page.locator(".st-key-reload_warning")
    expect(asks).to_have_count(0)
    press(visitor, "start")
    expect_status(visitor, "Training: step")
    for title in ("Norms", "Training"):
        visitor.go_to(title)
        expect(asks).to_have_count(1)
        visitor.page.close(run_before_unload=True)
        visitor.eventually(lambda: visitor.errors == ["dialog: "], "the browser's question")
        visitor.errors.clear()
    press(visitor, "stop")
    expect_status(visitor, "Stopped at step")
    expect(asks).to_have_count(0)
    visitor.settled().assert_well()
    visitor.page.close(run_before_unload=True)
    visitor.page.wait_for_event("close")
    assert visitor.errors == []


def test_a_reload_and_a_link_bring_back_what_was_trained(visitor: Visitor, classmate: Visitor) -> None:
    visitor.open(SHORT)
    press(visitor, "start")
    expect_status(visitor, "The run finished at step 50")
    expect(visitor.widget("training_trials")).to_be_visible(timeout=PATIENT)
    loss = final_loss(visitor.settled())
    visitor.page.reload()
    expect(visitor.widget("training_trials")).to_be_visible(timeout=PATIENT)
    assert final_loss(visitor.settled()) == loss

    visitor.widget("training_look").get_by_role("button").click()
    visitor.settled().go_to("Norms")
    expect(visitor.page.get_by_test_id("stSidebar")).to_contain_text("trained for 50 steps")
    drawn, address = visitor.settled().charts(), visitor.page.url
    visitor.page.reload()
    expect(visitor.page.get_by_test_id("stSidebar")).to_contain_text("trained for 50 steps")
    assert visitor.settled().charts() == drawn
    assert visitor.notices() == ""

    classmate.open(address)
    expect(classmate.page.get_by_test_id("stSidebar")).to_contain_text("trained for 50 steps")
    assert classmate.settled().charts() == drawn
    assert final_loss(classmate.go_to("Training")) == loss
