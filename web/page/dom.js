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
