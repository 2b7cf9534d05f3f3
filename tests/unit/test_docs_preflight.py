"""Every line that preflight can say is on its page, and the page has no others."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEVELS = {
    "ScanError": "error",
    "MissingFileError": "error",
    "error": "error",
    "warning": "warning",
    "note": "note",
    "_count": "note",
}
#: What is said in the end, of all of them.
SUMMARY = "… things are wrong with …"


def texts_in_code():
    found = set()
    tomography = ROOT / "runner" / "tomo"
    sources = [*(tomography / "scan").rglob("*.py"), *(tomography / "check").rglob("*.py")]
    for source in (*sources, tomography / "advice.py", tomography / "wider.py"):
        for function in ast.walk(ast.parse(source.read_text())):
            if isinstance(function, ast.FunctionDef):
                found |= texts_of(function)
    return found


def texts_of(function):
    """Read the texts in a function's calls, also those that have a name there."""
    named = [
        (node.lineno, node.targets[0].id, text_of(node.value))
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    ]
    found = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in LEVELS:
            place = 2 if node.func.id == "_count" else 0
            text = node.args[place] if len(node.args) > place else None
            texts = last_named(named, text.id, node.lineno) if isinstance(text, ast.Name) else text_of(text)
            ending = ": … of …" if node.func.id == "_count" else ""
            found |= {(LEVELS[node.func.id], each + ending) for each in texts}
    return found


def last_named(named, name, line):
    """Take what a name was last given before a line."""
    return max(((at, texts) for at, each, texts in named if each == name and at <= line), default=(0, set()))[
        1
    ]


def text_of(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {node.value}
    if isinstance(node, ast.JoinedStr):
        return {"".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)}
    return set()


def test_every_finding_is_on_its_page():
    page = (ROOT / "docs" / "reference" / "preflight.md").read_text()
    rows = re.findall(r"^\| (error|warning|note) \| (.+?) \| .+ \|$", page, re.MULTILINE)
    code = texts_in_code() - {("error", SUMMARY)}
    assert len(rows) == len(set(rows))
    assert set(rows) == code
