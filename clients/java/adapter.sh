#!/usr/bin/env bash
# Builds the adapter into $BUILD and runs it (docs/CLIENTS.md).
set -euo pipefail
cd "$(dirname "$0")"
[ -e "$BUILD/Adapter.class" ] || javac -J-XX:+UseSerialGC -J-XX:TieredStopAtLevel=1 -Xlint:all -Werror -d "$BUILD" src/player/*.java adapter/*.java
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$BUILD" Adapter "$@"
