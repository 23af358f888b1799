// The pictures: an array coloured by bank with the lanes on it, the banks pass by pass, and the small ones of presets.

/** An element with texts and elements in it. No text is ever read as markup. */
export function element(name, attributes, ...content) {
  return filled(document.createElement(name), attributes, content);
}
const svg = (name, attributes, ...content) =>
  filled(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, content);
function filled(made, attributes, content) {
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}

// Colours are attributes and not styles, so that a saved picture has them, too.
const light = {paper: '#ffffff', ink: '#1b1f24', soft: '#57606a', mark: '#1b1f24', clash: '#b3261e', label: '#ffffff',
  idle: '#d0d7de', busy: '#0757ba', bank: hue => `hsl(${hue}, 72%, 80%)`};
const dark = {paper: '#0f1419', ink: '#e6edf3', soft: '#9aa7b4', mark: '#f0f4f8', clash: '#ff8f85', label: '#0f1419',
  idle: '#3a434d', busy: '#79b8ff', bank: hue => `hsl(${hue}, 42%, 30%)`};
export const isDark = matchMedia('(prefers-color-scheme: dark)');
const palette = () => (isDark.matches ? dark : light);

/** The passes in their order: for each one the lane group, its row, and which lanes are served. */
export const stepsOf = ({pictures}) => pictures.flatMap((group, number) =>
  group.rows.map((row, turn) => ({number, turn, label: row.label, lanes: new Set(row.lanes.flat())})));

/** The lanes whose bank needs several passes. */
function clashingLanes({pictures}) {
  const lanes = new Set();
  for (const {collides, rows} of pictures) {
    for (const bank of collides) for (const row of rows) for (const lane of row.lanes[bank]) lanes.add(lane);
  }
  return lanes;
}

const cell = 20, left = 50, top = 54;

/** The array: rows and columns as the program has them, each element in the colour of its bank. */
export function tilePicture(result, title) {
  const {page: {table, addresses, name, type}, width, mask} = result, colours = palette();
  const {columns, rows, bytes, offsets, banks, bank_bytes: bankBytes, is_array: isArray} = table;
  const lanesOf = Array.from({length: offsets.length}, () => []), active = BigInt(mask);
  const cellsAt = new Map();  // by offset, in pieces that no element crosses
  offsets.forEach((offset, number) => cellsAt.set(offset, number));
  addresses.forEach((address, lane) => {
    if (!(active >> BigInt(lane) & 1n)) return;
    for (let at = address - address % bytes; at < address + width; at += bytes) {
      if (cellsAt.has(at)) lanesOf[cellsAt.get(at)].push([lane, at <= address]);
    }
  });
  const clashing = clashingLanes(result.page);
  const text = (x, y, content, size, attributes = {}) => svg('text', {x, y, 'font-size': size, fill: colours.soft,
    'text-anchor': 'middle', ...attributes}, String(content));
  const wide = Math.max(left + columns * cell + 4, 420), high = top + rows.length * cell + 6;
  const picture = svg('svg', {viewBox: `0 0 ${wide} ${high}`, role: 'img', class: 'tile', 'font-family': 'system-ui, sans-serif',
    'aria-label': `${title}. ${name || 'Memory'} in rows of ${columns}, coloured by bank, with the lanes on it`});
  picture.append(svg('rect', {width: '100%', height: '100%', fill: colours.paper}));
  picture.append(text(2, 15, title, 15, {'text-anchor': 'start', fill: colours.ink, 'font-weight': 600}));
  for (let column = 0; column < columns; column += columns > 40 ? 4 : 1)
    picture.append(text(left + (column + .5) * cell, top - 5, column, 9));
  const half = top + rows.length * cell / 2;
  picture.append(text(left + columns * cell / 2, top - 20, isArray ? 'column' : 'bank', 11),
    text(14, half, 'row', 11, {transform: `rotate(-90 14 ${half})`}));
  rows.forEach((row, y) => picture.append(text(left - 6, top + (y + .68) * cell, row, 9, {'text-anchor': 'end'})));
  offsets.forEach((offset, number) => {
    const bank = Math.floor(offset / bankBytes) % banks, x = left + number % columns * cell;
    const y = top + Math.floor(number / columns) * cell;
    const square = svg('rect', {x, y, width: cell - 1, height: cell - 1, fill: colours.bank(bank * 335 / banks)});
    square.append(svg('title', {}, `${type ? type + ' ' : ''}at byte ${offset}: bank ${bank}`));
    picture.append(square);
  });
  lanesOf.forEach((lanes, number) => {
    if (!lanes.length) return;
    const x = left + number % columns * cell, y = top + Math.floor(number / columns) * cell;
    const fill = lanes.some(([lane]) => clashing.has(lane)) ? colours.clash : colours.mark;
    const mark = svg('g', {class: 'mark', 'data-lanes': lanes.map(([lane]) => lane).join(' ')});
    const first = lanes.find(([, begins]) => begins), radius = first ? 8 : 3.5;
    mark.append(svg('circle', {cx: x + (cell - 1) / 2, cy: y + (cell - 1) / 2, r: radius, fill}));
    if (first) {
      const label = first[0] + (lanes.length > 1 ? '+' : '');
      mark.append(text(x + (cell - 1) / 2, y + 13.5, label, label.length > 2 ? 9 : 11, {fill: colours.label}));
    }
    mark.append(svg('title', {}, 'lanes ' + lanes.map(([lane]) => lane).join(', ')));
    picture.append(mark);
  });
  return picture;
}

/** One lane group: a column for each bank, a row for each pass. */
export function bankTable({title, banks, collides, rows}, number) {
  const red = new Set(collides);
  const cellOf = (lanes, bank) => {
    if (!lanes.length) return element('td', {});
    const attributes = {class: red.has(bank) ? 'clash' : 'busy'};
    if (lanes.length > 1) attributes.title = 'lanes ' + lanes.join(', ');
    return element('td', attributes, lanes[0] + (lanes.length > 1 ? '+' : ''));
  };
  const table = element('table', {class: 'banks'}, element('caption', {}, title),
    element('thead', {}, element('tr', {}, element('th', {scope: 'row'}, 'bank'),
      ...Array.from({length: banks}, (_, bank) => element('th', {scope: 'col'}, String(bank))))),
    element('tbody', {}, ...rows.map(({label, lanes}, turn) =>
      element('tr', {'data-step': `${number} ${turn}`}, element('th', {scope: 'row'}, label), ...lanes.map(cellOf)))));
  table.style.setProperty('--banks', banks);
  return table;
}

/** Global memory: a row for each four sectors that lanes touch, and how much of what moves the lanes need. */
export function sectorTable({sector_bytes: sector, page: {sectors}}) {
  const rows = sectors.slice(0, 32), named = lanes => (lanes.length > 6 ? `${lanes.length} lanes` : lanes.join(' '));
  const cellOf = lanes => (lanes.length
    ? element('td', {class: 'busy', title: 'lanes ' + lanes.join(', ')}, named(lanes)) : element('td', {}));
  const table = element('table', {class: 'sectors'},
    element('thead', {}, element('tr', {}, element('th', {scope: 'row'}, 'byte'),
      ...[0, 1, 2, 3].map(number => element('th', {scope: 'col'}, '+' + number * sector)), element('th', {scope: 'col'}, 'used'))),
    element('tbody', {}, ...rows.map(({first_byte: first, bytes, lanes}) => {
      const moved = sector * lanes.filter(list => list.length).length;
      return element('tr', {}, element('th', {scope: 'row'}, first.toLocaleString('en')), ...lanes.map(cellOf),
        element('td', {}, `${(100 * bytes / moved).toFixed(1)} %`));
    })));
  const more = sectors.length - rows.length;
  return more > 0 ? element('div', {}, table, element('p', {}, `and ${more} more`)) : table;
}

/** Shows one pass in the pictures below an element: its lanes and its row. Without a pass all lanes are shown alike. */
export function showPass(root, step) {
  for (const mark of root.querySelectorAll('.mark')) {
    const served = !step || mark.dataset.lanes.split(' ').some(lane => step.lanes.has(Number(lane)));
    mark.setAttribute('opacity', served ? 1 : .22);
  }
  for (const row of root.querySelectorAll('[data-step]'))
    row.classList.toggle('now', Boolean(step) && row.dataset.step === `${step.number} ${step.turn}`);
}

/** How many passes each bank takes, as bars. */
export function thumbnail({page: {pictures, sectors}, sectors: count, ideal}) {
  const colours = palette(), banks = pictures[0]?.banks ?? 32, loads = Array(banks).fill(0);
  for (const {rows} of pictures) for (const {lanes} of rows) lanes.forEach((list, bank) => { loads[bank] += list.length ? 1 : 0; });
  const touched = (sectors ?? []).flatMap(({lanes}) => lanes.map(list => list.length));
  touched.slice(0, banks).forEach((lanes, number) => { loads[number] = lanes; });
  const clash = sectors ? count > ideal : pictures.some(({collides}) => collides.length), most = Math.max(...loads, 1), high = 20;
  const picture = svg('svg', {viewBox: `0 0 ${banks * 2} ${high + 2}`, 'aria-hidden': 'true', class: 'thumb'});
  loads.forEach((load, bank) => {
    const size = load ? Math.max(3, high * load / Math.max(most, 4)) : 1;
    const fill = !load ? colours.idle : clash ? colours.clash : colours.busy;
    picture.append(svg('rect', {x: bank * 2, y: high + 2 - size, width: 1.5, height: size, fill}));
  });
  return picture;
}

/** The text of a picture as a file. */
export function fileOf(picture) {
  const copy = picture.cloneNode(true), [, , wide, high] = picture.getAttribute('viewBox').split(' ');
  for (const [key, value] of Object.entries({xmlns: 'http://www.w3.org/2000/svg', width: wide, height: high}))
    copy.setAttribute(key, value);
  return new XMLSerializer().serializeToString(copy);
}
