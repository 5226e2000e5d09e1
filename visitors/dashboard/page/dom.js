// Elements of the page.

/** @import { Elements } from "../types" */

// $ returns the element of index.html with an id.
/**
 * @template {string} Id
 * @param {Id} id
 * @returns {Id extends keyof Elements ? Elements[Id] : HTMLElement}
 */
export const $ = (id) => /** @type {any} */ (document.getElementById(id));

// part returns the part of an element that a selector names. It is there.
/** @type {(whole: ParentNode, selector: string) => HTMLElement} */
export const part = (whole, selector) => /** @type {HTMLElement} */ (whole.querySelector(selector));

// bindFold has a button show and hide an element, and calls then.
/** @type {(button: HTMLElement, what: HTMLElement, then?: (open: boolean) => void) => void} */
export function bindFold(button, what, then) {
  button.addEventListener("click", () => {
    const open = what.hidden;
    what.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
    then?.(open);
  });
}

// download offers what a page has as a file.
/** @type {(name: string, content: Blob) => void} */
export function download(name, content) {
  const link = document.createElement("a"), url = URL.createObjectURL(content);
  Object.assign(link, { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000); // the download has begun
}
