// The variations of a game as a drawing: a row is a line of moves, and a click goes to a move.
// @ts-check

import { html, svg } from './dom.js';
import { nameOf } from './game.js';

/** @typedef {import('./game.js').GameTree} GameTree */

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
    this.host = host;
    this.chart = svg('svg', { role: 'group', 'aria-label': 'Variations' });
    this.scroller = html('div', { class: 'scroller', tabindex: 0, role: 'region', 'aria-label': 'Tree of variations' });
    this.scroller.append(this.chart);
    host.replaceChildren(this.scroller);
    this.chart.addEventListener('click', event => {
      const target = event.target instanceof Element ? event.target.closest('[data-node]') : null;
      const node = target?.getAttribute('data-node');
      if (node) onJump(Number(node));
    });
  }

  /**
   * The row of each node: a line keeps its row, and each other child starts a new one below.
   * @param {GameTree} tree
   */
  rows(tree) {
    /** @type {Map<number, number>} */
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

  /** @param {GameTree} tree */
  show(tree) {
    const rows = this.rows(tree);
    const here = tree.node.turn;
    const near = (/** @type {number} */ node) => tree.nodes.length <= MOST || Math.abs(tree.nodes[node].turn - here) <= 40;
    const drawn = [...rows.keys()].filter(near);
    const x = (/** @type {number} */ node) => EDGE + STEP * tree.nodes[node].turn;
    const y = (/** @type {number} */ node) => EDGE + STEP * (rows.get(node) ?? 0);
    const parts = [];
    const path = new Set(tree.path());
    for (const node of drawn) {
      const { parent } = tree.nodes[node];
      if (parent === null) continue;
      const bend = y(node) > y(parent) ? `V${y(node) - STEP / 2}L${x(parent) + STEP / 2} ${y(node)}` : '';
      parts.push(svg('path', { d: `M${x(parent)} ${y(parent)}${bend}H${x(node)}`, class: path.has(node) ? 'branch own' : 'branch' }));
    }
    for (const node of drawn) {
      const { played, turn, comment } = tree.nodes[node];
      const name = played ? `move ${turn}, ${nameOf(played[0])} ${played[1]}` : 'beginning';
      const dot = played
        ? svg('circle', { cx: x(node), cy: y(node), r: 7, class: `stone ${played[0] === 'B' ? 'black' : 'white'}` })
        : svg('rect', { x: x(node) - 5, y: y(node) - 5, width: 10, height: 10, class: 'root' });
      const parts2 = [svg('title', {}, comment ? `${name}: ${comment.slice(0, 80)}` : name), dot];
      if (node === tree.current) parts2.push(svg('circle', { cx: x(node), cy: y(node), r: 10, class: 'here' }));
      if (comment) parts2.push(svg('circle', { cx: x(node) + 6, cy: y(node) - 6, r: 2.5, class: 'comment' }));
      parts.push(svg('g', { 'data-node': node, class: 'node' }, ...parts2));
    }
    const [width, height] = [x, y].map(place => Math.max(...drawn.map(place)) + EDGE);
    this.chart.setAttribute('width', `${width}`);
    this.chart.setAttribute('height', `${height}`);
    this.chart.replaceChildren(...parts);
    this.scroller.scrollTo({ left: x(tree.current) - this.scroller.clientWidth / 2, top: y(tree.current) - this.scroller.clientHeight / 2 });
  }
}
