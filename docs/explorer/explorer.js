import {linkOf, valuesOf, variablesOf} from './link.js';
import {blockOf, load, pasted, splitPaste} from './model.js';
import {bankTable, element, fileOf, isDark, sectorTable, showPass, stepsOf, thumbnail, tilePicture} from './pictures.js';
import {defaults, presets} from './presets.js';

const at = id => document.getElementById(id);
const fields = Object.keys(defaults).filter(field => field !== 'variables');  // those with an element

let unknown = '';  // what a link names and this page does not know
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
  unknown = '';
  for (const field of fields) {
    const options = at(field).options;
    const fits = !options || [...options].some(option => option.value === values[field]);
    at(field).value = fits ? values[field] : defaults[field];
    if (!fits) unknown += `The link has “${values[field]}” for ${at(field).labels[0].textContent}, which this page does not know. `;
  }
}

const maskOf = lanes => {
  const count = Math.max(0, Math.min(64, Math.trunc(Number(lanes)) || 0));
  return lanes === '' ? '' : ((1n << BigInt(count)) - 1n).toString(16);
};

function predict(architecture, values, more = {}) {
  const {index, declaration, operation, width, lanes, paste, space} = values;
  let block;
  try {
    if (paste.trim()) return ask({...pasted(paste), architecture, space, ...more});
    block = blockOf(values.block);
  } catch (error) {
    return {error: error.message, field: paste.trim() ? 'paste' : 'block'};
  }
  const answer = ask({architecture, index, declaration, ...block, variables: variablesOf(values.variables), operation,
    space, width: Number(width), mask: maskOf(lanes), ...more});
  const {outside, block_hint: hint} = answer.page ?? {};
  if (!outside) return answer;
  return {page: answer.page, isOutside: true, error: outside + (hint && ': ' + hint), field: hint ? 'block' : 'declaration'};
}

const range = (least, most) => (least === most ? String(least) : `${least} to ${most}`);
const counted = (number, one) => `${number} ${one}${number === '1' || number === 1 ? '' : 'es'}`;

/** Whether the access costs more than it has to. */
const isBad = ({sectors, ideal, conflicts_max: conflicts}) => (sectors === undefined ? conflicts > 0 : sectors > ideal);

/** The answer in one line. */
function headline(result) {
  return result.space === 'global' ? sectorHeadline(result) : bankHeadline(result);
}

function sectorHeadline({sectors, ideal, bytes_moved: moved, used_percent: used}) {
  const count = `${sectors} ${sectors === 1 ? 'sector' : 'sectors'}`;
  const share = `of ${moved.toLocaleString('en')} bytes moved, used ${used.toFixed(1)} %`;
  return sectors > ideal ? `${count} instead of ${ideal}: ${share}` : `No sector too many: ${count}, ${share}`;
}

function bankHeadline({passes, passes_max: most, ideal, conflicts_max: conflicts, width}) {
  const why = ideal > 1 ? `, the fewest for ${width} bytes per lane` : '';
  if (!conflicts) return `No conflict: ${counted(range(passes, most), 'pass')}${why}`;
  return `${range(Math.ceil(passes / ideal), Math.ceil(most / ideal))}-way conflict: ` +
    `${counted(range(passes, most), 'pass')} instead of ${ideal}`;
}

/** Which lanes meet in which bank, for the lane group with the most passes. */
function explanation({shape, page: {pictures}}) {
  if (shape) return sentence(shape);
  if (!pictures.length) return '';
  const passes = group => Number(group.title.match(/(\d+)\D*$/)?.[1]);
  const [worst] = pictures.filter(group => group.collides.length).sort((a, b) => passes(b) - passes(a));
  if (!worst) return 'No two lanes that are served together need different words of the same bank.';
  const turns = bank => worst.rows.filter(({lanes}) => lanes[bank].length).length;
  const bank = worst.collides.reduce((most, each) => (turns(each) > turns(most) ? each : most));
  const lanes = worst.rows.map(row => row.lanes[bank][0]).filter(lane => lane !== undefined);
  const [served, cost] = worst.title.split(': ');
  const named = lanes.length === 2 ? `${lanes[0]} and ${lanes[1]} both need`
    : lanes.length < 6 ? `${lanes.slice(0, -1).join(', ')} and ${lanes.at(-1)} need`
      : `${lanes.slice(0, 3).join(', ')} and ${lanes.length - 3} more need`;
  return `Lanes ${named} bank ${bank}: ${cost}${pictures.length > 1 ? ` for ${served}` : ''}.`;
}

function costs(results) {
  const isGlobal = results.some(([, result]) => result.space === 'global');
  const head = isGlobal ? ['architecture', 'sectors', 'bytes of a sector', 'ideal', 'cache lines', 'used', 'evidence']
    : ['architecture', 'passes', 'ideal', 'conflicts', 'evidence'];
  const rows = results.map(([name, result]) => {
    const cells = result.error
      ? [element('td', {colspan: head.length - 1}, result.error)]
      : isGlobal ? [result.sectors, result.sector_bytes, result.ideal, result.lines, `${result.used_percent.toFixed(1)} %`,
        `${result.source} (${result.evidence})`].map(text => element('td', {}, String(text)))
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
  if (result.space === 'global') {
    const table = element('div', {class: 'scroll', role: 'region', tabindex: 0, 'aria-label': `sectors on ${name}`}, sectorTable(result));
    const figure = element('figure', {}, element('figcaption', {}, `which sector serves which lanes on ${name}`), table);
    stepsIn.set(figure, []);
    return [figure];
  }
  const tile = tilePicture(result, `${headline(result)} (${name})`);
  const region = {class: 'scroll', role: 'region', tabindex: 0, 'aria-label': `banks and passes on ${name}`};
  const array = element('figure', {class: result.page.table.columns > 40 ? 'array wide' : 'array'},
    element('figcaption', {}, `${result.page.name || 'memory'} on ${name}: colour = bank, circle = lane, in red where it shares a bank`), tile,
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
  if (at('fixes').childNodes.length) return at('fixes').replaceChildren();
  const values = state(), fit = predict(values.arch, values, {fit: true});
  const cards = (fit.fixes ?? []).map(({change, passes, bytes, code, apply}) => {
    const cost = `${counted(passes, 'pass')} instead of ${fit.passes}, ${bytes ? `${bytes} bytes more` : 'no more memory'}`;
    const text = code.join('\n');
    const buttons = [button('Copy code', () => copy(text, 'The code'))];
    if (apply) buttons.unshift(button('Apply', () => {
      history.pushState(null, '', location.href);  // so that Back undoes it
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
      : fit.is_layout ? 'No XOR swizzle of this layout was found that is better; other strides were not tried.'
        : 'No padding and no XOR swizzle helps: no change of the layout is better for exactly these addresses.');
  const home = at('home')?.href, command = element('code', {}, 'bankcheck emulate --fit');
  const note = ['Found for this access alone. Use the same index for every access to the array; ',
    home ? element('a', {href: home.replace(/\/$/, '') + '/blob/main/docs/cli.md#bankcheck-emulate'}, command) : command,
    ' weighs all accesses of a kernel.'];
  at('fixes').replaceChildren(...(cards.length ? [...cards, element('p', {class: 'hint'}, ...note)] : [element('p', {}, why)]));
}

// --- The form ---

/** A field for each variable. They stay while only their values change, so that the focus does. */
function showVariables({operation, width, page: {values = {}, lane_name: laneName, lane_is_element: isElement}}) {
  const box = at('variables'), names = Object.keys(values);
  const text = laneName ? `${laneName} is taken for the number of the lane.`
    : isElement ? `Assumed: lane k accesses element k of the layout, ${width} ${width === 1 ? 'byte' : 'bytes'}, ${operation}.` : '';
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
  at('headline').textContent = failure?.isOutside ? failure.error + '.'
    : failure ? 'This access cannot be computed' : headline(first[1]);
  at('headline').className = failure?.isOutside ? 'bad' : failure ? '' : isBad(first[1]) ? 'bad' : 'good';
  document.title = failure ? 'Bank conflict explorer' : `${headline(first[1])} · Bank conflict explorer`;
  at('error').textContent = unknown + (failure && !failure.isOutside ? sentence(failure.error) : '');
  at('why').textContent = failure ? '' : explanation(first[1]);
  for (const field of ['index', 'declaration', 'block', 'paste']) at(field).setAttribute('aria-invalid', failure?.field === field);
  at('fix').hidden = Boolean(failure) || !first[1].conflicts_max;  // global memory has none
  at('fixes').replaceChildren();
  at('costs').replaceChildren(...(failure ? [] : [costs(results)]));
  at('pictures').replaceChildren(...good.flatMap(pictures));
  const shown = first?.[1] ?? failure;
  if (shown.page) showVariables(shown);
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
  at('shared').textContent = unknown = '';
  try {
    history.replaceState(null, '', linkOf(state()));
  } catch {
    // Safari allows 100 of them in 30 seconds, and sliders can do more: the next change is in the link.
  }
  update();
}

/** Fields were changed by hand, so that no pasted access applies any more. A pasted declaration goes to its field. */
function ownAccess() {
  const [declaration, index] = splitPaste(at('index').value);
  if (declaration) [at('declaration').value, at('index').value] = [declaration, index];
  at('paste').value = '';
  changed();
}

const rowOf = /\[\s*(\d+)(?:\s*\+\s*(\d+))?\s*\](\s*;?\s*)$/;  // the last dimension of a declaration
const columnOf = /^tile\[threadIdx\.x\]\[i(?: \^ (?:\(threadIdx\.x & (\d+)\)|threadIdx\.x))?\]$/;

/** Writes the row length and the padding into the declaration, and the swizzle into the index of a column. */
function build() {
  const padding = Number(at('padding').value), mask = 2 ** Number(at('swizzle').value) - 1;
  const row = at('stride').value + (padding ? ` + ${padding}` : '');
  at('declaration').value = at('declaration').value.replace(rowOf, (all, length, pad, end) => `[${row}]${end}`);
  if (columnOf.test(at('index').value)) at('index').value = `tile[threadIdx.x][${mask ? `i ^ (threadIdx.x & ${mask})` : 'i'}]`;
  ownAccess();
}

/** Sets the sliders to what the code says. They are hidden where they could not write it. */
function showSliders({index, declaration, paste}) {
  const row = declaration.match(rowOf), column = index.match(columnOf);
  at('sliders').hidden = !row || paste.trim() !== '' || row[1] > Number(at('stride').max) || row[2] > Number(at('padding').max);
  at('swizzle').parentElement.hidden = !column;
  if (row) at('stride').value = row[1];
  if (row) at('padding').value = row[2] ?? 0;
  at('swizzle').value = !column?.[0].includes('^') ? 0 : Math.log2(Number(column[1] ?? 31) + 1);
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
  at('operation').append(...operations.filter(name => !name.startsWith('cp.async')).map(name => option(name, name)));
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
  for (const field of ['arch', 'versus', 'paste', 'space']) at(field).addEventListener('input', changed);
  for (const field of ['arch', 'versus', 'space']) at(field).addEventListener('change', changed);  // some browsers send only this
  for (const field of ['operation', 'width']) at(field).addEventListener('change', ownAccess);
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
  for (const id of ['actions', 'code', 'presets', 'results', 'settings', 'terms']) at(id).hidden = false;
  document.body.dataset.ready = '1';
}

begin().catch(error => {
  at('headline').textContent = 'The page cannot compute';
  at('lesson').textContent = 'It needs WebAssembly with exceptions: Chrome 95, Firefox 100, Safari 15.2 or newer.';
  at('error').textContent = String(error.message);
});
