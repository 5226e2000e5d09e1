#!/usr/bin/env bash
# Builds the adapter into $BUILD and runs it (docs/CLIENTS.md).
set -euo pipefail
cd "$(dirname "$0")"
. ../c/common.sh
[ -x "$BUILD/adapter" ] || c++ -std=c++17 "${strict[@]}" "${sanitize[@]}" -I../c -o "$BUILD/adapter" adapter.cpp
exec "$BUILD/adapter"
