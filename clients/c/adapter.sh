#!/usr/bin/env bash
# Builds the adapter into $BUILD and runs it (docs/CLIENTS.md).
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
[ -x "$BUILD/adapter" ] || cc -std=c99 "${strict[@]}" "${sanitize[@]}" -o "$BUILD/adapter" adapter.c player.c "${tls[@]}"
exec "$BUILD/adapter"
