#!/usr/bin/env bash
# Builds the reader of the benchmarks into $BUILD and runs it (docs/CLIENTS.md).
set -euo pipefail
cd "$(dirname "$0")"
. ../c/common.sh
[ -x "$BUILD/speed" ] || c++ -std=c++17 "${strict[@]}" -O2 -pthread -I../c -o "$BUILD/speed" speed.cpp
exec "$BUILD/speed" "$@"
