#!/usr/bin/env bash
# Builds the adapter into $BUILD and runs it (docs/CLIENTS.md).
set -euo pipefail
cd "$(dirname "$0")"
go build -o "$BUILD/adapter" .
exec "$BUILD/adapter"
