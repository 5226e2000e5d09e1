#!/usr/bin/env bash
# Builds the reader of the benchmarks into $BUILD and runs it (docs/CLIENTS.md).
set -euo pipefail
cd "$(dirname "$0")"
. ../c/common.sh
if [ ! -x "$BUILD/speed" ]; then
  library speed-player -O2
  link=("$BUILD/speed-player.o")
  program speed speed.cpp c++ -std=c++17 "${strict[@]}" -O2 -pthread -I../c
fi
exec "$BUILD/speed" "$@"
