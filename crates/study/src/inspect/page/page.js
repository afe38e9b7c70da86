// What is said in words and tables.

function heading() {
  const { model, against, tensors, norms } = facts;
  document.title = `${model.name}: Tengen`;
  byId('title').textContent = against ? `${model.name} against ${against.name}` : model.name;
  byId('about').textContent = model.shape;
  byId('made').textContent = `Written ${new Date(facts.written).toISOString().slice(0, 16).replace('T', ' ')} UTC by Tengen ` +
    `${facts.version}. All numbers are in this page as JSON, in the element “facts”.`;
  const broken = sum(tensors, tensor => tensor.nan + tensor.infinite);
  const dead = sum(norms, norm => norm.dead.length);
  const tile = (number, text, wrong) =>
    html('div', { class: 'tile' }, html('b', wrong ? { class: 'bad' } : {}, number), html('span', {}, text));
  byId('tiles').append(
    tile(whole(model.parameters), 'parameters'),
    tile(`${plain(model.operations / 1e6)} M`, 'multiply-adds per position'),
    tile(whole(broken), 'numbers that are not finite', broken > 0),
    tile(`${whole(dead)} of ${whole(sum(norms, norm => norm.variance.length))}`, 'dead channels', dead > 0),
  );
  byId('notes').append(...facts.notes.map(note => html('li', {}, note)));
}

function tensorTable() {
  const compared = facts.against !== null;
  byId('tensors-say').textContent = 'Statistics cover finite values. Near zero: at most ' +
    `${percent(facts.near_zero)} of the root mean square of its tensor.` +
    (compared ? ` Blue is ${facts.model.name}, orange ${facts.against.name}; the difference is ‖a − b‖ / ‖b‖.` : '');
  const head = ['tensor', 'shape', 'histogram', 'mean', 'sd', 'min', 'max', 'L2', 'near 0', 'not finite'];
  if (compared) head.splice(3, 0, 'difference', 'other’s L2');
  const row = tensor => {
    const { against } = tensor;
    const broken = [[tensor.nan, 'NaN'], [tensor.infinite, '±∞']].filter(([count]) => count > 0).map(([count, name]) => `${whole(count)} ${name}`);
    const cells = [
      named(tensor.name), tensor.dimensions.join('×'), histogram(tensor.histogram, against?.histogram), plain(tensor.mean),
      plain(tensor.deviation), plain(tensor.least), plain(tensor.largest), plain(tensor.norm), tensor.near_zero === null ? '–' : percent(tensor.near_zero, 1),
      broken.length ? bad('td', broken.join(', ')) : '0',
    ];
    if (compared) {
      const difference = !against ? 'not compared' : against.equal ? 'equal' : against.difference === null ? '–' : percent(against.difference, 2);
      cells.splice(3, 0, difference, against ? plain(against.norm) : '–');
    }
    return line('td', cells);
  };
  byId('rows').append(html('thead', {}, line('th', head)), html('tbody', {}, ...facts.tensors.map(row)));
}

function stem() {
  const { planes, filters, largest } = facts.stem;
  byId('stem-says').textContent = `The 3×3 kernels of the ${filters} filters by input plane, filter 0 first. ` +
    `Blue is above 0, orange below, full colour ±${plain(largest)}, its strength by the root; NaN is magenta. Point at a kernel for its numbers.`;
  const figures = planes.map(name => html('figure', {}, html('figcaption', {}, name), html('div', {})));
  byId('filters').append(...figures);
  const draw = () => figures.forEach((figure, plane) => kernels(figure.lastChild, plane));
  draw();
  let last = innerWidth;
  addEventListener('resize', () => {
    if (innerWidth !== last) draw();
    last = innerWidth;
  });
}

function normTable() {
  byId('norms-say').textContent = 'A bar for each channel, in ascending order. A channel is dead, and marked below, where its scale is within ' +
    `±${plain(facts.least_scale)} or its running variance below ${plain(facts.least_variance)}: it is constant. ` +
    'The last batch norm of a block begins with scales of 0. The batch norms of the heads have no scale.';
  const row = norm => line('td', [
    named(norm.name), whole(norm.variance.length), norm.dead.length ? bad('td', whole(norm.dead.length)) : '0',
    norm.scale ? channels(norm.scale, norm.dead) : '–', channels(norm.variance, norm.dead),
  ]);
  byId('channels').append(
    html('thead', {}, line('th', ['batch norm', 'channels', 'dead', 'scale', 'running variance'])),
    html('tbody', {}, ...facts.norms.map(row)),
  );
}

heading();
byId('cards').append(...[facts.model, facts.against].filter(Boolean).map(card));
tensorTable();
stem();
normTable();
