"""The small English: its sentences, and encoders of every architecture that learn it."""

from playground.language.capabilities import CAPABILITIES, Capability, Example

__all__ = ["CAPABILITIES", "Capability", "Example"]
