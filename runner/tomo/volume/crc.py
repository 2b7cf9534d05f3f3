"""The CRC-32 of slices: ISA-L's, which takes a tenth of zlib's time, where there is one; the same number."""

from __future__ import annotations

try:
    from isal.isal_zlib import crc32
except ImportError:  # no wheel for this kind of machine
    from zlib import crc32

__all__ = ["crc32"]
