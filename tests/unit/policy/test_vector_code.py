"""The compiled loops of wide layers: what a compiler makes of them, read from its assembly.

A vector that is wider than the registers goes through the stack, eight times as slow, and gives the
same results. No other test would notice.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import locmsim

#: Compiler and further arguments. C headers may be missing for a foreign CPU.
COMPILERS = {
    "gcc": ["gcc"],
    "clang": ["clang"],
    "gcc for aarch64": ["aarch64-linux-gnu-gcc"],
    "clang for aarch64": ["clang", "--target=aarch64-linux-gnu", "-ffreestanding"],
}
#: Those of setup.py for the module, which no compiler may ignore.
FLAGS = ["-O3", "-g0", "-fPIC", "-ffp-contract=off", "-fno-tree-slp-vectorize", "-S"]
#: Per architecture: products and other sums of packed numbers, and registers of vectors.
PRODUCT = {"x86_64": r"v?mulps\s", "aarch64": r"fmul\s+v"}
FUSED = r"v?fn?m(add|sub|la|ls)"
VECTOR = {"x86_64": r"%[xyz]mm\d", "aarch64": r"\b[qv]\d"}
#: The loops of each function, by how many vectors they add at a time, and their registers.
LOOPS = {
    "dense_any_": ({12, 8, 4, 2}, None),
    "dense_avx2_": ({10, 8, 6, 4}, "%ymm"),
    "dense_avx512_": ({10, 5, 4, 3}, "%zmm"),
}


def source():
    """Return the C in _wide.pxd, with nothing left out by the compiler."""
    text = Path(locmsim.__file__).with_name("networks").joinpath("_wide.pxd").read_text()
    code = text.split('"""')[1].replace("\\\\\n", "\\\n")
    # Declared here: a cross compiler may come without the C library's headers.
    code = code.replace("#include <string.h>", "void* memcpy(void*, const void*, size_t);")
    return code + "\nwide_t (*const keep)(int) = wide_of_;\n"


def assembly(name, tmp_path):
    command = COMPILERS[name]
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]}")
    tmp_path.joinpath("wide.c").write_text(source())
    run = [*command, *FLAGS, "wide.c", "-o", "wide.s"]
    subprocess.run(run, cwd=tmp_path, check=True, stderr=subprocess.DEVNULL)
    target = subprocess.run(
        [*command, "-dumpmachine"], check=True, capture_output=True, text=True
    ).stdout
    return target.split("-")[0], tmp_path.joinpath("wide.s").read_text()


def functions(text):
    """Name -> instructions and labels of each function."""
    found, body = {}, []
    for line in text.splitlines():
        line = re.split(r"\s#+\s|//", line)[0].strip()
        if match := re.fullmatch(r"(\w+):", line):
            body = found.setdefault(match[1], [])
        elif line and (line.startswith(".L") or not line.startswith(".")):
            body.append(line)
    return found


def inner_loops(body):
    """The instructions of each loop without a loop in it."""
    labels = {line[:-1]: at for at, line in enumerate(body) if line.endswith(":")}
    spans = []
    for at, line in enumerate(body):
        match = re.fullmatch(r"(j|b|cb|tb)\S*\s.*?(\.L\w+)", line)
        if match and labels.get(match[2], at) < at:
            spans.append((labels[match[2]], at))
    for first, last in spans:
        if not any(first <= a and b <= last for a, b in spans if (a, b) != (first, last)):
            yield [line for line in body[first : last + 1] if not line.endswith(":")]


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPILERS)
def test_sums_stay_in_registers(name, tmp_path):
    target, text = assembly(name, tmp_path)
    if target not in PRODUCT:
        pytest.skip(f"unknown assembly of {target}")
    assert not re.search(FUSED, text)
    code = functions(text)
    wanted = LOOPS if target == "x86_64" else {"dense_any_": LOOPS["dense_any_"]}
    for function, (vectors, registers) in wanted.items():
        seen = set()
        for loop in inner_loops(code[function]):
            products = sum(bool(re.match(PRODUCT[target], line)) for line in loop)
            if products not in vectors:
                continue
            seen.add(products)
            for line in loop:
                assert not (re.search(VECTOR[target], line) and re.search(r"%rsp|\[sp", line)), line
            # Load, product and sum of each vector, and what a row takes.
            assert len(loop) <= 3 * products + 12, loop
            assert registers is None or any(registers in line for line in loop)
        assert seen == vectors, function
