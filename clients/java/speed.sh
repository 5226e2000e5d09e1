#!/usr/bin/env bash
# Builds the reader of the benchmarks into $BUILD and runs it (docs/CLIENTS.md).
set -euo pipefail
cd "$(dirname "$0")"
[ -e "$BUILD/Speed.class" ] || javac -Xlint:all -Werror -d "$BUILD" src/player/*.java speed/Speed.java
exec java -cp "$BUILD" Speed "$@"
