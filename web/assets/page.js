// What scripts add to every page: plots that show their numbers, and pages that show what is new.
// @ts-check

import { enhance } from './plots.js';

const load = async (/** @type {string} */ source) => (await fetch(source)).json();

/** The parts of a page as the server made them, before scripts added anything. @param {Document} page */
const partsOf = page => new Map([...page.querySelectorAll('main > [id]')].map(part => [part.id, part.outerHTML]));

/** Time without events before a page looks for itself, in milliseconds. */
const PAUSE = 10_000;

let shown = partsOf(document);
/** Whether a part waits for its reader to leave it. */
let waits = false;

/** Replaces the parts that have changed; what the reader has opened stays open. */
async function refresh() {
  const response = await fetch(location.href, { headers: { accept: 'text/html' } });
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const parts = partsOf(page);
  waits = false;
  for (const [id, html] of parts) {
    const old = document.getElementById(id);
    const before = shown.get(id);
    if (!old || before === html) continue;
    if (old.querySelector('.zoomed') || old.contains(document.activeElement)) {
      parts.set(id, before ?? '');
      waits = true;
      continue;
    }
    const part = /** @type {HTMLElement} */ (page.getElementById(id));
    const open = [...old.querySelectorAll('figure details[open]:not(.zoom)')].map(details => details.closest('figure')?.id);
    for (const figure of open) part.querySelector(`#${figure} details`)?.setAttribute('open', '');
    old.replaceWith(document.adoptNode(part));
    enhance(part, load);
  }
  shown = parts;
  document.title = page.title;
  document.body.dataset.events = page.body.dataset.events;
}

/** @type {EventSource | null} */
let events = null;

/** A page that is not seen costs the server nothing. */
function listen() {
  const address = document.body.dataset.events;
  if (document.hidden || !address) {
    events?.close();
    events = null;
  } else if (!events) {
    events = new EventSource(address);
    events.addEventListener('changed', refresh);
    // After an outage the browser tries again by itself, but not after a refusal: the server has too many streams then.
    events.addEventListener('error', () => {
      if (events?.readyState !== EventSource.CLOSED) return;
      events = null;
      setTimeout(() => refresh().then(listen, listen), PAUSE);
    });
  }
}

/** Shows what came while a part was read. */
function left() {
  if (waits) setTimeout(refresh);
}

enhance(document, load);
listen();
document.addEventListener('focusout', left);
document.addEventListener('dblclick', left);
document.addEventListener('visibilitychange', listen);
