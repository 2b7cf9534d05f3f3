"""The recorded files of other programs, with some values changed."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def changed(tmp_path):
    """Write one of the files with other values, given as ``section.key``; return where it is."""

    def write(name, changes):
        lines, section, left = [], "", dict(changes)
        for line in (HERE / name).read_text().splitlines():
            if line.startswith("["):
                section = line.strip("[]")
            key = f"{section}.{line.removeprefix('# ').partition(' = ')[0].removesuffix(' =')}"
            lines.append(f"{key.partition('.')[2]} = {left.pop(key)}" if key in left else line)
        assert not left, f"{name} has no {', '.join(left)}"
        file = tmp_path / name
        file.write_text("\n".join(lines))
        return file

    return write
