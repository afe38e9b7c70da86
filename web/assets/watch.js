// The page that shows self-play: the newest game of a run, move by move, and then the next newest.
// @ts-check

import { Board } from './board.js';
import { byId, html } from './dom.js';
import { GameTree, nameOf } from './game.js';
import { Link } from './link.js';
import { watchable } from './panels.js';

// Milliseconds between looks for newer games, when all were shown.
const LOOK = 5000;

const status = byId('status', HTMLParagraphElement);
const run = byId('run', HTMLSelectElement);
const kind = byId('kind', HTMLSelectElement);
const speed = byId('speed', HTMLSelectElement);
const pause = byId('pause', HTMLButtonElement);

let tree = new GameTree({ size: 9, komi: 7, initialStones: [], initialPlayer: 'B', moves: [] });
/** @type {Set<string>} Addresses of games that were shown. */
let shown = new Set();
/** @type {string[]} Addresses of games that wait, the newest first. */
let waiting = [];
let timer = 0;
let paused = false;
let result = '';
/** Looks for games that have begun: one that another has overtaken, perhaps of another run, shows nothing. */
let looks = 0;

const link = new Link('/play/socket', connected => {
  byId('connection', HTMLElement).textContent = connected ? '' : 'Connecting to the server …';
});
const board = new Board(byId('board', HTMLDivElement), { label: 'Board', onPlay: () => {} });

function show() {
  const { played, board: stones } = tree.node;
  board.show({
    size: tree.size, board: stones, toMove: tree.toMove(), last: played && played[1] !== 'pass' ? played[1] : null, playable: false,
  });
}

/** @param {() => void} step @param {number} pause */
function soon(step, pause) {
  clearTimeout(timer);
  if (!paused) timer = setTimeout(step, pause);
}

function step() {
  const [next] = tree.node.children;
  if (next === undefined) return soon(look, 2 * Number(speed.value));
  tree.current = next;
  show();
  const { played, turn } = tree.node;
  const last = tree.node.children.length === 0;
  if (played) status.textContent = last ? `The game ends after ${turn} moves: ${result || 'no result'}.` : `Move ${turn}: ${nameOf(played[0])} ${played[1]}`;
  soon(step, Number(speed.value));
}

/** Reads which games are newest, from the page that lists them. */
async function look() {
  clearTimeout(timer);
  const own = ++looks;
  try {
    const list = await fetch(`/runs/${encodeURIComponent(run.value)}/games?kind=${kind.value}`);
    if (!list.ok) throw new Error(list.status === 404 ? 'there is no such run' : list.statusText);
    const page = new DOMParser().parseFromString(await list.text(), 'text/html');
    if (own !== looks) return;
    const games = [...page.querySelectorAll('[data-game]')].map(game => game.getAttribute('href') ?? '');
    waiting = games.filter(game => game !== '' && !shown.has(game));
    // One that was published in the meantime comes first; older ones are shown while nothing is new.
    const [newest] = waiting;
    if (newest === undefined) {
      status.textContent = games.length === 0 ? 'This run has no such games yet.' : 'All games were shown. Waiting for the next …';
      return soon(look, LOOK);
    }
    shown.add(newest);
    await open(newest, own);
  } catch (error) {
    if (own !== looks) return;
    status.textContent = `The games cannot be read: ${error}`;
    soon(look, LOOK);
  }
}

/** @param {string} game @param {number} own The number of its look. */
async function open(game, own) {
  const reply = await fetch(`${game}.sgf`);
  if (!reply.ok) throw new Error(reply.status === 404 ? 'there is no such game' : reply.statusText);
  const sgf = await reply.text();
  if (own !== looks) return;
  link.request({ open: { sgf } }, ({ tree: found, error }) => {
    if (own !== looks) return;
    if (!found) {
      status.textContent = `The game cannot be read: ${error}`;
      return soon(look, LOOK);
    }
    tree = GameTree.of(found);
    ({ result } = found);
    const [black, white] = found.players;
    byId('players', HTMLParagraphElement).replaceChildren(`● ${black}   ○ ${white}   `, html('a', { href: game }, 'this game'));
    show();
    soon(step, Number(speed.value));
  });
}

function restart() {
  byId('live', HTMLAnchorElement).href = `/runs/${encodeURIComponent(run.value)}/live`;
  shown = new Set();
  look();
}

run.addEventListener('change', restart);
kind.addEventListener('change', restart);
pause.addEventListener('click', () => {
  paused = !paused;
  pause.textContent = paused ? 'Resume' : 'Pause';
  if (paused) clearTimeout(timer);
  // Where no game of the chosen run was found meanwhile, the board still has one of the run before.
  else soon(shown.size === 0 ? look : step, 0);
});
byId('skip', HTMLButtonElement).addEventListener('click', look);

show();
watchable().then(all => {
  const wanted = new URLSearchParams(location.search).get('run');
  run.replaceChildren(...all.map(name => html('option', { value: name }, name)));
  if (wanted) run.value = wanted;
  restart();
}, error => (status.textContent = `${error}`));
