#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the public headers and writes what other languages see of them:

    bindings/python/gristmill/_api.py                 ctypes structures, enumerators, prototypes
    bindings/rust/gristmill-sys/src/bindings.rs       #[repr(C)] structs, constants, extern "C" functions
    bindings/rust/gristmill-sys/tests/layout.rs       the offsets of tests/abi/layout/, as a test of the crate

`--check` compares instead of writing. What the reader does not understand it refuses, with the place.
"""
import collections
import dataclasses
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include/gristmill"


# ---- the headers, read ----------------------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Type:
    """`base` behind `stars` pointers, of which the innermost target may be const; `count`: elements of an array."""
    kind: str  # "word" (a C type of its own), "enum", "struct"
    base: str
    stars: int = 0
    const: bool = False
    count: tuple = ()


@dataclasses.dataclass
class Header:
    name: str
    constants: dict = dataclasses.field(default_factory=dict)  # name: (value, C type)
    enums: dict = dataclasses.field(default_factory=dict)  # name: {enumerator: value}
    structs: dict = dataclasses.field(default_factory=dict)  # name: [(member, Type)]
    handles: list = dataclasses.field(default_factory=list)  # opaque structs
    words: dict = dataclasses.field(default_factory=dict)  # typedef name: word
    callbacks: dict = dataclasses.field(default_factory=dict)  # name: (Type, [(parameter, Type)])
    functions: dict = dataclasses.field(default_factory=dict)  # the same


WORDS = ["void", "char", "int", "float", "double", "size_t", "int32_t", "int64_t", "uint8_t", "uint32_t", "uint64_t"]
TOKEN = re.compile(r'\s+|[A-Za-z_]\w*|0[xX][0-9a-fA-F]+[uU]?|\d+[uU]?|"[^"]*"|<<|[-+*/(){}\[\],;=]')
# What a header may say to the preprocessor beside the #defines of constants.
SILENT = re.compile(r"#\s*(include [\"<][\w./]+[\">]|(ifndef|define) GRISTMILL_\w*H|if defined\(_WIN32\)"
                    r"|elif defined\(__GNUC__\)|else|ifdef __cplusplus|endif"
                    r"|define GM_API( __attribute__\(\(visibility\(\"default\"\)\)\))?)$")


class Refusal(Exception):
    pass


class Reader:
    """Reads one header after the other; names of earlier ones are known."""

    def __init__(self):
        self.headers, self.header, self.tokens = [], None, []
        self.words, self.numbers = set(WORDS), {}

    def refuse(self, what):
        line = self.tokens[0][1] if self.tokens else self.last
        raise Refusal(f"{self.header.name}:{line}: {what}")

    # -- tokens

    def tokenize(self, text):
        # Comments keep their newlines, so that lines are numbered as in the file.
        text = re.sub(r"/\*.*?\*/", lambda comment: re.sub(r"[^\n]", " ", comment[0]), text, flags=re.S)
        self.tokens, self.last = [], 1
        for number, line in enumerate(text.split("\n"), 1):
            self.last = number
            stripped = line.strip()
            if stripped.startswith("#"):
                self.tokens.append((stripped, number))
                continue
            at = 0
            while at < len(line):
                match = TOKEN.match(line, at)
                if not match:
                    self.tokens.insert(0, ("", number))
                    self.refuse(f"does not read {line[at:].strip()[:40]!r}")
                if match[0].strip():
                    self.tokens.append((match[0], number))
                at = match.end()

    def peek(self, ahead=0):
        return self.tokens[ahead][0] if len(self.tokens) > ahead else "the end"

    def take(self, *wanted):
        if wanted and self.peek() not in wanted:
            self.refuse(f"{self.peek()!r} where {' or '.join(map(repr, wanted))} is expected")
        if not self.tokens:
            self.refuse("the header ends in the middle")
        return self.tokens.pop(0)[0]

    def accept(self, word):
        return bool(self.peek() == word and self.take())

    def name(self):
        if not re.fullmatch(r"[A-Za-z_]\w*", self.peek()):
            self.refuse(f"{self.peek()!r} where a name is expected")
        return self.take()

    # -- constants

    def value(self, text):
        """Of a constant expression of integers and earlier constants."""
        text = text.replace("(size_t)", "")
        for word in re.findall(r"[A-Za-z_]\w*", re.sub(r"0[xX][0-9a-fA-F]+[uU]?|\d+[uU]?", "", text)):
            if word not in self.numbers:
                self.refuse(f"the constant {text!r} names {word}, which is none")
        numbers = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uU]\b", r"\1", text)
        if not re.fullmatch(r"[\w\s+*()<-]+", numbers):
            self.refuse(f"does not read the constant {text!r}")
        return eval(numbers, {"__builtins__": {}}, dict(self.numbers))  # of digits, names, + - * << and ( ) only

    def directive(self):
        text = self.peek()
        define = re.fullmatch(r"#\s*define (GM_\w+)\s+(.+)", text)
        if SILENT.match(text):
            self.take()
        elif define:
            number = self.value(define[2])
            self.take()
            unsigned = re.search(r"\b\d\w*[uU]\b", define[2])
            kind = "size_t" if "(size_t)" in define[2] else "uint32_t" if unsigned else "int"
            self.numbers[define[1]], self.header.constants[define[1]] = number, (number, kind)
        else:
            self.refuse(f"does not know {text[:60]!r}")

    def enum_body(self):
        values = {}
        self.take("{")
        while not self.accept("}"):
            name = self.name()
            self.take("=")
            values[name] = self.numbers[name] = self.value(self.take())
            if not self.accept(","):
                self.take("}")
                break
        self.take(";")
        return values

    # -- types

    def type(self):
        const = self.accept("const")
        kind = self.take() if self.peek() in ("enum", "struct") else "word"
        base = self.name()
        known = {"enum": [name for header in self.headers for name in header.enums],
                 "struct": [name for header in self.headers for name in header.structs],
                 "word": self.words}[kind]
        if base not in known:
            self.refuse(f"{base} is no {'type' if kind == 'word' else kind} that was declared before")
        return Type(kind, base, 0, const)

    def declarator(self, base):
        """`*name[count]` behind a type."""
        stars = 0
        while self.accept("*"):
            stars += 1
        name, count = self.name(), []
        while self.accept("["):
            count.append(self.value(self.take()))
            self.take("]")
        return name, dataclasses.replace(base, stars=stars, count=tuple(count))

    def parameters(self):
        found = []
        self.take("(")
        if self.peek() == "void" and self.peek(1) == ")":
            self.take()
        while not self.accept(")"):
            name, kind = self.declarator(self.type())
            if kind.count:
                self.refuse(f"the parameter {name} is an array")
            found.append((name, kind))
            if not self.accept(","):
                self.take(")")
                break
        self.take(";")
        return found

    # -- declarations

    def struct(self):
        name, members = self.name(), []
        self.take("{")
        while not self.accept("}"):
            base = self.type()
            members.append(self.declarator(base))
            while self.accept(","):
                members.append(self.declarator(base))
            self.take(";")
        self.take(";")
        self.header.structs[name] = members

    def function(self):
        result = self.type()
        name, result = self.declarator(result)
        self.header.functions[name] = (result, self.parameters())

    def typedef(self):
        if self.accept("struct"):
            name = self.name()
            self.take(name)
            self.header.handles.append(name)
            self.words.add(name)
            self.take(";")
        elif self.peek(1) == "(":
            result = self.type()
            self.take("(")
            self.take("*")
            name = self.name()
            self.take(")")
            self.header.callbacks[name] = (result, self.parameters())
            self.words.add(name)
        else:
            word = self.type().base
            self.header.words[self.name()] = word
            self.words.update(self.header.words)
            self.take(";")

    def declaration(self):
        if self.peek().startswith("#"):
            self.directive()
        elif self.peek() == "extern" and self.peek(1) == '"C"':
            self.take(), self.take(), self.take("{")
        elif self.peek() == "}":  # of extern "C"
            self.take()
        elif self.accept("enum"):
            if self.peek() == "{":
                self.header.constants.update((name, (value, "int")) for name, value in self.enum_body().items())
            else:
                name = self.name()
                self.header.enums[name] = self.enum_body()
        elif self.accept("struct"):
            self.struct()
        elif self.accept("typedef"):
            self.typedef()
        elif self.accept("GM_API"):
            self.function()
        else:
            self.refuse(f"does not know what begins with {self.peek()!r}")

    def read(self, name, text):
        self.header = Header(name)
        self.headers.append(self.header)
        self.tokenize(text)
        while self.tokens:
            self.declaration()


def read_headers():
    """All headers but gristmill.h, each behind those that it includes."""
    reader, done = Reader(), set()

    def read(name):
        if name in done:
            return
        done.add(name)
        text = (HEADERS / name).read_text()
        for included in re.findall(r'#include "gristmill/(\w+\.h)"', text):
            read(included)
        reader.read(name, text)

    for path in sorted(HEADERS.glob("*.h")):
        if path.name != "gristmill.h":
            read(path.name)
    return reader.headers


def number_text(value):
    return hex(value) if value >= 1 << 31 else str(value)


# ---- Python ---------------------------------------------------------------------------------------------------------

PYTHON_WORDS = {"char": "c_char", "int": "c_int", "float": "c_float", "double": "c_double", "size_t": "c_size_t",
                "int32_t": "c_int32", "int64_t": "c_int64", "uint8_t": "c_uint8", "uint32_t": "c_uint32",
                "uint64_t": "c_uint64"}

PYTHON_HEAD = '''# SPDX-License-Identifier: Apache-2.0
"""The C interface as ctypes sees it. Written by tools/gen_bindings.py from include/gristmill/: edit those.

What a struct, a member or a function means stands in the header that is named above it.
"""
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_float, c_int, c_int32, c_int64,
                    c_size_t, c_uint, c_uint8, c_uint32, c_uint64, c_void_p)
from enum import IntEnum

from ._struct import Struct
'''


def python_type(kind, result=False):
    if (kind.base, kind.stars) in (("char", 1), ("void", 1)):
        base, stars = {"char": "c_char_p", "void": "c_void_p"}[kind.base], 0
    elif kind.base == "void":
        base, stars = "None" if not kind.stars else "c_void_p", max(kind.stars - 1, 0)
    else:
        base = {"enum": "c_uint", "struct": kind.base, "word": PYTHON_WORDS.get(kind.base, kind.base)}[kind.kind]
        stars = kind.stars
    text = "POINTER(" * stars + base + ")" * stars
    for count in reversed(kind.count):
        text = f"{text} * {count}" if "*" not in text else f"({text}) * {count}"
    return text


def wrapped(head, items, tail, indent, limit=120):
    """`head` items `tail` on one line, or on as many as it takes."""
    line = head + ", ".join(items) + tail
    if len(line) <= limit:
        return line
    lines, current = [head], ""
    for at, item in enumerate(items):
        text = item + (", " if at + 1 < len(items) else tail)
        if len(lines[-1] + current + text.rstrip()) > limit and current:
            lines[-1] += current.rstrip()
            lines.append(" " * indent)
            current = ""
        current += text
    lines[-1] += current.rstrip()
    return "\n".join(lines)


def python_header(header):
    yield f"\n# ---- {header.name} ".ljust(120, "-") + "\n"
    yield from (f"{name} = {number_text(value)}" for name, (value, _) in header.constants.items())
    for name, word in header.words.items():
        yield f"{name} = {PYTHON_WORDS[word]}"
    for name, values in header.enums.items():
        yield f"\n\nclass {name}(IntEnum):"
        yield from (f"    {enumerator} = {value}" for enumerator, value in values.items())
    for name in header.handles:
        yield f"\n\nclass {name}(Structure):\n    __slots__ = ()"
    for name, (result, parameters) in header.callbacks.items():
        types = ", ".join([python_type(result)] + [python_type(kind) for _, kind in parameters])
        yield f"\n\n{name} = CFUNCTYPE({types})"
    for name, members in header.structs.items():
        yield f"\n\nclass {name}(Struct):\n    __slots__ = ()\n    _fields_ = ["
        yield from (f'        ("{member}", {python_type(kind)}),' for member, kind in members)
        yield "    ]"


def python_text(headers):
    lines = [PYTHON_HEAD.rstrip("\n")]
    for header in headers:
        lines += python_header(header)
    lines.append("\n\n# ---- functions ".ljust(122, "-") + "\n")
    lines.append("# {name: (result, parameters)}\nFUNCTIONS = {")
    for header in headers:
        for name, (result, parameters) in header.functions.items():
            items = [python_type(kind) for _, kind in parameters]
            lines.append(wrapped(f'    "{name}": ({python_result(result)}, [', items, "]),", 8))
    lines.append("}\n")
    enums = [name for header in headers for name in header.enums]
    lines.append(wrapped("ENUMS = [", enums, "]", 9))
    lines.append("for _enum in ENUMS:\n    globals().update(_enum.__members__)\n")
    return "\n".join(lines)


def python_result(kind):
    """An enum's name says that the call answers with it: a gm_status is then an error or none."""
    return kind.base if kind.kind == "enum" and not kind.stars else python_type(kind)


# ---- Rust -----------------------------------------------------------------------------------------------------------

RUST_WORDS = {"void": "c_void", "char": "c_char", "int": "c_int", "float": "f32", "double": "f64", "size_t": "usize",
              "int32_t": "i32", "int64_t": "i64", "uint8_t": "u8", "uint32_t": "u32", "uint64_t": "u64"}
RUST_KEYWORDS = set("""as async await become box break const continue do dyn else enum extern final fn for gen if impl in let
    loop macro match mod move mut override priv pub ref return static struct trait try type typeof union unsafe unsized use
    virtual where while yield""".split())

RUST_HEAD = """// SPDX-License-Identifier: Apache-2.0
// The C interface. Written by tools/gen_bindings.py from include/gristmill/: edit those.
//
// What a struct, a member or a function means stands in the header that is named above it. Enums are numbers, since a
// newer library may answer with an enumerator that is not listed here. `Default` is all zeros with `size` set: the
// defaults of the C interface.
use core::ffi::{c_char, c_int, c_uint, c_void};
use core::mem::{size_of, zeroed};
"""


def rust_type(kind):
    base = RUST_WORDS.get(kind.base, kind.base)
    for star in range(kind.stars):
        base = ("*const " if star == 0 and kind.const else "*mut ") + base
    for count in reversed(kind.count):
        base = f"[{base}; {count}]"
    return base


def rust_name(name):
    return f"r#{name}" if name in RUST_KEYWORDS else name


def rust_struct(name, members, sized):
    yield f"\n#[repr(C)]\n#[derive(Clone, Copy, Debug)]\npub struct {name} {{"
    yield from (f"    pub {rust_name(member)}: {rust_type(kind)}," for member, kind in members)
    yield "}\n"
    inner = [member for member, kind in members if kind.kind == "struct" and not kind.stars and kind.base in sized]
    yield f"impl Default for {name} {{\n    fn default() -> Self {{"
    yield "        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0."
    if name not in sized:
        yield "        unsafe { zeroed() }"
    else:
        yield "        let mut zero: Self = unsafe { zeroed() };\n        zero.size = size_of::<Self>();"
        yield from (f"        zero.{member} = Default::default();" for member in inner)
        yield "        zero"
    yield "    }\n}"


def rust_parameters(parameters):
    return [f"{rust_name(name)}: {rust_type(kind)}" for name, kind in parameters]


def rust_function(name, result, parameters):
    answer = "" if (result.base, result.stars) == ("void", 0) else f" -> {rust_type(result)}"
    return wrapped(f"    pub fn {name}(", rust_parameters(parameters), f"){answer};", 8)


def rust_header(header, sized):
    yield f"\n// ---- {header.name} ".ljust(120, "-") + "\n"
    for name, (value, kind) in header.constants.items():
        yield f"pub const {name}: {RUST_WORDS[kind]} = {number_text(value)};"
    yield from (f"pub type {name} = {RUST_WORDS[word]};" for name, word in header.words.items())
    for name, values in header.enums.items():
        yield f"\npub type {name} = c_uint;"
        yield from (f"pub const {enumerator}: {name} = {value};" for enumerator, value in values.items())
    for name in header.handles:
        yield f"\n#[repr(C)]\npub struct {name} {{\n    _opaque: [u8; 0],\n}}"
    for name, (_, parameters) in header.callbacks.items():
        types = ", ".join(rust_parameters(parameters))
        yield f"\npub type {name} = Option<unsafe extern \"C\" fn({types})>;"
    for name, members in header.structs.items():
        yield from rust_struct(name, members, sized)
    if header.functions:
        yield '\nextern "C" {'
        yield from (rust_function(name, *what) for name, what in header.functions.items())
        yield "}"


def rust_text(headers):
    sized = {name for header in headers for name, members in header.structs.items() if members[0][0] == "size"}
    lines = [RUST_HEAD.rstrip("\n")]
    for header in headers:
        lines += rust_header(header, sized)
    return "\n".join(lines) + "\n"


# ---- the test of Rust's layout --------------------------------------------------------------------------------------

LAYOUT_HEAD = """// SPDX-License-Identifier: Apache-2.0
// Every member where C has it, every enumerator what it is in C. Written by tools/gen_bindings.py from
// tests/abi/layout/, which every build of the C tests checks: edit those.
use gristmill_sys::*;
use std::mem::{offset_of, size_of};
"""


def layout_facts():
    """{header: [(word, arguments)]} of tests/abi/layout."""
    facts = collections.OrderedDict()
    for path in sorted((ROOT / "tests/abi/layout").glob("*.c")):
        facts[path.stem] = re.findall(r"^(MEMBER|END|FIXED|VALUE)\(([^)]*)\)", path.read_text(), re.M)
    return facts


def layout_text(headers):
    structs = {name: members for header in headers for name, members in header.structs.items()}
    lines, everything = [LAYOUT_HEAD.rstrip("\n")], {}
    for header, facts in layout_facts().items():
        lines.append(f"\n#[test]\nfn {header}() {{")
        told = collections.defaultdict(list)
        for word, arguments in facts:
            names = [argument.strip() for argument in arguments.split(",")]
            if word == "MEMBER":
                told[names[0]].append(names[1])
                lines.append(f"    assert_eq!(offset_of!({names[0]}, {rust_name(names[1])}), {names[2]});")
            elif word == "FIXED":
                lines.append(f"    assert_eq!(size_of::<{names[0]}>(), {names[1]});")
            elif word == "END":  # the size of the first version, which a struct that has grown exceeds
                lines.append(f"    assert!(size_of::<{names[0]}>() >= {names[2]});")
            else:
                lines.append(f"    assert_eq!({names[0]}, {names[1]});")
        lines.append("}")
        everything.update(told)
    untold = [f"{name}.{member}" for name, members in structs.items() for member, _ in members
              if member not in everything.get(name, [])]
    if untold:
        raise Refusal(f"tests/abi/layout/ says nothing of {untold[0]}")
    return "\n".join(lines) + "\n"


OUTPUTS = {
    "bindings/python/gristmill/_api.py": python_text,
    "bindings/rust/gristmill-sys/src/bindings.rs": rust_text,
    "bindings/rust/gristmill-sys/tests/layout.rs": layout_text,
}


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit("usage: tools/gen_bindings.py [--check]")
    try:
        headers = read_headers()
        texts = {name: text(headers) for name, text in OUTPUTS.items()}
    except Refusal as refusal:
        sys.exit(f"gen_bindings: {refusal}")
    stale = 0
    for name, text in texts.items():
        path = ROOT / name
        if sys.argv[1:] == ["--check"]:
            if not path.exists() or path.read_text() != text:
                print(f"{name} is not what the headers say: run tools/gen_bindings.py")
                stale += 1
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return stale > 0


if __name__ == "__main__":
    sys.exit(main())
