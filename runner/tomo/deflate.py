"""zlib's functions as ISA-L has them, where there is one: the same results in half to a tenth of the time."""

from __future__ import annotations

try:
    from isal.igzip_lib import IsalError as DeflateError
    from isal.isal_zlib import crc32, decompress
except ImportError:  # no wheel for this kind of machine
    from zlib import crc32, decompress
    from zlib import error as DeflateError  # type: ignore[assignment]

__all__ = ["DeflateError", "crc32", "decompress"]
