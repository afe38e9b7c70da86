// The page on which people play against models, and watch models play.
// @ts-check

import { Board } from './board.js';
import { byId, download, html, percent, placeTeller, setDefault, sgfFile } from './dom.js';
import { Clock } from './clock.js';
import { GameTree, faultOfSize, nameOf, other, resultSaid, sgfOf } from './game.js';
import { Graph } from './graph.js';
import { Link } from './link.js';
import { ModelPicker, choices, leadOf, marksOf } from './panels.js';

/** @typedef {import('./link.js').Game} Game */
/** @typedef {import('./link.js').Player} Player */
/** @typedef {import('./link.js').Report} Report */
/** @typedef {import('./link.js').Score} Score */
/**
 * @typedef {object} Saved What outlives the page and the server.
 * @property {Game} game With its moves.
 * @property {Record<Player, string | null>} models Who plays; `null` for the visitor.
 * @property {number} visits
 * @property {string} clock
 * @property {boolean} resigns
 * @property {number | null} draw
 * @property {string} result
 * @property {(number | null)[]} values By turn: Black's chance to win.
 * @property {import('./clock.js').Clock['left']} [left] Of the clocks.
 */

const KEPT = 'tengen-play';
// Below this expected outcome a model resigns: 5 % of the games, as in self-play.
const RESIGN = -0.9;
// A model is not faster than people can watch.
const WATCHED = 700;
// Milliseconds after which a move that failed is requested again.
const AGAIN = 10_000;

const status = byId('status', HTMLParagraphElement);
const buttons = Object.fromEntries(['pass', 'undo', 'resign', 'hint', 'owner', 'score', 'pause', 'accept', 'resume', 'save', 'share', 'start']
  .map(id => [id, byId(id, HTMLButtonElement)]));
const form = byId('new-game', HTMLFormElement);
const fields = {
  you: byId('you', HTMLSelectElement), visits: byId('visits', HTMLInputElement), clock: byId('clock', HTMLSelectElement),
  size: byId('size', HTMLInputElement), komi: byId('komi', HTMLInputElement), handicap: byId('handicap', HTMLInputElement),
  resigns: byId('resigns', HTMLInputElement), varies: byId('varies', HTMLInputElement),
};

/** @type {Saved} */
let saved = {
  game: { size: 9, komi: 7, initialStones: [], initialPlayer: 'B', moves: [] },
  models: { B: null, W: null }, visits: 100, clock: '', resigns: true, draw: null, result: '', values: [],
};
let tree = new GameTree(saved.game);
let clock = new Clock('', showPlayers, lostOnTime);
/** @type {(() => void)[]} What stops the requests of the position. */
let running = [];
/** @type {Report | null} */
let hints = null;
/** @type {import('./link.js').Prediction | null} */
let prediction = null;
/** @type {Score | null} */
let score = null;
/** @type {string[] | null} Stones that were chosen while the chain of another one changes. */
let marking = null;
let paused = false;
/** Whether the game is there with its moves: only then is it kept. */
let opened = false;
/** Whether the visitor began the game or moved in it: else it replaces none that the browser keeps. */
let own = false;
let thinking = '';
/** Whether the model to move gave no move. */
let stuck = false;

const link = new Link('/play/socket', connected => {
  byId('connection', HTMLElement).textContent = connected ? '' : 'Connecting to the server …';
  // An outage costs no time. The clock of a model starts again with its search.
  if (!connected) clock.spend(tree.toMove());
  else if (saved.result === '' && !tree.node.position?.over && !score && isVisitor(tree.toMove())) clock.start(tree.toMove());
}, placeTeller(status));
const board = new Board(byId('board', HTMLDivElement), { label: 'Board', onPlay: chosen, onPoint: pointed });
const graph = new Graph(byId('graph', HTMLDivElement), () => {});

/** @param {string} text */
function say(text) {
  status.textContent = text;
}

/** @param {HTMLButtonElement} button */
function isOn(button) {
  return button.getAttribute('aria-pressed') === 'true';
}

/** @param {Player} player */
function isVisitor(player) {
  return saved.models[player] === null;
}

/** What files say of the game beside its moves. */
function described() {
  return { black: saved.models.B ?? 'visitor', white: saved.models.W ?? 'visitor', result: saved.result };
}

function isWatched() {
  return !isVisitor('B') && !isVisitor('W');
}

function stop() {
  running.forEach(end => end());
  running = [];
  thinking = '';
  marking = null;
}

function keep() {
  if (!opened) return;
  saved.game = tree.upTo();
  saved.left = clock.left;
  if (!own) return;
  try {
    const text = JSON.stringify(saved);
    // A tab resumes its own game, and a new tab the last game of all.
    sessionStorage.setItem(KEPT, text);
    localStorage.setItem(KEPT, text);
    // Otherwise a reload would open the game as it was then, without the moves since.
    if (location.hash.startsWith('#game=')) history.replaceState(null, '', location.pathname + location.search);
  } catch {
    // The browser keeps nothing; the game goes on.
  }
}

function show() {
  const { activeElement } = document;
  const used = activeElement instanceof HTMLButtonElement && activeElement.matches(':focus-visible') ? activeElement : null;
  const player = tree.toMove();
  const over = saved.result !== '';
  const { played, board: stones, turn, position } = tree.node;
  const visitors = !over && !position?.over && isVisitor(player);
  board.show({
    size: tree.size, board: stones, toMove: player, last: played && played[1] !== 'pass' ? played[1] : null,
    marks: hints && isOn(buttons.hint) && score === null ? marksOf(hints) : [],
    ownership: score === null && isOn(buttons.owner) ? prediction?.ownership ?? null : null,
    area: score?.area ?? null, dead: score?.dead ?? [], playable: visitors && !score,
    forbidden: position?.forbidden,
  });
  buttons.pass.disabled = buttons.resign.disabled = !visitors || score !== null;
  buttons.owner.hidden = !predicts();
  byId('lead', HTMLParagraphElement).textContent = isOn(buttons.owner) ? leadOf(prediction) : '';
  buttons.undo.disabled = turn === 0 || isWatched();
  buttons.score.disabled = over || score !== null;
  buttons.pause.hidden = !isWatched() || over;
  buttons.pause.textContent = paused ? 'Resume' : 'Pause';
  byId('scoring', HTMLDivElement).hidden = score === null || over;
  byId('actions', HTMLDivElement).hidden = score !== null && !over;
  const reviewed = { sgf: sgfOf(tree.upTo(), described()), model: saved.models.B ?? saved.models.W };
  byId('review', HTMLAnchorElement).href = `/play/review#game=${encodeURIComponent(JSON.stringify(reviewed))}`;
  showPlayers();
  const values = saved.values.map(value => value ?? undefined);
  graph.show([{ name: 'models', values }], turn, Math.max(turn, 1), []);
  // A button that goes away would leave keys and screen readers nowhere.
  if (used && (used.disabled || used.closest('[hidden]'))) board.focus(board.focused, true);
}

function showPlayers() {
  for (const player of /** @type {Player[]} */ (['B', 'W'])) {
    const captures = tree.node.position?.captures[player === 'B' ? 0 : 1] ?? 0;
    const turn = saved.result === '' && !tree.node.position?.over && tree.toMove() === player;
    byId(`player-${player}`, HTMLDivElement).replaceChildren(
      html('span', { class: `disc ${player === 'B' ? 'black' : 'white'}`, 'aria-hidden': 'true' }),
      html('span', { class: 'name' }, saved.models[player] ?? 'You'),
      html('span', { class: 'hidden' }, ` plays ${nameOf(player)}`),
      html('span', { class: 'captures' }, `${captures} captured`),
      html('span', { class: 'clock' }, clock.said(player)),
      html('span', { class: 'turn' }, turn && !stuck && !paused ? thinking || (isVisitor(player) ? 'to play' : 'thinking …') : ''),
    );
  }
}

/** Lets the player to move play. */
function turn() {
  stop();
  stuck = false;
  hints = prediction = null;
  // The line at the pointer was one of the position before.
  board.preview([]);
  predict();
  if (saved.result !== '') {
    clock.stop();
    say(resultSaid(saved.result));
    show();
    return;
  }
  const player = tree.toMove();
  if (tree.node.position?.over) {
    clock.stop();
    show();
    askScore(null);
    return;
  }
  // The clock of a model starts with its search, so that it pays neither for a queue nor for being opened.
  if (isVisitor(player)) clock.start(player);
  else clock.stop();
  show();
  if (!isVisitor(player)) {
    if (!paused) genmove(player);
    return;
  }
  describe();
  if (isOn(buttons.hint)) hint();
}

/** Asks for the captures and the forbidden points of a position of a game that was opened again: only those of the last are known. */
function describe() {
  const { node } = tree;
  if (node.position) return;
  running.push(link.request({ position: { game: tree.upTo() } }, ({ position }) => {
    node.position = position ?? null;
    show();
  }));
}

/** @param {Player} player */
function genmove(player) {
  const { visits, resigns, draw } = saved;
  const node = tree.current;
  const began = performance.now();
  const seconds = clock.budget(player, tree.size);
  // A clock does not stop while the search is interrupted for those of people.
  const awaited = !isWatched() || saved.clock !== '';
  const search = {
    game: tree.upTo(), model: saved.models[player], visits, seconds, resign: resigns ? RESIGN : null, awaited, draw,
  };
  running.push(link.request({ genmove: search }, reply => {
    if (reply.error) {
      stuck = true;
      clock.stop();
      const again = setTimeout(turn, AGAIN);
      running.push(() => clearTimeout(again));
      return failed(reply.error);
    }
    if (reply.position) tree.nodes[node].position = reply.position;
    if (reply.queued !== undefined) thinking = `place ${reply.queued + 1} in the queue`;
    if (reply.analysis && clock.running === null) clock.start(player);
    if (reply.analysis) thinking = `thinking, ${reply.analysis.report.rootInfo.visits} visits`;
    const { move } = reply;
    if (!move) return showPlayers();
    // Neither the pause below nor a timer that is late, as in a hidden tab, is time of the model.
    clock.spend(player);
    const wait = isWatched() ? Math.max(0, WATCHED - (performance.now() - began)) : 0;
    const end = setTimeout(() => moved(player, move), wait);
    running.push(() => clearTimeout(end));
  }));
}

/**
 * @param {Player} player
 * @param {{vertex: string, winrate: number | null, position: import('./link.js').Position}} move
 */
function moved(player, { vertex, winrate, position }) {
  clock.spend(player);
  if (vertex === 'resign') return finish(`${other(player)}+R`);
  tree.current = tree.play(tree.current, [player, vertex], position);
  saved.values[tree.node.turn] = winrate;
  keep();
  say(moveSaid(player, vertex));
  turn();
}

/** @param {Player} player @param {string} vertex */
function moveSaid(player, vertex) {
  return vertex === 'pass' ? `${nameOf(player)} passes.` : `${nameOf(player)} plays ${vertex}.`;
}

/** @param {string} vertex */
function chosen(vertex) {
  if (score && saved.result === '') {
    if (marking) marking.push(vertex);
    else mark(score.dead, [vertex]);
    return;
  }
  const player = tree.toMove();
  if (saved.result !== '' || !isVisitor(player)) {
    if (saved.result === '') say(`It is ${nameOf(player)}'s turn.`);
    return;
  }
  const game = tree.upTo();
  game.moves.push([player, vertex]);
  const node = tree.current;
  running.push(link.request({ position: { game } }, ({ position, error }) => {
    if (error) return say(`${vertex}: ${error.replace(/^.*: /, '')}.`);
    if (!position || tree.current !== node) return;
    clock.spend(player);
    tree.current = tree.play(node, [player, vertex], position);
    own = true;
    keep();
    say(moveSaid(player, vertex));
    turn();
  }));
}

/** @param {string | null} vertex */
function pointed(vertex) {
  const shown = isOn(buttons.hint) && hints && score === null ? marksOf(hints) : [];
  board.preview(shown.find(mark => mark.vertex === vertex)?.pv ?? []);
}

function hint() {
  const model = saved.models.B ?? saved.models.W ?? picker?.model;
  if (!model) return;
  running.push(link.request({ analyze: { game: tree.upTo(), model, visits: saved.visits } }, reply => {
    if (reply.error) return failed(reply.error);
    if (!reply.analysis) return;
    hints = reply.analysis.report;
    const best = marksOf(hints)[0];
    if (!hints.isDuringSearch && best && isOn(buttons.hint)) say(`The model would play ${best.vertex}, with a chance of ${percent(best.value)}.`);
    show();
  }));
}

/** Asks for ownership and score of the shown position, if they are to be shown. */
function predict() {
  const model = saved.models.B ?? saved.models.W ?? picker?.model;
  if (!model || !isOn(buttons.owner) || !predicts()) return;
  running.push(link.request({ predict: { game: tree.upTo(), model } }, reply => {
    if (reply.error) return failed(reply.error);
    prediction = reply.prediction ?? null;
    show();
  }));
}

/** Whether the models of the game predict ownership or the score. */
function predicts() {
  const model = saved.models.B ?? saved.models.W ?? picker?.model;
  return model && picker?.choiceOf(model)?.predicts;
}

/** Changes the chains of stones between dead and alive, one after the other. @param {string[]} dead @param {string[]} stones */
function mark(dead, [stone, ...others]) {
  marking = null;
  if (stone === undefined) return;
  askScore(dead, stone);
  marking = others;
}

/**
 * @param {string[] | null} dead Without them a model says which are.
 * @param {string | null} [toggle] A stone whose chain changes.
 */
function askScore(dead, toggle = null) {
  stop();
  clock.stop();
  if (dead === null) say('The game is scored …');
  const model = saved.models.B ?? saved.models.W ?? picker?.model ?? 'uniform';
  running.push(link.request({ score: { game: tree.upTo(), dead, toggle, model } }, reply => {
    if (reply.error) {
      if (toggle) {
        say('Choose a stone.');
        return mark(dead ?? [], marking ?? []);
      }
      // The search, or the clock, that was stopped for the score resumes.
      if (!tree.node.position?.over) turn();
      return failed(reply.error);
    }
    score = reply.score ?? null;
    if (!score) return;
    // After an outage meanwhile it runs again.
    clock.stop();
    const [black, white] = score.points;
    say(`${resultSaid(score.result)} Black ${black}, White ${white}. Choose stones to change which are dead.`);
    if (isWatched()) return finish(score.result);
    show();
    mark(score.dead, marking ?? []);
  }));
}

/** @param {string} result */
function finish(result) {
  stop();
  saved.result = result;
  clock.stop();
  keep();
  say(resultSaid(result));
  show();
}

/** @param {Player} player */
function lostOnTime(player) {
  finish(`${other(player)}+T`);
}

/** @param {string} error */
function failed(error) {
  thinking = '';
  say(`Request failed: ${error}`);
  show();
}

function undo() {
  stop();
  saved.result = '';
  score = null;
  const back = () => {
    if (tree.node.turn === 0) return;
    const node = tree.current;
    tree.current = tree.nodes[node].parent ?? 0;
    tree.remove(node);
  };
  back();
  while (tree.node.turn > 0 && !isVisitor(tree.toMove())) back();
  saved.values.length = Math.min(saved.values.length, tree.node.turn + 1);
  own = true;
  keep();
  say('The move was taken back.');
  turn();
}

/**
 * Begins a game, or goes on with one.
 * @param {Saved} game
 * @param {string} note What is said when it begins.
 * @param {boolean} isOwn Whether it may replace the game that is kept, before the visitor moves.
 */
function begin(game, note = '', isOwn = true) {
  stop();
  saved = game;
  // Where the game was kept or shared the maximum may have been another.
  saved.visits = Math.min(Math.max(1, Math.trunc(saved.visits) || 100), Number(fields.visits.max));
  own = isOwn;
  score = null;
  paused = opened = false;
  clock.stop();
  clock = new Clock(saved.clock, showPlayers, lostOnTime);
  if (saved.left) clock.left = saved.left;
  tree = new GameTree(saved.game);
  // The server says what each move captured.
  link.request({ open: { sgf: sgfOf(saved.game) } }, reply => {
    // Another game has begun meanwhile.
    if (saved !== game) return;
    if (reply.error || !reply.tree) return failed(reply.error ?? 'no tree');
    tree = GameTree.of({ ...reply.tree, game: { ...saved.game, moves: [] } });
    tree.current = tree.nodes.length - 1;
    const here = tree.current;
    link.request({ position: { game: tree.upTo() } }, ({ position, error }) => {
      if (saved !== game) return;
      if (error) return failed(error);
      tree.nodes[here].position = position ?? null;
      opened = true;
      keep();
      if (note || saved.game.moves.length === 0) say(note || `New game. ${nameOf(tree.toMove())} to play.`);
      turn();
    });
  });
}

/** @type {ModelPicker | undefined} */
let picker;
/** @type {ModelPicker | undefined} */
let second;

/** Shows the numbers of the model. What the visitor has typed stays. */
function adapt() {
  const choice = picker?.choice;
  if (!choice) return;
  fields.size.value = `${choice.size ?? fields.size.value}`;
  fields.size.readOnly = choice.size !== null;
  setDefault(fields.komi, choice.komi);
  setDefault(fields.visits, choice.visits);
}

form.addEventListener('submit', event => {
  event.preventDefault();
  const model = picker?.model ?? null;
  const you = fields.you.value;
  const start = { size: fields.size.valueAsNumber, komi: fields.komi.valueAsNumber, handicap: fields.handicap.valueAsNumber };
  link.request({ start }, reply => {
    if (reply.error) return failed(reply.error);
    if (!reply.game) return;
    // The address names a model for the game before. A reload resumes this one.
    history.replaceState(null, '', location.pathname);
    begin({
      game: { ...reply.game, initialStones: reply.game.initialStones ?? [], moves: [] },
      models: {
        B: you === 'B' || you === 'both' ? null : model,
        W: you === 'W' || you === 'both' ? null : you === 'none' ? second?.model ?? model : model,
      },
      visits: fields.visits.valueAsNumber, clock: fields.clock.value, resigns: fields.resigns.checked,
      draw: fields.varies.checked ? Math.floor(Math.random() * 2 ** 31) : null, result: '', values: [],
    });
    document.getElementById('board')?.scrollIntoView({ block: 'nearest' });
  });
});
fields.you.addEventListener('change', () => {
  byId('second', HTMLDivElement).hidden = fields.you.value !== 'none';
  if (fields.you.value === 'none' && second && picker) second.model = picker.model;
});
buttons.pass.addEventListener('click', () => chosen('pass'));
buttons.undo.addEventListener('click', undo);
buttons.resign.addEventListener('click', () => {
  if (!confirm('Resign this game?')) return;
  own = true;
  finish(`${other(tree.toMove())}+R`);
});
buttons.hint.addEventListener('click', () => {
  const on = !isOn(buttons.hint);
  buttons.hint.setAttribute('aria-pressed', `${on}`);
  if (on && isVisitor(tree.toMove())) hint();
  show();
});
buttons.owner.addEventListener('click', () => {
  buttons.owner.setAttribute('aria-pressed', `${!isOn(buttons.owner)}`);
  prediction = null;
  predict();
  show();
});
buttons.score.addEventListener('click', () => askScore(null));
buttons.pause.addEventListener('click', () => {
  paused = !paused;
  turn();
});
buttons.accept.addEventListener('click', () => {
  if (!score) return;
  own = true;
  finish(score.result);
});
buttons.resume.addEventListener('click', () => {
  score = null;
  // After a single pass the game is not over, and nothing is to be taken back.
  if (tree.node.position?.over) undo();
  else turn();
});
buttons.save.addEventListener('click', () => {
  const save = { game: tree.upTo(), model: null, visits: saved.visits, ...described() };
  link.request({ save }, reply => (reply.sgf ? download('game.sgf', sgfFile(reply.sgf.text)) : failed(reply.error ?? 'no file')));
});
buttons.share.addEventListener('click', async () => {
  keep();
  const address = new URL('/play', location.href);
  address.hash = `game=${encodeURIComponent(JSON.stringify(saved))}`;
  try {
    await navigator.clipboard.writeText(`${address}`);
    say('The address of this game is in the clipboard.');
  } catch {
    prompt('The address of this game:', `${address}`);
  }
});

/**
 * The game of the address, or else the last one of this tab or of the browser; and what is wrong with the address.
 * @returns {{game: Saved | null, fault: string}}
 */
function found() {
  const hash = /^#game=(.*)$/.exec(location.hash);
  const refused = (/** @type {string} */ why) => {
    // A reload would refuse it again.
    if (hash) history.replaceState(null, '', location.pathname + location.search);
    return { game: null, fault: hash ? `The game of the address cannot be opened. ${why}` : '' };
  };
  try {
    const text = hash ? decodeURIComponent(hash[1]) : sessionStorage.getItem(KEPT) ?? localStorage.getItem(KEPT);
    const read = text ? JSON.parse(text) : null;
    const game = read?.game ? { ...saved.game, ...read.game } : null;
    const lists = [game?.moves, game?.initialStones, read?.values];
    if (!read?.models || !lists.every(Array.isArray)) return refused('Parts of it are missing.');
    const why = faultOfSize(game.size);
    return why ? refused(why) : { game: { ...saved, ...read, game }, fault: '' };
  } catch {
    return refused('It is not readable as JSON.');
  }
}

// An address that is opened in a tab with this page differs from its own after the # alone, so that the browser loads nothing.
addEventListener('hashchange', () => {
  if (location.hash.startsWith('#game=')) location.reload();
});

choices().then(all => {
  picker = new ModelPicker(byId('model', HTMLDivElement), { label: 'Model', choices: all, onChange: adapt });
  second = new ModelPicker(byId('second', HTMLDivElement), { label: 'White', choices: all, onChange: () => {} });
  const wanted = new URLSearchParams(location.search).get('model');
  const known = wanted === null || picker.choiceOf(wanted) !== null;
  if (wanted !== null && known) picker.model = wanted;
  const model = picker.model;
  const addressed = location.hash.startsWith('#game=');
  const { game: earlier, fault } = found();
  const note = [fault, known ? '' : `There is no model ${wanted}. Choose one of the list.`].filter(Boolean).join(' ');
  // An address with a model goes on with a game against it, or begins one.
  const goesOn = wanted === null || !known || addressed || earlier?.result === '' && Object.values(earlier.models).includes(model);
  // A game of both colours is scored by the model of the form, so that has to be one of its board.
  if (earlier && goesOn) picker.model = earlier.models.W ?? earlier.models.B ?? picker.modelFor(earlier.game.size) ?? model;
  adapt();
  if (earlier && goesOn) {
    begin(earlier, note, !addressed);
  } else {
    const { choice } = picker;
    const { size, komi } = saved.game;
    begin({
      ...saved, game: { ...saved.game, size: choice?.size ?? size, komi: choice?.komi ?? komi }, models: { B: null, W: picker.model },
      visits: choice?.visits ?? saved.visits,
    }, note, false);
  }
  buttons.start.disabled = false;
}).catch(error => say(`${error}`));
