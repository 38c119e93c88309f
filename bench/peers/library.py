# SPDX-License-Identifier: Apache-2.0
"""libgristmill by ctypes: its structs are read from the public headers, so that nothing is declared twice."""
import ctypes
import pathlib
import re

HEADERS = pathlib.Path(__file__).resolve().parents[2] / "include" / "gristmill"
TYPES = {"size_t": ctypes.c_size_t, "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64, "int32_t": ctypes.c_int32,
         "uint32_t": ctypes.c_uint32, "float": ctypes.c_float, "double": ctypes.c_double, "gm_device_ptr": ctypes.c_uint64}


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)


def type_of(words):
    return ctypes.c_int32 if words.startswith("enum") else ctypes.c_char if words == "char" else TYPES[words]


def members_of(body, values):
    for declaration in filter(None, (part.strip() for part in body.split(";"))):
        words, names = re.match(r"((?:const )?(?:enum |struct )?\w+)\s+(.*)", declaration, re.DOTALL).groups()
        for name in names.split(","):
            name = name.strip()
            array = re.fullmatch(r"(\w+)\[(\w+)\]", name)
            if name.startswith("*"):
                yield name[1:], ctypes.c_char_p if "char" in words else ctypes.c_void_p
            elif array:
                yield array[1], type_of(words) * int(values.get(array[2], array[2]))
            else:
                yield name, type_of(words)


def read_headers():
    structs, values = {}, {}
    for path in sorted(HEADERS.glob("*.h")):
        text = without_comments(path.read_text())
        for name, value in re.findall(r"^#define (GM_\w+) +(\d+)$", text, re.MULTILINE):
            values[name] = int(value)
        for name, body in re.findall(r"struct (gm_\w+) \{(.*?)\n\};", text, re.DOTALL):
            try:
                structs[name] = type(name, (ctypes.Structure,), {"_fields_": list(members_of(body, values))})
            except (KeyError, ValueError):
                continue  # of structs within structs, or arrays of other headers' lengths, which no call here needs
        for body in re.findall(r"enum \w+ \{(.*?)\}", text, re.DOTALL):
            for name, value in re.findall(r"(GM_\w+) = (-?\d+)", body):
                values[name] = int(value)
    return structs, values


STRUCTS, VALUES = read_headers()


def make(struct, **members):
    made = STRUCTS[struct](**members)
    made.size = ctypes.sizeof(made)
    return made


class Library:
    """The library and a context on device 0."""

    def __init__(self, path):
        self.calls = ctypes.CDLL(str(path))
        self.calls.gm_last_error.restype = ctypes.c_char_p
        self.context = ctypes.c_void_p()
        self.check(self.calls.gm_context_create(0, ctypes.byref(self.context)))

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.calls.gm_last_error().decode())

    def plan(self, operation, problem, **options):
        plan, asked = ctypes.c_void_p(), make("gm_plan_options", **options)
        create = getattr(self.calls, f"gm_{operation}_plan_create")
        self.check(create(self.context, ctypes.byref(problem), ctypes.byref(asked), ctypes.byref(plan)))
        return plan

    def kernel_of(self, plan):
        info = make("gm_kernel_info")
        self.check(self.calls.gm_kernel_get(ctypes.c_size_t(self.calls.gm_plan_kernel(plan)), ctypes.byref(info)))
        return info.name.decode()

    def execute(self, operation, plan, args, stream):
        run = getattr(self.calls, f"gm_{operation}_execute")
        self.check(run(plan, ctypes.byref(args), ctypes.c_void_p(stream)))
