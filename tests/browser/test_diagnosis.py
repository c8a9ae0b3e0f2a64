"""The page Diagnosis in the browser: a file with a mistake, a right one and a broken one, on a phone."""

import io
from pathlib import Path

import numpy as np
from playwright.sync_api import expect

from playground.link.opening import open_link
from tests.browser.test_every_page import AXE, grave_violations
from tests.browser.visitor import Visitor
from tests.mistakes.plain_pass import plain_pass

LINK = (
    "/diagnosis?weights=random&tokenizer=word&text=the+cat+sat&d_model=16&n_heads=4&n_layers=2&d_ff=32"
    "&positions=sinusoidal&norm_eps=1e-05&embedding_norm=false&n_segments=0&activation=relu"
)


def write(folder: Path, *made: str) -> Path:
    view, saved = open_link(LINK.removeprefix("/")), io.BytesIO()
    plain = plain_pass(view.encoder.state_dict(), view.config, view.batch.ids, made=made)
    np.savez(saved, **{name: tensor.numpy() for name, tensor in plain.items()})  # type: ignore[arg-type]
    file = folder / f"{'-'.join(made) or 'right'}.npz"
    file.write_bytes(saved.getvalue())
    return file


def test_files_with_a_mistake_without_and_broken(phone: Visitor, tmp_path: Path) -> None:
    phone.open(LINK)
    field = phone.page.locator("[class*=st-key-diagnosis_file] input[type=file]")
    field.set_input_files(write(tmp_path, "merge-without-transpose"))
    expect(phone.widget("answer")).to_contain_text("heads are joined without a transpose")
    phone.eventually(lambda: len(phone.charts()) == 3, "three maps")
    phone.settled()
    assert phone.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    phone.page.evaluate(AXE)
    phone.eventually(lambda: grave_violations(phone) == set(), "no grave fault, once the maps have faded in")
    field.set_input_files(write(tmp_path))
    expect(phone.widget("answer")).to_contain_text("No mistake shows")
    expect(phone.widget("diagnosis_yours")).to_have_count(0)
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"PK\x03\x04 nothing")
    field.set_input_files(broken)
    expect(phone.page.get_by_test_id("stAlert").filter(has_text="broken.npz")).to_be_visible()
    phone.settled().assert_well()
