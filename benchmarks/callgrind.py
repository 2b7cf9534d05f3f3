"""Count the instructions of a part of a program that valgrind's callgrind runs, and of nothing else.

A program speaks to valgrind by instructions that do nothing on a processor (its "client requests"). So
callgrind counts neither Python's start, which never takes the same number, nor what prepares the work.

References
----------
Valgrind User Manual, sections 3.1 (the client request mechanism) and 6.5 (callgrind's requests); the
instructions are those of ``VALGRIND_DO_CLIENT_REQUEST`` in ``valgrind.h`` for x86-64.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_ZERO, _DUMP, _START, _STOP = (ord("C") << 24 | ord("T") << 16 | number for number in (1, 3, 4, 5))
_NO_OPERATION = "rolq $$3, %rdi; rolq $$13, %rdi; rolq $$61, %rdi; rolq $$51, %rdi; xchgq %rbx, %rbx"


def count_parts(parts: Mapping[str, Callable[[], object]]) -> None:
    """Do all parts, and have callgrind write down the instructions of each; without it, just do them."""
    engine = _compile_requester()
    speak = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.POINTER(ctypes.c_uint64))(
        engine.get_function_address("speak")
    )

    def request(code: int, argument: int = 0) -> None:
        speak((ctypes.c_uint64 * 6)(code, argument))

    labels = {name: ctypes.create_string_buffer(name.encode()) for name in parts}
    request(_START)
    for name, run in parts.items():
        request(_ZERO)
        run()
        request(_DUMP, ctypes.addressof(labels[name]))
    request(_STOP)


def _compile_requester():
    """Compile ``speak(request)``, and return the engine, with which the machine code lives."""
    import llvmlite.binding as llvm
    from llvmlite import ir

    for initialize in (
        llvm.initialize_native_target,
        llvm.initialize_native_asmprinter,
        llvm.initialize_native_asmparser,
    ):
        initialize()
    word = ir.IntType(64)
    module = ir.Module()
    function = ir.Function(module, ir.FunctionType(word, [word.as_pointer()]), "speak")
    builder = ir.IRBuilder(function.append_basic_block())
    told = ir.FunctionType(word, [word.as_pointer(), word])
    speak = ir.InlineAsm(told, _NO_OPERATION, "={rdx},{rax},0,~{cc},~{memory}", side_effect=True)
    builder.ret(builder.call(speak, [function.args[0], word(0)]))
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(str(module)), machine)
    engine.finalize_object()
    return engine


def count_instructions(command: Sequence[str], environ: Mapping[str, str]) -> dict[str, int]:
    """Run a program that calls `count_parts` under callgrind, and return the instructions of each part."""
    with tempfile.TemporaryDirectory() as folder:
        valgrind = (
            "valgrind", "--tool=callgrind", "--instr-atstart=no", "--quiet",
            f"--callgrind-out-file={folder}/counts",
        )  # fmt: skip
        done = subprocess.run(
            [*valgrind, *command], env={**os.environ, **environ}, capture_output=True, text=True,
            check=False, timeout=600,
        )  # fmt: skip
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
        return dict(filter(None, (_part_of(dump.read_text()) for dump in Path(folder).iterdir())))


def _part_of(dump: str) -> tuple[str, int] | None:
    """Take the part and its instructions out of a dump of callgrind; the last dump is of no part."""
    name = re.search(r"^desc: Trigger: Client Request: (.*)$", dump, re.MULTILINE)
    total = re.search(r"^totals: (\d+)$", dump, re.MULTILINE)
    return (name[1], int(total[1])) if name and total else None
