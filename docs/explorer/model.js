// The bank model in WebAssembly: questions and answers are JSON, see bankcheck/explorer/explorer.cpp.

export async function load(bytes) {
  const module = await WebAssembly.compile(bytes);
  // The C++ library imports functions for files and the environment, which nothing here calls.
  const imports = {};
  for (const {module: group, name} of WebAssembly.Module.imports(module)) (imports[group] ??= {})[name] = () => 0;
  const {exports} = await WebAssembly.instantiate(module, imports);
  exports._initialize?.();
  return question => {
    const text = new TextEncoder().encode(JSON.stringify(question));
    const room = exports.room_for(text.length);
    new Uint8Array(exports.memory.buffer, room, text.length).set(text);
    const bytes = new Uint8Array(exports.memory.buffer, exports.ask());
    return JSON.parse(new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0))));
  };
}

// The access in a pasted line: a row of a CSV file for bankcheck predict (id,op,width,mask,a0,a1,...), or a pattern of a
// trace file. Throws an Error with a sentence.
export function pasted(line) {
  const text = line.trim();
  return text.startsWith('{') ? fromPattern(text) : fromRow(text.split(',').map(field => field.trim()));
}

/** "16 x 16", "dim3(16, 16)" or nothing as the block of a question. Throws an Error with a sentence. */
export function blockOf(text) {
  if (!text.trim()) return {};
  const sizes = text.match(/^\s*(?:dim3\b[\s\w]*)?\(?\s*(\d+)(?:\s*[x×*,\s]\s*(\d+))?(?:\s*[x×*,\s]\s*(\d+))?\s*\)?\s*;?\s*$/i);
  if (!sizes) throw new Error(`'${text.trim().slice(0, 20)}' is not a block: type its threads, as in 256 or 16 x 16`);
  return {block: sizes.slice(1).map(size => Math.min(Number(size ?? 1), 1e9))};
}

/** "__shared__ float s[16][17]; s[tid][0]" as the declaration and the access; ["", text] if no declaration is first. */
export function splitPaste(text) {
  const found = text.match(/^\s*((?!return\b|else\b)(?:[\w:<>]+(?:\([^)]*\))?\s+)+\w+\s*(?:\[[^\]]*\]\s*)+);\s*(\S[^]*)$/);
  return found ? [found[1].trim(), found[2]] : ['', text];
}

const wholeNumber = text => {
  if (!/^\d{1,10}$/.test(text)) throw new Error(`'${text.slice(0, 20)}' is not a number`);
  return Number(text);
};

function fromRow(fields) {
  if (fields.length < 5) throw new Error('a row has the fields id,op,width,mask,a0,a1,...');
  const [, operation, width, mask, ...addresses] = fields;
  if (operation.startsWith('cp.async')) throw new Error('a copy needs its sources: paste it as a pattern of a trace');
  if (!/^(0x)?[0-9a-f]{1,16}$/i.test(mask)) throw new Error(`'${mask.slice(0, 20)}' is not a mask in hexadecimal`);
  return {operation, width: wholeNumber(width), mask, addresses: addresses.map(field => (field === '' ? 0 : wholeNumber(field)))};
}

function fromPattern(text) {
  let pattern;
  try {
    pattern = JSON.parse(text);
  } catch {
    throw new Error('this is neither a row of a CSV file nor a pattern of a trace');
  }
  const {operation, width, mask, address, step, addresses, sources} = pattern;
  if (!/^[0-9a-f]{1,16}$/i.test(mask ?? '') || (!Array.isArray(addresses) && !Number.isInteger(address)))
    throw new Error('a pattern has operation, width, mask, and addresses or address and step');
  const access = {operation: String(operation), width: Number(width), mask, addresses: []};
  if (sources) access.sources = [];
  const bits = BigInt('0x' + mask);
  for (let lane = 0, number = 0; lane < 64 && bits >> BigInt(lane); ++lane) {
    const active = bits >> BigInt(lane) & 1n;
    access.addresses.push(active ? Number(addresses ? addresses[number] : address + number * (step ?? 0)) : 0);
    if (sources) access.sources.push(active ? Number(sources[number]) : 0);
    number += active ? 1 : 0;
  }
  if (!access.addresses.every(value => Number.isInteger(value) && value >= 0 && value < 2 ** 32))
    throw new Error('an address is missing, or is not a number below 2^32');
  return access;
}
