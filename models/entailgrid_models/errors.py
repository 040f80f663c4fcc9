"""The errors of the models package; each is one line that says what is wrong and, where there is one, the way out."""

from __future__ import annotations


class CheckpointError(Exception):
    """A checkpoint or an exported model cannot be read: missing, altered, unsafe or unsupported."""


class ModelForwardError(Exception):
    """A forward pass failed or gave values that are not finite."""
