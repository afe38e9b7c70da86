// What scripts add to pages of networks: the numbers at the pointer. Without them the pages are whole.

let source = null;
let known = null;
// The facts of the page, which may be replaced while it is open.
function read() {
  const element = document.getElementById('facts');
  if (element !== source) [source, known] = [element, JSON.parse(element.textContent)];
  return known;
}

// A number with three digits, whatever its size; one that is none as a dash.
function plain(number) {
  if (number === null || number === undefined) return '–';
  const size = Math.abs(number);
  if (number !== 0 && (size < 1e-3 || size >= 1e5)) {
    const [digits, power] = number.toExponential(2).split('e');
    return `${+digits}e${+power}`.replaceAll('-', '−');
  }
  return `${+number.toPrecision(3)}`.replace('-', '−');
}
const percent = share => `${(100 * share).toFixed(1)} %`;

const box = document.createElement('div');
box.className = 'tip';
box.hidden = true;
document.body.append(box);

function show(text, event) {
  box.hidden = text === null;
  box.textContent = text;
  const { width, height } = box.getBoundingClientRect();
  const above = event.clientY - height - 14;
  box.style.left = `${Math.max(6, Math.min(event.clientX + 14, innerWidth - width - 6))}px`;
  box.style.top = `${above > 6 ? above : event.clientY + 18}px`;
}

// Where the pointer is in an element, as shares of its sides.
function at(element, event) {
  const area = element.getBoundingClientRect();
  return [(event.clientX - area.left) / area.width, (event.clientY - area.top) / area.height];
}

// The kernel of a filter, as rows of three numbers.
function kernel(picture, event) {
  const { planes, filters, kernels, largest } = read().stem;
  const across = Number(picture.dataset.across);
  const down = Math.ceil(filters / across);
  const [x, y] = at(picture, event);
  const filter = Math.floor(x * across) + across * Math.floor(y * down);
  if (filter < 0 || filter >= filters) return null;
  const from = 9 * (filter * planes.length + Number(picture.dataset.kernels));
  const said = kernels.slice(from, from + 9).map(number => (number === null ? 'none' : plain(largest * number / 127)));
  return `filter ${filter}\n${[0, 3, 6].map(i => said.slice(i, i + 3).join('  ')).join('\n')}`;
}

// A channel of a batch norm; they are drawn in ascending order.
function channel(picture, event) {
  const norm = read().norms[Number(picture.dataset.norm)];
  const numbers = norm[picture.dataset.of];
  const order = numbers.map((number, channel) => ({ number, channel })).sort((a, b) => (a.number ?? 0) - (b.number ?? 0));
  const found = order[Math.floor(at(picture, event)[0] * order.length)];
  return found ? `channel ${found.channel}: ${plain(found.number)}${norm.dead.includes(found.channel) ? ', dead' : ''}` : null;
}

// A tensor of one network, and a bar of its histogram.
function cell(picture, event) {
  const facts = read();
  const tensor = facts.tensors[Number(picture.dataset.tensor)];
  const heat = picture.querySelector('.heat');
  const [x, y] = at(heat, event);
  const place = Math.floor(x * facts.networks.length);
  if (place < 0 || place >= facts.networks.length) return null;
  const found = tensor.cells[place];
  const { name } = facts.networks[place].card;
  if (!found) return `${name}: no such tensor`;
  const bars = found.counts.length;
  const bar = Math.max(0, Math.min(bars - 1, Math.floor(bars * (1 - y))));
  const [low, high] = tensor.range ?? [0, 0];
  const step = (high - low) / (bars || 1);
  const total = found.counts.reduce((sum, count) => sum + count, 0) || 1;
  const dead = found.dead === null ? '' : `, ${found.dead} dead`;
  const broken = found.broken > 0 ? `, ${found.broken} not finite` : '';
  return `${name}: ${found.dimensions.join('×')}${dead}${broken}\nmean ${plain(found.mean)}, sd ${plain(found.deviation)}, L2 ${plain(found.norm)}` +
    (found.change === null ? '' : `\nchange ${percent(found.change)}`) +
    (bars ? `\n${plain(low + step * bar)} to ${plain(low + step * (bar + 1))}: ${percent(found.counts[bar] / total)}` : '');
}

const told = {
  '[data-tip]': picture => picture.dataset.tip, '[data-kernels]': kernel, '[data-norm]': channel, '[data-tensor]': cell,
};
addEventListener('pointermove', event => {
  for (const [selector, tell] of Object.entries(told)) {
    const picture = event.target.closest?.(selector);
    if (picture) return show(tell(picture, event), event);
  }
  box.hidden = true;
});
addEventListener('scroll', () => (box.hidden = true), { passive: true });
