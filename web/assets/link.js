// The connection to the server, and the messages on it (web/src/play/message.rs).
// @ts-check

import { byId } from './dom.js';

/** @typedef {'B' | 'W'} Player */
/** @typedef {[Player, string]} Placed A player and a vertex, such as ['B', 'D4'] or ['W', 'pass'] */
/** @typedef {{size: number, komi: number, initialStones: Placed[], initialPlayer: Player, moves: Placed[]}} Game */
/** @typedef {{board: string, toMove: Player, captures: [number, number], forbidden: string[], over: boolean}} Position */
/** @typedef {{move: string, order: number, visits: number, prior: number, winrate: number, pv: string[]}} MoveInfo */
/** @typedef {{currentPlayer: Player, visits: number, winrate: number, rawWinrate: number}} RootInfo */
/** @typedef {{isDuringSearch: boolean, turnNumber: number, moveInfos: MoveInfo[], rootInfo: RootInfo, policy?: number[]}} Report */
/** @typedef {{turn: number, loss: number, best: string | null}} Loss */
/** @typedef {{dead: string[], area: string, points: [number, number], result: string}} Score */
/** @typedef {{parent: number | null, played: Placed, captured?: string[], comment?: string}} TreeNode */
/**
 * @typedef {{game: Game, saysKomi: boolean, players: [string, string], ranks: [string, string], date: string, rules: string,
 *   result: string, comment: string, nodes: TreeNode[], notices: string[]}} Tree
 */
/** @typedef {{inputs: string, planes: {name: string, values: number[]}[]}} Planes */
/**
 * @typedef {{ownership: number[] | null, scoreLead: number | null}} Prediction For Black: owners from −1, White's, to 1, and points.
 */
/**
 * @typedef {object} Reply What is there depends on the request.
 * @property {number} id
 * @property {Game} [game]
 * @property {Position} [position]
 * @property {number} [queued]
 * @property {{known: boolean, report: Report}} [analysis]
 * @property {{vertex: string, winrate: number | null, position: Position}} [move]
 * @property {Loss[]} [losses]
 * @property {Score} [score]
 * @property {Planes} [planes]
 * @property {Prediction} [prediction]
 * @property {Tree} [tree]
 * @property {{text: string, analysed: number}} [sgf] With the number of positions whose analysis it has.
 * @property {string} [error]
 */
/** @typedef {(reply: Reply) => void} Listener */
/** @typedef {{action: object, listener: Listener}} Open */

// Bytes of a message that the server reads.
const LONGEST = Number(byId('connection', HTMLElement).dataset.longestMessage);
const VISITOR = 'tengen-visitor';
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10000;
// Milliseconds in which the server responds to a probe, and in which a request gets a message, or else a probe is sent.
const SILENCE = 8000;
const QUIET = 10000;
// It needs neither a model nor a thread.
const PROBE = { position: { game: { size: 2, komi: 0 } } };

/** The number of this browser: pages of one take turns together, and not each for itself. */
function visitor() {
  const drawn = () => [...crypto.getRandomValues(new Uint32Array(2))].map(part => part.toString(16).padStart(8, '0')).join('');
  try {
    const number = localStorage.getItem(VISITOR) ?? drawn();
    localStorage.setItem(VISITOR, number);
    return number;
  } catch {
    return drawn();
  }
}

/**
 * Loads the page again where the visitor has to sign in, since browsers do not say why a socket was refused. The page itself is
 * requested, as a reload would: it costs the server little, and what it responds says what the reload would show.
 */
async function reloadIfSignedOut() {
  try {
    const reply = await fetch(location.href, { headers: { accept: 'text/html' }, redirect: 'manual' });
    if (reply.type === 'opaqueredirect' || reply.status === 401) location.reload();
  } catch {
    // The server cannot be reached.
  }
}

/** Sends requests; those without their last reply are sent again when the connection was lost. */
export class Link {
  /**
   * @param {string} path
   * @param {(connected: boolean) => void} onChange
   * @param {(place: number | null) => void} [onQueued] Told how much begins before the first request that waits; `null` when none does.
   */
  constructor(path, onChange, onQueued = () => {}) {
    this.address = new URL(path, location.href);
    this.address.protocol = this.address.protocol.replace('http', 'ws');
    this.address.searchParams.set('visitor', visitor());
    this.onChange = onChange;
    this.onQueued = onQueued;
    /** @type {Map<number, number>} By request that waits. */
    this.places = new Map();
    /** @type {Map<number, Open>} */
    this.open = new Map();
    this.next = 1;
    this.pause = FIRST_PAUSE;
    /** Messages that came. */
    this.heard = 0;
    this.connect();
    this.watch();
  }

  /** Sends probes: when the page is seen again, when the machine is online again, and while a request gets no message. */
  watch() {
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.probe();
    });
    addEventListener('online', () => this.probe());
    let before = this.heard;
    setInterval(() => {
      if (this.open.size > 0 && this.heard === before) this.probe();
      before = this.heard;
    }, QUIET);
  }

  /** Replaces a connection that is open here alone, such as after a phone slept: the browser may never notice. */
  probe() {
    const { socket, heard } = this;
    if (socket?.readyState !== WebSocket.OPEN) return;
    this.send({ id: this.next++, do: PROBE });
    const waiting = socket.bufferedAmount;
    setTimeout(() => {
      if (this.socket !== socket || socket.readyState !== WebSocket.OPEN || this.heard !== heard) return;
      // A long message is on its way, and the probe behind it.
      if (socket.bufferedAmount < waiting) return;
      this.lost();
      socket.close();
      this.connect();
    }, SILENCE);
  }

  lost() {
    this.onChange(false);
    this.places.clear();
    this.tellPlace();
  }

  connect() {
    const socket = new WebSocket(this.address);
    this.socket = socket;
    let opened = false;
    socket.addEventListener('open', () => {
      if (this.socket !== socket) return;
      opened = true;
      this.pause = FIRST_PAUSE;
      this.onChange(true);
      this.open.forEach(({ action }, id) => socket.send(JSON.stringify({ id, do: action })));
    });
    socket.addEventListener('message', event => {
      if (this.socket !== socket) return;
      this.heard += 1;
      this.take(JSON.parse(event.data));
    });
    socket.addEventListener('close', () => {
      // Another one has replaced it.
      if (this.socket !== socket) return;
      this.lost();
      if (!opened) reloadIfSignedOut();
      setTimeout(() => this.connect(), this.pause);
      this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
    });
  }

  /** @param {object} message */
  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /**
   * Sends a request; the listener gets its replies. Returns what stops it.
   * @param {object} action
   * @param {Listener} listener
   * @returns {() => void}
   */
  request(action, listener) {
    const id = this.next++;
    const bytes = new TextEncoder().encode(JSON.stringify({ id, do: action })).length;
    if (bytes > LONGEST) {
      listener({ id, error: `the game takes ${bytes} bytes, and the server reads ${LONGEST}` });
      return () => {};
    }
    this.open.set(id, { action, listener });
    this.send({ id, do: action });
    return () => {
      if (!this.open.delete(id)) return;
      if (this.places.delete(id)) this.tellPlace();
      this.send({ id: this.next++, do: { stop: { id } } });
    };
  }

  tellPlace() {
    this.onQueued(this.places.size === 0 ? null : Math.min(...this.places.values()));
  }

  /** Hands a reply to its listener. Places in a queue are told apart, except of moves. @param {Reply} reply */
  take(reply) {
    const open = this.open.get(reply.id);
    if (!open) return;
    if (reply.queued !== undefined && !('genmove' in open.action)) {
      this.places.set(reply.id, reply.queued);
      return this.tellPlace();
    }
    if (this.places.delete(reply.id)) this.tellPlace();
    if (isLast(open.action, reply)) this.open.delete(reply.id);
    open.listener(reply);
  }
}

/**
 * Whether no reply follows.
 * @param {object} action
 * @param {Reply} reply
 */
function isLast(action, reply) {
  if (reply.error !== undefined) return true;
  if ('analyze' in action) return reply.analysis !== undefined && !reply.analysis.report.isDuringSearch;
  if ('genmove' in action) return reply.move !== undefined;
  if ('review' in action) return reply.losses !== undefined;
  // The position follows the game.
  if ('start' in action) return reply.position !== undefined;
  return true;
}
