// Lists of texts that the browser keeps for the user. Another program at the same address may have
// stored anything under the same name.

/** @import { Kept } from "../types" */

// keptList returns a list, or null if the browser has none that this page may have stored.
/** @type {(name: Kept) => string[] | null} */
export function keptList(name) {
  try {
    const list = JSON.parse(first.kept(name) ?? "null");
    return Array.isArray(list) && list.every((text) => typeof text === "string") ? list : null;
  } catch {
    return null;
  }
}

/** @type {(name: Kept, list: string[]) => void} */
export const keepList = (name, list) => first.keep(name, JSON.stringify(list));
