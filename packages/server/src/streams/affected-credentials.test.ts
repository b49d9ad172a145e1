import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { accountsOf, credentialNames, podOf } from './affected-credentials.ts';

const names = credentialNames(kubernetes);
const user = (name: string, pod?: string) => ({
  name,
  groups: [],
  ...(pod !== undefined && { extra: { 'authentication.kubernetes.io/pod-name': [pod] } }),
});
const account = user('system:serviceaccount:shop:till', 'till-1');

test.each([
  ['its pod', account, [podOf('shop/till-1')], true],
  ['another pod', account, [podOf('shop/till-2'), podOf('shed/till-1')], false],
  ['an account or Secret of its namespace', account, [accountsOf('shop')], true],
  ['one of another namespace', account, [accountsOf('shopping'), accountsOf('sho'), accountsOf('')], false],
  ['an account without a pod', user('system:serviceaccount:shop:till'), [podOf('shop/till-1')], false],
  ['its bootstrap token', user('system:bootstrap:abcdef'), ['system:bootstrap:abcdef'], true],
  ['another bootstrap token', user('system:bootstrap:abcdef'), ['system:bootstrap:fedcba'], false],
  ['somebody else', user('alice', 'till-1'), [accountsOf('shop'), podOf('shop/till-1')], false],
])('%s', (_, caller, objects, expected) => {
  expect(names({ user: caller, impersonator: undefined }, new Set(objects))).toBe(expected);
  // Who authenticated counts, not whom they act as.
  expect(names({ user: user('carol'), impersonator: caller }, new Set(objects))).toBe(expected);
  expect(names({ user: caller, impersonator: user('carol') }, new Set(objects))).toBe(false);
});
