// SPDX-License-Identifier: MIT
// Cases to begin with. Each has what the page's fields need, and a sentence. Fields that are left out have the defaults.

export const defaults = {index: '32*tid', operation: 'load', width: 4, lanes: '', arch: 'sm_90', versus: '', paste: ''};

export const presets = [
  {name: 'a row: neighbouring words', index: 'tid',
   text: 'Each lane reads the word after its neighbour’s. Every bank delivers one word, so one pass is enough.'},
  {name: 'one word for all lanes (broadcast)', index: '7',
   text: 'All lanes read the same word. The bank delivers it once and every lane gets it: one pass.'},
  {name: 'stride 2', index: '2*tid',
   text: 'Only every second bank is used, and each has to deliver two words.'},
  {name: 'an odd stride', index: '5*tid',
   text: 'An odd stride meets every bank once before it comes back to the first. There is no conflict.'},
  {name: 'a column of tile[32][32]', index: '32*tid',
   text: 'Rows of 32 words begin in the same bank, so a column lies in one bank: the naive transpose.'},
  {name: 'a column of tile[32][33] (padding)', index: '33*tid',
   text: 'One word of padding shifts each row by one bank, so the column lies in 32 different banks.'},
  {name: 'a column with an XOR swizzle', index: '32*tid + (3 ^ (tid & 31))',
   text: 'Row r keeps column c at c ^ r. Column 3 lies in 32 banks, and no memory is spent on padding.'},
  {name: 'reduction tree: one word of each 16-byte record', index: '4*tid',
   text: 'Lanes read the first word of neighbouring records of four words: every fourth bank, four words in each.'},
  {name: 'reduction tree: whole 16-byte records', index: 'tid', width: 16,
   text: 'The same records with one 16-byte load per lane: all banks are busy in every pass.'},
  {name: 'prefix sum: up-sweep, third level', index: '8*tid + 7',
   text: 'Blelloch’s tree doubles the stride from level to level. In the third level eight words share a bank.'},
  {name: 'prefix sum: the same level, padded', index: '8*tid + 7 + (8*tid + 7)/32',
   text: 'One word of padding after every 32 words removes most of the conflicts of the tree.'},
  {name: '8-byte loads (LDS.64)', index: 'tid', width: 8,
   text: 'Half of the lanes need all 32 banks, so 8-byte accesses are served in two halves: the ideal is two passes.'},
  {name: '16-byte loads (LDS.128)', index: 'tid', width: 16,
   text: 'A quarter of the lanes needs all 32 banks: four lane groups, and four passes without any conflict.'},
  {name: 'ldmatrix, rows of 128 bytes', index: '8*tid', operation: 'ldmatrix.x4', width: 16,
   text: 'Each lane gives the address of a row of 16 bytes. Rows 128 bytes apart begin in the same bank.'},
  {name: 'ldmatrix, rows of 144 bytes', index: '9*tid', operation: 'ldmatrix.x4', width: 16,
   text: 'Sixteen bytes of padding per row: the eight rows of a matrix lie in different banks.'},
  {name: 'a histogram whose lanes meet', index: 'tid % 4', operation: 'atomic',
   text: 'Atomics on the same word have to wait for each other.'},
];
