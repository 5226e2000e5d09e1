#!/usr/bin/env bash
# Builds the reader of the benchmarks into $BUILD and runs it (docs/CLIENTS.md).
set -euo pipefail
cd "$(dirname "$0")"
[ -x "$BUILD/speed" ] || go build -o "$BUILD/speed" ./speed
exec "$BUILD/speed" "$@"
