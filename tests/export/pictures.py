"""Pictures read back: the cells of an SVG as a grid of colours, and the pixels of a PNG."""

import io
import re
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import NDArray
from PIL import Image

SVG = "{http://www.w3.org/2000/svg}"
DC = "{http://purl.org/dc/elements/1.1/}"

Place = tuple[float, float, float, float]
"""The width and height of one cell, and the corner of the first, in pixels from the picture's corner."""


def parse(svg: bytes) -> ET.Element:
    """The root of an SVG, which asks no other server for anything."""
    assert b"<!DOCTYPE" not in svg
    assert b"<!ENTITY" not in svg
    root = ET.fromstring(svg)
    for element in root.iter():
        links = [value for name, value in element.items() if name.endswith(("href", "src"))]
        assert all(link.startswith(("#", "data:image/png")) for link in links)
    return root


def texts(svg: bytes) -> list[str]:
    """All words that stand in an SVG as text."""
    return ["".join(element.itertext()) for element in parse(svg).iter(f"{SVG}text")]


def find_cells(svg: bytes) -> tuple[ET.Element, Place]:
    """The group of a heatmap's cells, and where these lie."""
    root = parse(svg)
    above = {child: parent for parent in root.iter() for child in parent}
    (group,) = (each for each in root.iter(f"{SVG}g") if each.get("class") == "cells")
    width, _, _, height, x, y = _numbers(str(group.get("transform")))
    left, top, _, _ = _numbers(str(root.get("viewBox")))
    x, y, element = x - left, y - top, above[group]
    while element is not root:
        if transform := element.get("transform"):
            assert transform.startswith("translate")
            across, down = _numbers(transform)
            x, y = x + across, y + down
        element = above[element]
    return group, (width, height, x, y)


def paint(cells: ET.Element, shape: tuple[int, int]) -> NDArray[np.uint8]:
    """The colours of cells (R, C, 3), as a reader of SVG paints one path after the other; white where there is none."""
    grid = np.full((*shape, 3), 255, np.uint8)
    for path in cells.iter(f"{SVG}path"):
        colour = bytes.fromhex(str(path.get("fill")).removeprefix("#"))
        for run in re.findall(r"M(\d+) (\d+)h(\d+)v1H\d+z", str(path.get("d"))):
            first, row, length = map(int, run)
            grid[row, first : first + length] = np.frombuffer(colour, np.uint8)
    return grid


def pixels(png: bytes) -> NDArray[np.uint8]:
    """The colours of a PNG, (rows, columns, 3)."""
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("RGB"))


def metadata(png: bytes) -> dict[str, Any]:
    """The text chunks of a PNG."""
    with Image.open(io.BytesIO(png)) as image:
        image.load()
        return {str(name): value for name, value in image.info.items()}


def _numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?[\d.]+(?:e-?\d+)?", text)]
