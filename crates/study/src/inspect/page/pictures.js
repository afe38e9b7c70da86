// Histograms, kernels and channels.

// Columns of one histogram, or of two over the same range, the other behind the first.
function histogram(own, other) {
  if (!own) return '–';
  const [width, height] = [132, 30];
  const chart = svg('svg', { width, height, role: 'img', 'aria-label': 'histogram' });
  const step = width / own.counts.length;
  const bars = ({ counts }, look) => {
    const most = Math.max(...counts, 1);
    // The height is the root of the count, so that the tails are seen.
    const path = counts.map((count, i) => {
      if (count === 0) return '';
      const tall = Math.max(1, height * Math.sqrt(count / most));
      return `M${(step * i).toFixed(1)} ${height}v${-tall.toFixed(1)}h${step.toFixed(2)}V${height}z`;
    });
    chart.append(svg('path', { d: path.join(''), ...look }));
  };
  bars(own, { fill: 'var(--one)', 'fill-opacity': other ? 0.55 : 0.85 });
  if (other) bars(other, { fill: 'var(--two)', 'fill-opacity': 0.55 });
  if (own.from < 0 && own.to > 0) {
    const x = width * -own.from / (own.to - own.from);
    chart.append(svg('line', { x1: x, x2: x, y1: 0, y2: height, stroke: 'var(--ink)', 'stroke-opacity': 0.5, 'stroke-dasharray': '2 2' }));
  }
  chart.addEventListener('pointermove', event => tip.show(`from ${plain(own.from)} to ${plain(own.to)}; heights are roots of counts`, event));
  chart.addEventListener('pointerleave', tip.hide);
  return chart;
}

// The colour of a number from −1 to 1: orange below 0, blue above, the paper at 0; magenta of what is no number. Its
// strength is the root of the number, so that weak kernels are seen beside strong ones.
function diverging(share, dark) {
  if (share === null) return [200, 0, 90];
  const paper = dark ? [28, 31, 36] : [255, 255, 255];
  const ink = share < 0 ? (dark ? [242, 160, 107] : [194, 87, 26]) : (dark ? [127, 176, 255] : [31, 95, 196]);
  return paper.map((from, i) => Math.round(from + (ink[i] - from) * Math.sqrt(Math.abs(share))));
}

// All kernels that look at one plane, in rows as wide as the page, each with a rim.
function kernels(box, plane) {
  const { planes, filters, kernels: numbers, largest } = facts.stem;
  const [cell, rim] = [filters > 64 ? 5 : 7, 5];
  const side = 3 * cell + rim;
  const nine = filter => numbers.slice(9 * (filter * planes.length + plane), 9 * (filter * planes.length + plane) + 9);
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const draw = width => {
    const across = Math.max(1, Math.min(filters, Math.floor(width / side)));
    const down = Math.ceil(filters / across);
    const canvas = html('canvas', { width: across * side, height: down * side, role: 'img', 'aria-label': planes[plane] });
    const pen = canvas.getContext('2d');
    for (let filter = 0; filter < filters; filter++) {
      const [left, top] = [side * (filter % across), side * Math.floor(filter / across)];
      pen.strokeStyle = dark ? '#444a55' : '#c9ced6';
      pen.strokeRect(left + 0.5, top + 0.5, 3 * cell + 1, 3 * cell + 1);
      nine(filter).forEach((number, i) => {
        pen.fillStyle = `rgb(${diverging(number === null ? null : number / 127, dark).join(' ')})`;
        pen.fillRect(left + 1 + cell * (i % 3), top + 1 + cell * Math.floor(i / 3), cell, cell);
      });
    }
    canvas.addEventListener('pointermove', event => {
      const area = canvas.getBoundingClientRect();
      const filter = Math.floor((event.clientX - area.left) / side) + across * Math.floor((event.clientY - area.top) / side);
      if (filter >= filters) return tip.hide();
      const said = nine(filter).map(number => (number === null ? 'none' : plain(largest * number / 127)));
      tip.show(`filter ${filter}\n${[0, 3, 6].map(i => said.slice(i, i + 3).join('  ')).join('\n')}`, event);
    });
    canvas.addEventListener('pointerleave', tip.hide);
    return canvas;
  };
  box.replaceChildren(draw(Math.floor(box.clientWidth)));
}

// A bar for each channel, in ascending order; dead ones are marked below. What is no number has no bar.
function channels(numbers, dead) {
  const [width, height] = [190, 34];
  const order = numbers.map((number, channel) => ({ number, channel })).sort((a, b) => (a.number ?? 0) - (b.number ?? 0));
  const known = order.map(({ number }) => number ?? 0);
  const [low, high] = [Math.min(0, ...known), Math.max(0, ...known)];
  const y = number => (height - 6) * (high - number) / (high - low || 1);
  const step = width / order.length;
  const gap = step > 3 ? 1 : 0;
  const path = known.map((number, i) => `M${(step * i).toFixed(2)} ${y(0).toFixed(2)}V${y(number).toFixed(2)}h${(step - gap).toFixed(2)}V${y(0).toFixed(2)}z`);
  const chart = svg('svg', { width, height, role: 'img', 'aria-label': `${order.length} channels, sorted` },
    svg('path', { d: path.join(''), fill: 'var(--one)' }),
    svg('line', { x1: 0, x2: width, y1: y(0), y2: y(0), stroke: 'var(--five)', 'stroke-opacity': 0.6 }));
  order.forEach(({ channel }, i) => {
    if (dead.includes(channel)) chart.append(svg('rect', { x: step * i, y: height - 5, width: Math.max(step - gap, 1), height: 5, fill: 'var(--bad)' }));
  });
  chart.addEventListener('pointermove', event => {
    const at = order[Math.floor((event.clientX - chart.getBoundingClientRect().left) / step)];
    if (at) tip.show(`channel ${at.channel}: ${plain(at.number)}${dead.includes(at.channel) ? ', dead' : ''}`, event);
  });
  chart.addEventListener('pointerleave', tip.hide);
  return chart;
}
