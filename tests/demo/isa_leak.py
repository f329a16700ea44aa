"""isa_leak.py NM LIBRARY…: kernels for newer instruction sets must share no symbol with the rest of the program."""

import re
import subprocess
import sys

nm, *libraries = sys.argv[1:]
leaks = []
for library in libraries:
    lines = subprocess.run([nm, "-C", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    for line in lines.splitlines():
        found = re.match(r"[0-9a-f]* *([A-Z]) (.*)", line)
        if not found or re.search(r"\bEigen_\w+::|kKernels_|^DW\.ref\.", found[2]):
            continue
        leaks.append(f"{library}: {found[2]}")
print("\n".join(leaks) or "nothing shared")
sys.exit(1 if leaks else 0)
