// SPDX-License-Identifier: Apache-2.0
//
// Has ruff check programs in Python by the rules of pyproject.toml. Debian 12 has no ruff; npm has it for Node:
//
//   npm exec --yes --package=@astral-sh/ruff-wasm-nodejs@0.17.4 -- node clients/python/ruff.mjs FILE...
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";

const folder = process.env.PATH.split(":")[0]; // npm's, of the programs of its packages
const { Workspace, PositionEncoding } = createRequire(`${dirname(folder)}/`)("@astral-sh/ruff-wasm-nodejs");
const settings = execFileSync("python3", [
  "-c", "import json, sys, tomllib; print(json.dumps(tomllib.load(sys.stdin.buffer)['tool']['ruff']))",
], { input: readFileSync(new URL("pyproject.toml", import.meta.url)) });
const ruff = new Workspace(JSON.parse(settings), PositionEncoding.Utf32);
const files = process.argv.slice(2);
let found = 0;
for (const file of files) {
  for (const d of ruff.check(readFileSync(file, "utf8"))) {
    console.log(`${file}:${d.start_location.row}:${d.start_location.column}: ${d.code} ${d.message}`);
    found++;
  }
}
console.log(`ruff ${Workspace.version()}: ${found} findings in ${files.length} files`);
process.exit(found || !files.length ? 1 : 0);
