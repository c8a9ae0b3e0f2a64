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


def parse(svg: bytes) -> ET.Element:
    """The root of an SVG, which asks no other server for anything."""
    assert b"<!DOCTYPE" not in svg
    assert b"<!ENTITY" not in svg
    return ET.fromstring(svg)


def texts(svg: bytes) -> list[str]:
    """All words that stand in an SVG as text."""
    return ["".join(element.itertext()) for element in parse(svg).iter(f"{SVG}text")]


def find_cells(svg: bytes, number: int = 0) -> ET.Element:
    """The group of a heatmap's cells."""
    (group,) = (each for each in parse(svg).iter(f"{SVG}g") if each.get("id") == f"cells_{number}")
    return group


def paint(group: ET.Element, shape: tuple[int, int]) -> NDArray[np.uint8]:
    """The colours of cells (R, C, 3), as a reader of SVG paints one path after the other; white where there is none."""
    grid = np.full((*shape, 3), 255, np.uint8)
    for path in group.iter(f"{SVG}path"):
        colour = path.get("fill") or path.get("stroke")
        assert colour is not None
        for x, y, width, height in _boxes(path):
            columns, rows = slice(round(x), round(x + width)), slice(round(y), round(y + height))
            grid[rows, columns] = np.frombuffer(bytes.fromhex(colour[1:]), np.uint8)
    return grid


def _boxes(path: ET.Element) -> list[tuple[float, float, float, float]]:
    """The rectangles of a path, in cells: those that are filled, or lines of the width 1 along their middle."""
    x = y = 0.0
    boxes: list[tuple[float, float, float, float]] = []
    drawn = str(path.get("d"))
    for command, numbers in re.findall(r"([MmvhzV])([^MmvhzV]*)", drawn):
        values = [float(number) for number in re.findall(r"-?[\d.]+", numbers)]
        if command == "M" or (command == "m" and not boxes):
            x, y = values
        elif command == "m":
            x, y = x + values[0], y + values[1]
        if command in "Mm":
            boxes.append((x, y, 1.0 if path.get("stroke") else 0.0, 0.0))
        elif command == "v":
            begin = boxes[-1]
            boxes[-1] = (begin[0], begin[1], begin[2], max(begin[3], values[0]))
            y += values[0]
        elif command == "h":
            begin = boxes[-1]
            boxes[-1] = (begin[0], begin[1], max(begin[2], values[0]), begin[3])
            x += values[0]
        elif command == "z":
            x, y = boxes[-1][:2]
    return boxes


def pixels(png: bytes) -> NDArray[np.uint8]:
    """The colours of a PNG, (rows, columns, 3)."""
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("RGB"))


def metadata(png: bytes) -> dict[str, Any]:
    """The text chunks of a PNG."""
    with Image.open(io.BytesIO(png)) as image:
        image.load()
        return {str(name): value for name, value in image.info.items()}


def place_of_cells(svg: bytes) -> tuple[float, float, float, float]:
    """Where cells lie in an SVG, in points: the width and height of one, and the corner of the first."""
    (inner,) = (each for each in find_cells(svg) if each.get("transform", "").startswith("matrix"))
    width, _, _, height, x, y = map(float, re.findall(r"-?[\d.e-]+", inner.get("transform", "").removeprefix("matrix")))
    return width, height, x, y
