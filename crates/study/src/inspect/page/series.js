// Several networks side by side.

function heading() {
  const { networks, tensors } = facts;
  const [first, last] = [networks[0].card, networks[networks.length - 1].card];
  document.title = `${first.name} to ${last.name}: Tengen`;
  byId('title').textContent = `${first.name} to ${last.name}`;
  byId('about').textContent = `${networks.length} networks, ${tensors.length} tensors. ${last.shape}`;
  byId('made').textContent = `Written ${new Date(facts.written).toISOString().slice(0, 16).replace('T', ' ')} UTC by Tengen ` +
    `${facts.version}. All numbers are in this page as JSON, in the element “facts”.`;
}

function networkTable() {
  byId('networks-say').textContent = 'L2 is the root of the sum of squares of all parameters. Change is ‖a − b‖ / ‖b‖, b being the previous network, over ' +
    'the tensors that both have in the same shape. A channel is dead where its batch norm makes it constant.';
  const row = ({ card, norm, change, broken, dead, channels }) => line('td', [
    named(card.name), plain(norm), change === null ? '–' : percent(change, 1),
    dead > 0 ? bad('td', `${whole(dead)} of ${whole(channels)}`) : `0 of ${whole(channels)}`,
    broken > 0 ? bad('td', whole(broken)) : '0', card.step === null ? '–' : whole(card.step), whole(card.parameters),
  ]);
  byId('columns').append(
    html('thead', {}, line('th', ['network', 'L2', 'change', 'dead channels', 'not finite', 'steps', 'parameters'])),
    html('tbody', {}, ...facts.networks.map(row)),
  );
}

// What the pointer is told of one network's tensor.
function told(place, tensor, bar) {
  const cell = tensor.cells[place];
  const { name } = facts.networks[place].card;
  if (!cell) return `${name}: no such tensor`;
  const [low, high] = tensor.range ?? [0, 0];
  const step = (high - low) / (cell.counts.length || 1);
  const total = sum(cell.counts, count => count) || 1;
  const dead = cell.dead === null ? '' : `, ${whole(cell.dead)} dead`;
  const broken = cell.broken > 0 ? `, ${whole(cell.broken)} not finite` : '';
  return `${name}: ${cell.dimensions.join('×')}${dead}${broken}\nmean ${plain(cell.mean)}, sd ${plain(cell.deviation)}, L2 ${plain(cell.norm)}` +
    (cell.change === null ? '' : `\nchange ${percent(cell.change, 1)}`) +
    (cell.counts.length ? `\n${plain(low + step * bar)} to ${plain(low + step * (bar + 1))}: ${percent(cell.counts[bar] / total, 1)}` : '');
}

// A heat map: a column for each network, numbers upward, the stronger the more of them; and below the L2 norms.
function map(tensor, width) {
  const [top, tall, gap, low, foot] = [4, 96, 10, 26, 18];
  const [left, right] = [52, 4];
  const across = (width - left - right) / facts.networks.length;
  const chart = svg('svg', { width, height: top + tall + gap + low + foot, role: 'img', 'aria-label': tensor.name });
  const text = (x, y, said, anchor = 'end') => chart.append(svg('text', { x, y, 'text-anchor': anchor, 'font-size': 11 }, said));
  const bars = Math.max(...tensor.cells.map(cell => (cell ? cell.counts.length : 0)));
  const area = { x: left, y: top, width: width - left - right, height: tall, fill: 'none', stroke: 'var(--line)' };
  tensor.cells.forEach((cell, place) => {
    if (!cell) return;
    const most = Math.max(...cell.counts, 1);
    cell.counts.forEach((count, bar) => {
      if (count === 0) return;
      // The strength is the root of the count, so that the tails are seen.
      chart.append(svg('rect', {
        x: (left + across * place).toFixed(2), y: (top + tall * (1 - (bar + 1) / bars)).toFixed(2),
        width: (across + (across > 6 ? -1 : 0.15)).toFixed(2), height: (tall / bars + 0.15).toFixed(2),
        fill: 'var(--one)', 'fill-opacity': Math.max(0.06, Math.sqrt(count / most)).toFixed(3),
      }));
    });
  });
  chart.append(svg('rect', area));
  if (tensor.range) {
    const [from, to] = tensor.range;
    text(left - 6, top + 10, plain(to));
    text(left - 6, top + tall, plain(from));
    if (from < 0 && to > 0) {
      const y = top + tall * to / (to - from);
      chart.append(svg('line', { x1: left, x2: width - right, y1: y, y2: y, stroke: 'var(--ink)', 'stroke-opacity': 0.5, 'stroke-dasharray': '2 2' }));
      if (y > top + 24 && y < top + tall - 14) text(left - 6, y + 4, '0');
    }
  }
  const norms = tensor.cells.map(cell => cell?.norm ?? null);
  const largest = Math.max(...norms.map(norm => norm ?? 0)) || 1;
  const base = top + tall + gap + low;
  const middle = place => left + across * (place + 0.5);
  const at = norms.map((norm, place) => (norm === null ? null : [middle(place), base - low * norm / largest]));
  const path = at.map((point, place) => (point ? `${place > 0 && at[place - 1] ? 'L' : 'M'}${point[0].toFixed(1)} ${point[1].toFixed(1)}` : '')).join('');
  chart.append(svg('line', { x1: left, x2: width - right, y1: base, y2: base, stroke: 'var(--line)' }));
  chart.append(svg('path', { d: path, fill: 'none', stroke: 'var(--two)', 'stroke-width': 1.6 }));
  at.forEach(point => point && at.length <= 40 && chart.append(svg('circle', { cx: point[0], cy: point[1], r: 2, fill: 'var(--two)' })));
  text(left - 6, base - low + 8, plain(largest));
  text(left - 6, base, '0');
  ends(chart, middle, base + 14, width - right);
  chart.addEventListener('pointermove', event => {
    const area = chart.getBoundingClientRect();
    const place = Math.floor((event.clientX - area.left - left) / across);
    const bar = Math.floor(bars * (1 - (event.clientY - area.top - top) / tall));
    if (place < 0 || place >= facts.networks.length) return tip.hide();
    tip.show(told(place, tensor, Math.max(0, Math.min(bars - 1, bar))), event);
  });
  chart.addEventListener('pointerleave', tip.hide);
  return chart;
}

// The names of the first and the last network below their columns.
function ends(chart, middle, y, right) {
  const names = facts.networks.map(network => network.card.name);
  const last = names.length - 1;
  const label = (x, anchor, name) => chart.append(svg('text', { x, y, 'text-anchor': anchor, 'font-size': 11 }, name));
  const short = name => (name.length > 20 ? `${name.slice(0, 9)}…${name.slice(-9)}` : name);
  label(Math.max(0, middle(0) - 20), 'start', short(names[0]));
  if (last > 0) label(right, 'end', short(names[last]));
}

function maps() {
  byId('histograms-say').textContent = 'One column for each network, in the order of the table; the vertical axis has the values of the tensor, ' +
    'stronger where there are more (root of the count, scaled per column). ' +
    `At most ${percent(facts.beyond, 1)} of a tensor’s numbers are beyond either end and are counted there. Below in orange: the L2 norm. Point at a column for its numbers.`;
  const figures = facts.tensors.map(tensor => {
    const shapes = [...new Set(tensor.cells.filter(Boolean).map(cell => cell.dimensions.join('×')))];
    const box = html('div', {});
    return { tensor, box, figure: html('figure', {}, html('figcaption', {}, named(tensor.name), html('span', {}, shapes.join(', '))), box) };
  });
  byId('maps').append(...figures.map(({ figure }) => figure));
  // Before the style is loaded a box may be too narrow to draw in.
  const draw = () => figures.filter(({ box }) => box.clientWidth > 0)
    .forEach(({ tensor, box }) => box.replaceChildren(map(tensor, Math.max(200, Math.floor(box.clientWidth)))));
  draw();
  let last = innerWidth;
  addEventListener('resize', () => {
    if (innerWidth !== last) draw();
    last = innerWidth;
  });
}

heading();
networkTable();
maps();
