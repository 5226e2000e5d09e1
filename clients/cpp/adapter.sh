#!/usr/bin/env bash
# Builds the adapter into $BUILD and runs it (docs/CLIENTS.md).
set -euo pipefail
cd "$(dirname "$0")"
. ../c/common.sh
if [ ! -x "$BUILD/adapter" ]; then
  library adapter-player "${sanitize[@]}"
  if [ ${#tls[@]} != 0 ]; then
    cc -std=c99 "${strict[@]}" "${sanitize[@]}" -c -o "$BUILD/adapter-tls.o" ../c/player_tls.c
    tls=(-DWITH_TLS "$BUILD/adapter-tls.o" -lssl -lcrypto)
  fi
  # Without the optimizer: the templates of two classes take it as long as all the rest.
  c++ -std=c++17 "${strict[@]}" "${sanitize[@]}" -O0 -I../c -o "$BUILD/adapter" adapter.cpp "$BUILD/adapter-player.o" "${tls[@]}"
fi
exec "$BUILD/adapter" "$@"
