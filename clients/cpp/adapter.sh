#!/usr/bin/env bash
# Builds the adapter into $BUILD and runs it (docs/CLIENTS.md).
set -euo pipefail
cd "$(dirname "$0")"
. ../c/common.sh
if [ ! -x "$BUILD/adapter" ]; then
  library adapter-player "${sanitize[@]}"
  c++ -std=c++17 "${strict[@]}" "${sanitize[@]}" -I../c -o "$BUILD/adapter" adapter.cpp "$BUILD/adapter-player.o"
fi
exec "$BUILD/adapter"
