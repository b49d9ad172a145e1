import { expect, test } from 'vitest';
import { nodeAddress, PodAddresses, PodBlocks } from './addresses.ts';

test('blocks are as large as the number of pods needs, and never overlap', () => {
  const blocks = new PodBlocks();
  expect(blocks.take(110)).toBe('10.128.0.0/24');
  expect(blocks.take(1000)).toBe('10.128.4.0/22');
  expect(blocks.take(110)).toBe('10.128.8.0/24');
  blocks.note('10.128.9.0/24');
  expect(blocks.take(110)).toBe('10.128.10.0/24');
  expect(blocks.take(253)).toBe('10.128.11.0/24');
  expect(blocks.take(254)).toBe('10.128.12.0/23');
});

test('all blocks can be taken, and one that was freed is found again', () => {
  const blocks = new PodBlocks();
  let count = 0;
  while (blocks.take(60_000) !== undefined) count++;
  expect(count).toBe(128);
  blocks.free('10.130.0.0/16');
  expect(blocks.take(110)).toBe('10.130.0.0/24');
  expect(blocks.take(60_000)).toBeUndefined();
});

test('addresses of nodes follow from their blocks', () => {
  expect(nodeAddress('10.128.0.0/24')).toBe('172.16.0.2');
  expect(nodeAddress('10.129.1.0/24')).toBe('172.16.1.3');
  expect(nodeAddress('192.168.0.0/24')).toBe('172.16.0.2');
});

test('addresses of pods are kept until they are released, and used again as late as possible', () => {
  const addresses = new PodAddresses('10.128.3.0/24');
  expect(addresses.take('a')).toBe('10.128.3.2');
  expect(addresses.take('b')).toBe('10.128.3.3');
  expect(addresses.take('a')).toBe('10.128.3.2');
  addresses.release('a');
  expect(addresses.take('c')).toBe('10.128.3.4');
  addresses.note('d', '10.128.3.5');
  addresses.note('elsewhere', '10.1.1.1');
  expect(addresses.take('d')).toBe('10.128.3.5');
  expect(addresses.take('e')).toBe('10.128.3.6');
  const taken = new Set<string>();
  for (let i = 0; i < 300; i++) {
    const address = addresses.take(`pod ${i}`);
    if (address !== undefined) taken.add(address);
  }
  // 253 usable ones, of which b, c, d and e have four.
  expect(taken.size).toBe(249);
  addresses.release('c');
  expect(addresses.take('last')).toBe('10.128.3.4');
});
