#!/usr/bin/env bash
# Builds the adapter into $BUILD and runs it (docs/CLIENTS.md).
set -euo pipefail
cd "$(dirname "$0")"
. ../c/common.sh
if [ ! -x "$BUILD/adapter" ]; then
  library adapter-player "${sanitize[@]}"
  link=("$BUILD/adapter-player.o")
  with_tls "${sanitize[@]}"
  # Without the optimizer: the templates of two classes take it as long as all the rest.
  program adapter adapter.cpp c++ -std=c++17 "${strict[@]}" "${sanitize[@]}" "${define[@]}" -O0 -I../c
fi
exec "$BUILD/adapter" "$@"
