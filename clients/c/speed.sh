#!/usr/bin/env bash
# Builds the reader of the benchmarks into $BUILD and runs it (docs/CLIENTS.md).
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
if [ ! -x "$BUILD/speed" ]; then
  library speed-player -O2
  link=("$BUILD/speed-player.o")
  program speed speed.c cc -std=c99 "${strict[@]}" -O2
fi
exec "$BUILD/speed" "$@"
