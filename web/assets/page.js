// What scripts add to every page: plots that show their numbers, and pages that show what is new.
// @ts-check

import { enhance } from './plots.js';

const load = async (/** @type {string} */ source) => (await fetch(source)).json();

/** The parts of a page as the server made them, before scripts added anything. @param {Document} page */
const partsOf = page => new Map([...page.querySelectorAll('main > [id]')].map(part => [part.id, part.outerHTML]));

/** Time after an outage before a page looks for itself, in milliseconds. */
const PAUSE = 10_000;
/** An outage of this time is shown, in milliseconds: longer than a stream or a failed reading takes to come back. */
const OUTAGE = 15_000;
/** A server that says nothing for so long is away, in milliseconds: more than twice ALIVE of web/src/events.rs. */
const SILENCE = 60_000;

let shown = partsOf(document);
/** Whether a part waits for its reader to leave it. */
let waits = false;
/** Whether the page is being read, and whether there was another event meanwhile. */
let reading = false;
let again = false;

/** Says that the page is old. */
const notice = document.createElement('p');
notice.className = 'bad';
notice.hidden = true;
notice.setAttribute('role', 'status');
/** Shows the notice. @type {ReturnType<typeof setTimeout> | undefined} */
let outage;
/** Whether the last reading of the page failed. */
let failed = false;

/** The page cannot be brought up to date, and says so unless that is over soon. */
function lost() {
  const since = new Date().toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
  outage ??= setTimeout(() => {
    notice.textContent = `This page is of ${since}: the server cannot be reached, or refuses a newer one.`;
    notice.hidden = false;
  }, OUTAGE);
}

/** The page is up to date, or is told when it is not. */
function restored() {
  clearTimeout(outage);
  outage = undefined;
  notice.hidden = true;
}

/** What a reader may have changed. @param {Element} part */
const fieldsOf = part => [.../** @type {NodeListOf<HTMLInputElement | HTMLSelectElement>} */ (part.querySelectorAll('input[name], select[name]'))];
/** @param {HTMLInputElement | HTMLSelectElement} field */
const nameOf = field => `${field.name}=${field.type === 'checkbox' ? field.value : ''}`;

/** Where an element is in a part: its address if it is a link, and the way to it. @param {Element} part @param {Element} element */
function placeOf(part, element) {
  const way = [];
  for (let at = element; at !== part; at = /** @type {Element} */ (at.parentElement)) {
    way.unshift([.../** @type {Element} */ (at.parentElement).children].indexOf(at));
  }
  return { way, href: element.getAttribute('href'), name: element.tagName };
}

/** The element at such a place. @param {Element} part @param {ReturnType<typeof placeOf>} place */
function elementAt(part, { way, href, name }) {
  if (href !== null) return part.querySelector(`a[href=${JSON.stringify(href)}]`);
  /** @type {Element | undefined} */
  let at = part;
  for (const index of way) at = at?.children[index];
  return at?.tagName === name ? at : null;
}

/** Replaces a part; what its reader did there stays: open details, filled fields, scrolling and the focus. @param {Element} old @param {Element} part */
function replace(old, part) {
  const open = [...old.querySelectorAll('figure details[open]:not(.zoom)')].map(details => details.closest('figure')?.id);
  for (const figure of open) part.querySelector(`#${figure} details`)?.setAttribute('open', '');
  const fields = new Map(fieldsOf(old).map(field => [nameOf(field), field]));
  for (const field of fieldsOf(part)) {
    const before = fields.get(nameOf(field));
    if (before instanceof HTMLInputElement && field instanceof HTMLInputElement && before.type === 'checkbox') field.checked = before.checked;
    else if (before && before.type !== 'hidden') field.value = before.value;
  }
  const scrolled = [...old.querySelectorAll('.scroll')].map(({ scrollLeft, scrollTop }) => ({ scrollLeft, scrollTop }));
  const { activeElement } = document;
  const focus = activeElement && old.contains(activeElement) ? placeOf(old, activeElement) : null;
  old.replaceWith(document.adoptNode(part));
  enhance(part, load);
  part.querySelectorAll('.scroll').forEach((element, index) => Object.assign(element, scrolled[index]));
  const focused = focus && elementAt(part, focus);
  if (focused instanceof HTMLElement || focused instanceof SVGElement) focused.focus({ preventScroll: true });
}

/** The time between two events of a stream, in milliseconds: the server sends no more than two a second. @param {string} address */
const paceOf = address => Number(new URL(address, location.href).searchParams.get('pause'));

/** Reads the page and replaces the parts that have changed. */
async function read() {
  const response = await fetch(location.href, { headers: { accept: 'text/html' }, signal: AbortSignal.timeout(SILENCE) });
  if (!response.ok) throw new Error(`${response.status}`);
  // The visitor has to sign in again.
  if (new URL(response.url).pathname !== location.pathname) return location.reload();
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const parts = partsOf(page);
  waits = false;
  for (const [id, html] of parts) {
    const old = document.getElementById(id);
    const before = shown.get(id);
    if (!old || before === html) continue;
    // Neither a plot that is looked at closely nor a field that is being filled is taken away.
    if (old.querySelector('.zoomed, :is(input:not([type=checkbox]), select, textarea):focus')) {
      parts.set(id, before ?? '');
      waits = true;
      continue;
    }
    replace(old, /** @type {HTMLElement} */ (page.getElementById(id)));
  }
  shown = parts;
  document.title = page.title;
  const address = document.body.dataset.events = page.body.dataset.events ?? '';
  // A page that was made slowly at first, since its files were not in memory, does not keep that pace.
  if (events && paceOf(address) < paceOf(events.url) / 2) {
    leave();
    listen();
  }
}

/** Brings the page up to date: one reading at a time, and another one after an event or a failure meanwhile. Then it listens. */
async function refresh() {
  again = true;
  if (reading) return;
  reading = true;
  while (again) {
    again = false;
    try {
      await read();
      failed = false;
      restored();
    } catch {
      again = failed = true;
      lost();
      // Where each of six windows has a stream, the browser has no connection to read any of them.
      leave();
      await new Promise(resolve => { setTimeout(resolve, PAUSE); });
    }
  }
  reading = false;
  listen();
}

/** @type {EventSource | null} */
let events = null;
/** Replaces a stream that is silent. @type {ReturnType<typeof setTimeout> | undefined} */
let silence;

/** Ends the stream. */
function leave() {
  clearTimeout(silence);
  events?.close();
  events = null;
}

/** A connection may be dead without notice, as after a machine slept: the server is heard from time to time. */
function heard() {
  clearTimeout(silence);
  silence = setTimeout(() => {
    lost();
    leave();
    refresh();
  }, SILENCE);
}

/** A page that is not seen costs the server nothing. */
function listen() {
  const address = document.body.dataset.events;
  if (document.hidden || !address) return leave();
  if (events) return;
  const stream = events = new EventSource(address);
  stream.addEventListener('changed', refresh);
  stream.addEventListener('open', () => { if (!failed) restored(); });
  for (const name of ['open', 'changed', 'alive']) stream.addEventListener(name, heard);
  // After an outage the browser tries again by itself, but not after a refusal: the server has too many streams then. Such a page is
  // old only where it cannot be read either.
  stream.addEventListener('error', () => {
    if (stream.readyState !== EventSource.CLOSED) return lost();
    leave();
    setTimeout(refresh, PAUSE);
  });
  heard();
}

/** Listens again, and reads a page that has aged while it was hidden: only time has passed, so no event says so. */
function show() {
  listen();
  if (!document.hidden && document.body.dataset.events?.includes('age=')) refresh();
}

/** Shows what came while a part was read. */
function left() {
  if (waits) setTimeout(refresh);
}

enhance(document, load);
if (document.body.dataset.events) document.querySelector('main')?.prepend(notice);
listen();
document.addEventListener('focusout', left);
document.addEventListener('dblclick', left);
document.addEventListener('visibilitychange', show);
