"""Scans: opening them, and reading their pixels."""

from runner.tomo.scan.open import open_scan
from runner.tomo.scan.scan import FrameGroup, Frames, Images, Scan

__all__ = ["FrameGroup", "Frames", "Images", "Scan", "open_scan"]
