/** Shared parts of encryption tests: rules in short notation, stored objects, counters. */
import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '@plat-dev/lib/clock';
import { systemRandom } from '@plat-dev/lib/random';
import { type Identity, plat } from '@plat-dev/meta/identity';
import { storedValue } from '../item.ts';
import type { EncryptionRule } from './config.ts';
import { EncryptionRules } from './encryption-rules.ts';
import type { KmsTransport } from './kms.ts';

export const key = (name: string, bytes = 32) => ({ name, secret: randomBytes(bytes) });

/** A secret as it is stored, under `core/secrets/<namespace>/<name>`. */
export const secretValue = (namespace: string, name: string, text = 'value'): Buffer => {
  const uid = '00000000-0000-4000-8000-000000000000';
  return storedValue(JSON.stringify({ kind: 'Secret', apiVersion: 'v1', metadata: { name, namespace, uid }, data: { text } }), uid);
};
export const secretKey = (namespace: string, name: string): string => `core/secrets/${namespace}/${name}`;

export interface Counts {
  misses: number;
  fill: number;
  generated: number;
  failed: number;
  transformed: string[];
}

export function rulesOf(
  rules: readonly EncryptionRule[],
  {
    identity = plat,
    clock = systemClock,
    connect,
    before,
  }: { identity?: Identity; clock?: Clock; connect?: (socket: string) => KmsTransport; before?: EncryptionRules } = {},
): { rules: EncryptionRules; counts: Counts } {
  const counts: Counts = { misses: 0, fill: 0, generated: 0, failed: 0, transformed: [] };
  const observer = {
    transformed: (direction: string, provider: { type: string } | undefined, ok: boolean) =>
      void counts.transformed.push(`${direction} ${provider?.type ?? 'unknown'} ${ok ? 'OK' : 'Unknown'}`),
    cacheMiss: () => void counts.misses++,
    cacheFill: (share: number) => {
      counts.fill = share;
    },
    keyGenerated: (_: number, ok: boolean) => void (ok ? counts.generated++ : counts.failed++),
  };
  const refuse = (): never => {
    throw new Error('no plug-in was to be used');
  };
  return {
    rules: new EncryptionRules(rules, { identity, clock, random: systemRandom, observer, connect: connect ?? refuse }, before),
    counts,
  };
}

export const onSecrets = (...providers: EncryptionRule['providers']): EncryptionRule[] => [
  { collections: ['core/secrets/'], wildcards: [], providers },
];
