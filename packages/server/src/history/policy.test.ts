import { kubernetes } from '@plat-dev/meta/identity';
import { describe, expect, test } from 'vitest';
import { historyPolicy, readBytes, readHistoryRules, readSpan } from './policy.ts';

const HOUR = 3600 * 1000;
const policyOf = (rules: string[] = []) => historyPolicy(kubernetes, { retentionMs: 24 * HOUR, rules, mostBytes: 100 });
/** `24h values`, or `never`. */
function ruleText(rules: string[], key: string): string {
  const rule = policyOf(rules).ruleOf(key);
  return rule === undefined ? 'never' : `${rule.retentionMs / HOUR}h ${rule.values ? 'values' : 'names'}`;
}

test('the same rules have one name, and others another', () => {
  const names = [[], ['pods=1h'], ['pods=2h'], ['secrets=values']].map((rules) => policyOf(rules).id);
  expect(new Set(names).size).toBe(4);
  expect(policyOf(['pods=1h']).id).toBe(names[1]);
});

describe('without rules', () => {
  test.each([
    ['core/pods/a/p', '24h values'],
    ['core/nodes/n', '24h values'],
    ['~example.com/seeds/a/s', '24h values'],
    ['core/secrets/a/s', '24h names'],
    ['core/events/a/e', 'never'],
    ['coordination/leases/a/l', 'never'],
    ['alloc/ips/10.0.0.1', 'never'],
    ['cluster/servers/a', 'never'],
    ['mark', 'never'],
  ])('%s: %s', (key, rule) => expect(ruleText([], key)).toBe(rule));
});

describe('the most specific rule counts, for each setting', () => {
  test.each([
    [['pods=1h'], 'core/pods/a/p', '1h values'],
    [['pods=1h', 'pods@ci=2h'], 'core/pods/ci/p', '2h values'],
    [['pods@ci=2h', 'pods=1h'], 'core/pods/ci/p', '2h values'],
    [['pods=1h', 'pods=2h'], 'core/pods/a/p', '2h values'],
    [['*@team-a=30d'], 'core/pods/team-a/p', '720h values'],
    [['*@team-a=30d'], 'core/pods/team-b/p', '24h values'],
    [['*@team-a=30d'], 'core/nodes/team-a', '24h values'],
    [['*@team-a=30d', 'pods=1h'], 'core/pods/team-a/p', '1h values'],
    [['*@team-a=30d'], 'core/secrets/team-a/s', '720h names'],
    [['*=30d,values'], 'core/secrets/a/s', '720h names'],
    [['secrets=7d,values'], 'core/secrets/a/s', '168h values'],
    [['secrets@a=values'], 'core/secrets/b/s', '24h names'],
    [['configmaps=novalues'], 'core/configmaps/a/c', '24h names'],
    [['*=never', 'pods=1h'], 'core/pods/a/p', '1h values'],
    [['*=never'], 'core/pods/a/p', 'never'],
    [['*=30d'], 'core/events/a/e', 'never'],
    [['events=1h'], 'core/events/a/e', '1h values'],
    [['leases.coordination.k8s.io=1h'], 'coordination/leases/a/l', '1h values'],
    [['leases.example.com=1h'], 'coordination/leases/a/l', 'never'],
    [['leases.example.com=1h'], '~example.com/leases/a/l', '1h values'],
    [['seeds=1h', 'seeds.example.com=2h'], '~example.com/seeds/a/s', '2h values'],
  ])('%j: %s → %s', (rules, key, rule) => expect(ruleText(rules, key)).toBe(rule));

  test('bytes of one object', () => {
    expect(policyOf(['pods=8Mi']).ruleOf('core/pods/a/p')).toEqual({ retentionMs: 24 * HOUR, values: true, mostBytesPerKey: 8 * 2 ** 20 });
    expect(policyOf().ruleOf('core/pods/a/p')?.mostBytesPerKey).toBe(4 * 2 ** 20);
  });
});

test.each([
  ['pods', /is not of the form KIND/],
  ['pods=', /is not of the form KIND/],
  ['pods@=1h', /is not of the form KIND/],
  ['Pods=1h', /"Pods" is not the plural name of a kind in lower case/],
  ['pods=soon', /"soon" is neither a duration such as 7d or 90m, nor never/],
  ['pods=-1h', /negative|neither a duration/],
])('the rule %s is refused', (rule, message) => expect(() => readHistoryRules([rule])).toThrow(message));

test('durations with days, and sizes', () => {
  expect([readSpan('7d'), readSpan('1d12h'), readSpan('90m'), readSpan('0s')]).toEqual([168 * HOUR, 36 * HOUR, 1.5 * HOUR, 0]);
  expect([readBytes('64Mi'), readBytes('1Gi'), readBytes('1000')]).toEqual([64 * 2 ** 20, 2 ** 30, 1000]);
  expect(() => readBytes('64M')).toThrow('is not a number of bytes such as 64Mi');
});
