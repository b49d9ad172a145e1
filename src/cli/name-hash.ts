/**
 * The suffix that --append-hash gives to the names of ConfigMaps and Secrets: ten characters of a SHA-256 of their content, the
 * same that the stock client and kustomize compute.
 */
import { createHash } from 'node:crypto';

type Data = Readonly<Record<string, string>>;

export interface HashedConfigMap {
  readonly name: string;
  readonly data?: Data | undefined;
  readonly binaryData?: Data | undefined;
}
export interface HashedSecret {
  readonly name: string;
  readonly type: string;
  /** Values in base64. */
  readonly data?: Data | undefined;
}

export function configMapHash({ name, data, binaryData = {} }: HashedConfigMap): string {
  const binary = Object.keys(binaryData).length === 0 ? {} : { binaryData: sorted(binaryData) };
  return hashOf({ ...binary, data: data === undefined ? null : sorted(data), kind: 'ConfigMap', name });
}
export const secretHash = ({ name, type, data }: HashedSecret): string =>
  hashOf({ data: data === undefined ? null : sorted(data), kind: 'Secret', name, type });

const sorted = (data: Data): Data =>
  Object.fromEntries(
    Object.keys(data)
      .sort()
      .map((key) => [key, data[key] as string]),
  );

/** Vowels and digits that look like them are replaced, so that no words appear. */
const instead: Readonly<Record<string, string>> = { 0: 'g', 1: 'h', 3: 'k', a: 'm', e: 't' };

function hashOf(value: unknown): string {
  const digest = createHash('sha256').update(escapedJson(value)).digest('hex');
  return digest.slice(0, 10).replace(/[013ae]/g, (digit) => instead[digit] as string);
}

/** JSON as Go writes it: characters of HTML, line separators and control characters are escaped by their number. */
export function escapedJson(value: unknown): string {
  const number = (text: string): string => `\\u${text.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value)
    .replace(/[<>&\u2028\u2029]/g, number)
    .replace(/\\(\\|b|f)/g, (whole, letter: string) => (letter === 'b' ? '\\u0008' : letter === 'f' ? '\\u000c' : whole));
}
