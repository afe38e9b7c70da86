// Elements of a page.
// @ts-check

/** @typedef {Record<string, string | number | boolean | undefined>} Attributes */

/**
 * The element of this id, which the server put into the page.
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
export function byId(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no ${id}`);
  return found;
}

/**
 * @param {Element} element
 * @param {Attributes} attributes
 */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? '' : `${value}`);
  }
}

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function html(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  set(element, attributes);
  element.append(...children);
  return element;
}

/**
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {...(Node | string)} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  set(element, attributes);
  element.append(...children);
  return element;
}

/**
 * A number of visits in little space.
 * @param {number} visits
 */
export function short(visits) {
  if (visits < 1000) return `${visits}`;
  return visits < 9950 ? `${(visits / 1000).toFixed(1)}k` : `${Math.round(visits / 1000)}k`;
}

/**
 * A number of things, such as `1 move` and `2 moves`.
 * @param {number} number
 * @param {string} thing
 */
export function counted(number, thing) {
  return `${number} ${thing}${number === 1 ? '' : 's'}`;
}

/**
 * What says in an element that a request waits, and afterwards what the element said before.
 * @param {HTMLElement} element
 * @returns {(place: number | null) => void}
 */
export function placeTeller(element) {
  let [before, waiting] = ['', ''];
  return place => {
    const said = element.textContent ?? '';
    if (place === null) {
      if (waiting !== '' && said === waiting) element.textContent = before;
      waiting = '';
      return;
    }
    if (said !== waiting) before = said;
    waiting = `Place in the queue: ${place + 1}.`;
    element.textContent = waiting;
  };
}

/**
 * Shows a number in a field, at most the largest that it takes. What was typed into it stays.
 * @param {HTMLInputElement} field
 * @param {number} number
 */
export function setDefault(field, number) {
  field.defaultValue = `${field.max === '' ? number : Math.min(number, Number(field.max))}`;
}

/**
 * A share as a percentage.
 * @param {number} share
 * @param {number} [digits]
 */
export function percent(share, digits = 1) {
  return `${(100 * share).toFixed(digits)} %`.replace('-', '−');
}

// Milliseconds: Safari reads a file some time after the click on its link, and longer where it asks whether to save it.
const DOWNLOAD = 60_000;

/**
 * Offers a file.
 * @param {string} name
 * @param {Blob} content
 */
export function download(name, content) {
  const address = URL.createObjectURL(content);
  const link = html('a', { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), DOWNLOAD);
}

/** The text of a game as a file. @param {string} text */
export const sgfFile = text => new Blob([text], { type: 'application/x-go-sgf' });
