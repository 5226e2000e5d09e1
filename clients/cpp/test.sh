#!/usr/bin/env bash
# Builds everything in this folder with warnings as errors, and runs the tests
# with sanitizers. The programs go to $BUILD, by default a directory that is
# removed at the end.
set -euo pipefail
cd "$(dirname "$0")"
. ../c/common.sh
# Each example is a program.
awk -v to="$BUILD/readme" '/^```/ { n += on = /^```cpp$/; next } on { print >(to n ".cpp") }' README.md
mkdir -p "$BUILD/include"
cp ./*.h ./*.hpp ../c/player.h ../c/player_struct.h ../c/player_line.h ../c/player_simulation.h "$BUILD/include"
library player -O2
library test-player "${sanitize[@]}"
link=("$BUILD/player.o")
cp names.cpp "$BUILD"
here=$PWD
cd "$BUILD" # a cache of compilers knows files by their paths
for name in readme1 readme2 readme3 names; do
  program $name $name.cpp c++ -std=c++17 "${strict[@]}" -Iinclude -pthread
done
cd "$here"
"$BUILD/names"
for source in examples/*.cpp; do
  program "$(basename "$source" .cpp)" "$source" c++ -std=c++17 -O2 "${strict[@]}" -I../c -pthread
done
checked c++17 adapter.cpp examples/*.cpp # which include all headers
link=("$BUILD/test-player.o")
program test test.cpp c++ -std=c++17 "${strict[@]}" "${sanitize[@]}" -pthread -I../c
"$BUILD/test"
echo "clients/cpp: ok"
