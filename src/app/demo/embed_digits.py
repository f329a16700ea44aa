"""embed_digits.py OUT.cpp TRAIN_IMAGES TRAIN_LABELS HELD_OUT_IMAGES HELD_OUT_LABELS: the files as C++ arrays."""

import sys
from pathlib import Path

out, *files = sys.argv[1:]
names = ["train_images", "train_labels", "held_out_images", "held_out_labels"]
parts = ['#include "app/demo/digits.hpp"\n\nnamespace phosphene::demo::digits {\n']
for name, file in zip(names, files, strict=True):
    data = Path(file).read_bytes()
    parts.append(f"static constexpr unsigned char {name}_bytes[] = {{{','.join(map(str, data))}}};")
    parts.append(f"const std::span<const unsigned char> {name}{{{name}_bytes}};\n")
parts.append("}  // namespace phosphene::demo::digits\n")
Path(out).write_text("\n".join(parts))
