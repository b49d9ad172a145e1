/**
 * Feature gates of 1.24, those of later releases, and the rules of their life:
 *
 *   alpha        off unless switched on             beta   on (or as the table says) unless switched
 *   GA           always on: the gate has no effect, switching it off fails, switching it on warns. Stock servers let two of these be
 *                switched off, and so does one that passes for such a server
 *   deprecated   as the table says unless switched, which warns
 *
 * The table is that of 1.24, and of releases before it; `feature-gate-history.ts` says what later releases changed. The feature of a gate
 * that went after it was on stays on.
 *
 * A gate that concerns parts of a cluster that are not in this program (node agents, the scheduler, some controllers) can be
 * switched without effect, and says so once. docs/feature-gates.md describes what each gate
 * does here.
 */

import { readBooleanOf } from '@plat-dev/lib/flags';
import { own } from '@plat-dev/lib/own';
import { didYouMean } from '@plat-dev/lib/suggest';
import { apiRelease, isAtLeast } from '@plat-dev/lib/version';
import { kubernetes } from '@plat-dev/meta/identity';
import type { Gate, GateConcern, GateName, GateStage } from './feature-gate-table.ts';
import { gateTableOf, releasesWith } from './feature-gates-in-release.ts';

export { type Gate, type GateConcern, type GateName, type GateStage, gates } from './feature-gate-table.ts';
export { gatesIn } from './feature-gates-in-release.ts';

export class FeatureGates {
  readonly warnings: readonly string[];
  /** Of the API: it says which gates there are. */
  readonly release: string;
  private readonly on: ReadonlySet<string>;

  constructor(on: ReadonlySet<string>, warnings: readonly string[] = [], release: string = apiRelease) {
    this.on = on;
    this.warnings = warnings;
    this.release = release;
  }
  /** Also true for GA gates: their features cannot be switched off. */
  enabled(name: GateName): boolean {
    return this.on.has(name);
  }
  /** The same for a name of type string. */
  isOn(name: string): boolean {
    return this.on.has(name);
  }
  /** Names of all gates that are on, for metrics and start-up logs. */
  list(): string[] {
    return [...this.on].sort();
  }
}

const groups: Readonly<Record<string, GateStage>> = { AllAlpha: 'alpha', AllBeta: 'beta' };

export interface GateSurroundings {
  /** Release of the API. */
  readonly release?: string;
  /** The name of the server's identity. */
  readonly identity?: string;
}

/** Reads `--feature-gates=A=true,B=false`. Throws an Error that says what is wrong. */
export function readFeatureGates(settings: ReadonlyMap<string, string>, surroundings: GateSurroundings = {}): FeatureGates {
  const { release = apiRelease, identity } = surroundings;
  const warnings: string[] = [];
  const { gates: table, settled } = gateTableOf(release);
  const on = new Set([...settled, ...Object.keys(table).filter((name) => table[name]?.default)]);
  const set = (name: string, value: boolean): void => {
    if (value) on.add(name);
    else on.delete(name);
  };
  for (const [name, text] of settings) {
    const stage = own(groups, name);
    if (stage === undefined) continue;
    const value = readBooleanOf(name, text);
    for (const [gate, { stage: of }] of Object.entries(table)) if (of === stage) set(gate, value);
  }
  const elsewhere = new Map<GateConcern, string[]>();
  for (const [name, text] of settings) {
    if (Object.hasOwn(groups, name)) continue;
    const gate = own(table, name);
    if (gate === undefined) throw new Error(unknownGate(name, table, release));
    const value = readBooleanOf(name, text);
    checkSwitch(name, gate.stage === 'GA' && identity !== kubernetes.name ? { ...gate, locked: true } : gate, value, warnings);
    set(name, value);
    if (gate.concerns !== 'server' && gate.stage !== 'GA') elsewhere.set(gate.concerns, [...(elsewhere.get(gate.concerns) ?? []), name]);
  }
  for (const [concern, names] of elsewhere) warnings.push(notHere(concern, names));
  if (isAtLeast(release, '1.35')) checkNeeds(table, on);
  return new FeatureGates(on, warnings, release);
}

function unknownGate(name: string, table: Readonly<Record<string, Gate>>, release: string): string {
  const having = releasesWith(name);
  if (having.length === 0) return `unknown feature gate ${name}${didYouMean(name, Object.keys(table))}`;
  return `unrecognized feature gate: ${name} (release ${release} does not have it; releases ${having[0]} to ${having.at(-1)} do)`;
}

/** Releases since 1.35 do not start with a feature that needs another one which is off. */
function checkNeeds(table: Readonly<Record<string, Gate>>, on: ReadonlySet<string>): void {
  for (const [name, { needs = [] }] of Object.entries(table)) {
    const missing = on.has(name) ? needs.filter((other) => !on.has(other)) : [];
    if (missing.length > 0) throw new Error(`feature gate ${name} is on and needs ${missing.join(', ')}, which is off`);
  }
}

const parts: Readonly<Record<GateConcern, string>> = {
  server: 'this server',
  node: 'node agents',
  scheduler: 'the scheduler',
  controllers: 'controllers outside this server',
  implementation: 'the implementation of stock servers',
};
const notHere = (concern: GateConcern, names: readonly string[]): string =>
  `feature gates that concern ${parts[concern]} only have no effect in this server: ${names.join(', ')}`;

function checkSwitch(name: string, gate: Gate, value: boolean, warnings: string[]): void {
  const { stage, since } = gate;
  if (stage === 'GA') {
    if (!value && gate.locked)
      throw new Error(`cannot set feature gate ${name} to false, feature is locked to true: it is GA since ${since}`);
    warnings.push(`the feature gate ${name} has no effect: it is GA since ${since} and will be removed`);
  } else if (gate.locked && value !== gate.default) {
    throw new Error(`cannot set feature gate ${name} to ${value}, feature is locked to ${gate.default}: it is ${stage} since ${since}`);
  } else if (stage === 'deprecated') {
    warnings.push(`the feature gate ${name} is deprecated since ${since} and will be removed`);
  }
}

export const defaultFeatures = readFeatureGates(new Map());
