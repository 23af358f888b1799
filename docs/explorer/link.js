// The state of the page as the part of its address after #: short keys, and only what differs from the defaults.
import {defaults} from './presets.js';

const keys = {i: 'index', d: 'declaration', b: 'block', v: 'variables', o: 'operation', w: 'width', l: 'lanes', a: 'arch',
  c: 'versus', p: 'paste', s: 'space'};
const firstIndex = '32*tid';  // the default of links with long keys, which knew no declarations

/** The values of a link's fields. An index without a declaration has none. */
export function valuesOf(hash) {
  const link = new URLSearchParams(hash.replace(/^#/, '')), values = {...defaults};
  const long = Object.values(keys).filter(field => link.has(field));
  if (long.length) Object.assign(values, {index: firstIndex, declaration: ''});
  for (const field of long) values[field] = link.get(field);
  if (link.has('i')) values.declaration = '';
  for (const [key, field] of Object.entries(keys)) {
    if (link.has(key)) values[field] = link.get(key);
  }
  return values;
}

export function linkOf(values) {
  const link = [], add = (key, value) => link.push(key + '=' + short(value));
  const typed = values.index !== defaults.index || values.declaration !== defaults.declaration;
  for (const [key, field] of Object.entries(keys)) {
    if (field === 'index' ? typed : field === 'declaration' ? typed && values[field] : values[field] !== defaults[field])
      add(key, values[field]);
  }
  return '#' + link.join('&');
}

/** Escapes no more than programs need to find the end of an address. */
const short = text => encodeURIComponent(text).replace(/%(2C|2F|3A|3D)/g, decodeURIComponent).replace(/%20/g, '+')
  .replace(/\)$/, '%29');

/** "i:3,k:1" as {i: 3, k: 1}. */
export function variablesOf(text) {
  const pairs = text.split(',').map(pair => pair.split(':')).filter(([name, value]) => name && /^-?\d{1,9}$/.test(value ?? ''));
  return Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)]));
}
