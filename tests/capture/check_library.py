"""libphosphene exports phosphene_* alone and needs the C library alone: a trainer may have loaded anything else."""

import re
import subprocess
import sys

# What Debian's libc6 consists of; libm and the loader come with every program.
LIBC = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> int:
    library = sys.argv[1]
    symbols = {line.split()[-1].split("@")[0] for line in output("nm", "-D", "--defined-only", library).splitlines()}
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", library)))

    problems = []
    if "phosphene_step" not in symbols:
        problems.append("phosphene_step is not exported")
    problems += [f"{symbol} is exported" for symbol in sorted(symbols) if not symbol.startswith("phosphene_")]
    # A sanitizer's build is no release: its runtime is allowed.
    problems += [f"{name} is needed" for name in sorted(needed - LIBC) if not re.match(r"lib[a-z]+san\.", name)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
