/** Flags and their values as texts, as status pages show them. */
import { camelCase } from '@plat-dev/lib/flags';
import { jsonText } from '@plat-dev/lib/json-text';
import { own } from '@plat-dev/lib/own';
import { formatDuration } from '@plat-dev/lib/time';
import { serverFlags } from './flags.ts';
import type { ServerOptions } from './server-options.ts';

/** By name. Flags without a value, and those that have no effect yet, are left out. */
export function flagTexts(options: ServerOptions): Readonly<Record<string, string>> {
  const values = options as unknown as Readonly<Record<string, unknown>>;
  const texts: [string, string][] = [
    [
      'feature-gates',
      options.features
        .list()
        .map((gate) => `${gate}=true`)
        .join(','),
    ],
  ];
  for (const group of Object.values(serverFlags)) {
    for (const [name, flag] of Object.entries(group)) {
      const value = own(values, camelCase(name));
      if (value === undefined || flag.planned === true || readElsewhere.has(name)) continue;
      const isDuration = flag.value === 'DURATION' && typeof value === 'number';
      texts.push([name, isDuration ? formatDuration(BigInt(value) * 1_000_000n) : textOf(value)]);
    }
  }
  return Object.fromEntries(texts.sort(([a], [b]) => (a < b ? -1 : 1)));
}
/** Flags whose options are no plain values. */
const readElsewhere: ReadonlySet<string> = new Set(['feature-gates', 'runtime-config']);

function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`;
  if (value instanceof Map) return [...value].map(([key, one]) => `${textOf(key)}=${textOf(one)}`).join(',');
  if (value instanceof Set) return textOf([...value]);
  if (typeof value === 'object' && value !== null) {
    const name = (value as { name?: unknown }).name;
    return typeof name === 'string' ? name : jsonText(value);
  }
  return withoutPassword(String(value));
}

/** An address may hold a user and a password. */
const withoutPassword = (text: string): string => text.replace(/\/\/[^/@\s]*@/g, '//…@');
