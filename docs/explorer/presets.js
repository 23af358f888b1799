// Cases to begin with. Each has what the page's fields need, and a sentence. Fields that are left out are empty.

const tile = 'float tile[32][32]';

export const presets = [
  {name: 'a column of tile[32][32]', index: 'tile[threadIdx.x][i]', declaration: tile,
   text: 'Rows of 32 words begin in the same bank, so a column lies in one bank: the naive transpose.'},
  {name: 'tile[32][33]: padding', index: 'tile[threadIdx.x][i]', declaration: 'float tile[32][33]',
   text: 'One word of padding shifts each row by one bank, so the column lies in 32 different banks.'},
  {name: 'an XOR swizzle', index: 'tile[threadIdx.x][i ^ threadIdx.x]', declaration: tile,
   text: 'Row r keeps column c at c ^ r. A column lies in 32 banks, and no memory is spent on padding.'},
  {name: 'a block of 16 x 16', index: 'tile[tx][ty]', declaration: 'float tile[16][16]', block: '16 x 16',
   text: 'A warp has two rows of the block: 16 lanes read down one column, and 16 down the next.'},
  {name: 'CuTe: (8,64):(64,1)', index: '(tid % 8, tid / 8 * 8)', declaration: 'half sA = (8,64):(64,1)',
   operation: 'ldmatrix.x4', width: '16',
   text: 'ldmatrix reads rows of 8 halves. Rows of 64 halves are 128 bytes long, and all begin in the same bank.'},
  {name: 'CuTe: Swizzle<3,3,3>', index: '(tid % 8, tid / 8 * 8)',
   declaration: 'half sA = Swizzle<3,3,3> o (8,64):(64,1)', operation: 'ldmatrix.x4', width: '16',
   text: 'The same tile, with chunks of 8 halves exchanged in each row: every matrix has its rows in all banks.'},
  {name: 'a row: neighbouring words', index: 'tid',
   text: 'Each lane reads the word after its neighbour’s. Every bank delivers one word, so one pass is enough.'},
  {name: 'one word for all lanes', index: '7',
   text: 'All lanes read the same word. The bank delivers it once and every lane gets it: a broadcast takes one pass.'},
  {name: 'stride 2', index: '2*tid', text: 'Only every second bank is used, and each has to deliver two words.'},
  {name: 'an odd stride', index: '5*tid',
   text: 'An odd stride meets every bank once before it comes back to the first. There is no conflict.'},
  {name: 'reduction: one word per record', index: '4*tid',
   text: 'Lanes read the first word of neighbouring records of four words: every fourth bank, four words in each.'},
  {name: 'reduction: whole records', index: 'tid', width: '16',
   text: 'The same records with one 16-byte load per lane: four lane groups, each of which uses all banks once.'},
  {name: 'prefix sum, third level', index: '8*tid + 7',
   text: 'Blelloch’s tree doubles the stride from level to level. In the third level eight words share a bank.'},
  {name: 'the same level, padded', index: '8*tid + 7 + (8*tid + 7)/32',
   text: 'One word of padding after every 32 words removes the conflicts of this level.'},
  {name: '8-byte loads', index: 'tid', width: '8',
   text: 'Half of the lanes need all 32 banks, so 8-byte accesses are served in two halves: the ideal is two passes.'},
  {name: 'a histogram whose lanes meet', index: 'tid % 4', operation: 'atomic',
   text: 'Atomics on the same word have to wait for each other, whatever the layout.'},
];

export const defaults = {index: presets[0].index, declaration: tile, block: '', variables: '', operation: 'load', width: '',
  lanes: '', arch: 'sm_90', versus: '', paste: ''};
