import assert from "node:assert/strict";
import { test } from "node:test";
import "./browser.js";
import { keepList, keptList } from "../page/kept.js";

test("of lists only those count that the page may have stored", () => {
  assert.equal(keptList("robots"), null);
  for (const text of ["", "{", "{}", "null", "5", `"far:6665"`, `[null]`, `["far:6665", 5]`, `[["far:6665"]]`, "[object Object]"]) {
    localStorage.setItem("robots", text);
    assert.equal(keptList("robots"), null, text);
  }
  keepList("robots", ["far:6665"]);
  assert.deepEqual(keptList("robots"), ["far:6665"]);
});
