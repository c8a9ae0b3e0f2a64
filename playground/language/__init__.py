"""The small English: sentences whose words constrain each other, and encoders of every architecture that learn it."""

from playground.language.capabilities import CAPABILITIES, Capability, Example

__all__ = ["CAPABILITIES", "Capability", "Example"]
