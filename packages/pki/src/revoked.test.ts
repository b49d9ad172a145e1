import type { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { readRevoked } from './revoked.ts';

test('a serial number counts in every form that tools print it in', () => {
  const has = (line: string): boolean => readRevoked(line).has({ serialNumber: '0A1B', issuer: 'O=x\nCN=ca' } as X509Certificate);
  for (const line of ['a1b', '0A:1B', '0x0a1b', 'serial=0A1B', 'serial=0A1B ca', '# lost\nserial=0A1B\n'])
    expect(has(line), line).toBe(true);
  for (const line of ['', 'serial=0A1C', 'serial=0A1B other-ca']) expect(has(line), line).toBe(false);
  expect(() => readRevoked('serial=')).toThrow('line 1: not a serial number');
  expect(() => readRevoked('0a1b\nsubject=0A1B')).toThrow('line 2: not a serial number');
});
