#!/bin/sh
# Anything that writes frames can be watched: here ffmpeg's test source. The page's URL is printed.
# (-loglevel fatal: else ffmpeg complains at Ctrl-C that its pipe is gone. For a source of your own, take `error`.)
set -eu
cd "$(dirname "$0")/.."
ffmpeg -nostdin -loglevel fatal -re -f lavfi -i testsrc2=size=640x360:rate=30 -pix_fmt gray -f rawvideo - |
  build/phosphene pipe --format gray8 --size 640x360 --fps 30 --name testsrc "$@"
