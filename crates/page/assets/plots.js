// What scripts add to plots: the numbers at the pointer, and zoom by dragging or by sliders. Without them a plot is whole.
// @ts-check

/** @typedef {{ low: number, high: number, scale: string }} Range */
/** @typedef {{ name: string, x: number[], y: number[], low?: (number | null)[], high?: (number | null)[], label?: (string | null)[] }} Series */
/** @typedef {{ x: { label: string }, y: { label: string }, series: Series[] }} Data */
/** @typedef {{ x: number, y: number, text: string }} Point */

const UNITS = 10000;
// Steps of the sliders of zoom, and the fewest between them.
const STEPS = 100;
const CLOSEST = 2;
// The least share of an axis that is shown: in a smaller one steps between round numbers become too small to add up.
const LEAST_SHARE = 1e-6;
const SVG = 'http://www.w3.org/2000/svg';

/** @param {string} name @param {Record<string, string | number>} attributes @param {string} [text] */
function svg(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

/** @param {number} number */
export function short(number) {
  const size = Math.abs(number);
  const [scaled, unit] = size >= 999.5e6 ? [number / 1e9, 'G'] : size >= 999500 ? [number / 1e6, 'M'] : size >= 9999.5 ? [number / 1e3, 'k'] : [number, ''];
  return `${+scaled.toPrecision(size >= 1000 && size < 9999.5 ? 4 : 3)}${unit}`.replace('-', '−');
}

/** A whole number with its sign. @param {number} number */
function signed(number) {
  const size = Math.round(Math.abs(number));
  const digits = String(size).replace(/\B(?=(\d{3})+$)/g, '\u202f');
  return size === 0 ? digits : `${number > 0 ? '+' : '−'}${digits}`;
}

/** @param {string | null | undefined} text @returns {Range} */
function range(text) {
  const [low, high, scale] = (text ?? '0 1 linear').split(' ');
  return { low: Number(low), high: Number(high), scale };
}

/** The number that grows evenly along an axis. @param {Range} of @param {number} value */
const place = (of, value) => (of.scale === 'log' ? Math.log10(value) : value);

/** Where a value is, as a share of the axis. @param {Range} of @param {number} value */
const share = (of, value) => (place(of, value) - of.low) / (of.high - of.low);

/** Round numbers between two, about so many. @param {Range} of @param {number} count */
function ticks({ low, high, scale }, count) {
  if (scale === 'log') {
    const all = [];
    for (let power = Math.floor(low); power <= Math.ceil(high); power += 1) {
      for (const factor of high - low > count / 3 ? [1] : [1, 2, 5]) all.push(factor * 10 ** power);
    }
    const inside = all.filter(value => Math.log10(value) >= low - 1e-9 && Math.log10(value) <= high + 1e-9);
    if (high - low > 0.7 && inside.length > 1) return inside.filter((_, index) => index % Math.ceil(inside.length / (count + 2)) === 0);
    return ticks({ low: 10 ** low, high: 10 ** high, scale: 'linear' }, count);
  }
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find(factor => factor * power >= rough * 0.999) ?? 10);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9; at += step) found.push(+at.toFixed(12));
  return found;
}

/**
 * All points of some data.
 * @param {Data} data @param {(x: number) => string} along @param {(y: number) => string} said How numbers of the axes read.
 * @returns {Point[]}
 */
function pointsOf(data, along, said) {
  const many = data.series.length > 1;
  return data.series.flatMap(series => series.x.map((x, i) => {
    const label = series.label?.[i];
    const [low, high] = [series.low?.[i], series.high?.[i]];
    const interval = low == null || high == null ? '' : ` (${said(low)} to ${said(high)})`;
    const head = [many ? series.name : '', label ?? ''].filter(Boolean).join(': ');
    return { x, y: series.y[i], text: `${head}${head ? '\n' : ''}${data.x.label}: ${along(x)}\n${data.y.label}: ${said(series.y[i])}${interval}` };
  }));
}

const tip = document.createElement('div');
tip.className = 'tip';
tip.hidden = true;

/** @param {string} text @param {PointerEvent} event */
function showTip(text, event) {
  if (!tip.isConnected) document.body.append(tip);
  tip.textContent = text;
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const above = event.clientY - height - 14;
  tip.style.left = `${Math.max(6, Math.min(event.clientX + 14, innerWidth - width - 6))}px`;
  tip.style.top = `${above > 6 ? above : event.clientY + 18}px`;
}

/** A plot of the page: its drawing, and its numbers when they are needed. */
class Plot {
  /** @param {HTMLElement} drawing @param {() => Promise<Data>} load */
  constructor(drawing, load) {
    this.drawing = drawing;
    this.load = load;
    this.area = /** @type {SVGSVGElement} */ (drawing.querySelector('.area'));
    this.curves = /** @type {SVGSVGElement} */ (drawing.querySelector('.curves'));
    this.whole = { x: range(drawing.dataset.x), y: range(drawing.dataset.y) };
    this.shown = { ...this.whole };
    this.format = { x: drawing.dataset.xFormat, y: drawing.dataset.yFormat };
    /** @type {Point[] | null} */
    this.points = null;
    /** @type {Promise<void> | null} */
    this.reading = null;
    /** @type {PointerEvent | null} The last one, while the pointer is on the drawing. */
    this.last = null;
    this.drag = null;
    this.reset = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Show all', hidden: true });
    this.ends = this.sliders();
    drawing.addEventListener('pointerenter', () => this.read());
    drawing.addEventListener('pointermove', event => this.move(event));
    drawing.addEventListener('pointerleave', () => this.leave());
    drawing.addEventListener('pointerdown', event => this.press(event));
    drawing.addEventListener('pointerup', event => this.release(event));
    drawing.addEventListener('dblclick', () => this.zoom(this.whole.x));
    this.tell();
  }

  /** A value of an axis. @param {'x' | 'y'} axis @param {number} value */
  said(axis, value) {
    switch (this.format[axis]) {
      case 'percent': return `${short(100 * value)} %`;
      case 'signed': return signed(value);
      default: return short(value);
    }
  }

  /** Reads the numbers, once; after a failure when they are wanted again. */
  async read() {
    this.reading ??= this.load().then(data => {
      this.points = pointsOf(data, value => this.said('x', value), value => this.said('y', value));
    }).catch(() => {
      this.reading = null;
    });
    await this.reading;
    if (this.last) this.move(this.last);
  }

  /** Zoom for keys, touch and screen readers: the ends of the axis that is shown. */
  sliders() {
    const row = this.drawing.closest('figure')?.querySelector('.numbers');
    const [from, to] = ['From', 'To'].map((name, end) => {
      const slider = Object.assign(document.createElement('input'), { type: 'range', min: '0', max: `${STEPS}`, value: `${STEPS * end}` });
      const label = document.createElement('label');
      label.append(name, slider);
      slider.addEventListener('input', () => this.slide(end));
      return { label, slider };
    });
    const summary = document.createElement('summary');
    summary.textContent = 'Zoom';
    const zoom = document.createElement('details');
    zoom.className = 'zoom';
    zoom.append(summary, from.label, to.label);
    zoom.addEventListener('toggle', () => this.read(), { once: true });
    this.reset.addEventListener('click', () => {
      this.zoom(this.whole.x);
      summary.focus();
    });
    row?.append(zoom, this.reset);
    return [from.slider, to.slider];
  }

  /** Shows what is between the sliders; the moved one pushes the other. @param {number} moved */
  async slide(moved) {
    await this.read();
    const [from, to] = this.ends.map(slider => Number(slider.value));
    const apart = moved === 0 ? [Math.min(from, STEPS - CLOSEST), Math.max(to, from + CLOSEST)] : [Math.min(from, to - CLOSEST), Math.max(to, CLOSEST)];
    const { low, high, scale } = this.whole.x;
    const [first, last] = apart.map(at => low + (high - low) * Math.max(0, Math.min(STEPS, at)) / STEPS);
    this.zoom(first === low && last === high ? this.whole.x : { low: first, high: last, scale });
  }

  /** Sets the sliders to what is shown. */
  tell() {
    const { low, high } = this.whole.x;
    const { x } = this.shown;
    [x.low, x.high].forEach((end, place) => {
      this.ends[place].value = `${Math.round(STEPS * (end - low) / (high - low))}`;
      this.ends[place].setAttribute('aria-valuetext', this.said('x', x.scale === 'log' ? 10 ** end : end));
    });
    this.reset.hidden = x === this.whole.x;
  }

  /** Where the pointer is, as shares of the area. @param {PointerEvent} event */
  at(event) {
    const box = this.area.getBoundingClientRect();
    return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height, box };
  }

  /** @param {PointerEvent} event */
  move(event) {
    this.last = event;
    const { x, y, box } = this.at(event);
    if (this.drag !== null) {
      const [from, to] = [Math.min(this.drag, x), Math.max(this.drag, x)].map(end => Math.max(0, Math.min(1, end)));
      this.select?.setAttribute('x', `${100 * from}%`);
      this.select?.setAttribute('width', `${100 * (to - from)}%`);
    }
    if (!this.points) return;
    let best = null, nearest = Infinity;
    for (const point of this.points) {
      const [px, py] = [share(this.shown.x, point.x), 1 - share(this.shown.y, point.y)];
      const far = ((px - x) * box.width) ** 2 + 0.15 * ((py - y) * box.height) ** 2;
      if (px >= 0 && px <= 1 && far < nearest) [best, nearest] = [{ point, px, py }, far];
    }
    this.cursor?.remove();
    if (!best) return;
    this.cursor = svg('g', { class: 'cursor' });
    this.cursor.append(
      svg('line', { x1: `${100 * best.px}%`, x2: `${100 * best.px}%`, y1: 0, y2: '100%' }),
      svg('circle', { cx: `${100 * best.px}%`, cy: `${100 * best.py}%`, r: 5, fill: 'none' }),
    );
    this.area.append(this.cursor);
    showTip(best.point.text, event);
  }

  leave() {
    this.last = null;
    this.cursor?.remove();
    this.stop();
    tip.hidden = true;
  }

  stop() {
    this.select?.remove();
    this.drag = null;
  }

  /** @param {PointerEvent} event */
  press(event) {
    if (event.button !== 0 || event.pointerType === 'touch') return;
    this.drag = this.at(event).x;
    this.select = svg('rect', { class: 'select', y: 0, height: '100%', x: `${100 * this.drag}%`, width: 0 });
    this.area.append(this.select);
    // To the end of an axis people drag beyond it.
    this.drawing.setPointerCapture(event.pointerId);
    event.preventDefault();
  }

  /** @param {PointerEvent} event */
  release(event) {
    // Numbers beside the area belong to no part of the axis.
    const [from, to] = [this.drag ?? 0, this.at(event).x].map(end => Math.max(0, Math.min(1, end))).sort((a, b) => a - b);
    const dragged = this.drag !== null;
    this.stop();
    const { whole, shown } = this;
    const { low, high, scale } = shown.x;
    const width = (to - from) * (high - low);
    if (!dragged || to - from < 0.02 || width < LEAST_SHARE * (whole.x.high - whole.x.low)) return;
    this.zoom({ low: low + (high - low) * from, high: low + (high - low) * to, scale });
  }

  /** Shows a part of the axis, and what is in it as high as it fits. @param {Range} x */
  zoom(x) {
    const isWhole = x === this.whole.x;
    let y = this.whole.y;
    const inside = (this.points ?? []).filter(point => place(x, point.x) >= x.low && place(x, point.x) <= x.high && Number.isFinite(point.y));
    if (!isWhole && inside.length > 0) {
      // Arguments of a call, such as Math.min, are fewer than the points of a long run.
      let [low, high] = [Infinity, -Infinity];
      for (const point of inside) [low, high] = [Math.min(low, place(y, point.y)), Math.max(high, place(y, point.y))];
      const space = (high - low) * 0.08 || 0.5 * Math.abs(high) || 0.5;
      y = { low: low - space, high: high + space, scale: y.scale };
    }
    this.shown = { x, y };
    const left = UNITS * (x.low - this.whole.x.low) / (this.whole.x.high - this.whole.x.low);
    const width = UNITS * (x.high - x.low) / (this.whole.x.high - this.whole.x.low);
    const top = UNITS * (this.whole.y.high - y.high) / (this.whole.y.high - this.whole.y.low);
    const height = UNITS * (y.high - y.low) / (this.whole.y.high - this.whole.y.low);
    this.curves.setAttribute('viewBox', `${left} ${top} ${width} ${height}`);
    this.drawing.closest('figure')?.classList.toggle('zoomed', !isWhole);
    this.axes();
    this.tell();
  }

  /** Draws grid and numbers anew. */
  axes() {
    const [left, below] = ['.left', '.below'].map(name => /** @type {Element} */ (this.drawing.querySelector(name)));
    this.area.querySelectorAll('.grid').forEach(line => line.remove());
    left.replaceChildren();
    below.querySelectorAll('text:not(.label)').forEach(text => text.remove());
    for (const value of ticks(this.shown.y, 5)) {
      const y = `${100 * (1 - share(this.shown.y, value))}%`;
      this.area.prepend(svg('line', { class: 'grid', x1: 0, x2: '100%', y1: y, y2: y }));
      left.append(svg('text', { x: '100%', y, dx: -6, dy: 4, 'text-anchor': 'end' }, this.said('y', value)));
    }
    const whole = (this.points ?? []).every(point => Number.isInteger(point.x));
    for (const value of ticks(this.shown.x, 6).filter(value => !whole || Number.isInteger(value))) {
      const x = `${100 * share(this.shown.x, value)}%`;
      this.area.prepend(svg('line', { class: 'grid', x1: x, x2: x, y1: 0, y2: '100%' }));
      below.append(svg('text', { x, y: 15, 'text-anchor': 'middle' }, this.said('x', value)));
    }
    this.area.querySelectorAll('line.mark, text.mark').forEach(mark => mark.toggleAttribute('hidden', this.shown.x !== this.whole.x));
  }
}

/** The numbers of a page that needs no other file. @param {string} source such as "#facts/elo" @returns {Promise<Data>} */
export async function embedded(source) {
  const [id, name] = source.slice(1).split('/');
  return JSON.parse(document.getElementById(id)?.textContent ?? '{}').plots[name];
}

/**
 * Adds to all plots below an element.
 * @param {ParentNode} parent @param {(source: string) => Promise<Data>} load reads the numbers of a plot
 */
export function enhance(parent, load) {
  for (const figure of parent.querySelectorAll('figure[data-plot]')) {
    const drawing = /** @type {HTMLElement | null} */ (figure.querySelector('.plot'));
    const source = /** @type {HTMLElement} */ (figure).dataset.plot ?? '';
    if (drawing) new Plot(drawing, () => load(source));
  }
}
