// Parts of the pages for players: the choice of a model, and what a model thinks of a position.
// @ts-check

import { byId, html, percent, short } from './dom.js';
import { nameOf, vertexOf } from './game.js';

/** @typedef {import('./link.js').Report} Report */
/** @typedef {import('./board.js').Mark} Mark */
/**
 * @typedef {object} Choice A run, as /play/models has it.
 * @property {string} run
 * @property {[number, number] | null} models
 * @property {number | null} size
 * @property {number} komi
 * @property {number} visits
 * @property {boolean} predicts Whether it predicts ownership or the score.
 */

// Moves on the board; the table has the others.
const MOST_MARKS = 8;
const MOST_COMPARED = 4;

// Milliseconds until a list that could not be read, or is empty, is requested again.
const PAUSE = 10_000;

/**
 * The models that can be chosen.
 * @returns {Promise<Choice[]>}
 */
export function choices() {
  return listed('models');
}

/**
 * The names of the runs that can be watched.
 * @returns {Promise<string[]>}
 */
export function watchable() {
  return listed('runs');
}

/**
 * A list of the server. A page can do nothing without it, so it says why there is none and requests it again.
 * @param {'models' | 'runs'} what
 */
async function listed(what) {
  const status = byId('status', HTMLElement);
  for (let isFirst = true; ; isFirst = false) {
    try {
      const all = await read(what);
      if (all.length > 0) {
        if (!isFirst) status.textContent = '';
        return all;
      }
      status.textContent = `The store has no ${what} yet.`;
    } catch (error) {
      status.textContent = `${error}; next attempt in ${PAUSE / 1000} seconds`;
    }
    await new Promise(resolve => { setTimeout(resolve, PAUSE); });
  }
}

/** @param {'models' | 'runs'} what */
async function read(what) {
  const reply = await fetch(`/play/${what}`);
  if (!reply.ok) throw new Error(`the list of ${what} could not be read: ${reply.status} ${reply.statusText}`);
  return reply.json();
}

/** Two fields that name a model: its run and its number. */
export class ModelPicker {
  /**
   * @param {HTMLElement} host
   * @param {object} options
   * @param {string} options.label
   * @param {Choice[]} options.choices
   * @param {boolean} [options.none] Whether there may be no model.
   * @param {() => void} options.onChange
   */
  constructor(host, { label, choices, none, onChange }) {
    this.choices = choices;
    const option = (/** @type {Choice} */ { run, size }) =>
      html('option', { value: run }, size === null ? run : `${run} (${size}×${size})`);
    this.run = html('select', { 'aria-label': `${label}: run` }, ...choices.map(option));
    if (none) this.run.prepend(html('option', { value: '' }, 'none'));
    this.run.selectedIndex = 0;
    this.number = html('input', { type: 'number', 'aria-label': `${label}: number`, inputmode: 'numeric' });
    host.replaceChildren(html('span', { class: 'label' }, label), html('span', { class: 'pair' }, this.run, this.number));
    this.run.addEventListener('change', () => {
      this.newest();
      onChange();
    });
    this.number.addEventListener('change', onChange);
    this.newest();
  }

  clear() {
    this.run.selectedIndex = 0;
    this.newest();
  }

  get choice() {
    return this.choices.find(choice => choice.run === this.run.value) ?? null;
  }

  /**
   * The run of a model.
   * @param {string} model
   */
  choiceOf(model) {
    const [, run] = /^(.*)-\d+$/.exec(model) ?? [null, model];
    const named = (/** @type {string} */ name) => this.choices.find(choice => choice.run === name);
    return named(model) ?? named(run) ?? null;
  }

  /**
   * A model for boards of a size: the chosen one if it plays there, or another one; `null` where none does.
   * @param {number} size
   */
  modelFor(size) {
    const suits = (/** @type {Choice} */ choice) => choice.size === null || choice.size === size;
    if (this.choice && suits(this.choice)) return this.model;
    const best = this.choices.find(choice => choice.size === size) ?? this.choices.find(suits);
    if (!best) return null;
    return best.models ? `${best.run}-${best.models[1]}` : best.run;
  }

  newest() {
    const models = this.choice?.models ?? null;
    this.number.hidden = models === null;
    if (!models) return;
    [this.number.min, this.number.max] = models.map(String);
    this.number.value = `${models[1]}`;
  }

  /** The name of the model; `null` for none. */
  get model() {
    const { choice } = this;
    if (!choice) return null;
    return choice.models ? `${choice.run}-${this.number.value}` : choice.run;
  }

  /** @param {string | null} model */
  set model(model) {
    if (model === null) {
      this.run.value = '';
    } else {
      const choice = this.choiceOf(model);
      if (!choice) return;
      this.run.value = choice.run;
      this.newest();
      if (choice.models && model !== choice.run) this.number.value = model.slice(choice.run.length + 1);
    }
    this.number.hidden = !this.choice?.models;
  }
}

/**
 * The moves of a report as marks of a board.
 * @param {Report} report
 * @param {boolean} [second]
 * @returns {Mark[]}
 */
export function marksOf(report, second = false) {
  const own = (/** @type {number} */ winrate) => (report.rootInfo.currentPlayer === 'B' ? winrate : 1 - winrate);
  const best = report.moveInfos[0];
  return report.moveInfos.slice(0, second ? MOST_COMPARED : MOST_MARKS).map(({ move, order, visits, winrate, pv }) => ({
    vertex: move, order, visits, pv, value: own(winrate), loss: own(best.winrate) - own(winrate), second,
  }));
}

/**
 * The policy of a report by point; `null` without one.
 * @param {Report | undefined} report
 */
export function heatOf(report) {
  return report?.policy ? report.policy.slice(0, -1).map(share => Math.max(0, share)) : null;
}

/**
 * The lead that a network predicts, as a sentence; empty without one.
 * @param {import('./link.js').Prediction | null} prediction
 */
export function leadOf(prediction) {
  const lead = prediction?.scoreLead ?? null;
  if (lead === null) return '';
  if (Math.abs(lead) < 0.05) return 'Expected score: even.';
  return `Expected score: ${nameOf(lead > 0 ? 'B' : 'W')} leads by ${Math.abs(lead).toFixed(1)} points.`;
}

/** A table of the moves of a report. Pointing at a row, or its focus, shows its line. */
export class CandidateTable {
  /**
   * @param {HTMLElement} host
   * @param {object} options
   * @param {(mark: Mark | null) => void} options.onPoint
   * @param {(vertex: string) => void} options.onPlay
   */
  constructor(host, { onPoint, onPlay }) {
    this.body = html('tbody');
    const head = ['', 'Move', 'Value', 'Visits', 'Policy', 'Line'].map(text => html('th', { scope: 'col' }, text));
    head[0].append(html('span', { class: 'hidden' }, 'Rank'));
    host.replaceChildren(html('table', { class: 'candidates' }, html('thead', {}, html('tr', {}, ...head)), this.body));
    /** @type {Mark[]} */
    this.marks = [];
    /** @type {Report | undefined} */
    this.report = undefined;
    /** Whether a pointer is down on the table: rows that are replaced meanwhile would get no click. */
    this.isPressed = false;
    const markOf = (/** @type {EventTarget | null} */ target) => {
      const row = target instanceof Element ? target.closest('tr') : null;
      return row?.dataset.order === undefined ? null : this.marks[Number(row.dataset.order)] ?? null;
    };
    this.body.addEventListener('pointerover', event => onPoint(markOf(event.target)));
    this.body.addEventListener('pointerleave', () => onPoint(null));
    this.body.addEventListener('pointerdown', () => {
      this.isPressed = true;
    });
    for (const end of ['pointerup', 'pointercancel', 'pointerleave']) this.body.addEventListener(end, () => this.release());
    this.body.addEventListener('focusin', event => onPoint(markOf(event.target)));
    this.body.addEventListener('focusout', () => onPoint(null));
    this.body.addEventListener('click', event => {
      const mark = markOf(event.target);
      const button = event.target instanceof HTMLButtonElement;
      if (mark && button) onPlay(mark.vertex);
    });
  }

  /** Shows what came while a pointer was down, after its click. */
  release() {
    if (!this.isPressed) return;
    this.isPressed = false;
    setTimeout(() => this.show(this.report));
  }

  /** @param {Report | undefined} report */
  show(report) {
    this.report = report;
    if (this.isPressed) return;
    this.marks = report ? marksOf(report) : [];
    const focused = this.body.contains(document.activeElement) ? document.activeElement?.textContent : null;
    this.body.replaceChildren(...this.marks.map((mark, order) => {
      const prior = report?.moveInfos[order].prior ?? 0;
      const play = html('button', { type: 'button', class: 'move', title: `Play ${mark.vertex}` }, mark.vertex);
      const cells = [`${mark.order + 1}`, play, percent(mark.value), short(mark.visits), percent(prior), mark.pv.slice(1, 8).join(' ')];
      return html('tr', { 'data-order': order }, ...cells.map(cell => html('td', {}, cell)));
    }));
    if (focused) [...this.body.querySelectorAll('button')].find(button => button.textContent === focused)?.focus();
  }
}

/**
 * Small boards with the input planes of a position.
 * @param {HTMLElement} host
 * @param {import('./link.js').Planes} planes
 * @param {number} size
 */
export function showPlanes(host, { inputs, planes }, size) {
  const figures = planes.map(({ name, values }) => {
    const canvas = html('canvas', { width: size, height: size, role: 'img', 'aria-label': `${name}: ${said(values, size)}` });
    const context = canvas.getContext('2d');
    const image = context?.createImageData(size, size);
    if (context && image) {
      const most = Math.max(1, ...values);
      values.forEach((value, index) => image.data.set([70, 130, 220, Math.round(255 * value / most)], 4 * index));
      context.putImageData(image, 0, 0);
    }
    return html('figure', {}, canvas, html('figcaption', {}, name));
  });
  host.replaceChildren(html('p', { class: 'quiet' }, `${planes.length} planes, the set “${inputs}”`), html('div', { class: 'planes' }, ...figures));
}

/**
 * @param {number[]} values
 * @param {number} size
 */
function said(values, size) {
  const set = values.flatMap((value, index) => (value > 0 ? [vertexOf(size, index)] : []));
  if (set.length === 0) return 'empty';
  if (set.length === values.length) return 'all points';
  return set.length > 20 ? `${set.length} points` : set.join(' ');
}
