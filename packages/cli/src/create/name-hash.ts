/**
 * The suffix that --append-hash gives to the names of ConfigMaps and Secrets: ten characters of a SHA-256 of their content, the
 * same that the stock client and kustomize compute.
 */

import { createHash } from 'node:crypto';
import { jsonText } from '@plat-dev/lib/json-text';
import { own } from '@plat-dev/lib/own';
import { escapedHtml, goJson } from '../output/go-json.ts';

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
  const binary = Object.keys(binaryData).length === 0 ? {} : { binaryData };
  return contentSuffix({ ...binary, data: data ?? null, kind: 'ConfigMap', name });
}
export const secretHash = ({ name, type, data }: HashedSecret): string => contentSuffix({ data: data ?? null, kind: 'Secret', name, type });

/** Ten letters and digits for a content, whose keys are put in the order of text. */
export function contentSuffix(content: unknown): string {
  const digest = createHash('sha256')
    .update(controlsByNumber(goJson(content)))
    .digest('hex');
  return digest.slice(0, 10).replace(/[013ae]/g, (digit) => own(instead, digit) as string);
}
/** Vowels and digits that look like them are replaced, so that no words appear. */
const instead: Readonly<Record<string, string>> = { 0: 'g', 1: 'h', 3: 'k', a: 'm', e: 't' };

/** JSON with the escapes of Go and the keys in their own order, as Go writes the fields of a struct. */
export const escapedJson = (value: unknown): string => controlsByNumber(escapedHtml(jsonText(value)));

/** Go wrote these characters by their number when the stock client was made. */
const controlsByNumber = (json: string): string =>
  json.replace(/\\(\\|b|f)/g, (whole, letter: string) => (letter === 'b' ? '\\u0008' : letter === 'f' ? '\\u000c' : whole));
