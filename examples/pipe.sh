#!/bin/sh
# Anything that writes frames can be watched: here ffmpeg's test source. The page's URL is printed.
set -eu
cd "$(dirname "$0")/.."
ffmpeg -loglevel error -re -f lavfi -i testsrc2=size=640x360:rate=30 -pix_fmt gray -f rawvideo - |
  build/phosphene pipe --format gray8 --size 640x360 --fps 30 --name testsrc "$@"
