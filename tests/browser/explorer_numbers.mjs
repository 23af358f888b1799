// The explorer's numbers are bankcheck predict's: node explorer_numbers.mjs FOLDER-OF-THE-PAGE BANKCHECK.
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';

const [folder, bankcheck] = process.argv.slice(2);
const {load, pasted} = await import(pathToFileURL(join(folder, 'model.js')));
const ask = await load(readFileSync(join(folder, 'banks.wasm')));

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
function row(architecture) {
  for (;;) {
    const operation = pick(operations.filter(name => name !== 'cp.async')), width = pick([1, 2, 4, 8, 12, 16]);
    const lanes = architecture.warp, step = pick([1, 2, 4, 8, 16, 32, 33, 1 + random(64)]) * width, start = random(64) * width;
    const scattered = random(3) === 0;
    const addresses = Array.from({length: lanes}, (_, lane) => (scattered ? random(512) * width : start + lane * step));
    const full = (1n << BigInt(lanes)) - 1n;
    const mask = random(2) ? full : full & (BigInt(random(2 ** 32)) << 32n | BigInt(random(2 ** 32)));
    const fields = [operation, width, mask.toString(16), ...addresses];
    const answer = ask({...pasted(['x', ...fields].join()), architecture: architecture.name});
    if (!answer.error) return [fields, answer];
  }
}

for (const architecture of architectures) {
  const count = Math.ceil(10000 / architectures.length);
  const rows = Array.from({length: count}, () => row(architecture));
  const header = ['id', 'op', 'width', 'mask', ...Array.from({length: architecture.warp}, (_, lane) => 'a' + lane)];
  const csv = [header.join(), ...rows.map(([fields], i) => [i, ...fields].join())].join('\n') + '\n';
  const out = execFileSync(bankcheck, ['predict', '--arch', architecture.name, '-'], {input: csv, maxBuffer: 1 << 26}).toString();
  const [names, ...lines] = out.trim().split('\n').map(line => line.split(','));
  if (lines.length !== count) fail(`${architecture.name}: ${lines.length} rows instead of ${count}`);
  lines.forEach((line, i) => {
    for (const name of ['passes', 'ideal', 'conflicts']) {
      const expected = line[names.indexOf(name)], found = String(rows[i][1][name]);
      if (found !== expected) fail(`${architecture.name} ${rows[i][0]}: ${name} ${found} instead of ${expected}`);
    }
    ++compared;
  });
}

// Index expressions: the whole answer is that of --json.
const forms = [
  () => `${1 + random(40)}*tid + ${random(9)}`, () => `tid ^ (tid >> ${random(5)})`, () => `(tid % ${1 + random(9)}) * 33u`,
  () => `tid < ${random(32)} ? 32*tid : ${random(99)}`, () => `min(tid * ${random(50)}, ${random(2000)}) & ~3`,
  () => `(tid / ${random(4)}) << ${random(34)}`, () => `threadIdx.x - ${random(3)}`, () => '7 +', () => `abs(tid - ${random(40)}) * 2ll`,
];
for (let i = 0; i < 200; ++i) {
  const index = pick(forms)(), architecture = pick(architectures).name, width = pick([4, 8, 16]);
  let expected;
  try {
    const options = ['predict', '--arch', architecture, '--index', index, '--width', String(width), '--json'];
    expected = JSON.parse(execFileSync(bankcheck, options, {stdio: ['ignore', 'pipe', 'pipe']}));
  } catch (error) {
    expected = {error: String(error.stderr).replace(/^bankcheck: /, '').trim()};
  }
  const {addresses, pictures, ...found} = ask({architecture, operation: 'load', width, index});
  if (JSON.stringify(found) !== JSON.stringify(expected)) fail(`${index}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
  ++compared;
}
if (compared < 10200) fail(`only ${compared} accesses were compared`);
console.log(`${compared} accesses have the same cost`);
