/** The page about feature gates agrees with the table. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Gate, gates, gatesIn, readFeatureGates } from './feature-gates.ts';

const page = readFileSync(new URL('../../../docs/feature-gates.md', import.meta.url), 'utf8');
const rows = [...page.matchAll(/^\| (\w+) \| (alpha|beta|GA|deprecated) \| ([\d.]+) \| (on|off) \| (.+) \|$/gm)].map((match) =>
  match.slice(1),
);

test('docs/feature-gates.md lists every gate with its stage, release and default', () => {
  const listed = rows.map((row) => row.slice(0, 4));
  const expected = Object.entries(gates).map(([name, gate]) => [name, gate.stage, gate.since, gate.default ? 'on' : 'off']);
  expect(listed).toEqual(expected);
});

test('it names the gates that have no effect here', () => {
  const table: Readonly<Record<string, Gate>> = gates;
  for (const [name = '', , , , text = ''] of rows) {
    const { concerns, stage } = table[name] as Gate;
    if (concerns !== 'server' && stage !== 'GA') expect(text, name).toMatch(/no effect here\.$/);
    if (concerns === 'server') expect(text, name).not.toContain('no effect here');
  }
});

test.each([
  ['SidecarContainers', '1.27', undefined],
  ['SidecarContainers', '1.28', { stage: 'alpha', since: '1.28', default: false, locked: false }],
  ['SidecarContainers', '1.29', { stage: 'beta', since: '1.29', default: true }],
  ['SidecarContainers', '1.36', { stage: 'GA', since: '1.33', locked: true }],
  ['ServerSideFieldValidation', '1.24', { stage: 'alpha', since: '1.23', default: false }],
  ['ServerSideFieldValidation', '1.26', { stage: 'beta', since: '1.25', default: true }],
  ['APIResponseCompression', '1.36', { stage: 'beta', since: '1.16', default: true }],
  ['JobTrackingWithFinalizers', '1.25', { stage: 'beta', since: '1.25', default: true }],
  ['EphemeralContainers', '1.36', undefined],
])('the gate %s in %s', (name, release, facts) => {
  const gate = gatesIn(release)[name];
  if (facts === undefined) expect(gate).toBeUndefined();
  else expect(gate).toMatchObject(facts);
});

const read = (release: string, settings: Record<string, string>) => readFeatureGates(new Map(Object.entries(settings)), { release });

test('the feature of a gate that went while it was on stays on, one that was given up stays off', () => {
  const features = read('1.36', {});
  expect(features.isOn('EphemeralContainers')).toBe(true);
  expect(features.isOn('DynamicKubeletConfig')).toBe(false);
  expect(features.list()).toContain('SidecarContainers');
});

test('gates of other releases, and those that cannot be switched, are refused', () => {
  expect(() => read('1.24', { SidecarContainers: 'true' })).toThrow(
    'unrecognized feature gate: SidecarContainers (release 1.24 does not have it; releases 1.28 to 1.36 do)',
  );
  expect(() => read('1.36', { EphemeralContainers: 'true' })).toThrow('unrecognized feature gate: EphemeralContainers');
  expect(() => read('1.36', { SidecarContainers: 'false' })).toThrow('cannot set feature gate SidecarContainers to false');
  expect(() => read('1.36', { NoSuchGate: 'true' })).toThrow('unknown feature gate NoSuchGate');
});

test('since 1.35 a feature does not start without those that it needs', () => {
  const settings = { ClusterTrustBundleProjection: 'true' };
  expect(() => read('1.34', settings)).not.toThrow();
  expect(() => read('1.35', settings)).toThrow(
    'feature gate ClusterTrustBundleProjection is on and needs ClusterTrustBundle, which is off',
  );
  expect(() => read('1.35', { ...settings, ClusterTrustBundle: 'true' })).not.toThrow();
});
