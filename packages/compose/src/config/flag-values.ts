/** Parsers of flag values that are more than a text, a number or a choice. Each throws an Error that says what is wrong. */

import { readChoice, readInteger, splitList } from '@plat-dev/lib/flags';
import { didYouMean } from '@plat-dev/lib/suggest';
import { parseCIDR, parseIP } from '@plat-dev/meta/ip';
import { pluginNames } from '@plat-dev/server/admission/plugin-names';
import { cipherSuiteNames } from '@plat-dev/server/connections/tls';

export const authorizationModes = ['AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'] as const;
export type AuthorizationMode = (typeof authorizationModes)[number];

export function readModes(values: readonly string[]): readonly AuthorizationMode[] {
  const modes = splitList(values).map((mode) => {
    if (mode === 'ABAC') throw new Error(`ABAC is not supported: use ${authorizationModes.join(', ')}`);
    return readChoice(mode, authorizationModes);
  });
  if (modes.length === 0) throw new Error(`at least one of ${authorizationModes.join(', ')} is needed`);
  if (new Set(modes).size < modes.length) throw new Error('a mode is named twice');
  return modes;
}

export function readPlugins(values: readonly string[]): readonly string[] {
  const names = splitList(values);
  for (const name of names)
    if (!(pluginNames as readonly string[]).includes(name)) throw new Error(`unknown plug-in ${name}${didYouMean(name, pluginNames)}`);
  return names;
}

export interface PortRange {
  readonly first: number;
  readonly last: number;
}
export function readPortRange(value: string): PortRange {
  const match = /^(\d+)([-+])(\d+)$/.exec(value);
  if (match === null) throw new Error(`${JSON.stringify(value)} is not of the form 30000-32767`);
  const first = readInteger(match[1] as string, 1, 65535);
  const last = readInteger(match[2] === '+' ? String(first + Number(match[3])) : (match[3] as string), 1, 65535);
  if (last < first) throw new Error(`${last} is before ${first}`);
  return { first, last };
}
export function readAddress(value: string): string {
  if (parseIP(value) === undefined) throw new Error(`${JSON.stringify(value)} is not an IP address`);
  return value;
}
/** Empty for none. */
export function readHost(value: string): string {
  const isHost = /^[^\s/?#@\\]+$/.test(value) && URL.canParse(`https://${value}`);
  if (value !== '' && !isHost) throw new Error(`${JSON.stringify(value)} is not of the form HOST or HOST:PORT`);
  return value;
}
export function readServiceRanges(values: readonly string[]): readonly string[] {
  return readRanges(splitList(values));
}
/** The same, or `none`. */
export function readBalancerRanges(values: readonly string[]): readonly string[] {
  const ranges = splitList(values);
  return ranges.length === 1 && ranges[0] === 'none' ? [] : readRanges(ranges);
}
function readRanges(ranges: readonly string[]): readonly string[] {
  const families = ranges.map((range) => {
    const cidr = parseCIDR(range);
    if (cidr === undefined) throw new Error(`${JSON.stringify(range)} is not an IP range such as 10.0.0.0/24`);
    if (cidr.bits > cidr.address.length * 8 - 3) throw new Error(`${range} holds fewer than 8 addresses`);
    return cidr.family;
  });
  if (ranges.length === 0 || ranges.length > 2 || (ranges.length === 2 && families[0] === families[1])) {
    throw new Error('one range is needed, or one of IPv4 and one of IPv6');
  }
  return ranges;
}

export interface SniFiles {
  readonly certificate: string;
  readonly key: string;
  readonly names: readonly string[];
}
/** `certificate,key` or `certificate,key:name,*.name`. */
export function readSniFiles(values: readonly string[]): readonly SniFiles[] {
  return values.map((value) => {
    const colon = value.indexOf(':');
    const [certificate, key, ...surplus] = (colon < 0 ? value : value.slice(0, colon)).split(',');
    const names = colon < 0 ? [] : value.slice(colon + 1).split(',');
    if (!certificate || !key || surplus.length > 0) throw new Error(`${JSON.stringify(value)} is not of the form certificate,key[:name,…]`);
    const wrong = names.find((name) => !/^(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/.test(name));
    if (wrong !== undefined) throw new Error(`${JSON.stringify(wrong)} is neither a name nor a pattern such as *.example.com`);
    return { certificate, key, names };
  });
}
export function readSuites(values: readonly string[]): readonly string[] {
  const names = splitList(values);
  for (const name of names)
    if (!cipherSuiteNames.includes(name)) throw new Error(`unknown cipher suite ${name}${didYouMean(name, cipherSuiteNames)}`);
  return names;
}

/** The parts of `--workloads`, with what each is. */
const workloads = {
  controllers: 'deployments, replica sets, stateful sets, daemon sets, jobs, cron jobs, autoscalers, the life cycle of nodes, volumes',
  scheduler: 'binds pods to nodes',
  nodes: 'simulated nodes, on which pods run and become ready, and their metrics',
} as const;
export type WorkloadPart = keyof typeof workloads;
export const workloadParts = Object.keys(workloads) as readonly WorkloadPart[];
export const workloadLines: readonly string[] = Object.entries(workloads).map(([name, description]) => `${name}: ${description}`);

/** Parts by name; `true`, as the flag alone is read, is all of them. */
export function readWorkloads(values: readonly string[]): readonly WorkloadPart[] {
  const last = values.at(-1) ?? '';
  if (/^(true|t|1)$/i.test(last)) return workloadParts;
  if (/^(false|f|0)$/i.test(last)) return [];
  const names = splitList(values);
  if (names.length === 0) throw new Error(`no part of workloads is named; there are ${workloadParts.join(', ')}`);
  for (const name of names) {
    if (!(workloadParts as readonly string[]).includes(name)) {
      throw new Error(
        `${JSON.stringify(name)} is not a part of workloads${didYouMean(name, workloadParts)}; there are ${workloadParts.join(', ')}`,
      );
    }
  }
  return workloadParts.filter((part) => names.includes(part));
}

/** So that a second of the machine is not more than a day, nor a day of the machine less than a second. */
const MAX_FACTOR = 86_400;
export function readTimeFactor(text: string): number {
  const factor = Number(text);
  if (text.trim() === '' || !(factor > 0 && factor <= MAX_FACTOR && factor >= 1 / MAX_FACTOR)) {
    throw new Error(`${JSON.stringify(text)} is not a number from 1/${MAX_FACTOR} to ${MAX_FACTOR}`);
  }
  return factor;
}
