/**
 * The prefix of encrypted values, as in stock servers, so that tools which read a store recognize it:
 *
 *   k8s:enc:aescbc:v1:key1:      then the output of the provider
 *
 * The first word is that of the identity. Objects that are not encrypted begin with another byte.
 */
import type { Identity } from '@plat-dev/meta/identity';

export const providerNames = ['identity', 'aescbc', 'aesgcm', 'secretbox', 'kms'] as const;
export type ProviderName = (typeof providerNames)[number];

/** `k8s:enc:` or `plat:enc:`: the beginning of every encrypted value of the identity. */
export const encryptedMark = (identity: Identity): string => `${identity.groupSuffix.split('.')[0]}:enc:`;

/** `k8s:enc:aescbc:v1:key1:` */
export const storedPrefix = (identity: Identity, provider: ProviderName, name: string, version = 'v1'): string =>
  `${encryptedMark(identity)}${provider}:${version}:${name}:`;

/** Names of keys have a maximum length, and so has the prefix of a value. */
export const LONGEST_NAME = 253;
const LONGEST_HEAD = 63 + 16 + 8 + LONGEST_NAME + 8;
const pattern = /^[a-z0-9-]{1,63}:enc:([a-z0-9]{1,16}):(v\d{1,4}):([^:]{1,253}):/;

export interface StoredForm {
  readonly provider: string;
  readonly version: string;
  readonly name: string;
}

/** The parsed prefix of a value, under whichever identity it was encrypted; undefined when it is not encrypted. */
export function storedFormOf(value: Buffer): StoredForm | undefined {
  // Lower-case letters and digits begin words; the format of plain objects is a small number.
  if ((value[0] ?? 0) < 0x30) return undefined;
  const match = pattern.exec(value.toString('latin1', 0, LONGEST_HEAD));
  return match === null ? undefined : { provider: match[1] as string, version: match[2] as string, name: printable(match[3] as string) };
}

/** `it is encrypted by aescbc with the key "key1"` */
export const describeForm = ({ provider, name }: StoredForm): string =>
  provider === 'kms'
    ? `it is encrypted by the KMS plug-in ${JSON.stringify(name)}`
    : `it is encrypted by ${provider} with the key ${JSON.stringify(name)}`;

const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?');
