import { expect, test } from 'vitest';
import { MOST_OWN_ADDRESSES, ownAddresses } from './own-addresses.ts';

const outside = (address: string) => ({ address, internal: false });
const interfaces = () => ({
  lo: [
    { address: '127.0.0.1', internal: true },
    { address: '::1', internal: true },
  ],
  eth0: [outside('192.0.2.7'), outside('2001:db8::7'), outside('fe80::1')],
  eth1: [outside('192.0.2.5'), outside('192.0.2.7'), outside('169.254.1.1')],
  none: undefined,
});

test('a server on all addresses is reached by those of the machine', () => {
  expect(ownAddresses({ bindAddress: '0.0.0.0' }, interfaces)).toEqual(['192.0.2.5', '192.0.2.7']);
  expect(ownAddresses({ bindAddress: '::' }, interfaces)).toEqual(['192.0.2.5', '192.0.2.7', '2001:db8::7']);
  expect(ownAddresses({ bindAddress: '0.0.0.0', advertiseAddress: '198.51.100.1' }, interfaces)).toEqual([
    '198.51.100.1',
    '192.0.2.5',
    '192.0.2.7',
  ]);
});

test('a server on one address is reached by the one that it advertises, too', () => {
  expect(ownAddresses({ bindAddress: '192.0.2.7' }, interfaces)).toEqual([]);
  expect(ownAddresses({ bindAddress: '127.0.0.1', advertiseAddress: '198.51.100.1' }, interfaces)).toEqual(['198.51.100.1']);
});

test('at most so many are named, the advertised one among them', () => {
  const many = () => ({ eth0: Array.from({ length: MOST_OWN_ADDRESSES + 1 }, (_, i) => outside(`192.0.2.${i + 1}`)) });
  const found = ownAddresses({ bindAddress: '0.0.0.0', advertiseAddress: '198.51.100.1' }, many);
  expect(found).toHaveLength(MOST_OWN_ADDRESSES);
  expect(found[0]).toBe('198.51.100.1');
});
