"""Preflight: what is wrong with a scan, or worth a word, before any work is done with it."""

from runner.tomo.check.preflight import Inspection, checked_scan, inspect

__all__ = ["Inspection", "checked_scan", "inspect"]
