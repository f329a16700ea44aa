# Shared by the scripts beside it: sourced, not run.
# shellcheck shell=bash

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Colours for eyes, not for files.
dim='' red='' plain=''
[ -t 2 ] && dim=$'\033[2m' red=$'\033[31m' plain=$'\033[0m'

say() { printf '%s▸%s %s\n' "$dim" "$plain" "$*" >&2; }
complain() { printf '%s✗%s %s\n' "$red" "$plain" "$*" >&2; }
fail() {
  complain "$*"
  exit 1
}

# quietly COMMAND…: what it prints is shown only if it fails.
quietly() {
  local output status=0
  output=$("$@" 2>&1 </dev/null) || status=$?
  [ $status -eq 0 ] || printf '%s\n' "$output" >&2
  return $status
}

# What each purpose needs from Debian 12.
packages_build=(g++ ninja-build meson pkg-config python3 libavcodec-dev libavformat-dev libavutil-dev
  libwebsockets-dev libprotobuf-dev protobuf-compiler libprotozero-dev libeigen3-dev libcli11-dev
  libspdlog-dev nlohmann-json3-dev doctest-dev zlib1g-dev)
packages_demo=(dataset-fashion-mnist)
packages_clang=(clang-19 clang-tidy-19 clang-format-19 libclang-rt-19-dev git)
packages_process=(ffmpeg)
packages_browser=(chromium firefox-esr webkit2gtk-driver xvfb xauth gstreamer1.0-plugins-good gstreamer1.0-libav
  fonts-dejavu-core)

# Node 18 or newer: the one that is there, else Debian's.
node_is_there() {
  command -v npm >/dev/null && node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2>/dev/null
}
node_is_there || packages_build+=(nodejs npm)

# need PACKAGE…: installs what is missing, or says what to install.
need() {
  local missing=() package
  for package in "$@"; do
    [[ " ${missing[*]-} " == *" $package "* ]] ||
      [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  command -v apt-get >/dev/null || fail "this is no Debian: install what corresponds to ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    fail "Debian packages are missing; as root, run:
    apt-get update && apt-get install --no-install-recommends ${missing[*]}"
  fi
  say "installing ${#missing[@]} Debian packages, which may take minutes: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  quietly apt-get update || fail "apt-get update failed: is the network there?"
  # A machine that has just started may still be updating itself.
  quietly apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 "${missing[@]}" ||
    fail "apt-get could not install ${missing[*]}"
}

# npm_ci DIRECTORY: installs locked packages where they are not yet there.
npm_ci() {
  local stamp=$1/node_modules/.package-lock.json
  [ -e "$stamp" ] && [ "$stamp" -nt "$1/package-lock.json" ] && return
  say "installing npm packages of $1"
  (cd "$1" && quietly npm ci --no-audit --no-fund --loglevel=error && touch node_modules/.package-lock.json) ||
    fail "npm could not install the packages of $1/package-lock.json: is the network there?"
}

# configure DIRECTORY OPTION…: a meson build directory, made once.
configure() {
  local directory=$1
  shift
  [ -e "$directory/build.ninja" ] && return
  say "configuring $directory/: its first build takes some minutes"
  quietly meson setup "$directory" "$@" || fail "meson could not configure $directory/"
}

# compile DIRECTORY TARGET…: builds, showing ninja's one moving line on a terminal and its errors anywhere.
compile() {
  local directory=$1
  shift
  say "building in $directory/"
  if [ -t 2 ]; then
    ninja -C "$directory" "$@" >&2 || fail "the build of $directory failed"
  else
    ninja --quiet -C "$directory" "$@" >&2 || fail "the build of $directory failed"
  fi
}
