"""zlib's functions as ISA-L has them, where there is one: the same results in half to a tenth of the time."""

from __future__ import annotations

try:
    from isal import isal_zlib as _zlib
except ImportError:  # no wheel for this kind of machine
    import zlib as _zlib  # type: ignore[no-redef]

DeflateError: type[Exception] = _zlib.error  # type: ignore[assignment]  # isal's stubs call it an instance
crc32 = _zlib.crc32
decompress = _zlib.decompress
