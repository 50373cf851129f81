#!/usr/bin/env python3
"""Checks what no compiler checks: layers, forbidden calls, names and sizes.

    tools/tidy.py [ROOT]

Prints FILE:LINE: WHAT for each problem, exits 1 if there is one. Layers come from src/LAYERS.
"""
import collections
import pathlib
import re
import sys

COLUMNS_MAX = 100
TABLE_COLUMNS_MAX = 150  # between clang-format off and on: a table is read by column
SOURCE_LINES_MAX = 800
HEADER_LINES_MAX = 250
FUNCTION_LINES_MAX = 70
BUILD_LINES_MAX = 150

BANNED = {
    "strcpy": "strbuf",
    "strcat": "strbuf",
    "sprintf": "snprintf",
    "vsprintf": "vsnprintf",
    "strtok": "a parser of its own",
    "atoi": "a parser with bounds",
    "strtol": "a parser with bounds",
    "gmtime": "gmtime_r",
    "localtime": "localtime_r",
    "system": "os/",
    "popen": "os/",
    "sleep": "a timer of the loop",
    "usleep": "a timer of the loop",
    "rand": "base/rng",
    "random": "base/rng",
    "time": "base/clock",
    "gets": "fgets",
    "alloca": "an arena",
}

# Effects that have one home: function -> the only path prefix that may call it.
CONFINED = {
    "clock_gettime": "src/base/clock.c",
    "gettimeofday": "src/base/clock.c",
    "getrandom": "src/base/rng.c",
    "fork": "src/os/",
    "vfork": "src/os/",
    "posix_spawn": "src/os/",
    "posix_spawnp": "src/os/",
    "execve": "src/os/",
    "execvpe": "src/os/",
}

# Of the pages: names and logs are written by others, so nothing of them may become markup or code.
PAGE_COLUMNS_MAX = 120
PAGE_LINES_MAX = 500
PAGE_SUFFIXES = (".ts", ".tsx", ".mjs")
PAGE_BANNED = re.compile(r"\b(innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML"
                         r"|document\.write|eval|Function)\b\s*[(=+]|new Function\b")
# Layers of the pages, lowest first: each imports from itself and from those below.
PAGE_LAYERS = ("core", "parts", "pages", "app")
PAGE_IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*["']([^"']+)["']""")

EMPTY_NAMES = {"common", "util", "utils", "misc", "helper", "helpers", "types", "global", "globals"}
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b")
TOKEN = re.compile(
    r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'""", re.S | re.X
)
CALL = re.compile(r"(?<![\w.>])([a-z_][a-z0-9_]*)\s*\(")
OUR_INCLUDE = re.compile(r'\s*#\s*include\s+"([a-z0-9_]+)/(\S+)"')
LIBRARY_INCLUDE = re.compile(r"\s*#\s*include\s+<(\S+)>")

Layer = collections.namedtuple("Layer", "below headers")


def read_layers(root):
    """src/LAYERS as {layer: Layer}, and the problems of the file itself."""
    layers, problems = {}, []
    path = root / "src/LAYERS"
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split(":")]
        if len(fields) != 3:
            problems.append((path, number, "expected 'layer : layers below : library headers'"))
            continue
        name, below, headers = fields[0], fields[1].split(), fields[2].split()
        for other in below:
            if other not in layers:
                problems.append((path, number, f"{name} names {other}, which is no line above it"))
        layers[name] = Layer({name, *below}, set(headers))
    for folder in sorted(p for p in (root / "src").iterdir() if p.is_dir()):
        if folder.name not in layers:
            problems.append((folder, 1, "this folder is no layer of src/LAYERS"))
    return layers, problems


def without_text(source):
    """The source with comments and literals blanked, line breaks kept; // comments found."""
    slashes = []

    def blank(match):
        token = match[0]
        if token.startswith("//"):
            slashes.append(source.count("\n", 0, match.start()) + 1)
        keep = token[0] if token[0] in "\"'" else " "
        return keep + re.sub(r"[^\n]", " ", token[1:-1]) + (keep if len(token) > 1 else "")

    return TOKEN.sub(blank, source), slashes


def check_text(path, lines):
    """What holds for every text file of ours, whatever its language."""
    limit = COLUMNS_MAX
    for number, line in enumerate(lines, 1):
        if "clang-format off" in line:
            limit = TABLE_COLUMNS_MAX
        elif "clang-format on" in line:
            limit = COLUMNS_MAX
        if len(line) > limit:
            yield number, f"line has {len(line)} columns, at most {limit}"
        if line != line.rstrip():
            yield number, "spaces at the end of the line"
        if path.name != "tidy.py" and (word := UNFINISHED.search(line)):
            yield number, f"{word[0]}: finish it or file an issue"


def check_includes(path, line, layer, layers):
    if include := OUR_INCLUDE.match(line):
        target, rest = include.groups()
        if target in layers and target not in layers[layer].below:
            yield f"{layer} may not use {target} (src/LAYERS)"
        name = rest.rsplit("/", 1)[-1]
        if (name.endswith("_priv.h") or name == "backend.h") and target != layer:
            yield f"{target}/{rest} is private to {target}"
    if include := LIBRARY_INCLUDE.match(line):
        owners = [name for name, row in layers.items() if include[1] in row.headers]
        if owners and layer not in owners:
            yield f"<{include[1]}> belongs to {' and '.join(owners)} (src/LAYERS)"


def check_calls(relative, line):
    for word in CALL.findall(line):
        if word in BANNED:
            yield f"{word}() is banned, use {BANNED[word]}"
        if word in CONFINED and not relative.startswith(CONFINED[word]):
            yield f"{word}() belongs to {CONFINED[word]}"


def check_functions(lines):
    opened = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            opened = number
        elif line == "}" and opened:
            length = number - opened - 1
            if length > FUNCTION_LINES_MAX:
                yield opened, f"function of {length} lines, at most {FUNCTION_LINES_MAX}"
            opened = None


def check_source(root, path, layers):
    """A C file of src/."""
    relative = path.relative_to(root).as_posix()
    layer = path.relative_to(root / "src").parts[0]
    source = path.read_text()
    code, slashes = without_text(source)
    limit = HEADER_LINES_MAX if path.suffix == ".h" else SOURCE_LINES_MAX

    if source.count("\n") > limit:
        yield 1, f"{source.count(chr(10))} lines, at most {limit}"
    if path.stem in EMPTY_NAMES:
        yield 1, f"'{path.stem}' says nothing; name the file after what it holds"
    if path.suffix == ".h" and not re.match(r"(/\*.*?\*/\s*)?#pragma once", source, re.S):
        yield 1, "a header starts with #pragma once"
    for number in slashes:
        yield number, "// is for experiments; write /* */"
    for number, line in enumerate(source.splitlines(), 1):
        for what in check_includes(path, line, layer, layers):
            yield number, what
    for number, line in enumerate(code.splitlines(), 1):
        for what in check_calls(relative, line):
            yield number, what
    yield from check_functions(code.splitlines())


def page_layer(root, path):
    """Of a file of ui/src; None: of none, which is what the layers above all of them are."""
    inside = path.is_relative_to(root / "ui/src") and path.relative_to(root / "ui/src").parts[0]
    return inside if inside in PAGE_LAYERS else None


def check_page(root, path):
    """A file of ui/."""
    lines = path.read_text().splitlines()
    layer = page_layer(root, path)
    if len(lines) > PAGE_LINES_MAX:
        yield 1, f"{len(lines)} lines, at most {PAGE_LINES_MAX}"
    for number, line in enumerate(lines, 1):
        if len(line) > PAGE_COLUMNS_MAX:
            yield number, f"line has {len(line)} columns, at most {PAGE_COLUMNS_MAX}"
        if line != line.rstrip():
            yield number, "spaces at the end of the line"
        if word := UNFINISHED.search(line):
            yield number, f"{word[0]}: finish it or file an issue"
        if (word := PAGE_BANNED.search(line)) and layer:
            yield number, f"{word[0].strip(' (=+')} makes code or markup of texts; use text nodes"
        for target in PAGE_IMPORT.findall(line) if layer else ():
            used = page_layer(root, (path.parent / target).resolve())
            if used and PAGE_LAYERS.index(used) > PAGE_LAYERS.index(layer) and layer != "app":
                yield number, f"{layer} may not use {used} (core < parts < pages < app)"


def our_files(root):
    for folder in ("src", "include", "examples", "tests", "bench", "tools", "ui"):
        for path in sorted((root / folder).rglob("*")):
            parts = path.relative_to(root).parts
            hidden = any(part.startswith((".", "__")) or part == "node_modules" for part in parts)
            is_text = path.suffix in (".c", ".h", ".py", *PAGE_SUFFIXES)
            if path.is_file() and (is_text or path.parent == root / "tools") and not hidden:
                yield path


def check_tree(root):
    layers, problems = read_layers(root)
    files = list(our_files(root))
    for path in files:
        if path.suffix in PAGE_SUFFIXES:
            problems += [(path, number, what) for number, what in check_page(root, path)]
            continue
        found = list(check_text(path, path.read_text().splitlines()))
        in_layer = path.is_relative_to(root / "src") and path.suffix in (".c", ".h")
        if in_layer and path.relative_to(root / "src").parts[0] in layers:
            found += check_source(root, path, layers)
        problems += [(path, number, what) for number, what in found]

    names = collections.Counter(path.name for path in files if path.suffix in (".c", ".h"))
    for path in files:
        if names[path.name] > 1 and path.suffix in (".c", ".h"):
            problems.append((path, 1, "file name used twice; names are unique over the tree"))
    build = root / "CMakeLists.txt"
    if build.exists() and build.read_text().count("\n") >= BUILD_LINES_MAX:
        problems.append((build, 1, f"at least {BUILD_LINES_MAX} lines; keep it under that"))
    return files, problems


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else here
    files, problems = check_tree(root)
    for path, number, what in problems:
        print(f"{path.relative_to(root)}:{number}: {what}")
    print(f"tidy: {len(files)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
