// A game with its variations. It knows no rules: the server says what a move captures and what follows.
// @ts-check

/** @typedef {import('./link.js').Game} Game */
/** @typedef {import('./link.js').Placed} Placed */
/** @typedef {import('./link.js').Player} Player */
/** @typedef {import('./link.js').Position} Position */
/** @typedef {import('./link.js').Prediction} Prediction */
/** @typedef {import('./link.js').Report} Report */
/** @typedef {import('./link.js').Tree} Tree */
/**
 * @typedef {object} GameNode
 * @property {number | null} parent
 * @property {number[]} children The first continues the main line.
 * @property {Placed | null} played `null` at the beginning.
 * @property {number} turn Moves before and including this one.
 * @property {string} board A character a point: '.', 'X' or 'O'.
 * @property {Position | null} position What the server said of it, if it did.
 * @property {string} comment
 * @property {(Report | undefined)[]} reports By model: the first, and the one compared with it.
 * @property {Prediction | null} prediction Of the first model, if it predicts anything.
 */

const LETTERS = 'ABCDEFGHJKLMNOPQRST';

/**
 * @param {number} size
 * @param {number} index
 */
export function vertexOf(size, index) {
  return index >= size * size ? 'pass' : `${LETTERS[index % size]}${size - Math.floor(index / size)}`;
}

/**
 * The index of a point; `null` for a pass.
 * @param {number} size
 * @param {string} vertex
 */
export function indexOf(size, vertex) {
  if (vertex === 'pass') return null;
  return (size - Number(vertex.slice(1))) * size + LETTERS.indexOf(vertex[0]);
}

/** @param {Player} player */
export function other(player) {
  return player === 'B' ? 'W' : 'B';
}

/** @param {Player} player */
export function nameOf(player) {
  return player === 'B' ? 'Black' : 'White';
}

/**
 * Why there is no board of a size; empty where there is.
 * @param {unknown} size
 */
export function faultOfSize(size) {
  const fits = typeof size === 'number' && Number.isInteger(size) && size >= 2 && size <= LETTERS.length;
  return fits ? '' : `The board size ${JSON.stringify(size)} is not a whole number from 2 to ${LETTERS.length}.`;
}

/** A result as SGF has it, as a sentence. @param {string} result */
export function resultSaid(result) {
  if (result === '0') return 'A draw.';
  const [winner, margin] = result.split('+');
  const name = nameOf(winner === 'B' ? 'B' : 'W');
  const how = { R: 'by resignation', T: 'on time' }[margin] ?? `by ${margin} ${margin === '1' ? 'point' : 'points'}`;
  return `${name} wins ${how}.`;
}

/**
 * A game as SGF.
 * @param {Game} game
 * @param {{black?: string, white?: string, result?: string}} [facts] Who plays, and the result.
 */
export function sgfOf({ size, komi, initialStones, initialPlayer, moves }, { black = '', white = '', result = '' } = {}) {
  const point = (/** @type {string} */ vertex) => {
    if (vertex === 'pass') return '';
    const col = LETTERS.indexOf(vertex[0]);
    return String.fromCharCode(97 + col, 97 + size - Number(vertex.slice(1)));
  };
  const stones = (/** @type {Player} */ player) =>
    initialStones.filter(([owner]) => owner === player).map(([, vertex]) => `[${point(vertex)}]`).join('');
  const set = ['B', 'W'].map(player => [`A${player}`, stones(/** @type {Player} */ (player))]);
  const setup = set.map(([name, values]) => (values ? name + values : '')).join('');
  const texts = [['PB', black], ['PW', white], ['RE', result]].filter(([, text]) => text !== '');
  const said = texts.map(([name, text]) => `${name}[${text.replace(/[\\\]]/g, '\\$&')}]`).join('');
  return `(;GM[1]FF[4]SZ[${size}]KM[${komi}]${said}PL[${initialPlayer}]${setup}${moves.map(([player, vertex]) => `;${player}[${point(vertex)}]`).join('')})`;
}

export class GameTree {
  /**
   * @param {Game} game Its moves are left out.
   */
  constructor(game) {
    this.start = { ...game, moves: [] };
    const board = new Array(game.size * game.size).fill('.');
    for (const [player, vertex] of game.initialStones) {
      const index = indexOf(game.size, vertex);
      if (index !== null) board[index] = player === 'B' ? 'X' : 'O';
    }
    /** @type {GameNode[]} */
    this.nodes = [{
      parent: null, children: [], played: null, turn: 0, board: board.join(''), position: null, comment: '', reports: [], prediction: null,
    }];
    this.current = 0;
  }

  /**
   * The tree of an SGF file.
   * @param {Tree} tree
   */
  static of(tree) {
    const game = new GameTree(tree.game);
    game.nodes[0].comment = tree.comment;
    tree.nodes.forEach(({ parent, played, captured, comment }) => {
      const place = parent === null ? 0 : parent + 1;
      const node = game.append(place, played, game.after(place, played, captured ?? []));
      game.nodes[node].comment = comment ?? '';
    });
    return game;
  }

  get size() {
    return this.start.size;
  }

  /** The node that is shown. */
  get node() {
    return this.nodes[this.current];
  }

  /**
   * The board after a move.
   * @param {number} parent
   * @param {Placed} played
   * @param {string[]} captured
   */
  after(parent, [player, vertex], captured) {
    const board = [...this.nodes[parent].board];
    const at = indexOf(this.size, vertex);
    if (at !== null) board[at] = player === 'B' ? 'X' : 'O';
    for (const stone of captured) {
      const index = indexOf(this.size, stone);
      if (index !== null) board[index] = '.';
    }
    return board.join('');
  }

  /**
   * @param {number} parent
   * @param {Placed} played
   * @param {string} board
   */
  append(parent, played, board) {
    const node = this.nodes.length;
    const turn = this.nodes[parent].turn + 1;
    this.nodes.push({ parent, children: [], played, turn, board, position: null, comment: '', reports: [], prediction: null });
    this.nodes[parent].children.push(node);
    return node;
  }

  /**
   * Adds a move after a node, unless it is there, and returns its node.
   * @param {number} parent
   * @param {Placed} played
   * @param {Position} position
   */
  play(parent, played, position) {
    const known = this.childOf(parent, played);
    const node = known ?? this.append(parent, played, position.board);
    this.nodes[node].position = position;
    return node;
  }

  /**
   * @param {number} parent
   * @param {Placed} played
   * @returns {number | undefined}
   */
  childOf(parent, [player, vertex]) {
    return this.nodes[parent].children.find(child => {
      const there = this.nodes[child].played;
      return there !== null && there[0] === player && there[1] === vertex;
    });
  }

  /**
   * The nodes from the beginning to one of them.
   * @param {number} node
   */
  path(node = this.current) {
    const path = [];
    for (let at = /** @type {number | null} */ (node); at !== null; at = this.nodes[at].parent) path.push(at);
    return path.reverse();
  }

  /** The line through the shown node, to its end: where it branches, along the first variation. */
  line() {
    const line = this.path();
    for (let at = this.current; this.nodes[at].children.length > 0;) {
      at = this.nodes[at].children[0];
      line.push(at);
    }
    return line;
  }

  /**
   * The game up to a node, as requests have it.
   * @param {number} node
   * @returns {Game}
   */
  upTo(node = this.current) {
    const moves = this.path(node).slice(1).map(at => /** @type {Placed} */ (this.nodes[at].played));
    return { ...this.start, moves };
  }

  /** All nodes that were not removed, each after its parent. */
  order() {
    const order = [];
    const open = [0];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      order.push(node);
      open.push(...[...this.nodes[node].children].reverse());
    }
    return order;
  }

  /**
   * All moves with their variations, each after its parent, as requests have them.
   * @returns {{parent?: number, played: Placed, comment?: string}[]}
   */
  moves() {
    const [, ...nodes] = this.order();
    /** @type {Map<number, number>} */
    const places = new Map();
    nodes.forEach((node, place) => places.set(node, place));
    return nodes.map(node => {
      const { parent, played, comment } = this.nodes[node];
      const before = parent === null ? undefined : places.get(parent);
      return {
        ...(before === undefined ? {} : { parent: before }), played: /** @type {Placed} */ (played), ...(comment ? { comment } : {}),
      };
    });
  }

  /**
   * Who plays after a node.
   * @param {number} node
   * @returns {Player}
   */
  toMove(node = this.current) {
    const { position, played } = this.nodes[node];
    if (position) return position.toMove;
    return played ? other(played[0]) : this.start.initialPlayer;
  }

  /**
   * Removes a node and what follows it from its parent.
   * @param {number} node
   */
  remove(node) {
    const { parent } = this.nodes[node];
    if (parent === null) return;
    const children = this.nodes[parent].children;
    children.splice(children.indexOf(node), 1);
    if (this.path().includes(node)) this.current = parent;
  }
}
