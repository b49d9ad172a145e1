import fc from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import { cidrContains, formatCIDR, formatIP, ipFamily, nonSpecialIP, parseCIDR, parseIP, validIP, validIPv4, validIPv6 } from './ip.ts';

test.each([
  ['10.9.8.7', 'IPv4', '10.9.8.7'],
  ['010.009.8.7', 'IPv4', '10.9.8.7'],
  ['::', 'IPv6', '::'],
  ['::1', 'IPv6', '::1'],
  ['2001:DB8:0:0:1:0:0:1', 'IPv6', '2001:db8::1:0:0:1'],
  ['1:0:0:2:0:0:0:3', 'IPv6', '1:0:0:2::3'],
  ['1:0:2:3:4:5:6:7', 'IPv6', '1:0:2:3:4:5:6:7'],
  ['::ffff:1.2.3.4', 'IPv4', '1.2.3.4'],
  ['64:ff9b::1.2.3.4', 'IPv6', '64:ff9b::102:304'],
])('%s is %s and written %s', (text, family, canonical) => {
  expect(ipFamily(text)).toBe(family);
  expect(formatIP(parseIP(text) as Uint8Array)).toBe(canonical);
});

test.each([
  'nope',
  '',
  '1.2.3',
  '1.2.3.4.5',
  '1.2.3.256',
  '1.2.3.-1',
  '1:2:3',
  ':::',
  '1::2::3',
  'fe80::1%eth0',
  '12345::',
  '1:2:3:4:5:6:7:8:9',
  '1.2.3.4::',
])('%j is no address', (text) => {
  expect(validIP(text)).toEqual(['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']);
});

test('families', () => {
  expect(validIPv4('2001:db8::1')).toEqual(['must be a valid IPv4 address']);
  expect(validIPv6('10.0.0.1')).toEqual(['must be a valid IPv6 address']);
  expect(validIPv4('10.0.0.1')).toEqual([]);
  expect(validIPv6('2001:db8::1')).toEqual([]);
});

test('addresses that lead nowhere else', () => {
  expect(nonSpecialIP('10.0.0.1')).toEqual([]);
  expect(nonSpecialIP('nope')).toEqual(['must be a valid IP address']);
  expect(nonSpecialIP('0.0.0.0')).toEqual(['may not be unspecified (0.0.0.0)']);
  expect(nonSpecialIP('127.0.0.1')).toEqual(['may not be in the loopback range (127.0.0.0/8, ::1/128)']);
  expect(nonSpecialIP('::1')).toEqual(['may not be in the loopback range (127.0.0.0/8, ::1/128)']);
  expect(nonSpecialIP('169.254.0.1')).toEqual(['may not be in the link-local range (169.254.0.0/16, fe80::/10)']);
  expect(nonSpecialIP('fe80::1')).toEqual(['may not be in the link-local range (169.254.0.0/16, fe80::/10)']);
  expect(nonSpecialIP('224.0.0.1')).toEqual(['may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)']);
});

test('ranges', () => {
  const range = parseCIDR('10.0.3.4/22');
  if (range === undefined) throw new Error('the range was not read');
  expect(formatCIDR(range)).toBe('10.0.0.0/22');
  expect(cidrContains(range, parseIP('10.0.3.255') as Uint8Array)).toBe(true);
  expect(cidrContains(range, parseIP('10.0.4.0') as Uint8Array)).toBe(false);
  expect(cidrContains(range, parseIP('2001:db8::1') as Uint8Array)).toBe(false);
  for (const bad of ['10.0.0.1', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/', 'x/8', '10.0.0.0/08', '::/129'])
    expect(parseCIDR(bad)).toBeUndefined();
});

test('what is printed is read as the same address', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
      const bytes = parseIP(text) as Uint8Array;
      expect(bytes).toBeDefined();
      expect(formatIP(parseIP(formatIP(bytes)) as Uint8Array)).toBe(formatIP(bytes));
    }),
  );
});
