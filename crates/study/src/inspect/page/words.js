// Words and tables that all pages about networks have.

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

// A name that may be broken behind its dots.
const named = name => html('code', {}, ...name.split('.').flatMap((part, i) => (i ? [html('wbr'), `.${part}`] : [part])));

// Cells that are text, or elements.
const line = (kind, cells) => html('tr', {}, ...cells.map(cell => (cell instanceof HTMLTableCellElement ? cell : html(kind, {}, cell))));
const bad = (kind, text) => html(kind, { class: 'bad' }, text);
const sum = (all, of) => all.reduce((total, each) => total + of(each), 0);

function card(model) {
  const terms = [
    ['Name', model.name],
    ['Shape', model.shape],
    ['Parameters', whole(model.parameters)],
    ['File', `${whole(model.bytes)} bytes`],
    ['Steps', model.step === null ? null : whole(model.step)],
    ['Configuration', model.config_digest],
    ['Parent', model.parent],
    ['First model of the run', model.first],
    ['Origin', model.origin.map(source => `${source.name} (${source.kind})`).join(', ') || null],
  ];
  const said = terms.filter(([, text]) => text !== null);
  return html('dl', {}, ...said.flatMap(([name, text]) => [html('dt', {}, name), html('dd', {}, text)]));
}
