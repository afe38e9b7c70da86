// The variations of a game as a drawing: a row is a line of moves. A click goes to a move, and so do arrow keys, Home and End.
// @ts-check

import { html, svg } from './dom.js';
import { nameOf } from './game.js';

/** @typedef {import('./game.js').GameTree} GameTree */
/** @typedef {Map<number, number>} Rows By node. */

const STEP = 22;
const EDGE = 14;
// More moves than these are drawn only around the shown one.
const MOST = 600;

export class TreeView {
  /**
   * @param {HTMLElement} host
   * @param {(node: number) => void} onJump
   */
  constructor(host, onJump) {
    this.onJump = onJump;
    /** @type {GameTree | null} */
    this.tree = null;
    // One of its moves has the focus, and arrow keys move it: a tree as screen readers know it.
    this.chart = svg('svg', { role: 'tree', 'aria-label': 'Variations' });
    this.scroller = html('div', { class: 'scroller' });
    this.scroller.append(this.chart);
    host.replaceChildren(this.scroller);
    this.chart.addEventListener('click', event => {
      const target = event.target instanceof Element ? event.target.closest('[data-node]') : null;
      const node = target?.getAttribute('data-node');
      if (node) onJump(Number(node));
    });
    this.chart.addEventListener('keydown', event => this.key(event));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!this.tree || event.altKey || event.ctrlKey || event.metaKey) return;
    const node = this.target(this.tree, event.key);
    if (node === undefined) return;
    event.preventDefault();
    if (node !== null) this.onJump(node);
  }

  /**
   * Where a key leads from the shown move; `null` for nowhere, `undefined` for a key that means nothing here.
   * @param {GameTree} tree
   * @param {string} key
   * @returns {number | null | undefined}
   */
  target(tree, key) {
    const { parent, children } = tree.node;
    switch (key) {
      case 'ArrowLeft': return parent;
      case 'ArrowRight': return children[0] ?? null;
      case 'ArrowUp': return this.beside(tree, -1);
      case 'ArrowDown': return this.beside(tree, 1);
      case 'Home': return 0;
      case 'End': return tree.line().at(-1) ?? 0;
      default: return undefined;
    }
  }

  /**
   * The move of the same number in the next row above or below that has one.
   * @param {GameTree} tree
   * @param {1 | -1} step
   */
  beside(tree, step) {
    const rows = this.rows(tree);
    const own = rows.get(tree.current) ?? 0;
    const away = (/** @type {number} */ node) => step * ((rows.get(node) ?? 0) - own);
    const found = [...rows.keys()].filter(node => tree.nodes[node].turn === tree.node.turn && away(node) > 0);
    return found.sort((one, other) => away(one) - away(other))[0] ?? null;
  }

  /**
   * The row of each node: a line keeps its row, and each other child starts a new one below.
   * @param {GameTree} tree
   */
  rows(tree) {
    /** @type {Rows} */
    const rows = new Map([[0, 0]]);
    /** @type {number[]} The first column of each row that is taken: later branches are laid out first. */
    const taken = [];
    const open = [0];
    while (open.length > 0) {
      let node = /** @type {number} */ (open.pop());
      const { parent, turn } = tree.nodes[node];
      let end = node;
      while (tree.nodes[end].children.length > 0) end = tree.nodes[end].children[0];
      let row = parent === null ? 0 : (rows.get(parent) ?? 0) + 1;
      while ((taken[row] ?? Infinity) <= tree.nodes[end].turn) row++;
      taken[row] = turn - 1;
      for (;;) {
        rows.set(node, row);
        const [first, ...others] = tree.nodes[node].children;
        open.push(...others);
        if (first === undefined) break;
        node = first;
      }
    }
    return rows;
  }

  /**
   * The nodes as they are read out: what may be played instead of a move comes before it, deeper by a level.
   * @param {GameTree} tree
   */
  levels(tree) {
    /** @type {Map<number, number>} */
    const levels = new Map();
    /** @type {[number, number][]} */
    const open = [[0, 1]];
    for (let next = open.pop(); next; next = open.pop()) {
      const [node, level] = next;
      levels.set(node, level);
      const [first, ...others] = tree.nodes[node].children;
      if (first !== undefined) open.push([first, level]);
      open.push(...others.reverse().map(other => /** @type {[number, number]} */ ([other, level + 1])));
    }
    return levels;
  }

  /** @param {GameTree} tree */
  show(tree) {
    this.tree = tree;
    const hadFocus = this.chart.contains(document.activeElement);
    const rows = this.rows(tree);
    const here = tree.node.turn;
    const near = (/** @type {number} */ node) => tree.nodes.length <= MOST || Math.abs(tree.nodes[node].turn - here) <= 40;
    const levels = this.levels(tree);
    const drawn = [...levels.keys()].filter(near);
    const x = (/** @type {number} */ node) => EDGE + STEP * tree.nodes[node].turn;
    const y = (/** @type {number} */ node) => EDGE + STEP * (rows.get(node) ?? 0);
    const parts = [];
    const path = new Set(tree.path());
    for (const node of drawn) {
      const { parent } = tree.nodes[node];
      if (parent === null) continue;
      const bend = y(node) > y(parent) ? `V${y(node) - STEP / 2}L${x(parent) + STEP / 2} ${y(node)}` : '';
      const shape = { d: `M${x(parent)} ${y(parent)}${bend}H${x(node)}`, class: path.has(node) ? 'branch own' : 'branch' };
      parts.push(svg('path', { ...shape, 'aria-hidden': 'true' }));
    }
    parts.push(...drawn.map(node => this.item(tree, node, levels.get(node) ?? 1, x(node), y(node))));
    const [width, height] = [x, y].map(place => Math.max(...drawn.map(place)) + EDGE);
    this.chart.setAttribute('width', `${width}`);
    this.chart.setAttribute('height', `${height}`);
    this.chart.replaceChildren(...parts);
    this.scroller.scrollTo({ left: x(tree.current) - this.scroller.clientWidth / 2, top: y(tree.current) - this.scroller.clientHeight / 2 });
    const shown = this.chart.querySelector('[tabindex="0"]');
    if (hadFocus && shown instanceof SVGElement) shown.focus({ preventScroll: true });
  }

  /**
   * @param {GameTree} tree
   * @param {number} node
   * @param {number} level
   * @param {number} x
   * @param {number} y
   */
  item(tree, node, level, x, y) {
    const { parent, played, turn, comment } = tree.nodes[node];
    const siblings = parent === null ? [node] : tree.nodes[parent].children;
    const shown = node === tree.current;
    const name = played ? `move ${turn}, ${nameOf(played[0])} ${played[1]}` : 'beginning';
    const variation = siblings.length > 1 ? `, variation ${siblings.indexOf(node) + 1} of ${siblings.length}` : '';
    const dot = played
      ? svg('circle', { cx: x, cy: y, r: 7, class: `stone ${played[0] === 'B' ? 'black' : 'white'}` })
      : svg('rect', { x: x - 5, y: y - 5, width: 10, height: 10, class: 'root' });
    const parts = [svg('title', {}, comment ? `${name}: ${comment.slice(0, 80)}` : name), dot];
    if (shown) parts.push(svg('circle', { cx: x, cy: y, r: 10, class: 'here' }));
    if (shown) parts.push(svg('rect', { x: x - 12.5, y: y - 12.5, width: 25, height: 25, rx: 4, class: 'focus' }));
    if (comment) parts.push(svg('circle', { cx: x + 6, cy: y - 6, r: 2.5, class: 'comment' }));
    const role = { role: 'treeitem', 'aria-level': level, 'aria-selected': `${shown}`, tabindex: shown ? 0 : -1 };
    const label = `${name}${variation}${comment ? ', with a comment' : ''}`;
    return svg('g', { 'data-node': node, class: 'node', ...role, 'aria-label': label }, ...parts);
  }
}
