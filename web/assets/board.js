// A board: a drawing, and above it a grid of cells for pointers, keys and screen readers.
// @ts-check

import { html, percent, set, short, svg } from './dom.js';
import { indexOf, nameOf, vertexOf } from './game.js';

/** @typedef {import('./link.js').Player} Player */
/**
 * @typedef {object} Mark A move that is worth considering.
 * @property {string} vertex
 * @property {number} order From 0, the best.
 * @property {number} value Of the move, for the player to move, from 0 to 1.
 * @property {number} loss Of value, against the best.
 * @property {number} visits
 * @property {string[]} pv
 * @property {boolean} [second] Of the model that is compared.
 */
/**
 * @typedef {object} Shown
 * @property {number} size
 * @property {string} board
 * @property {Player} toMove
 * @property {string | null} last The last move.
 * @property {string | null} [next] The next move of the game.
 * @property {Mark[]} [marks]
 * @property {number[] | null} [heat] A share a point, from 0 to 1.
 * @property {string | null} [area] An owner a point.
 * @property {number[] | null} [ownership] An expected owner a point, from −1 for White to 1 for Black.
 * @property {string[]} [dead]
 * @property {string[]} [forbidden] Where known, the points that may not be played on.
 * @property {boolean} playable
 */

const UNIT = 10;
// Of the board beyond its outermost cells, in cells.
const MARGIN = 0.68;
// A cell that is smaller, in pixels, is hard to hit with a finger, so it takes two taps.
const SMALLEST = 28;
// Points nearer to 0 are neither player's.
const OWNED = 0.1;
const LOSS = { good: 0.02, bad: 0.08 };

/** @param {number} size */
function hoshi(size) {
  if (size < 7) return [];
  const near = size < 13 ? 2 : 3;
  const middle = (size - 1) / 2;
  const far = size - 1 - near;
  const lines = size % 2 ? [near, middle, far] : [near, far];
  const all = lines.flatMap(row => lines.map(col => [row, col]));
  const few = size % 2 && size < 13;
  return few ? all.filter(([row, col]) => (row === middle) === (col === middle)) : all;
}

/** @param {Mark} mark */
function quality({ order, loss }) {
  if (order === 0) return 'best';
  if (loss <= LOSS.good) return 'good';
  return loss <= LOSS.bad ? 'fair' : 'bad';
}

/**
 * The shape tells how good a move is, without its colour: a ring for the best, a circle, a square, a triangle.
 * @param {string} kind
 * @param {number} x
 * @param {number} y
 */
function shape(kind, x, y) {
  const common = { class: `candidate ${kind}` };
  if (kind === 'fair') return svg('rect', { x: x - 4, y: y - 4, width: 8, height: 8, rx: 0.8, ...common });
  if (kind === 'bad') return svg('path', { d: `M${x} ${y - 4.9}l4.9 8.9h-9.8z`, ...common });
  return svg('circle', { cx: x, cy: y, r: kind === 'best' ? 4.1 : 4.4, ...common });
}

/** @param {number} share */
function saidOwner(share) {
  if (Math.abs(share) < OWNED) return 'owner open';
  return `${nameOf(share > 0 ? 'B' : 'W')} owns it with ${percent((1 + Math.abs(share)) / 2, 0)}`;
}

export class Board {
  /**
   * @param {HTMLElement} host
   * @param {object} options
   * @param {string} options.label
   * @param {(vertex: string) => void} options.onPlay
   * @param {(vertex: string | null) => void} [options.onPoint] A point is under the pointer or has the focus.
   */
  constructor(host, { label, onPlay, onPoint }) {
    this.label = label;
    this.onPlay = onPlay;
    this.onPoint = onPoint ?? (() => {});
    /** @type {Shown | null} */
    this.shown = null;
    /** @type {string[]} */
    this.line = [];
    /** @type {number | null} The point of a first tap. */
    this.ghost = null;
    /** The kind of pointer of the last press. */
    this.pointer = '';
    this.focused = 0;
    this.layer = svg('g');
    this.picture = svg('svg', { 'aria-hidden': 'true', class: 'picture' });
    this.grid = html('div', { role: 'grid', 'aria-label': label, class: 'grid' });
    this.confirm = html('button', { class: 'confirm', type: 'button', hidden: true });
    this.frame = html('div', { class: 'goban' });
    this.frame.style.setProperty('--margin', `${MARGIN}`);
    this.frame.append(this.picture, this.grid);
    host.replaceChildren(this.frame, this.confirm);
    /** @type {HTMLElement[]} */
    this.cells = [];
    this.listen();
  }

  listen() {
    this.grid.addEventListener('pointerdown', event => {
      this.pointer = event.pointerType;
    });
    this.grid.addEventListener('click', event => this.clicked(/** @type {PointerEvent} */ (event)));
    this.grid.addEventListener('pointerover', event => {
      if (event.pointerType !== 'touch') this.pointAt(this.indexOf(event.target));
    });
    this.grid.addEventListener('pointerleave', () => this.pointAt(null));
    this.grid.addEventListener('focusin', event => this.pointAt(this.indexOf(event.target)));
    this.grid.addEventListener('focusout', () => this.pointAt(null));
    this.grid.addEventListener('keydown', event => this.key(event));
    this.confirm.addEventListener('click', () => {
      if (this.ghost !== null) this.played(this.ghost);
    });
  }

  /** @param {EventTarget | null} target */
  indexOf(target) {
    const index = target instanceof HTMLElement ? target.dataset.index : undefined;
    return index === undefined ? null : Number(index);
  }

  /** @param {PointerEvent} event */
  clicked(event) {
    const index = this.indexOf(event.target);
    if (index === null || !this.shown) return;
    this.focus(index, false);
    // A click has no pointer before iOS 18.4 and Firefox 129.
    const touched = (event.pointerType ?? this.pointer) === 'touch';
    const coarse = touched && this.cells[index].clientWidth < SMALLEST;
    // The first tap on a candidate shows its line, and the second plays it.
    const tapped = touched && this.marked(index) !== undefined;
    if (this.shown.playable && (coarse || tapped) && this.ghost !== index) {
      this.ghost = index;
      this.pointAt(index);
      this.draw();
      return;
    }
    this.played(index);
  }

  /** @param {number} index */
  marked(index) {
    if (!this.shown) return undefined;
    const vertex = vertexOf(this.shown.size, index);
    return this.shown.marks?.find(mark => mark.vertex === vertex);
  }

  /** @param {number} index */
  played(index) {
    this.ghost = null;
    if (this.shown) this.onPlay(vertexOf(this.shown.size, index));
  }

  /** @param {number | null} index */
  pointAt(index) {
    this.onPoint(index === null || !this.shown ? null : vertexOf(this.shown.size, index));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!this.shown) return;
    const { size } = this.shown;
    const [row, col] = [Math.floor(this.focused / size), this.focused % size];
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (step) {
      const to = [row + step[0], col + step[1]].map(line => Math.max(0, Math.min(size - 1, line)));
      this.focus(to[0] * size + to[1], true);
    } else if (event.key === 'Home' || event.key === 'End') {
      this.focus(row * size + (event.key === 'Home' ? 0 : size - 1), true);
    } else if (event.key === 'Enter' || event.key === ' ') {
      this.played(this.focused);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /**
   * @param {number} index
   * @param {boolean} grab
   */
  focus(index, grab) {
    this.cells[this.focused]?.setAttribute('tabindex', '-1');
    this.focused = index;
    this.cells[index].setAttribute('tabindex', '0');
    if (grab) this.cells[index].focus({ preventScroll: true });
  }

  /** @param {number} size */
  build(size) {
    this.cells = [];
    this.focused = Math.floor((size * size) / 2);
    this.grid.style.setProperty('--side', `${size}`);
    this.frame.style.setProperty('--side', `${size}`);
    this.frame.classList.toggle('dense', size > 13);
    const whole = UNIT * (size + 2 * MARGIN);
    set(this.picture, { viewBox: `0 0 ${whole} ${whole}` });
    this.picture.replaceChildren(...this.lines(size), this.layer);
    const rows = Array.from({ length: size }, (_, row) => {
      const cells = Array.from({ length: size }, (_, col) => {
        const index = row * size + col;
        const tabindex = index === this.focused ? 0 : -1;
        const cell = html('div', { role: 'gridcell', class: 'cell', 'data-index': index, tabindex });
        this.cells.push(cell);
        return cell;
      });
      return html('div', { role: 'row' }, ...cells);
    });
    this.grid.replaceChildren(...rows);
  }

  /** @param {Shown} shown */
  show(shown) {
    const rebuilt = this.shown?.size !== shown.size;
    if (this.shown?.board !== shown.board) this.ghost = null;
    this.shown = shown;
    if (rebuilt) this.build(shown.size);
    this.draw();
    this.describe();
  }

  /**
   * Shows the moves of a line, with their numbers.
   * @param {string[]} line
   */
  preview(line) {
    if (line.join() === this.line.join()) return;
    this.line = line;
    this.draw();
  }

  /** @param {number} index */
  at(index) {
    const size = this.shown?.size ?? 1;
    const place = (/** @type {number} */ line) => UNIT * (line + MARGIN + 0.5);
    return { x: place(index % size), y: place(Math.floor(index / size)) };
  }

  /** @param {string} vertex */
  index(vertex) {
    return indexOf(/** @type {Shown} */ (this.shown).size, vertex);
  }

  draw() {
    if (!this.shown) return;
    const { size, board, toMove, last, next, marks, heat, area, ownership, dead } = this.shown;
    /** @type {Element[]} */
    const parts = [];
    heat?.forEach((share, index) => {
      if (share < 0.001) return;
      const { x, y } = this.at(index);
      parts.push(svg('rect', { x: x - 5, y: y - 5, width: 10, height: 10, class: 'heat', 'fill-opacity': Math.sqrt(share) * 0.85 }));
    });
    const previewed = new Map();
    this.line.forEach((vertex, turn) => {
      const index = this.index(vertex);
      if (index !== null && !previewed.has(index)) previewed.set(index, turn);
    });
    [...board].forEach((stone, index) => {
      const gone = dead?.includes(vertexOf(size, index));
      if (stone !== '.') parts.push(...this.stone(index, stone === 'X' ? 'B' : 'W', gone ? 'dead' : ''));
    });
    const lastAt = last === null ? null : this.index(last);
    if (lastAt !== null && !previewed.has(lastAt)) {
      const { x, y } = this.at(lastAt);
      parts.push(svg('circle', { cx: x, cy: y, r: 2.1, class: `last ${board[lastAt] === 'X' ? 'on-black' : 'on-white'}` }));
    }
    if (area) parts.push(...this.owners(area, board, dead ?? []));
    ownership?.forEach((share, index) => parts.push(...this.expected(share, index)));
    const nextAt = next ? this.index(next) : null;
    if (nextAt !== null && this.line.length === 0) {
      const { x, y } = this.at(nextAt);
      parts.push(svg('circle', { cx: x, cy: y, r: 4.8, class: 'next' }));
    }
    if (this.line.length === 0) marks?.forEach(mark => parts.push(...this.candidate(mark)));
    previewed.forEach((turn, index) => {
      const player = turn % 2 === 0 ? toMove : toMove === 'B' ? 'W' : 'B';
      const { x, y } = this.at(index);
      parts.push(...this.stone(index, player, 'previewed'));
      parts.push(svg('text', { x, y, dy: '0.36em', class: `number ${player === 'B' ? 'on-black' : 'on-white'}` }, `${turn + 1}`));
    });
    if (this.ghost !== null && board[this.ghost] === '.' && !previewed.has(this.ghost)) {
      parts.push(...this.stone(this.ghost, toMove, 'ghost'));
    }
    if (this.ghost !== null) {
      const { x, y } = this.at(this.ghost);
      parts.push(svg('path', { d: `M${x} 0V${UNIT * (size + 2 * MARGIN)}M0 ${y}H${UNIT * (size + 2 * MARGIN)}`, class: 'cross' }));
    }
    this.layer.replaceChildren(...parts);
    this.frame.dataset.toMove = toMove;
    this.confirm.hidden = this.ghost === null;
    this.confirm.textContent = this.ghost === null ? '' : `Play ${vertexOf(size, this.ghost)}`;
  }

  /**
   * Wood, lines, star points and coordinates.
   * @param {number} size
   */
  lines(size) {
    const whole = UNIT * (size + 2 * MARGIN);
    const [near, far] = [this.at(0).x, this.at(size - 1).x];
    /** @type {Element[]} */
    const parts = [svg('rect', { width: whole, height: whole, class: 'wood' })];
    let path = '';
    for (let line = 0; line < size; line++) {
      const { x } = this.at(line);
      path += `M${near} ${x}H${far}M${x} ${near}V${far}`;
      const [letter, number] = [vertexOf(size, line)[0], `${size - line}`];
      for (const at of [UNIT * 0.45, whole - UNIT * 0.45]) {
        parts.push(svg('text', { x, y: at, dy: '0.36em', class: 'coordinate' }, letter));
        parts.push(svg('text', { x: at, y: x, dy: '0.36em', class: 'coordinate' }, number));
      }
    }
    parts.push(svg('path', { d: path, class: 'lines' }));
    for (const [row, col] of hoshi(size)) {
      const { x, y } = this.at(row * size + col);
      parts.push(svg('circle', { cx: x, cy: y, r: 0.95, class: 'star' }));
    }
    return parts;
  }

  /**
   * @param {number} index
   * @param {Player} player
   * @param {string} look
   */
  stone(index, player, look) {
    const { x, y } = this.at(index);
    const name = player === 'B' ? 'black' : 'white';
    /** @type {Element[]} */
    const parts = [svg('circle', { cx: x, cy: y, r: 4.72, class: `stone ${name} ${look}` })];
    if (look === '' || look === 'previewed') {
      // A light from above.
      parts.unshift(svg('circle', { cx: x + 0.25, cy: y + 0.5, r: 4.75, class: 'shadow' }));
      parts.push(svg('ellipse', { cx: x - 1.3, cy: y - 1.7, rx: 1.9, ry: 1.4, class: `gleam ${name}` }));
    }
    return parts;
  }

  /**
   * @param {string} area
   * @param {string} board
   * @param {string[]} dead
   */
  owners(area, board, dead) {
    const size = /** @type {Shown} */ (this.shown).size;
    return [...area].flatMap((owner, index) => {
      const own = board[index] === owner && !dead.includes(vertexOf(size, index));
      if (owner === '.' || own) return [];
      const { x, y } = this.at(index);
      return [svg('rect', { x: x - 1.7, y: y - 1.7, width: 3.4, height: 3.4, class: `owner ${owner === 'X' ? 'black' : 'white'}` })];
    });
  }

  /**
   * The expected owner of a point: a square that is the larger the surer it is. A stone that stays has none.
   * @param {number} share
   * @param {number} index
   */
  expected(share, index) {
    const owner = share > 0 ? 'X' : 'O';
    if (Math.abs(share) < OWNED || this.shown?.board[index] === owner) return [];
    const { x, y } = this.at(index);
    const side = 4.6 * Math.sqrt(Math.abs(share));
    const look = `owner ${owner === 'X' ? 'black' : 'white'}`;
    return [svg('rect', { x: x - side / 2, y: y - side / 2, width: side, height: side, class: look })];
  }

  /** @param {Mark} mark */
  candidate(mark) {
    const index = this.index(mark.vertex);
    if (index === null) return [];
    const { x, y } = this.at(index);
    if (mark.second) return this.compared(mark, x, y);
    const kind = quality(mark);
    /** @type {Element[]} */
    const parts = [shape(kind, x, y)];
    if (kind === 'best') parts.push(svg('circle', { cx: x, cy: y, r: 4.75, class: 'ring' }));
    // A triangle is wide only at its foot.
    const [value, visits, rank] = kind === 'bad' ? [0.1, 2.6, 1.1] : [-1.5, 1.9, 0];
    parts.push(svg('text', { x, y: y + value, dy: '0.36em', class: `value ${kind}` }, (100 * mark.value).toFixed(0)));
    parts.push(svg('text', { x, y: y + visits, dy: '0.36em', class: `visits ${kind}` }, short(mark.visits)));
    parts.push(svg('text', { x, y: y + rank, dy: '0.36em', class: `rank ${kind}` }, `${mark.order + 1}`));
    return parts;
  }

  /**
   * A move of the compared model: a diamond, around the mark of the first model where that has one, too.
   * @param {Mark} mark
   * @param {number} x
   * @param {number} y
   */
  compared(mark, x, y) {
    const both = this.shown?.marks?.some(one => !one.second && one.vertex === mark.vertex) ?? false;
    const diamond = `M${x} ${y - 5.6}l5.6 5.6l-5.6 5.6l-5.6 -5.6z`;
    /** @type {Element[]} */
    const parts = [svg('path', { d: diamond, class: `diamond ${both ? 'around' : ''} ${mark.order === 0 ? 'best' : ''}` })];
    if (both) return parts;
    parts.push(svg('text', { x, y: y - 0.9, dy: '0.36em', class: 'value' }, (100 * mark.value).toFixed(0)));
    parts.push(svg('text', { x, y: y + 2, dy: '0.36em', class: 'visits' }, short(mark.visits)));
    parts.push(svg('text', { x, y, dy: '0.36em', class: 'rank' }, `${mark.order + 1}`));
    return parts;
  }

  /** Texts for screen readers. */
  describe() {
    const { size, board, last, marks, ownership, dead, forbidden } = /** @type {Shown} */ (this.shown);
    this.cells.forEach((cell, index) => {
      const vertex = vertexOf(size, index);
      const stone = { X: 'black stone', O: 'white stone' }[board[index]] ?? 'empty';
      const words = [`${vertex}, ${stone}`];
      if (dead?.includes(vertex)) words.push('dead');
      if (vertex === last) words.push('last move');
      if (forbidden?.includes(vertex)) words.push('not allowed');
      const mark = marks?.find(one => one.vertex === vertex);
      if (mark) words.push(`move ${mark.order + 1} of the model, ${percent(mark.value, 0)}, ${mark.visits} visits`);
      if (ownership) words.push(saidOwner(ownership[index]));
      const label = words.join(', ');
      if (cell.getAttribute('aria-label') !== label) cell.setAttribute('aria-label', label);
    });
    set(this.grid, { 'aria-label': `${this.label}, ${size} by ${size}, ${nameOf(this.shown?.toMove ?? 'B')} to play` });
  }
}
