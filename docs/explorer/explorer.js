import {linkOf, valuesOf, variablesOf} from './link.js';
import {load, pasted} from './model.js';
import {bankTable, element, fileOf, isDark, showPass, stepsOf, thumbnail, tilePicture} from './pictures.js';
import {defaults, presets} from './presets.js';

const at = id => document.getElementById(id);
const fields = Object.keys(defaults).filter(field => field !== 'variables');  // those with an element

const pastedLesson = 'This is the pasted access. The index does not apply until you change it.';
const isStill = matchMedia('(prefers-reduced-motion: reduce)');

let ask;  // answers questions about accesses
let variables = '';  // as in links: the values of names that mean nothing to the model
let gpus = {};  // by architecture
let last = 0, timer = 0;  // the last pass of the longest access, and the timer that plays them
const stepsIn = new WeakMap();  // the passes of each picture: architectures differ

const state = () => ({...Object.fromEntries(fields.map(field => [field, at(field).value])), variables});

function show(values) {
  variables = values.variables;
  for (const field of fields) {
    const options = at(field).options;
    const fits = !options || [...options].some(option => option.value === values[field]);
    at(field).value = fits ? values[field] : defaults[field];
  }
}

const maskOf = lanes => {
  const count = Math.max(0, Math.min(64, Math.trunc(Number(lanes)) || 0));
  return lanes === '' ? '' : ((1n << BigInt(count)) - 1n).toString(16);
};

function blockOf(text) {
  const sizes = text.split(/[^0-9]+/).filter(Boolean).map(Number);
  return sizes.length ? {block: [...sizes, 1, 1].slice(0, 3)} : {};
}

function predict(architecture, values, more = {}) {
  const {index, declaration, block, operation, width, lanes, paste} = values;
  try {
    if (paste.trim()) return ask({...pasted(paste), architecture, ...more});
  } catch (error) {
    return {error: error.message, field: 'paste'};
  }
  return ask({architecture, index, declaration, ...blockOf(block), variables: variablesOf(values.variables), operation,
    width: Number(width), mask: maskOf(lanes), ...more});
}

const range = (least, most) => (least === most ? String(least) : `${least} to ${most}`);
const counted = (number, one) => `${number} ${one}${number === '1' || number === 1 ? '' : 'es'}`;

/** The answer in one line. */
function headline({passes, passes_max: most, ideal, conflicts_max: conflicts, width}) {
  const why = ideal > 1 ? `, the fewest for ${width} bytes per lane` : '';
  if (!conflicts) return `No conflict: ${counted(range(passes, most), 'pass')}${why}`;
  return `${range(Math.ceil(passes / ideal), Math.ceil(most / ideal))}-way conflict: ` +
    `${counted(range(passes, most), 'pass')} instead of ${ideal}`;
}

function costs(results) {
  const head = ['architecture', 'passes', 'ideal', 'conflicts', 'evidence'];
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

function button(text, action, attributes = {}) {
  const made = element('button', {type: 'button', ...attributes}, text);
  made.addEventListener('click', action);
  return made;
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    at('shared').textContent = `${what} is in the clipboard.`;
  } catch {
    at('shared').textContent = 'The browser does not let this page write to the clipboard.';
  }
}

function save(text, name) {
  const link = element('a', {href: URL.createObjectURL(new Blob([text], {type: 'image/svg+xml'})), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const saving = (text, what, name) => element('p', {class: 'buttons small'},
  button('Copy SVG', () => copy(text(), what)), ' ', button('Save SVG', () => save(text(), name)));

function pictures([name, result]) {
  const tile = tilePicture(result, `${headline(result)} (${name})`);
  const region = {class: 'scroll', role: 'region', tabindex: 0, 'aria-label': `banks and passes on ${name}`};
  const array = element('figure', {class: result.page.table.columns > 40 ? 'array wide' : 'array'},
    element('figcaption', {}, `${result.page.name || 'memory'}, a colour for each bank of ${name}`), tile,
    saving(() => fileOf(tile), 'The picture', `${result.page.name || 'memory'}.svg`));
  const banks = element('figure', {}, element('figcaption', {}, `which bank serves which lane, pass by pass`),
    element('div', region, ...result.page.pictures.map(bankTable)),
    saving(() => predict(name, state(), {svg: true}).page.svg, 'The picture', 'banks.svg'));
  const shown = result.page.pictures.length ? [array, banks] : [array];
  for (const figure of shown) stepsIn.set(figure, stepsOf(result.page));
  return shown;
}

// --- Pass by pass ---

function setPass(number) {
  at('pass').value = number;
  const shown = Number(at('pass').value);
  at('pass_value').textContent = shown ? `${shown} of ${last}` : `1 to ${last}`;
  for (const figure of at('pictures').children)
    showPass(figure, shown ? stepsIn.get(figure)[shown - 1] ?? {lanes: new Set()} : null);
}

function stop() {
  clearInterval(timer);
  timer = 0;
  at('play').textContent = 'Play';
}

function play() {
  if (timer) return stop();
  const milliseconds = Math.max(120, Math.min(700, 6000 / last));
  setPass(1);
  at('play').textContent = 'Stop';
  timer = setInterval(() => {
    const next = Number(at('pass').value) + 1;
    setPass(next > last ? 0 : next);
    if (next > last) stop();
  }, milliseconds);
}

function move(by) {
  stop();
  setPass((Number(at('pass').value) + by + last + 1) % (last + 1));
}

function resetPasses() {
  stop();
  last = Math.max(0, ...[...at('pictures').children].map(figure => stepsIn.get(figure).length));
  at('pass').max = last;
  at('player').hidden = last < 2;
  at('play').hidden = isStill.matches;
  setPass(0);
}

// --- The fix ---

function showFixes() {
  const values = state(), fit = predict(values.arch, values, {fit: true});
  const cards = (fit.fixes ?? []).map(({change, passes, bytes, code, apply}) => {
    const cost = `${counted(passes, 'pass')} instead of ${fit.passes}, ${bytes ? `${bytes} bytes more` : 'no more memory'}`;
    const text = code.join('\n');
    const buttons = [button('Copy code', () => copy(text, 'The code'))];
    if (apply) buttons.unshift(button('Apply', () => {
      for (const [field, value] of Object.entries(apply)) at(field).value = value;
      ownAccess();
      at('headline').scrollIntoView({block: 'nearest'});
    }, {class: 'main'}), ' ');
    return element('article', {}, element('h3', {}, change === 'XOR' ? 'XOR swizzle' : change), element('p', {}, cost),
      element('pre', {}, text), element('p', {class: 'buttons'}, ...buttons));
  });
  const least = fit.least === fit.passes;
  const why = fit.error || (fit.reason ? `Nothing to propose: ${fit.reason}.`
    : least ? 'No layout helps: these lanes need the same word or the same bank in turn wherever the data lies.'
      : 'No padding and no XOR swizzle helps: no change of the layout is better for exactly these addresses.');
  const note = 'Found by the search of bankcheck fit for this access alone. Use the same index for every access to the array; ' +
    'bankcheck emulate --fit weighs all accesses of a kernel.';
  at('fixes').replaceChildren(...(cards.length ? [...cards, element('p', {class: 'hint'}, note)] : [element('p', {}, why)]));
}

// --- The form ---

/** A field for each variable. They stay while only their values change, so that the focus does. */
function showVariables({page: {values = {}, lane_name: laneName}}) {
  const box = at('variables'), names = Object.keys(values);
  const text = laneName ? `${laneName} is taken for the number of the lane.` : '';
  const shown = [...box.querySelectorAll('input')].map(input => input.name);
  if (shown.join() === names.join() && box.dataset.text === text) return;
  box.dataset.text = text;
  box.replaceChildren(text, ...names.map(name => {
    const input = element('input', {type: 'number', name, value: values[name]});
    input.addEventListener('input', () => {
      const now = Object.fromEntries([...box.querySelectorAll('input')].map(each => [each.name, Number(each.value) || 0]));
      variables = Object.entries(now).map(pair => pair.join(':')).join();
      changed();
    });
    return element('label', {}, `${name} in all lanes `, input);
  }));
}

const sentence = text => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');

function update() {
  const values = state();
  const names = [values.arch, values.versus].filter((name, i, all) => name && all.indexOf(name) === i);
  const results = names.map(name => [name, predict(name, values)]), good = results.filter(([, result]) => !result.error);
  const [first] = results[0][1].error ? good : results, failure = good.length ? null : results[0][1];
  at('headline').textContent = failure ? 'This access cannot be computed' : headline(first[1]);
  at('headline').className = failure ? '' : first[1].conflicts_max ? 'bad' : 'good';
  document.title = failure ? 'Bank conflict explorer' : `${headline(first[1])} · Bank conflict explorer`;
  at('error').textContent = failure ? sentence(failure.error)
    : first[1].page.is_outside ? `An index is outside of its dimension of ${first[1].page.name}.` : '';
  for (const field of ['index', 'declaration', 'paste']) at(field).setAttribute('aria-invalid', failure?.field === field);
  at('fix').hidden = Boolean(failure) || !first[1].conflicts_max;
  at('fixes').replaceChildren();
  at('costs').replaceChildren(...(failure ? [] : [costs(results)]));
  at('pictures').replaceChildren(...good.flatMap(pictures));
  if (first) showVariables(first[1]);
  resetPasses();
  showSliders(values);
  const same = preset => fields.every(field => ['arch', 'versus'].includes(field) || values[field] === valueIn(preset, field));
  for (const chip of at('presets').children) chip.setAttribute('aria-pressed', same(presets[chip.value]));
  const preset = presets.find(same);
  at('lesson').textContent = preset?.text ?? (values.paste.trim() ? pastedLesson : '');
  if (first) at('lesson').append(` On ${first[0]} (${gpus[first[0]]}).`);
}

const valueIn = (preset, field) => preset[field] ?? (['index', 'declaration'].includes(field) ? '' : defaults[field]);

function changed() {
  at('shared').textContent = '';
  try {
    history.replaceState(null, '', linkOf(state()));
  } catch {
    // Safari allows 100 of them in 30 seconds, and sliders can do more: the next change is in the link.
  }
  update();
}

/** Fields were changed by hand, so that no pasted access applies any more. */
function ownAccess() {
  at('paste').value = '';
  changed();
}

/** The column of a tile that the sliders describe. */
function build() {
  const padding = Number(at('padding').value), mask = 2 ** Number(at('swizzle').value) - 1;
  at('declaration').value = `float tile[32][${at('stride').value}${padding ? ` + ${padding}` : ''}]`;
  at('index').value = `tile[threadIdx.x][${mask ? `i ^ (threadIdx.x & ${mask})` : 'i'}]`;
  ownAccess();
}

/** Sets the sliders to what the code says, if it is such a column. */
function showSliders({index, declaration}) {
  const row = declaration.match(/\]\[(\d+)(?: \+ (\d+))?\]$/), mask = index.match(/\^ \(?threadIdx\.x(?: & (\d+)\))?\]$/);
  if (row) at('stride').value = row[1];
  if (row) at('padding').value = row[2] ?? 0;
  at('swizzle').value = mask ? Math.log2(Number(mask[1] ?? 31) + 1) : 0;
  for (const name of ['stride', 'padding', 'swizzle']) at(name + '_value').textContent = at(name).value;
}

function choose(preset) {
  const {arch, versus} = state();
  show({...Object.fromEntries(Object.keys(defaults).map(field => [field, valueIn(preset, field)])), arch, versus});
  changed();
}

function showChips() {
  at('presets').replaceChildren(...presets.map((preset, number) => {
    const values = Object.fromEntries(Object.keys(defaults).map(field => [field, valueIn(preset, field)]));
    const chip = button('', () => choose(preset), {value: number, 'aria-pressed': false});
    chip.append(thumbnail(predict(defaults.arch, values)), element('span', {}, preset.name));
    return chip;
  }));
}

function fill({architectures, operations}) {
  const option = (value, text) => element('option', {value}, text);
  at('operation').append(...operations.filter(name => name !== 'cp.async').map(name => option(name, name)));
  gpus = Object.fromEntries(architectures.map(({name, gpus: list}) => [name, list]));
  const all = architectures.map(({name}) => option(name, `${name}: ${gpus[name]}`));
  at('arch').append(...all);
  at('versus').append(option('', '(nothing)'), ...all.map(one => one.cloneNode(true)));
}

async function begin() {
  const bytes = Uint8Array.from(atob(at('model').textContent), letter => letter.charCodeAt(0));
  ask = await load(bytes);
  fill(ask({}));
  for (const field of ['index', 'declaration', 'block', 'operation', 'width', 'lanes']) at(field).addEventListener('input', ownAccess);
  for (const field of ['arch', 'versus', 'paste']) at(field).addEventListener('input', changed);
  for (const name of ['stride', 'padding', 'swizzle']) at(name).addEventListener('input', build);
  for (const form of document.forms) form.addEventListener('submit', event => event.preventDefault());
  at('fix').addEventListener('click', showFixes);
  at('share').addEventListener('click', () => copy(location.href, 'The link'));
  at('play').addEventListener('click', play);
  at('step').addEventListener('click', () => move(1));
  at('back').addEventListener('click', () => move(-1));
  at('pass').addEventListener('input', () => { stop(); setPass(at('pass').value); });
  const redraw = () => { showChips(); update(); };
  isDark.addEventListener('change', redraw);
  isStill.addEventListener('change', update);
  window.addEventListener('hashchange', () => { show(valuesOf(location.hash)); update(); });
  show(valuesOf(location.hash));
  redraw();
  for (const id of ['actions', 'code', 'presets', 'results', 'settings']) at(id).hidden = false;
  document.body.dataset.ready = '1';
}

begin().catch(error => {
  at('headline').textContent = 'The page cannot compute';
  at('lesson').textContent = 'It needs WebAssembly with exceptions: Chrome 95, Firefox 100, Safari 15.2 or newer.';
  at('error').textContent = String(error.message);
});
