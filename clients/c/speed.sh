#!/usr/bin/env bash
# Builds the reader of the benchmarks into $BUILD and runs it (docs/CLIENTS.md).
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
[ -x "$BUILD/speed" ] || cc -std=c99 "${strict[@]}" -O2 -o "$BUILD/speed" speed.c player.c
exec "$BUILD/speed" "$@"
