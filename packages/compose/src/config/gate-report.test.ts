import { gates, readFeatureGates } from '@plat-dev/kinds/feature-gates';
import { Metrics } from '@plat-dev/lib/metrics';
import { expect, test } from 'vitest';
import { gateLines, registerGates } from './gate-report.ts';
import { serverHelp } from './server-options.ts';

test('help has one line for each gate, with its stage, its default and since when', () => {
  const lines = serverHelp(140)
    .split('\n')
    .map((line) => line.trim());
  for (const [name, gate] of Object.entries(gates)) {
    const own = lines.filter((line) => line.startsWith(`${name}=`));
    expect(own, name).toHaveLength(1);
    expect(own[0]).toContain(`(${gate.stage.toUpperCase()} since ${gate.since}, `);
    if (gate.stage !== 'GA') expect(own[0]).toContain(`default ${gate.default}`);
  }
  expect(lines).toContain('ServerSideFieldValidation=true|false (ALPHA since 1.23, default false)');
  expect(lines).toContain('OpenAPIV3=true|false (BETA since 1.24, default true)');
  expect(lines).toContain('ServerSideApply=true (GA since 1.22, no longer has an effect)');
  expect(lines).toContain('CPUManager=true|false (BETA since 1.10, default true; node agents only)');
});

test('lines come in the order of names, and none is longer than the help is wide', () => {
  const names = gateLines().map((line) => line.slice(0, line.indexOf('=')));
  expect(names).toEqual([...names].sort());
  for (const width of [60, 80, 100])
    expect(
      serverHelp(width)
        .split('\n')
        .filter((line) => /true\|false \(/.test(line) && line.length > width),
    ).toEqual([]);
});

test.each([
  ['AllAlpha=true', 1, 0],
  ['AllBeta=true', 0, 1],
  ['AllBeta=false', 0, 0],
])('%s: the metric has the groups as well', (text, alpha, beta) => {
  const metrics = new Metrics({ version: '1.24' });
  registerGates(metrics, readFeatureGates(new Map([text.split('=') as [string, string]])));
  const lines = metrics.expose().split('\n');
  expect(lines).toContain(`kubernetes_feature_enabled{name="AllAlpha",stage="ALPHA"} ${alpha}`);
  expect(lines).toContain(`kubernetes_feature_enabled{name="AllBeta",stage="BETA"} ${beta}`);
  expect(lines).toContain(`kubernetes_feature_enabled{name="APIServerIdentity",stage="ALPHA"} ${alpha}`);
});
