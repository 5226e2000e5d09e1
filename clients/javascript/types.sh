#!/usr/bin/env bash
# Checks the declarations, lib/*.d.ts, against the modules, lib/*.js, and against a program of testing/ that uses
# them, with all of TypeScript's strict checks. It needs tsc and the types of Node in the same folder:
#
#   npm exec --yes --package=typescript@5.9.3 --package=@types/node@20.19.25 -- clients/javascript/types.sh
set -euo pipefail
cd "$(dirname "$0")"
modules=$(dirname "$(dirname "$(command -v tsc)")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r package.json lib testing "$work"
mkdir "$work/modules" # without their declarations, so that the compiler says what they declare
cp lib/*.js "$work/modules"
cd "$work"
options=(--target es2023 --lib es2023,dom,dom.iterable --module nodenext --typeRoots "$modules/@types" --types node)
tsc "${options[@]}" --allowJs --declaration --emitDeclarationOnly --outDir found modules/*.js
tsc "${options[@]}" --strict --exactOptionalPropertyTypes --noEmit lib/*.d.ts testing/*.ts
echo "types: the declarations are those of the modules"
