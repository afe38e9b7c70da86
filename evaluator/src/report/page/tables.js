// What is said in words, tables, and the matrix of who beat whom.

function heading() {
  const { run, pool, players, models } = facts;
  document.title = `${run.name}: Tengen report`;
  byId('title').textContent = `Run ${run.name}`;
  const rules = run.scoring === 'area' ? 'area scoring' : 'area scoring, pass-alive regions count wholly';
  byId('about').textContent = `${run.size}×${run.size}, komi ${run.komi}, ${rules}; ${run.visits} visits a move in ` +
    `self-play, ${run.match_visits} in matches.`;
  byId('made').textContent = `Written ${new Date(run.written).toISOString().slice(0, 16).replace('T', ' ')} UTC by Tengen ` +
    `${run.version}; configuration ${run.config_digest}. All numbers are in this page as JSON, in the element “facts”.`;
  const sum = (all, of) => all.reduce((total, each) => total + of(each), 0);
  const isOwn = player => player.number !== null && player.settings === '';
  const own = players.filter(isOwn).sort((a, b) => a.number - b.number);
  const [oldest, newest] = [own[0], own[own.length - 1]];
  const tile = (number, text) => html('div', { class: 'tile' }, html('b', {}, number), html('span', {}, text));
  const tiles = [];
  if (newest) {
    tiles.push(tile(`${signed(newest.elo)} ± ${whole(margin(errorOf(newest)))}`, `Elo of ${newest.player}`));
    if (oldest !== newest) tiles.push(tile(signed(newest.elo - oldest.elo), `Elo from ${oldest.player} to ${newest.player}`));
    tiles.push(tile(players.find(isOwn).player, 'strongest model by its rating'));
  }
  tiles.push(tile(whole(pool.black_won + pool.white_won + pool.drawn), 'match games'));
  tiles.push(tile(whole(sum(models, model => model.games)), 'self-play games'));
  byId('tiles').append(...tiles);
  byId('notes').append(...facts.notes.map(note => html('li', {}, note)));
}

function ratings() {
  const { players } = facts;
  byId('players-say').textContent = players.length === 0 ? 'No matches yet.' :
    `${scaleSaid('; ')}± is against ${errorAgainst()}, with 95 %.`;
  if (players.length === 0) return;
  const cells = (kind, texts) => html('tr', {}, ...texts.map(text => html(kind, {}, text)));
  const ends = players.flatMap(player => [player.elo - margin(errorOf(player)), player.elo + margin(errorOf(player))]);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const width = 360;
  const x = elo => 6 + (width - 12) * (elo - low) / (high - low || 1);
  // Where a player stands between all others, with its error.
  const rung = player => {
    const { elo, number } = player;
    const error = errorOf(player);
    const colour = number === null ? 'var(--two)' : 'var(--one)';
    const reach = { x1: x(elo - margin(error)), x2: x(elo + margin(error)), y1: 8, y2: 8 };
    return svg('svg', { width, height: 16, role: 'img' },
      svg('line', { ...reach, stroke: colour, 'stroke-width': 2, 'stroke-opacity': 0.45 }),
      svg('circle', { cx: x(elo), cy: 8, r: 4, fill: colour }));
  };
  const row = (player, rank) => cells('td', [
    `${rank + 1}`, player.player, signed(player.elo), `± ${whole(margin(errorOf(player)))}`, whole(player.games),
    `${player.points}`, player.games > 0 ? percent(player.points / player.games) : '–', rung(player),
  ]);
  byId('ratings').append(
    html('thead', {}, cells('th', ['#', 'player', 'Elo', '±', 'games', 'points', 'score', ''])),
    html('tbody', {}, ...players.map(row)),
  );
}

// By [row][column]: games and points of the row's player.
function meetings() {
  const none = () => ({ games: 0, points: 0, as: [0, 0] });
  const table = facts.players.map(() => facts.players.map(none));
  for (const { black, white, black_won, white_won, drawn } of facts.pairings) {
    const games = black_won + white_won + drawn;
    for (const [one, other, won, colour] of [[black, white, black_won, 0], [white, black, white_won, 1]]) {
      const field = table[one][other];
      field.games += games;
      field.points += won + drawn / 2;
      field.as[colour] += games;
    }
  }
  return table;
}

function matrix() {
  const { players } = facts;
  if (players.length < 2) return empty('matrix', 'nothing yet');
  const table = meetings();
  const label = 12 + 7.2 * Math.max(...players.map(player => player.player.length));
  const cell = Math.max(13, Math.min(34, (byId('matrix').clientWidth - label) / players.length));
  const side = cell * players.length;
  const chart = svg('svg', { width: label + side + 2, height: label + side + 2, role: 'img' });
  players.forEach((player, place) => {
    const at = label + cell * (place + 0.5);
    chart.append(svg('text', { x: label - 6, y: at + 4, 'text-anchor': 'end' }, player.player));
    chart.append(svg('text', { x: 0, y: 0, transform: `translate(${at + 4} ${label - 6}) rotate(-90)` }, player.player));
  });
  chart.append(svg('rect', { x: label, y: label, width: side, height: side, fill: 'none', stroke: 'var(--line)' }));
  table.forEach((fields, one) => fields.forEach((field, other) => {
    const box = { x: label + cell * other, y: label + cell * one, width: cell - 1, height: cell - 1, rx: 2 };
    if (one === other) chart.append(svg('rect', { ...box, fill: 'var(--grid)' }));
    if (field.games === 0) return;
    const share = field.points / field.games;
    const strength = 0.12 + 0.88 * Math.abs(2 * share - 1);
    const group = svg('g', {}, svg('rect', { ...box, fill: share < 0.5 ? 'var(--bad)' : 'var(--good)', 'fill-opacity': strength }));
    if (cell >= 26) {
      const shade = strength > 0.55 ? 'fill: var(--card)' : 'fill: var(--ink)';
      const text = { x: box.x + cell / 2, y: box.y + cell / 2 + 4, 'text-anchor': 'middle', style: `font-size: 11px; ${shade}` };
      group.append(svg('text', text, `${Math.round(100 * share)}`));
    }
    const [black, white] = field.as;
    const says = `${players[one].player} against ${players[other].player}: ${field.points} points in ${field.games} games ` +
      `(${percent(share)}), ${black} of them as Black and ${white} as White.`;
    group.addEventListener('pointermove', event => tip.show(says, event));
    group.addEventListener('pointerleave', tip.hide);
    group.addEventListener('click', () => (byId('matrix-says').textContent = says));
    chart.append(group);
  }));
  byId('matrix').append(chart);
}

function colours() {
  const { pool } = facts;
  const games = pool.black_won + pool.white_won + pool.drawn;
  const { elo, error } = pool.first_move;
  byId('colours-say').textContent = games === 0 ? '' :
    `First-move advantage in matches: ${signed(elo)} ± ${whole(margin(error))} Elo at komi ${facts.run.komi}, ` +
    'fitted together with the ratings.';
  if (games === 0) return empty('match-colours', 'nothing yet');
  const part = (share, colour) => html('div', { style: `flex: ${share}; background: ${colour}` });
  const kinds = [
    { name: `Black won ${whole(pool.black_won)} (${percent(pool.black_won / games)})`, colour: '#26282d' },
    { name: `drawn ${whole(pool.drawn)} (${percent(pool.drawn / games)})`, colour: 'var(--five)' },
    { name: `White won ${whole(pool.white_won)} (${percent(pool.white_won / games)})`, colour: '#f4f1ea' },
  ];
  const parts = [pool.black_won, pool.drawn, pool.white_won].map((count, kind) => part(count / games, kinds[kind].colour));
  const l = pool.lengths;
  byId('match-colours').append(
    html('div', { class: 'split' }, ...parts), legendOf(kinds),
    html('p', { class: 'quiet', style: 'margin-top: 14px' }, `A match game has ${l.mean.toFixed(1)} moves on average, ` +
      `8 in 10 have ${l.tenth} to ${l.ninetieth}, the shortest ${l.shortest} and the longest ${l.longest}. ` +
      `${whole(pool.ends.passes)} ended by two passes, ${whole(pool.ends.pass_alive)} because all was pass-alive, ` +
      `${whole(pool.ends.resignation)} by resignation, ${whole(pool.ends.move_limit)} at the move limit, ` +
      `${whole(pool.ends.forfeit)} by forfeit.`),
  );
}

heading();
ratings();
matrix();
colours();
