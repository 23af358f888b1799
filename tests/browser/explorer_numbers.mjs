// The explorer's numbers are bankcheck predict's: node explorer_numbers.mjs SOURCES-OF-THE-PAGE MODEL.WASM BANKCHECK.
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';

const [folder, model, bankcheck] = process.argv.slice(2);
const {load, pasted} = await import(pathToFileURL(join(folder, 'model.js')));
const ask = await load(readFileSync(model));

let seed = 20240607;
function random(below) {  // a linear congruential generator: the same accesses in every run
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor(seed / 2 ** 32 * below);
}
const pick = list => list[random(list.length)];

const {architectures, operations} = ask({});
let compared = 0;
const fail = text => {
  console.error(text);
  process.exit(1);
};

/** A row of a CSV file, without its id, that the architecture can have. */
function row(architecture, space) {
  for (;;) {
    const operation = pick(operations.filter(name => !name.startsWith('cp.async'))), width = pick([1, 2, 4, 8, 12, 16]);
    const lanes = architecture.warp, step = pick([1, 2, 4, 8, 16, 32, 33, 1 + random(64)]) * width, start = random(64) * width;
    const scattered = random(3) === 0;
    const addresses = Array.from({length: lanes}, (_, lane) => (scattered ? random(512) * width : start + lane * step));
    const full = (1n << BigInt(lanes)) - 1n;
    const mask = random(2) ? full : full & (BigInt(random(2 ** 32)) << 32n | BigInt(random(2 ** 32)));
    const fields = [operation, width, mask.toString(16), ...addresses];
    const answer = ask({...pasted(['x', ...fields].join()), architecture: architecture.name, space});
    if (!answer.error) return [fields, answer];
  }
}

const costs = {shared: ['passes', 'ideal', 'conflicts'], global: ['sectors', 'ideal', 'lines', 'bytes']};

function compare(architecture, space, count) {
  const rows = Array.from({length: count}, () => row(architecture, space));
  const header = ['id', 'op', 'width', 'mask', ...Array.from({length: architecture.warp}, (_, lane) => 'a' + lane)];
  const csv = [header.join(), ...rows.map(([fields], i) => [i, ...fields].join())].join('\n') + '\n';
  const options = ['predict', '--arch', architecture.name, '--space', space, '-'];
  const out = execFileSync(bankcheck, options, {input: csv, maxBuffer: 1 << 26}).toString();
  const [names, ...lines] = out.trim().split('\n').map(line => line.split(','));
  if (lines.length !== count) fail(`${architecture.name}: ${lines.length} rows instead of ${count}`);
  lines.forEach((line, i) => {
    for (const name of costs[space]) {
      const expected = line[names.indexOf(name)], found = String(rows[i][1][name]);
      if (found !== expected) fail(`${architecture.name} ${rows[i][0]}: ${name} ${found} instead of ${expected}`);
    }
    ++compared;
  });
}

for (const architecture of architectures) {
  compare(architecture, 'shared', Math.ceil(10000 / architectures.length));
  const known = !ask({architecture: architecture.name, space: 'global', operation: 'load', width: 4, index: 'tid'}).error;
  if (known) compare(architecture, 'global', 50);
}

// Index expressions: the whole answer is that of --json.
const forms = [
  () => `${1 + random(40)}*tid + ${random(9)}`, () => `tid ^ (tid >> ${random(5)})`, () => `(tid % ${1 + random(9)}) * 33u`,
  () => `tid < ${random(32)} ? 32*tid : ${random(99)}`, () => `min(tid * ${random(50)}, ${random(2000)}) & ~3`,
  () => `(tid / ${random(4)}) << ${random(34)}`, () => `threadIdx.x - ${random(3)}`, () => '7 +', () => `abs(tid - ${random(40)}) * 2ll`,
];
const refusal = error => String(error.stderr).trim().replace(/^bankcheck[^:]*: (--index '.*?': )?/, '').replace(/; see bankcheck [^;]*$/, '');
const native = (architecture, index, width) => {
  const options = ['predict', '--arch', architecture, '--index', index, '--width', String(width), '--json'];
  return JSON.parse(execFileSync(bankcheck, options, {stdio: ['ignore', 'pipe', 'pipe']}));
};
for (let i = 0; i < 200; ++i) {
  const index = pick(forms)(), architecture = pick(architectures).name, width = pick([4, 8, 16]);
  let expected;
  try {
    expected = native(architecture, index, width);
  } catch (error) {
    expected = {error: refusal(error)};
  }
  const {page, field, ...found} = ask({architecture, operation: 'load', width, index});
  if (JSON.stringify(found) !== JSON.stringify(expected)) fail(`${index}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
  ++compared;
}

// Declarations, blocks and variables: the same access as an index that is written out.
const same = [];
for (let i = 0; i < 40; ++i) {
  const row = 1 + random(70), [x, y] = pick([[32, 1], [16, 16], [8, 4], [4, 8]]), k = random(row), value = random(9);
  same.push([{index: 'sum += tile[threadIdx.x][j + K];', declaration: `__shared__ float tile[64][${row} + PAD]`, block: [x, y, 1],
    variables: {j: value, K: k, PAD: 3}}, `(tid % ${x}) * ${row + 3} + ${value + k}`]);
  same.push([{index: `s[get_local_id(1)][tx ^ ty][0]`, declaration: `local int s[8 * 4][64][${row}];`, block: [x, y, 1]},
    `((tid / ${x}) * 64 + (tid % ${x} ^ tid / ${x})) * ${row}`]);
  same.push([{index: `i * ${row}`, declaration: ''}, `tid * ${row}`]);
  same.push([{index: `s[threadIdx.x * ${row}] = 0;`, declaration: 'extern __shared__ int s[];'}, `tid * ${row}`]);
}
for (const [typed, index] of same) {
  const architecture = pick(['sm_90', 'sm_75', 'gfx1100']);
  const expected = native(architecture, index, 4), {page, error, passes, conflicts} = ask({architecture, operation: 'load', width: 0, ...typed});
  if (error || passes !== expected.passes || conflicts !== expected.conflicts) fail(`${JSON.stringify(typed)}: ${error ?? passes} instead of ${expected.passes}`);
  ++compared;
}

// CuTe layouts, computed here once more: their addresses are compared, and their costs are those of these addresses.
for (let i = 0; i < 100; ++i) {
  const bits = random(4), base = random(4), shift = bits + random(3), rows = 1 << random(6), columns = 64, strides = pick([[columns, 1], [1, rows]]);
  const layout = `Swizzle<${bits},${base},${shift}> o (${rows},${columns}):(${strides})`, bytes = pick([2, 4]);
  const type = bytes === 2 ? 'half' : 'float', a = random(8), mask = ((1 << bits) - 1) << base;
  const typed = {index: `(tid % ${rows}, (tid / ${rows} + ${a}) % 64)`, declaration: `${type} s = ${layout}`};
  const expected = Array.from({length: 32}, (_, lane) => {
    const offset = lane % rows * strides[0] + (Math.floor(lane / rows) + a) % 64 * strides[1];
    return (offset ^ offset >> shift & mask) * bytes;
  });
  const found = ask({architecture: 'sm_90', operation: 'load', width: 0, ...typed});
  if (found.error || found.page.addresses.slice(0, 32).join() !== expected.join()) fail(`${JSON.stringify(typed)}: ${found.error ?? found.page.addresses}`);
  const cost = ask({architecture: 'sm_90', operation: 'load', width: bytes, mask: 'ffffffff', addresses: expected});
  if (cost.passes !== found.passes) fail(`${JSON.stringify(typed)}: ${found.passes} passes instead of ${cost.passes}`);
  ++compared;
}

// A fix has the passes that it promises, once it is applied.
let applied = 0;
for (let i = 0; i < 300; ++i) {
  const row = pick([8, 16, 32, 48, 64]), width = pick([0, 0, 8, 16]), typed = pick([
    {index: 'tile[threadIdx.x][i]', declaration: `float tile[32][${row}]`}, {index: `${row}*tid + ${4 * random(4)}`, declaration: ''},
    {index: `tile[ty][tx * 4 % ${row}]`, declaration: `float tile[32][${row}]`, block: [8, 8, 1]},
    {index: 'tile[ty][tx * 4]', declaration: `float tile[32][${row}]`, block: [8, 8, 1]},
    {index: `s[${row} * tid]`, declaration: 'extern __shared__ float s[];'},
    {index: '(tid % 8, tid / 8 * 8)', declaration: `half (8,${row}):(${row},1)`},
    {index: '(tid % 8, tid / 8)', declaration: `${pick(['half', 'float'])} s = Swizzle<${pick(['3,3,3', '2,2,3', '3,2,4', '1,0,6'])}> o (8,${row}):(${row},1)`},
    {index: '(tid % 8, tid / 8)', declaration: `auto s = composition(Swizzle<2,3,3>{}, make_layout(make_shape(8, ${row}), LayoutRight{}))`},
    {index: `Sw<3,4,3> o smem_ptr[32b](unset) o (8,${row}):(${row},1)`, declaration: 'float left[3]'}, {index: `(8,${row}):(${row},1)`, declaration: ''}]);
  const asked = {architecture: pick(['sm_90', 'sm_70']), operation: 'load', width, ...typed}, before = ask(asked);
  if (before.error) continue;
  const {fixes, passes, error} = ask({...asked, fit: true});
  if (Boolean(before.page.outside) !== Boolean(error)) fail(`${JSON.stringify(asked)}: ${error}`);
  if (error) continue;
  if (passes !== before.passes) fail(`${JSON.stringify(asked)}: ${passes} passes instead of ${before.passes}`);
  for (const fix of fixes) {
    const after = ask({...asked, ...fix.apply});
    if (after.passes !== fix.passes) fail(`${JSON.stringify({...asked, ...fix.apply})}: ${after.error ?? after.passes} instead of ${fix.passes}`);
    ++applied;
  }
}
if (compared < 10400 || applied < 100) fail(`only ${compared} accesses were compared, and ${applied} fixes`);
console.log(`${compared} accesses have the same cost; ${applied} fixes have the passes that they promise`);
