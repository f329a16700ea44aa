# Shared by the scripts beside it: sourced, not run.
# shellcheck shell=bash

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\033[2m▸\033[0m %s\n' "$*" >&2; }
fail() {
  printf '\033[31m✗\033[0m %s\n' "$*" >&2
  exit 1
}

# What each purpose needs from Debian 12.
packages_build=(g++ ninja-build meson pkg-config python3 libavcodec-dev libavformat-dev libavutil-dev
  libwebsockets-dev libprotobuf-dev protobuf-compiler libprotozero-dev libeigen3-dev libcli11-dev
  libspdlog-dev nlohmann-json3-dev doctest-dev zlib1g-dev)
packages_demo=(dataset-fashion-mnist)
packages_test=(clang-19 clang-tidy-19 clang-format-19 libclang-rt-19-dev binutils curl ffmpeg git
  dataset-fashion-mnist fonts-dejavu-core)
packages_browser=(chromium firefox-esr webkit2gtk-driver xvfb xauth gstreamer1.0-plugins-good gstreamer1.0-libav
  fonts-dejavu-core)

# need PACKAGE…: installs what is missing, or says what to install.
need() {
  local missing=() package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  if [ "$(id -u)" -ne 0 ]; then
    fail "these Debian packages are missing; as root, run:
    apt-get install --no-install-recommends ${missing[*]}"
  fi
  command -v apt-get >/dev/null || fail "this is no Debian: install what corresponds to ${missing[*]}"
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq || fail "apt-get update failed: is the network there?"
  apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null ||
    fail "apt-get could not install ${missing[*]}"
}

# Node 18 or newer: the one that is there, else Debian's.
need_node() {
  local major=0
  command -v npm >/dev/null && major=$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)
  [ "$major" -ge 18 ] || need nodejs npm
}

# npm_ci DIRECTORY: installs locked packages where they are not yet there.
npm_ci() {
  local stamp=$1/node_modules/.package-lock.json
  [ -e "$stamp" ] && [ "$stamp" -nt "$1/package-lock.json" ] && return
  say "installing npm packages of $1"
  (cd "$1" && npm ci --no-audit --no-fund --loglevel=error && touch node_modules/.package-lock.json) >&2 ||
    fail "npm could not install the packages of $1/package-lock.json: is the network there?"
}

# configure DIRECTORY OPTION…: a meson build directory, made once.
configure() {
  local directory=$1
  shift
  [ -e "$directory/build.ninja" ] && return
  say "configuring $directory"
  meson setup "$directory" "$@" >"/tmp/phosphene-meson-$$.log" 2>&1 || {
    cat "/tmp/phosphene-meson-$$.log" >&2
    fail "meson could not configure $directory"
  }
  rm -f "/tmp/phosphene-meson-$$.log"
}

# compile DIRECTORY TARGET…: builds, showing ninja's one moving line on a terminal and its errors anywhere.
compile() {
  local directory=$1
  shift
  say "building $directory"
  if [ -t 2 ]; then
    ninja -C "$directory" "$@" >&2 || fail "the build of $directory failed"
  else
    ninja --quiet -C "$directory" "$@" >&2 || fail "the build of $directory failed"
  fi
}
