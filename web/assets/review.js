// The page on which games are reviewed.
// @ts-check

import { Board } from './board.js';
import { byId, counted, download, html, percent, placeTeller, setDefault, sgfFile } from './dom.js';
import { isGame, MOST_TEXT, shortened, textOf } from './files.js';
import { GameTree, nameOf } from './game.js';
import { Graph } from './graph.js';
import { found, keepGame, linked } from './kept.js';
import { Link } from './link.js';
import { CandidateTable, ModelPicker, choices, heatOf, leadOf, marksOf, showPlanes } from './panels.js';
import { TreeView } from './tree.js';

/** @typedef {import('./link.js').Report} Report */
/** @typedef {import('./link.js').Loss} Loss */

const LISTED = 8;
const LEAST_LOSS = 0.05;
// Milliseconds from a change of the game until it is kept, so that several moves in a row are written once.
const PAUSE = 1000;
// Milliseconds until a game that could not be kept is written again; twice as long after each attempt, so many times.
const AGAIN = 10_000;
const DOUBLINGS = 6;

const status = byId('status', HTMLParagraphElement);
const button = (/** @type {string} */ id) => byId(id, HTMLButtonElement);
const fields = {
  visits: byId('visits', HTMLInputElement), show: byId('show', HTMLSelectElement), file: byId('file', HTMLInputElement),
  paste: byId('paste', HTMLTextAreaElement),
};
const progress = byId('progress', HTMLProgressElement);

let tree = new GameTree({ size: 9, komi: 7, initialStones: [], initialPlayer: 'B', moves: [] });
/** @type {string | null} The text of the game, to open it again. */
let text = null;
/**
 * What the file says of the game, to write it again.
 * @type {{black?: string, white?: string, ranks?: string[], date?: string, rules?: string, result?: string}}
 */
let said = {};
/** @type {Loss[]} */
let losses = [];
/** @type {(() => void)[]} What stops the analysis of the shown position. */
let looking = [];
/** @type {(() => void)[]} What stops the analysis of the game. */
let reviewing = [];
/** Whether the visitor has had the whole game analysed: then a reload does it again. */
let analysed = false;
/** @type {() => void} What stops the opening of a game. */
let opening = () => {};
/** Whether models are known and the game of before was looked for: games are opened only then. */
let isReady = false;
/** @type {string | null} A game that came before that. */
let early = null;
/** @type {number | undefined} The timer of a game that has changed. */
let unkept;
/** @type {() => void} What stops the writing of a game that has changed. */
let writing = () => {};
/** Attempts to write it that failed, since the last one that did not. */
let failures = 0;
/** @type {ModelPicker[]} */
let pickers = [];
/** Visits of a search: those of the field, or of before while it has no valid number. */
let visits = 0;

const link = new Link('/play/socket', connected => {
  byId('connection', HTMLElement).textContent = connected ? '' : 'Connecting to the server …';
}, placeTeller(status));
const board = new Board(byId('board', HTMLDivElement), { label: 'Board', onPlay: play, onPoint: pointed });
const graph = new Graph(byId('graph', HTMLDivElement), turn => {
  const line = tree.line();
  go(line[Math.max(0, Math.min(line.length - 1, turn))]);
});
const treeView = new TreeView(byId('tree', HTMLDivElement), go);
const table = new CandidateTable(byId('candidates', HTMLDivElement), {
  onPoint: mark => board.preview(mark?.pv ?? []), onPlay: play,
});

/** @param {string} words */
function say(words) {
  status.textContent = words;
}

function models() {
  return pickers.map(picker => picker.model);
}

/** The reports that the board shows are those of the first model, or of the one compared with it. */
function slot() {
  return fields.show.value === 'second' ? 1 : 0;
}

function show() {
  const { activeElement } = document;
  const used = activeElement instanceof HTMLButtonElement && activeElement.matches(':focus-visible') ? activeElement : null;
  const { played, board: stones, reports, comment, children, position } = tree.node;
  const report = reports[slot()];
  const next = children.length > 0 ? tree.nodes[children[0]].played : null;
  const what = fields.show.value;
  board.show({
    size: tree.size, board: stones, toMove: tree.toMove(), last: played && played[1] !== 'pass' ? played[1] : null,
    next: next && next[1] !== 'pass' ? next[1] : null,
    marks: shownMarks(),
    heat: what === 'policy' ? heatOf(report) : null, playable: true,
    ownership: what === 'ownership' ? tree.node.prediction?.ownership ?? null : null,
    forbidden: position?.forbidden,
  });
  table.show(report);
  const line = tree.line();
  const names = models();
  const curves = [0, 1].flatMap(index => {
    const name = names[index];
    return name ? [{ name, values: line.map(node => tree.nodes[node].reports[index]?.rootInfo.winrate) }] : [];
  });
  const bad = losses.filter(({ loss }) => loss >= LEAST_LOSS).slice(0, LISTED).map(({ turn }) => turn + 1);
  graph.show(curves, tree.node.turn, line.length - 1, onMainLine() ? bad : []);
  byId('comment', HTMLParagraphElement).textContent = comment;
  byId('comment', HTMLParagraphElement).hidden = comment === '';
  button('first').disabled = button('back').disabled = button('cut').disabled = tree.current === 0;
  button('next').disabled = button('last').disabled = children.length === 0;
  tellValue(report);
  if (used?.disabled) leave();
}

/** A button that is disabled would leave keys and screen readers nowhere: the focus goes to a step that can be made. */
function leave() {
  const step = ['back', 'next'].map(id => button(id)).find(({ disabled }) => !disabled);
  if (step) step.focus();
  else board.focus(board.focused, true);
}

/** The moves on the board: of the first model, of the one compared with it, or of both. */
function shownMarks() {
  const what = fields.show.value;
  const [first, second] = tree.node.reports;
  const marks = first && (what === 'moves' || what === 'both') ? marksOf(first) : [];
  return second && (what === 'second' || what === 'both') ? [...marks, ...marksOf(second, true)] : marks;
}

/** @param {Report | undefined} report */
function tellValue(report) {
  const words = ['Chances are those of the player to move.'];
  if (report) {
    const { rawWinrate, winrate, visits } = report.rootInfo;
    words.unshift(`Black ${percent(winrate)} after ${visits} visits; network value ${percent(rawWinrate)}.`);
  }
  words.unshift(leadOf(tree.node.prediction));
  byId('value', HTMLParagraphElement).textContent = words.filter(text => text !== '').join(' ');
}

function onMainLine() {
  return tree.path().every((node, index, path) => index === 0 || tree.nodes[path[index - 1]].children[0] === node);
}

/** Shows a node. @param {number} node */
function go(node) {
  if (node === tree.current) return show();
  tree.current = node;
  board.preview([]);
  treeView.show(tree);
  const { played, turn } = tree.node;
  say(played ? `Move ${turn}: ${nameOf(played[0])} ${played[1]}.` : 'The beginning of the game.');
  look();
}

/** Analyses the shown position, unless its reports are there. */
function look() {
  looking.forEach(end => end());
  looking = [];
  const node = tree.current;
  models().forEach((model, index) => {
    const known = tree.nodes[node].reports[index];
    if (model === null || known && !known.isDuringSearch) return;
    const search = { game: tree.upTo(node), model, visits };
    looking.push(link.request({ analyze: search }, reply => {
      if (reply.error) return say(`${model}: ${reply.error}`);
      if (reply.position) tree.nodes[node].position = reply.position;
      if (reply.analysis) tree.nodes[node].reports[index] = reply.analysis.report;
      if (tree.current === node) show();
    }));
  });
  if (byId('planes-card', HTMLDetailsElement).open) planes();
  predict();
  show();
}

/** Asks for ownership and score of the shown position, unless they are there. */
function predict() {
  const [model] = models();
  const node = tree.current;
  if (!model || !pickers[0].choice?.predicts || tree.nodes[node].prediction) return;
  looking.push(link.request({ predict: { game: tree.upTo(node), model } }, reply => {
    if (reply.error) return say(`${model}: ${reply.error}`);
    tree.nodes[node].prediction = reply.prediction ?? null;
    if (tree.current === node) show();
  }));
}

/** Ownership can be shown where the model predicts it. */
function offerOwnership() {
  const option = /** @type {HTMLOptionElement} */ (fields.show.querySelector('[value="ownership"]'));
  option.disabled = option.hidden = !pickers[0].choice?.predicts;
  if (option.disabled && fields.show.value === 'ownership') fields.show.value = 'moves';
}

function planes() {
  const [model] = models();
  if (!model) return;
  const size = tree.size;
  looking.push(link.request({ planes: { game: tree.upTo(), model } }, reply => {
    const host = byId('planes', HTMLDivElement);
    if (reply.planes) return showPlanes(host, reply.planes, size);
    // Those of another position.
    host.replaceChildren();
    say(`${model}: ${reply.error}`);
  }));
}

/** @param {string} vertex */
function play(vertex) {
  const own = tree;
  const node = tree.current;
  const player = tree.toMove();
  const known = tree.childOf(node, [player, vertex]);
  if (known !== undefined) return go(known);
  const game = tree.upTo();
  game.moves.push([player, vertex]);
  link.request({ position: { game } }, ({ position, error }) => {
    // Another game was opened meanwhile.
    if (tree !== own) return;
    if (error) return say(`${vertex}: ${error.replace(/^.*: /, '')}.`);
    if (!position) return;
    go(tree.play(node, [player, vertex], position));
    altered();
  });
}

/** @param {string | null} vertex */
function pointed(vertex) {
  board.preview(shownMarks().find(mark => mark.vertex === vertex)?.pv ?? []);
}

/** Analyses all positions of the main line with all models that are chosen. */
function review() {
  stopReview();
  analysed = true;
  keep();
  const line = [0];
  while (tree.nodes[line[line.length - 1]].children.length > 0) line.push(tree.nodes[line[line.length - 1]].children[0]);
  const chosen = models().filter(model => model !== null);
  // After an outage all positions come again.
  const done = new Set();
  let missing = chosen.length;
  progress.max = line.length * chosen.length;
  progress.value = 0;
  working(true);
  models().forEach((model, index) => {
    if (model === null) return;
    const search = { game: tree.upTo(line[line.length - 1]), model, visits };
    reviewing.push(link.request({ review: search }, reply => {
      if (reply.error) {
        stopReview();
        return say(`${model}: ${reply.error}`);
      }
      if (reply.analysis) {
        const { report } = reply.analysis;
        tree.nodes[line[report.turnNumber]].reports[index] = report;
        done.add(`${index} ${report.turnNumber}`);
        progress.value = done.size;
        if (!reply.analysis.known || line[report.turnNumber] === tree.current) later();
      }
      if (!reply.losses) return;
      if (index === 0) showLosses(reply.losses, line);
      missing -= 1;
      if (missing > 0) return;
      working(false);
      say(`The game is analysed: ${counted(line.length, 'position')}.`);
      show();
    }));
  });
}

let due = false;

/** Shows what came in, a few times a second. */
function later() {
  if (due) return;
  due = true;
  setTimeout(() => {
    due = false;
    show();
  }, 150);
}

function stopReview() {
  reviewing.forEach(end => end());
  reviewing = [];
  working(false);
}

/** @param {boolean} busy */
function working(busy) {
  const [shown, hidden] = busy ? ['stop', 'analyse'] : ['analyse', 'stop'];
  const hadFocus = document.activeElement === button(hidden);
  progress.hidden = !busy;
  button(shown).hidden = false;
  if (hadFocus) button(shown).focus();
  button(hidden).hidden = true;
}

/**
 * @param {Loss[]} found
 * @param {number[]} line
 */
function showLosses(found, line) {
  losses = found;
  const listed = losses.filter(({ loss }) => loss >= 0.01).slice(0, LISTED);
  byId('losses-card', HTMLDivElement).hidden = listed.length === 0;
  byId('losses', HTMLOListElement).replaceChildren(...listed.map(({ turn, loss, best }) => {
    const [player, vertex] = tree.nodes[line[turn + 1]].played ?? ['B', 'pass'];
    const jump = html('button', { type: 'button' }, `${turn + 1}. ${nameOf(player)} ${vertex}`);
    jump.addEventListener('click', () => go(line[turn]));
    return html('li', {}, jump, ` −${percent(loss)}`, best ? html('span', { class: 'quiet' }, `, better ${best}`) : '');
  }));
}

function forgetLosses() {
  losses = [];
  byId('losses-card', HTMLDivElement).hidden = true;
}

/**
 * Opens a game.
 * @param {string} sgf
 * @param {import('./kept.js').Kept | null} [kept] The game as it is kept, or that of the address: with it the page begins.
 */
function open(sgf, kept = null) {
  const short = shortened(sgf);
  if (short === null) return say(`Without the analysis of KaTrain the file is larger than ${MOST_TEXT / 2 ** 20} MiB, which is the limit.`);
  if (!isReady) {
    early = short;
    return say('The game is opened when the list of models is there.');
  }
  // Files are read by several threads, so the one before could come last.
  opening();
  opening = link.request({ open: { sgf: short } }, reply => {
    if (reply.error || !reply.tree) return say(`This file cannot be read: ${reply.error}.`);
    stopReview();
    const { players, ranks, date, rules, result } = reply.tree;
    said = { black: players[0], white: players[1], ranks, date, result, ...(rules ? { rules } : {}) };
    const fits = suitModels(reply.tree.game.size);
    const komi = reply.tree.saysKomi ? reply.tree.game.komi : pickers[0]?.choice?.komi ?? reply.tree.game.komi;
    reply.tree.game.komi = komi;
    reply.tree.game.initialStones ??= [];
    tree = GameTree.of(reply.tree);
    text = short;
    clearTimeout(unkept);
    unkept = undefined;
    failures = 0;
    forgetLosses();
    const [black, white] = players.map((name, index) => `${name} ${ranks[index]}`.trim() || ['Black', 'White'][index]);
    byId('players', HTMLParagraphElement).textContent =
      `● ${black}   ○ ${white}   ${tree.size}×${tree.size}, komi ${komi}${result ? `, ${result}` : ''}`;
    const unfit = fits ? [] : [`No model plays on ${tree.size}×${tree.size}.`];
    say([`${counted(tree.nodes.length - 1, 'move')}.`, ...reply.tree.notices, ...unfit].join(' '));
    treeView.show(tree);
    analysed = false;
    keep(kept === null);
    look();
    // Of what the server knows.
    if (kept?.analysed) review();
  });
}

/**
 * Chooses models for a board, where the chosen ones are for another; whether there is one.
 * @param {number} size
 */
function suitModels(size) {
  const best = pickers[0].modelFor(size);
  if (best === null) pickers[0].clear();
  else pickers[0].model = best;
  const [, second] = pickers;
  if (second.choice && second.modelFor(size) !== second.model) second.clear();
  offerOwnership();
  return best !== null;
}

/** Keeps the game. @param {boolean} [differs] Whether it is another than that of the address. */
function keep(differs = false) {
  // The game of an address that could not be read replaces no other one.
  if (text === null) return;
  const [model, second] = models();
  keepGame({ sgf: text, model, second, visits, analysed }, differs);
}

/** Keeps the game soon, after a move was added or removed. */
function altered() {
  clearTimeout(unkept);
  unkept = setTimeout(write, PAUSE);
}

/** Keeps a game that has changed: the server writes its moves and comments. */
function write() {
  if (unkept === undefined) return;
  clearTimeout(unkept);
  unkept = undefined;
  writing();
  const own = tree;
  writing = link.request({ save: saveOf(null) }, reply => {
    if (tree !== own) return;
    if (!reply.sgf) {
      say(`The last moves are not kept: ${reply.error}.`);
      unkept ??= setTimeout(write, AGAIN * 2 ** Math.min(failures++, DOUBLINGS));
      return;
    }
    if (failures > 0) say('All moves are kept.');
    failures = 0;
    text = reply.sgf.text;
    keep(true);
  });
}

/** The game as a request to write it, with the analysis of a model. @param {string | null} model */
function saveOf(model) {
  return { game: tree.start, tree: tree.moves(), comment: tree.nodes[0].comment, model, visits, ...said };
}

/** @param {File | undefined | null} file */
async function openFile(file) {
  if (!file) return;
  const read = await textOf(file).catch(error => say(error.message));
  if (typeof read === 'string') open(read);
}

function changed() {
  // What is chosen until then may be replaced by what the game was analysed with.
  if (!isReady) return;
  tree.nodes.forEach(node => {
    node.reports = [];
    node.prediction = null;
  });
  offerOwnership();
  forgetLosses();
  cancelReview();
  look();
}

/** Stops the analysis of the game, which a reload does not begin again either. */
function cancelReview() {
  stopReview();
  analysed = false;
  keep();
}

/** @param {number} step */
function step(step) {
  const line = tree.line();
  go(line[Math.max(0, Math.min(line.length - 1, tree.node.turn + step))]);
}

button('first').addEventListener('click', () => step(-Infinity));
button('back').addEventListener('click', () => step(-1));
button('next').addEventListener('click', () => step(1));
button('last').addEventListener('click', () => step(Infinity));
button('pass').addEventListener('click', () => play('pass'));
button('cut').addEventListener('click', () => {
  const { parent } = tree.node;
  const node = tree.current;
  if (parent === null) return;
  // The losses are those of the main line, which has other moves then.
  if (onMainLine()) {
    stopReview();
    forgetLosses();
  }
  tree.remove(node);
  treeView.show(tree);
  altered();
  look();
});
button('analyse').addEventListener('click', review);
button('stop').addEventListener('click', cancelReview);
button('save').addEventListener('click', () => {
  const [model] = models();
  // The server writes the analysis that it remembers, which may be less than the page shows.
  const shown = tree.order().map(node => tree.nodes[node].reports[0]).filter(report => report && !report.isDuringSearch).length;
  link.request({ save: saveOf(model) }, ({ sgf, error }) => {
    if (!sgf) return say(error ?? 'no file');
    download('review.sgf', sgfFile(sgf.text));
    if (sgf.analysed >= shown) return;
    const positions = `${sgf.analysed} of ${counted(shown, 'analysed position')}`;
    say(`The file has the analysis of ${positions}: the server remembers no others (--reports-mib). Analyse the game and save it again.`);
  });
});
button('empty').addEventListener('click', () => {
  const choice = pickers[0]?.choice;
  open(`(;GM[1]FF[4]SZ[${choice?.size ?? 19}]KM[${choice?.komi ?? 7}])`);
});
fields.show.addEventListener('change', show);
fields.visits.addEventListener('change', () => {
  if (!fields.visits.reportValidity()) return;
  visits = fields.visits.valueAsNumber;
  changed();
});
fields.file.addEventListener('change', () => {
  openFile(fields.file.files?.[0]);
  // So that the same file can be chosen again.
  fields.file.value = '';
});
fields.paste.addEventListener('input', () => {
  if (!isGame(fields.paste.value)) return say('This text is no SGF, which begins with "(;".');
  open(fields.paste.value);
  fields.paste.value = '';
});
byId('planes-card', HTMLDetailsElement).addEventListener('toggle', planes);
document.addEventListener('paste', event => {
  if (event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLInputElement) return;
  const pasted = event.clipboardData?.getData('text') ?? '';
  if (isGame(pasted)) open(pasted);
  else openFile(event.clipboardData?.files[0]);
});
// A tab that is hidden may be discarded.
document.addEventListener('visibilitychange', () => {
  if (document.hidden) write();
});
document.addEventListener('dragover', event => event.preventDefault());
document.addEventListener('drop', event => {
  event.preventDefault();
  const dropped = event.dataTransfer;
  if (dropped?.files.length) openFile(dropped.files[0]);
  else if (dropped) open(dropped.getData('text'));
});
document.addEventListener('keydown', event => {
  const target = event.target instanceof Element ? event.target : null;
  if (event.defaultPrevented || target?.closest('input, select, textarea') || event.altKey || event.ctrlKey || event.metaKey) return;
  const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity, ',': -1, '.': 1 }[event.key];
  if (by === undefined) return;
  event.preventDefault();
  step(by);
});

// An address that is opened in a tab with this page differs from its own after the # alone, so that the browser loads nothing.
addEventListener('hashchange', () => {
  if (location.hash.startsWith('#game=')) location.reload();
});

/** Searches have so many visits unless the visitor has typed another number. @param {number} number */
function offerVisits(number) {
  setDefault(fields.visits, number);
  visits = fields.visits.validity.valid ? fields.visits.valueAsNumber : Number(fields.visits.defaultValue);
}

async function start() {
  const all = await choices();
  const picker = (/** @type {string} */ id, /** @type {string} */ label, /** @type {boolean} */ none) =>
    new ModelPicker(byId(id, HTMLDivElement), { label, choices: all, none, onChange: changed });
  pickers = [picker('model', 'Model', false), picker('second', 'Compare with', true)];
  offerVisits(Math.max(200, pickers[0].choice?.visits ?? 0));
  let fault = '';
  const named = await linked().catch(error => {
    fault = `${error}`;
    return null;
  });
  const earlier = named ?? (fault === '' ? found() : null);
  if (earlier?.model) pickers[0].model = earlier.model;
  if (earlier?.second) pickers[1].model = earlier.second;
  if (earlier?.visits) offerVisits(earlier.visits);
  isReady = true;
  if (early !== null) open(early);
  else if (earlier?.sgf) open(earlier.sgf, earlier);
  else if (fault === '') button('empty').click();
  else beginEmpty(fault);
}

/** Shows an empty board, and why. It is kept from its first move on, so a reload requests the game again. @param {string} fault */
function beginEmpty(fault) {
  const { choice } = pickers[0];
  tree = new GameTree({ size: choice?.size ?? 19, komi: choice?.komi ?? 7, initialStones: [], initialPlayer: 'B', moves: [] });
  treeView.show(tree);
  offerOwnership();
  say(fault);
  look();
}

start().catch(error => say(`${error}`));
