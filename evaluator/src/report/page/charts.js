// Lines with bands, and stacked columns, over a number.

// A chart of series of points {x, y, low, high, text}; a series has a name and a colour, and may be dashed or have no
// dots. Rules are {y, name} across the whole width.
function lines(id, { series, rules = [], yFormat = short, xFormat = short, from, to, zero = false }) {
  series = series.filter(line => line.points.length > 0);
  if (series.length === 0) return empty(id, 'nothing yet');
  const points = series.flatMap(line => line.points);
  const xs = points.map(point => point.x);
  const ys = points.flatMap(({ y, low, high }) => [y, low ?? y, high ?? y]).concat(rules.map(rule => rule.y));
  let [left, right] = [Math.min(...xs), Math.max(...xs)];
  if (left === right) [left, right] = [left - 1, right + 1];
  let [bottom, top] = [from ?? Math.min(...ys, ...(zero ? [0] : [])), to ?? Math.max(...ys)];
  if (bottom === top) [bottom, top] = [bottom - 1, top + 1];
  const room = 0.04 * (top - bottom);
  if (from === undefined && !(zero && bottom === 0)) bottom -= room;
  if (to === undefined) top += room;

  drawn(id, (width, height) => {
    const legend = series.length > 1 ? 22 : 0;
    const yTicks = ticks(bottom, top, height / 40);
    const gutter = Math.max(...yTicks.map(at => 7 * yFormat(at).length)) + 12;
    const area = { x: gutter, y: 6, w: width - gutter - 12, h: height - 28 - legend };
    const x = at => area.x + area.w * (at - left) / (right - left);
    const y = at => area.y + area.h * (top - Math.max(bottom, Math.min(top, at))) / (top - bottom);
    const chart = svg('svg', { width, height: height - legend, role: 'img' });
    for (const at of yTicks) {
      chart.append(svg('line', { x1: area.x, x2: area.x + area.w, y1: y(at), y2: y(at), stroke: 'var(--grid)' }));
      chart.append(svg('text', { x: area.x - 7, y: y(at) + 4, 'text-anchor': 'end' }, yFormat(at)));
    }
    const wanted = ticks(left, right, area.w / 70).filter(at => !xs.every(Number.isInteger) || Number.isInteger(at));
    for (const at of wanted) {
      // The last one must not be cut off at the edge.
      const middle = Math.min(x(at), width - 4 * xFormat(at).length);
      chart.append(svg('text', { x: middle, y: area.y + area.h + 18, 'text-anchor': 'middle' }, xFormat(at)));
    }
    let above = -Infinity;
    for (const rule of [...rules].sort((a, b) => b.y - a.y)) {
      chart.append(svg('line', {
        x1: area.x, x2: area.x + area.w, y1: y(rule.y), y2: y(rule.y), stroke: 'var(--five)', 'stroke-dasharray': '5 4',
      }));
      // A name that would lie on the one above it is left out; the table has them all.
      if (y(rule.y) - above < 13) continue;
      above = y(rule.y);
      chart.append(svg('text', { x: area.x + area.w, y: y(rule.y) - 4, 'text-anchor': 'end' }, rule.name));
    }
    for (const { points, colour, dots = true } of series) {
      const banded = points.filter(point => point.low !== undefined);
      if (banded.length > 1) {
        const upper = banded.map(point => `${x(point.x)},${y(point.high)}`);
        const lower = banded.map(point => `${x(point.x)},${y(point.low)}`).reverse();
        chart.append(svg('polygon', { points: [...upper, ...lower].join(' '), fill: colour, style: 'opacity: var(--band)' }));
      }
      const path = points.map((point, i) => `${i ? 'L' : 'M'}${x(point.x)} ${y(point.y)}`).join('');
      chart.append(svg('path', { d: path, fill: 'none', stroke: colour, 'stroke-width': dots ? 2 : 1.5, 'stroke-linejoin': 'round' }));
      if (dots && points.length <= area.w / 7) {
        for (const point of points) chart.append(svg('circle', { cx: x(point.x), cy: y(point.y), r: 3, fill: colour }));
      }
    }
    const mark = svg('circle', { r: 5, fill: 'none', stroke: 'var(--ink)', 'stroke-width': 1.5, visibility: 'hidden' });
    chart.append(mark);
    const near = event => {
      const box = chart.getBoundingClientRect();
      const [px, py] = [event.clientX - box.left, event.clientY - box.top];
      const far = point => (x(point.x) - px) ** 2 + 0.15 * (y(point.y) - py) ** 2;
      const point = points.reduce((best, point) => (far(point) < far(best) ? point : best));
      mark.setAttribute('cx', x(point.x));
      mark.setAttribute('cy', y(point.y));
      mark.setAttribute('visibility', 'visible');
      tip.show(point.text ?? `${xFormat(point.x)}: ${yFormat(point.y)}`, event);
    };
    chart.addEventListener('pointermove', near);
    chart.addEventListener('pointerdown', near);
    chart.addEventListener('pointerleave', () => {
      mark.setAttribute('visibility', 'hidden');
      tip.hide();
    });
    return legend ? html('div', {}, chart, legendOf(series)) : chart;
  });
}

function legendOf(series) {
  const entry = ({ name, colour }) => html('span', {}, html('i', { style: `background: ${colour}` }), name);
  return html('div', { class: 'legend' }, ...series.map(entry));
}

// Columns of shares that sum to 1: rows are {x, parts, text}, kinds are {name, colour} for the parts.
function columns(id, { rows, kinds }) {
  if (rows.length === 0) return empty(id, 'nothing yet');
  drawn(id, (width, height) => {
    const area = { x: 46, y: 6, w: width - 58, h: height - 50 };
    const chart = svg('svg', { width, height: height - 22, role: 'img' });
    const y = share => area.y + area.h * (1 - share);
    for (const at of [0, 0.25, 0.5, 0.75, 1]) {
      chart.append(svg('line', { x1: area.x, x2: area.x + area.w, y1: y(at), y2: y(at), stroke: 'var(--grid)' }));
      chart.append(svg('text', { x: area.x - 7, y: y(at) + 4, 'text-anchor': 'end' }, percent(at)));
    }
    const step = area.w / rows.length;
    const every = Math.ceil(44 / step);
    rows.forEach((row, index) => {
      const group = svg('g', {});
      let below = 0;
      row.parts.forEach((part, kind) => {
        const box = { x: area.x + step * index + step * 0.1, width: Math.max(step * 0.8, 0.5), fill: kinds[kind].colour };
        group.append(svg('rect', { ...box, y: y(below + part), height: Math.max(0, area.h * part) }));
        below += part;
      });
      group.addEventListener('pointermove', event => tip.show(row.text, event));
      group.addEventListener('pointerleave', tip.hide);
      chart.append(group);
      if (index % every === 0) {
        const middle = area.x + step * (index + 0.5);
        chart.append(svg('text', { x: middle, y: area.y + area.h + 18, 'text-anchor': 'middle' }, row.x));
      }
    });
    return html('div', {}, chart, legendOf(kinds));
  });
}

// Ratings are on a scale of their own, or on that of some players whose ratings are given.
const errorOf = player => (facts.scale.length > 0 ? player.error : player.above_pool_error);
const errorAgainst = () => (facts.scale.length > 0 ? 'the given ratings' : (facts.players.some(player => player.number !== null) ? 'the mean of the run’s models' : 'the mean of all players'));

function scaleSaid(end) {
  const zero = facts.players.find(player => player.error === 0);
  if (facts.scale.length > 0) return `Elo where ${facts.scale.join(', ')}${end}`;
  return zero ? `Elo above ${zero.player}${end}` : '';
}

function strength() {
  const models = facts.players.filter(player => player.number !== null).sort((a, b) => a.number - b.number);
  const others = facts.players.filter(player => player.number === null);
  const text = player => `${player.player}\n${signed(player.elo)} ± ${whole(margin(errorOf(player)))} Elo\n` +
    `${player.points} points in ${whole(player.games)} games`;
  // Models as they were published, and for each other search a line of its own.
  const searches = [...new Set(models.map(player => player.settings))].sort();
  const colours = ['var(--one)', 'var(--three)', 'var(--five)', 'var(--two)'];
  const series = x => {
    const point = player => {
      const half = margin(errorOf(player));
      return { x: x(player), y: player.elo, low: player.elo - half, high: player.elo + half, text: text(player) };
    };
    const placed = models.filter(player => x(player) !== null);
    return searches.map((settings, index) => ({
      name: settings === '' ? facts.run.name : `${facts.run.name}, ${settings}`,
      colour: colours[index % colours.length],
      points: placed.filter(player => player.settings === settings).map(point),
    }));
  };
  const rules = others.map(player => ({ y: player.elo, name: player.player }));
  lines('by-model', { series: series(player => player.number), rules });
  lines('by-games', { series: series(player => player.games_before), rules });
  lines('by-hours', { series: series(player => player.hours), rules });
  byId('strength-says').textContent = facts.players.length === 0 ? 'No matches yet.' :
    `${scaleSaid('. ')}The band is 95 % against ${errorAgainst()}. ` +
    'Dashed lines are other players.';
}

function selfplay() {
  const models = facts.models;
  const games = model => model.black_won + model.white_won + model.drawn;
  const name = model => (model.number === 0 ? 'random' : `model ${model.number}`);
  const one = (id, value, options = {}) => lines(id, {
    series: [{ name: '', colour: options.colour ?? 'var(--one)', points: models.map(value).filter(Boolean) }], ...options,
  });
  one('black-share', model => {
    const share = (model.black_won + model.drawn / 2) / games(model);
    const [low, high] = wilson(model.black_won + model.drawn / 2, games(model));
    const text = `${name(model)}\nBlack ${whole(model.black_won)}, White ${whole(model.white_won)}, drawn ${whole(model.drawn)}\n` +
      `${percent(share, 1)} for Black`;
    return { x: model.number, y: share, low, high, text };
  }, { yFormat: percent, rules: [{ y: 0.5, name: '' }] });
  one('moves', model => {
    const l = model.lengths;
    return l && {
      x: model.number, y: l.mean, low: l.tenth, high: l.ninetieth,
      text: `${name(model)}\nmean ${l.mean.toFixed(1)}, median ${l.median}\n8 in 10 games: ${l.tenth} to ${l.ninetieth}\n` +
        `shortest ${l.shortest}, longest ${l.longest}`,
    };
  }, { zero: true });
  one('depth', model => model.mean_depth !== null && {
    x: model.number, y: model.mean_depth, text: `${name(model)}: ${model.mean_depth.toFixed(2)} moves`,
  }, { zero: true, colour: 'var(--three)' });
  one('counts', model => ({ x: model.number, y: model.games, text: `${name(model)}: ${whole(model.games)} games` }),
    { zero: true, colour: 'var(--five)' });
  const kinds = [
    { name: 'two passes', colour: 'var(--one)' }, { name: 'all pass-alive', colour: 'var(--three)' },
    { name: 'resignation', colour: 'var(--two)' }, { name: 'move limit', colour: 'var(--five)' },
  ];
  columns('ends', {
    kinds,
    rows: models.map(model => {
      // Self-play has no forfeits.
      const { passes, pass_alive, resignation, move_limit } = model.ends;
      const ends = [passes, pass_alive, resignation, move_limit];
      const text = [name(model), ...ends.map((count, kind) => `${kinds[kind].name}: ${whole(count)}`)].join('\n');
      return { x: model.number, parts: ends.map(count => count / games(model)), text };
    }),
  });
  one('resigned', model => {
    const share = model.ends.resignation / games(model);
    return { x: model.number, y: share, text: `${name(model)}: ${whole(model.ends.resignation)} of ${whole(games(model))} games` };
  }, { yFormat: percent, zero: true, colour: 'var(--two)' });
  one('wrongly', model => {
    // Without a threshold there are no resignations.
    const first = facts.thresholds[0];
    if (model.calibration === 0 || !first || model.number <= first.to_model) return null;
    const [low, high] = wilson(model.would_resign_wrongly, model.calibration);
    const text = `${name(model)}: ${model.would_resign_wrongly} of ${model.calibration} calibration games\n` +
      `(a player would have resigned in ${model.would_resign})`;
    return { x: model.number, y: model.would_resign_wrongly / model.calibration, low, high, text };
  }, { yFormat: percent, zero: true, colour: 'var(--two)' });
}

function resigning() {
  const all = facts.thresholds;
  const when = threshold => new Date(threshold.time).toISOString().slice(0, 16).replace('T', ' ');
  const text = threshold => `${when(threshold)} UTC\nthreshold ${threshold.threshold.toFixed(3)}\n` +
    `${threshold.games} calibration games of models ${threshold.from_model} to ${threshold.to_model}\n` +
    `${percent(threshold.false_positive_rate, 1)} false positives: wins resigned`;
  lines('threshold', {
    series: [{ name: '', colour: 'var(--one)', points: all.map(t => ({ x: t.to_model, y: t.threshold, text: text(t) })) }],
    yFormat: at => at.toFixed(2).replace('-', '−'),
  });
  lines('rate', {
    series: [{
      name: '', colour: 'var(--one)',
      points: all.map(t => ({ x: t.to_model, y: t.false_positive_rate, low: t.rate_low, high: t.rate_high, text: text(t) })),
    }],
    rules: all.length > 0 ? [{ y: all[all.length - 1].quantile, name: 'wanted' }] : [],
    yFormat: percent, zero: true,
  });
  byId('resigning-says').textContent = all.length === 0 ? 'No threshold yet; resignation is disabled.' :
    `A player resigns when its root value, −1 to 1, is below the threshold. Thresholds so far: ${all.length}; newest: ` +
    `${all[all.length - 1].threshold.toFixed(3).replace('-', '−')}.`;
}

function training() {
  const colours = { train: 'var(--one)', holdout: 'var(--two)', human: 'var(--three)' };
  const names = { train: 'training', holdout: 'validation', human: 'human games' };
  const curve = (id, loss, options) => lines(id, {
    ...options,
    series: facts.losses.map(({ set, step, ...losses }) => ({
      name: names[set] ?? set, colour: colours[set] ?? 'var(--five)', dots: set !== 'train',
      points: step.map((x, i) => ({
        x, y: losses[loss][i], text: `step ${whole(x)}, ${names[set] ?? set}: ${losses[loss][i].toPrecision(4)}`,
      })),
    })),
  });
  curve('policy-loss', 'policy', {});
  curve('value-loss', 'value', {});
  curve('accuracy', 'accuracy', { yFormat: percent });
  byId('training-says').textContent = facts.losses.length === 0 ? 'No training yet.' :
    'By optimiser step: training batches before the step, validation set and human games.';
}

strength();
selfplay();
resigning();
training();
