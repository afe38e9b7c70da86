// Drawing: SVG by hand, scales, axes, and a line of text beside the pointer.

const facts = JSON.parse(document.getElementById('facts').textContent);
const byId = id => document.getElementById(id);

function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function html(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// Numbers as people read them.
const whole = number => Math.round(number).toLocaleString('en');
const signed = number => ['−', '', '+'][1 + Math.sign(Math.round(number))] + whole(Math.abs(number));
const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)} %`;
const short = number => {
  const size = Math.abs(number);
  if (size >= 1e6) return `${+(number / 1e6).toPrecision(3)}M`;
  if (size >= 1e4) return `${+(number / 1e3).toPrecision(3)}k`;
  return `${+number.toPrecision(3)}`.replace('-', '−');
};

// Half of a 95 % interval, of one standard error.
const margin = error => 1.959964 * error;

// A 95 % interval of a share (Wilson 1927).
function wilson(hits, trials) {
  if (trials === 0) return [0, 1];
  const z = 1.959964, p = hits / trials, scale = 1 + z * z / trials;
  const middle = (p + z * z / (2 * trials)) / scale;
  const half = z * Math.sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials)) / scale;
  return [middle - half, middle + half];
}

// Round numbers from low to high, about so many.
function ticks(low, high, count) {
  const rough = (high - low) / Math.max(count, 1) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(factor => factor * power >= rough * 0.999);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) found.push(+at.toFixed(12));
  return found;
}

const tip = {
  show(text, event) {
    const box = byId('tip');
    box.textContent = text;
    box.style.opacity = 1;
    const { width, height } = box.getBoundingClientRect();
    const x = Math.max(6, Math.min(event.clientX + 14, innerWidth - width - 6));
    const above = event.clientY - height - 14;
    box.style.left = `${x}px`;
    box.style.top = `${above > 6 ? above : event.clientY + 18}px`;
  },
  hide() {
    byId('tip').style.opacity = 0;
  },
};
addEventListener('scroll', tip.hide, { passive: true });

// Draws into a box now, and again whenever its width changes, so that text keeps its size.
function drawn(id, draw) {
  const box = byId(id);
  let last = 0;
  new ResizeObserver(() => {
    const width = Math.floor(box.clientWidth);
    if (width === last || width === 0) return;
    last = width;
    box.replaceChildren(draw(width, Math.floor(box.clientHeight) || 260));
  }).observe(box);
}

function empty(id, text) {
  byId(id).replaceChildren(html('div', { class: 'empty' }, text));
}
