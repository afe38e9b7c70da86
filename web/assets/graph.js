// The graph of Black's chance to win over the moves of a game, of one model or two.
// @ts-check

import { download, html, percent, set, svg } from './dom.js';

/**
 * @typedef {object} Curve
 * @property {string} name
 * @property {(number | undefined)[]} values By turn: Black's chance to win, from 0 to 1.
 */

const HEIGHT = 150;
const LEFT = 34;
const RIGHT = 8;
const EDGE = 8;

/** A piece of a curve, as it is drawn. @param {number} index */
function key(index) {
  const line = svg('path', { d: 'M0 5H24', class: `curve curve-${index}` });
  return svg('svg', { class: 'key', width: 24, height: 10, 'aria-hidden': 'true' }, line);
}

export class Graph {
  /**
   * @param {HTMLElement} host
   * @param {(turn: number) => void} onJump
   */
  constructor(host, onJump) {
    /** @type {Curve[]} */
    this.curves = [];
    this.turn = 0;
    this.turns = 1;
    this.losses = /** @type {number[]} */ ([]);
    this.chart = svg('svg', { 'aria-hidden': 'true', height: HEIGHT });
    // A slider is what keys and screen readers know for "jump to a move".
    this.slider = html('input', { type: 'range', min: 0, step: 1, 'aria-label': 'Move' });
    this.legend = html('div', { class: 'legend' });
    this.trouble = html('p', { class: 'bad', role: 'alert', hidden: true });
    const formats = Object.entries({ JSON: 'json', CSV: 'csv', Parquet: 'parquet' }).map(([name, ending]) => {
      const button = html('button', { type: 'button', 'aria-label': `Values as ${name}` }, name);
      button.addEventListener('click', () => this.save(ending));
      return button;
    });
    const data = html('div', { class: 'numbers' }, html('span', { class: 'quiet' }, 'Values:'), ...formats);
    host.replaceChildren(this.chart, this.slider, this.legend, data, this.trouble);
    this.slider.addEventListener('input', () => onJump(Number(this.slider.value)));
    const jump = (/** @type {PointerEvent} */ event) => {
      const share = (event.clientX - this.chart.getBoundingClientRect().left - LEFT) / (this.width - LEFT - RIGHT);
      onJump(Math.max(0, Math.min(this.turns, Math.round(share * this.turns))));
    };
    this.chart.addEventListener('pointerdown', event => {
      this.chart.setPointerCapture(event.pointerId);
      jump(event);
    });
    this.chart.addEventListener('pointermove', event => {
      if (this.chart.hasPointerCapture(event.pointerId)) jump(event);
    });
    new ResizeObserver(() => this.draw()).observe(host);
  }

  /** Saves the values as a file, which the server writes. @param {string} ending */
  async save(ending) {
    const curves = this.curves.map(({ name, values }) => ({ name, values: Array.from(values, value => value ?? null) }));
    const file = `values.${ending}`;
    try {
      const reply = await fetch(`/play/values/${file}`, { method: 'POST', body: JSON.stringify({ curves }) });
      if (!reply.ok) throw new Error(`the values were not saved: ${reply.status} ${reply.statusText}`);
      download(file, await reply.blob());
      set(this.trouble, { hidden: true });
    } catch (error) {
      this.trouble.textContent = `${error}`;
      set(this.trouble, { hidden: false });
    }
  }

  get width() {
    return this.chart.clientWidth || 300;
  }

  /**
   * @param {Curve[]} curves
   * @param {number} turn The move that is shown.
   * @param {number} turns Moves of the line.
   * @param {number[]} losses Turns of moves that lost much.
   */
  show(curves, turn, turns, losses) {
    Object.assign(this, { curves, turn, turns: Math.max(1, turns), losses });
    set(this.slider, { max: turns });
    this.slider.value = `${turn}`;
    const said = curves.map(({ name, values }) => {
      const value = values[turn];
      return value === undefined ? name : `${name}: Black ${percent(value)}`;
    });
    set(this.slider, { 'aria-valuetext': [`move ${turn} of ${turns}`, ...said].join(', ') });
    this.legend.replaceChildren(...said.map((text, index) => html('span', {}, key(index), text)));
    this.draw();
  }

  draw() {
    const x = (/** @type {number} */ at) => LEFT + (this.width - LEFT - RIGHT) * at / this.turns;
    const y = (/** @type {number} */ value) => EDGE + (HEIGHT - 2 * EDGE) * (1 - value);
    const parts = [];
    for (const share of [0, 0.5, 1]) {
      parts.push(svg('path', { d: `M${LEFT} ${y(share)}H${this.width - RIGHT}`, class: 'grid-line' }));
      parts.push(svg('text', { x: LEFT - 6, y: y(share), dy: '0.36em', class: 'axis' }, `${100 * share}`));
    }
    this.curves.forEach(({ values }, index) => {
      const known = values.flatMap((value, at) => (value === undefined ? [] : [{ at, value }]));
      if (known.length === 0) return;
      const line = known.map(({ at, value }, place) => `${place ? 'L' : 'M'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join('');
      if (index === 0) {
        const [first, last] = [known[0].at, known[known.length - 1].at];
        parts.push(svg('path', { d: `${line}L${x(last)} ${y(0)}L${x(first)} ${y(0)}Z`, class: 'black-share' }));
      }
      parts.push(svg('path', { d: line, class: `curve curve-${index}` }));
      // A single point is no line.
      const [{ at, value }] = known;
      if (known.length === 1) parts.push(svg('circle', { cx: x(at), cy: y(value), r: 2, class: `curve curve-${index}` }));
    });
    for (const turn of this.losses) {
      const value = this.curves[0]?.values[turn];
      if (value !== undefined) parts.push(svg('path', { d: `M${x(turn)} ${y(value)}m-4 7h8l-4 -7z`, class: 'loss' }));
    }
    parts.push(svg('path', { d: `M${x(this.turn)} ${EDGE - 4}V${HEIGHT - EDGE + 4}`, class: 'here' }));
    this.chart.replaceChildren(...parts);
  }
}
