"""Numbers as pages write them, read back."""

import re

_DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def read_number(text: str) -> float:
    """What `wording.write_number` has written: `0.12`, `18,000`, `1.2 × 10⁻⁵`, `10⁻⁵`."""
    found = re.fullmatch(r"(?:(.+) × )?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", text.replace("\u00a0", " "))
    if found is None:
        return float(text.replace("−", "-").replace(",", ""))
    return float(f"{found[1] or 1}e{found[2].translate(_DIGITS)}".replace("−", "-"))
