#!/usr/bin/env python3
"""Builds the page with Vite and writes it as one C++ file.

Usage: embed_page.py WEB_DIRECTORY OUTPUT.cpp DEPFILE
       embed_page.py --none OUTPUT.cpp        a program without a page
"""

import pathlib
import subprocess
import sys
import tempfile

MIME = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
}

HEAD = """// Made by scripts/embed_page.py.
#include "app/page.hpp"

namespace phosphene::app {
namespace {
"""


def literal(data: bytes) -> str:
    rows = (data[i : i + 32] for i in range(0, len(data), 32))
    return ",\n".join(",".join(str(byte) for byte in row) for row in rows)


def cpp(files: list[tuple[str, bytes]]) -> str:
    parts = [HEAD]
    for index, (_, data) in enumerate(files):
        parts.append(f"constexpr std::uint8_t kFile{index}[] = {{\n{literal(data)}}};\n")
    rows = "".join(
        f'    {{"{name}", "{MIME.get(pathlib.PurePath(name).suffix, "application/octet-stream")}", kFile{index}}},\n'
        for index, (name, _) in enumerate(files)
    )
    if files:
        parts.append(f"constexpr stream::Asset kAssets[] = {{\n{rows}}};\n")
        span = "kAssets"
    else:
        span = "{}"
    parts.append(f"}}  // namespace\n\nstd::span<const stream::Asset> page() {{ return {span}; }}\n\n")
    parts.append("}  // namespace phosphene::app\n")
    return "".join(parts)


def main() -> int:
    if sys.argv[1] == "--none":
        pathlib.Path(sys.argv[2]).write_text(cpp([]))
        return 0
    web, output, depfile = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    with tempfile.TemporaryDirectory() as temporary:
        build = subprocess.run(
            ["npm", "run", "build", "--silent", "--", "--outDir", temporary, "--emptyOutDir", "--logLevel", "warn"],
            cwd=web,
        )
        if build.returncode:
            print("the page could not be built: run `npm ci` in web/ first, or configure with -Dpage=disabled", file=sys.stderr)
            return 1
        dist = pathlib.Path(temporary)
        files = [(p.relative_to(dist).as_posix(), p.read_bytes()) for p in sorted(dist.rglob("*")) if p.is_file()]
    output.write_text(cpp(files))
    skip = {"node_modules", "dist"}
    sources = [p for p in sorted(web.rglob("*")) if p.is_file() and not skip & set(p.relative_to(web).parts)]
    depfile.write_text(f"{output}: {' '.join(str(p).replace(' ', chr(92) + ' ') for p in sources)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
