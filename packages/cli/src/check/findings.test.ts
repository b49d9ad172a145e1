import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { Catalogue } from '../convert/catalogue.ts';
import { type Fate, type Finding, Findings, fateOf, MAX_FINDINGS } from './findings.ts';

const catalogue = new Catalogue(kubernetes);

test.each<[string, string, string, Partial<Fate> | undefined]>([
  ['batch/v1beta1', 'CronJob', '1.20', undefined],
  ['batch/v1beta1', 'CronJob', '1.21', { level: 'deprecated', removedIn: '1.25', use: 'batch/v1' }],
  ['batch/v1beta1', 'CronJob', '1.25', { level: 'removed', removedIn: '1.25', use: 'batch/v1' }],
  ['batch/v1', 'CronJob', '1.20', { level: 'removed', use: 'batch/v1beta1', notes: ['it was added in 1.21'] }],
  ['flowcontrol.apiserver.k8s.io/v1beta1', 'FlowSchema', '1.26', { level: 'removed', use: 'flowcontrol.apiserver.k8s.io/v1beta3' }],
  ['policy/v1beta1', 'PodSecurityPolicy', '1.24', { level: 'deprecated', removedIn: '1.25' }],
  ['policy/v1beta1', 'PodSecurityPolicy', '1.25', { level: 'removed', notes: [expect.stringContaining('use pod security admission')] }],
  ['v1', 'Pod', '1.27', undefined],
])('%s %s in %s', (apiVersion, kind, release, fate) => {
  const served = catalogue.find(apiVersion, kind);
  expect(served).toBeDefined();
  const found = fateOf(served as NonNullable<typeof served>, catalogue, release);
  if (fate === undefined) expect(found).toBeUndefined();
  else expect(found).toMatchObject(fate);
});

test('findings beyond the bound are counted', () => {
  const findings = new Findings();
  const one: Finding = { level: 'removed', type: 'object', apiVersion: 'a/v1', kind: 'A', where: 'x', notes: [] };
  for (let i = 0; i < MAX_FINDINGS + 2; i++) findings.add(one);
  expect([findings.list.length, findings.more, findings.mustChange]).toEqual([MAX_FINDINGS, 2, true]);
});
