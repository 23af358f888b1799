import {load, pasted} from './model.js';
import {defaults, presets} from './presets.js';

const at = id => document.getElementById(id);
const fields = Object.keys(defaults);  // all of them are in links

const pastedLesson = 'This is the pasted access. The index above does not apply until you change it.';

let ask;  // answers questions about accesses

/** An element with texts and elements in it. No text is ever read as markup. */
function element(name, attributes, ...content) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}

const state = () => Object.fromEntries(fields.map(field => [field, at(field).value]));

function show(values) {
  for (const field of fields) at(field).value = values[field] ?? defaults[field];
}

/** The state that the link of this page carries. Values that no field can have are left out. */
function fromLink() {
  const link = new URLSearchParams(location.hash.slice(1));
  const values = {...defaults};
  for (const field of fields) {
    const value = link.get(field), options = at(field).options;
    if (value === null || (options && ![...options].some(option => option.value === value))) continue;
    values[field] = value;
  }
  return values;
}

function link() {
  const values = state();
  const changed = fields.filter(field => values[field] !== String(defaults[field])).map(field => [field, values[field]]);
  return '#' + new URLSearchParams(changed);
}

const maskOf = lanes => {
  const count = Number(lanes);
  return lanes === '' ? '' : ((1n << BigInt(Math.max(0, Math.min(64, Math.trunc(count) || 0)))) - 1n).toString(16);
};

function predict(architecture) {
  const {index, operation, width, lanes, paste} = state();
  try {
    if (paste.trim()) return ask({...pasted(paste), architecture});
  } catch (error) {
    return {error: error.message};
  }
  return ask({architecture, index, operation, width: Number(width), mask: maskOf(lanes)});
}

const range = (least, most) => (least === most ? String(least) : `${least} to ${most}`);

function costs(results) {
  const head = ['architecture', 'passes', 'ideal', 'conflicts', 'rule'];
  const rows = results.map(([name, result]) => {
    const cells = result.error
      ? [element('td', {colspan: 4}, result.error)]
      : [element('td', {}, range(result.passes, result.passes_max)), element('td', {}, String(result.ideal)),
         element('td', result.conflicts_max ? {class: 'clash'} : {}, range(result.conflicts, result.conflicts_max)),
         element('td', {}, `${result.source} (${result.evidence})`)];
    return element('tr', {}, element('th', {scope: 'row'}, name), ...cells);
  });
  const table = element('table', {class: 'costs'},
    element('thead', {}, element('tr', {}, ...head.map(text => element('th', {scope: 'col'}, text)))),
    element('tbody', {}, ...rows));
  return element('div', {class: 'scroll', role: 'region', tabindex: 0, 'aria-label': 'costs'}, table);
}

function bankTable({title, banks, collides, rows}) {
  const numbers = [...Array(banks).keys()];
  const red = new Set(collides);
  const cell = (lanes, bank) => {
    if (!lanes.length) return element('td', {});
    const attributes = {class: red.has(bank) ? 'clash' : 'busy'};
    if (lanes.length > 1) attributes.title = 'lanes ' + lanes.join(', ');
    return element('td', attributes, lanes[0] + (lanes.length > 1 ? '+' : ''));
  };
  const table = element('table', {class: 'banks'}, element('caption', {}, title),
    element('thead', {}, element('tr', {}, element('th', {scope: 'row'}, 'bank'),
      ...numbers.map(bank => element('th', {scope: 'col'}, String(bank))))),
    element('tbody', {}, ...rows.map(({label, lanes}) =>
      element('tr', {}, element('th', {scope: 'row'}, label), ...lanes.map(cell)))));
  table.style.setProperty('--banks', banks);
  return table;
}

function picture([name, result]) {
  const region = {class: 'scroll', role: 'region', tabindex: 0, 'aria-label': `banks and passes on ${name}`};
  return element('figure', {}, element('figcaption', {}, name),
    element('div', region, ...result.pictures.map(bankTable)));
}

function update() {
  const {arch, versus} = state();
  const results = [arch, versus].filter((name, i, all) => name && all.indexOf(name) === i).map(name => [name, predict(name)]);
  const failed = results.every(([, result]) => result.error);
  at('error').textContent = failed ? results[0][1].error : '';
  at('index').setAttribute('aria-invalid', failed);
  at('costs').replaceChildren(...(failed ? [] : [costs(results)]));
  at('pictures').replaceChildren(...results.filter(([, result]) => !result.error).map(picture));
  for (const name of ['stride', 'padding', 'swizzle']) at(name + '_value').textContent = at(name).value;
}

function changed() {
  at('shared').textContent = '';
  history.replaceState(null, '', link());
  update();
}

/** The column of a tile that the sliders describe. */
function built() {
  const row = Number(at('stride').value) + Number(at('padding').value), mask = 2 ** Number(at('swizzle').value) - 1;
  return mask ? `${row}*tid + (0 ^ (tid & ${mask}))` : `${row}*tid`;
}

function choosePreset() {
  const chosen = presets[at('preset').value];
  at('lesson').textContent = chosen?.text ?? '';
  if (!chosen) return;
  const {arch, versus} = state();
  show({...chosen, arch, versus});
  changed();
}

/** Fields were changed by hand, so that no preset and no pasted access applies any more. */
function ownAccess() {
  at('paste').value = at('preset').value = at('lesson').textContent = '';
  changed();
}

function showLink() {
  show(fromLink());
  at('lesson').textContent = at('paste').value.trim() ? pastedLesson : '';
  update();
}

function fill({architectures, operations}) {
  const option = (value, text) => element('option', {value}, text);
  at('preset').append(option('', '(choose a case)'), ...presets.map(({name}, i) => option(i, name)));
  at('operation').append(...operations.filter(name => name !== 'cp.async').map(name => option(name, name)));
  const all = architectures.map(({name, gpus}) => option(name, `${name}: ${gpus}`));
  at('arch').append(...all);
  at('versus').append(option('', '(nothing)'), ...all.map(one => one.cloneNode(true)));
}

async function begin() {
  const file = await fetch('banks.wasm');
  if (!file.ok) throw new Error(`banks.wasm: ${file.status}`);
  ask = await load(await file.arrayBuffer());
  fill(ask({}));
  for (const field of ['index', 'operation', 'width', 'lanes']) at(field).addEventListener('input', ownAccess);
  for (const field of ['arch', 'versus']) at(field).addEventListener('input', changed);
  for (const name of ['stride', 'padding', 'swizzle']) {
    at(name).addEventListener('input', () => {
      at('index').value = built();
      ownAccess();
    });
  }
  at('preset').addEventListener('input', choosePreset);
  at('paste').addEventListener('input', () => {
    at('preset').value = '';
    at('lesson').textContent = at('paste').value.trim() ? pastedLesson : '';
    changed();
  });
  at('controls').addEventListener('submit', event => event.preventDefault());
  at('share').addEventListener('click', async () => {
    await navigator.clipboard.writeText(location.href);
    at('shared').textContent = 'The link is in the clipboard.';
  });
  window.addEventListener('hashchange', showLink);
  showLink();
  document.body.dataset.ready = '1';
}

begin().catch(error => {
  at('error').textContent = `The bank model could not be loaded: ${error.message}`;
});
