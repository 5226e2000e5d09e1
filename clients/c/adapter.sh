#!/usr/bin/env bash
# Builds the adapter into $BUILD and runs it (docs/CLIENTS.md).
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
if [ ! -x "$BUILD/adapter" ]; then
  library adapter-player "${sanitize[@]}"
  link=("$BUILD/adapter-player.o")
  with_tls "${sanitize[@]}"
  program adapter adapter.c cc -std=c99 "${strict[@]}" "${sanitize[@]}" "${define[@]}"
fi
exec "$BUILD/adapter"
