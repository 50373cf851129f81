#!/usr/bin/env python3
"""Checks that no layer calls a layer that src/LAYERS does not allow it.

    tools/check-calls.py [BUILD_DIR]

The linker finds such a call only where a program happens to pull in the object, so this reads
the symbols of every layer's library instead.
"""
import pathlib
import subprocess
import sys

import tidy


def symbols(library):
    """What a library defines, and what its objects leave to others: {symbol: object}."""
    listing = subprocess.run(["nm", "-A", "--extern-only", library], capture_output=True,
                             text=True, check=True).stdout
    defined, wanted = set(), {}
    for line in listing.splitlines():
        where, _, rest = line.partition(":")[2].partition(":")
        fields = rest.split()
        if len(fields) >= 2 and fields[-2] in ("U", "w"):
            wanted[fields[-1]] = where
        elif len(fields) >= 2:
            defined.add(fields[-1])
    return defined, wanted


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    build = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root / "build/dev"
    layers, _ = tidy.read_layers(root)
    libraries = {name: symbols(path) for name in layers
                 if (path := build / f"lib{name}.a").exists()}
    home = {symbol: name for name, (defined, _) in libraries.items() for symbol in defined}
    problems = [
        f"{name}/{where}: calls {symbol} of {home[symbol]} (src/LAYERS)"
        for name, (_, wanted) in libraries.items()
        for symbol, where in sorted(wanted.items())
        if home.get(symbol, name) not in layers[name].below
    ]
    print("\n".join([*problems, f"calls: {len(libraries)} layers, {len(problems)} problems"]))
    return 1 if problems or not libraries else 0


if __name__ == "__main__":
    sys.exit(main())
