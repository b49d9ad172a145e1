/** Reports feature gates: the lines of `--help`, and the metric of enabled features. */

import { type FeatureGates, type Gate, type GateConcern, type GateStage, gates, gatesIn } from '@plat-dev/kinds/feature-gates';
import type { Metrics } from '@plat-dev/lib/metrics';

const sorted = (table: Readonly<Record<string, Gate>>): readonly (readonly [string, Gate])[] =>
  Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1));

const elsewhere: Readonly<Partial<Record<GateConcern, string>>> = {
  node: 'node agents only',
  scheduler: 'the scheduler only',
  controllers: 'controllers outside this server only',
  implementation: 'stock servers only',
};

/** One line a gate of 1.24: `OpenAPIV3=true|false (BETA since 1.24, default true)`. */
export function gateLines(): string[] {
  return sorted(gates).map(([name, gate]) => {
    const stage = `${gate.stage.toUpperCase()} since ${gate.since}`;
    if (gate.stage === 'GA') return `${name}=true (${stage}, no longer has an effect)`;
    const whose = elsewhere[gate.concerns];
    return `${name}=true|false (${stage}, default ${gate.default}${whose === undefined ? '' : `; ${whose}`})`;
  });
}

/** As stock servers spell them in the metric. */
const stageLabels: Readonly<Record<GateStage, string>> = { alpha: 'ALPHA', beta: 'BETA', GA: '', deprecated: 'DEPRECATED' };

/** `kubernetes_feature_enabled{name,stage}`: 1 for each gate that is on, else 0. A stock server has it since 1.26. */
export function registerGates(metrics: Metrics, features: FeatureGates): void {
  const enabled = metrics.gauge({
    name: 'kubernetes_feature_enabled',
    help: 'Whether a feature is enabled, by its name and stage.',
    labels: ['name', 'stage'],
  });
  const all = sorted(gatesIn(features.release));
  for (const [name, { stage }] of all) enabled.with(name, stageLabels[stage]).set(Number(features.isOn(name)));
  for (const [name, stage] of [['AllAlpha', 'alpha'] as const, ['AllBeta', 'beta'] as const]) {
    const every = all.every(([gate, facts]) => facts.stage !== stage || features.isOn(gate));
    enabled.with(name, stageLabels[stage]).set(Number(every));
  }
}
