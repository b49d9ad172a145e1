/**
 * YAML bodies to plain JSON values, as clients of a stock server expect it: YAML 1.1 with `yes` and `0644`, keys always
 * texts, times left as texts, merge keys followed.
 */
import { inSlices, type Slices } from '../lib/slices.ts';
import { DecodeError, TooLargeError } from './errors.ts';
import type { RepeatedKeys } from './field-place.ts';
import { parseJson, parseJsonInSlices } from './parse.ts';
import type { JsonValue } from './types.ts';
import { YamlParser } from './yaml-parse.ts';
import { resolvePlain, resolveWithWords } from './yaml-scalars.ts';

export { stringifyYaml, yamlWork } from './yaml-write.ts';

export interface YamlOptions {
  /** Whether a second document with content is an error; otherwise the first one counts. */
  readonly single?: boolean;
  /** Reports repeated keys. The last value counts. */
  readonly repeated?: RepeatedKeys | undefined;
}

/** Reads one value; no document at all is null. Throws DecodeError. */
export function parseYaml(input: string | Buffer, options: YamlOptions = {}): JsonValue {
  const text = input.toString();
  // Most bodies with the content type of YAML are JSON, which is faster to parse.
  if (beginsAsJson.test(text)) {
    try {
      return parseJson(text, { place: options.repeated });
    } catch (error) {
      if (error instanceof TooLargeError) throw error;
      // It only began like JSON.
    }
  }
  const parser = new YamlParser(text, options.repeated);
  const value = parser.document();
  if (options.single === true && value !== undefined) {
    for (let next = parser.document(); next !== undefined; next = parser.document()) if (next !== null) throw severalDocuments();
  }
  return value ?? null;
}

const beginsAsJson = /^\s*\{/;
const severalDocuments = (): DecodeError => new DecodeError('yaml: the text holds several documents; send one object at a time');

/** The only document of a text that is large, in slices. Throws DecodeError and RequestEnded. */
export async function parseYamlInSlices(input: Buffer, slices: Slices, repeated?: RepeatedKeys): Promise<JsonValue> {
  if (beginsAsJson.test(input.toString('latin1', 0, 64))) {
    try {
      return await parseJsonInSlices(input, { place: repeated }, slices);
    } catch (error) {
      if (!(error instanceof DecodeError) || error instanceof TooLargeError) throw error;
      // It only began like JSON.
    }
  }
  const parser = new YamlParser(input.toString(), repeated);
  const value = await inSlices(parser.steps(), slices);
  for (let next: JsonValue | undefined = value; next !== undefined; ) {
    if (slices.due) await slices.pause();
    next = await inSlices(parser.steps(), slices);
    if (next !== undefined && next !== null) throw severalDocuments();
  }
  return value ?? null;
}

/** Reads every document of a text. Throws DecodeError. `words`: `yes`, `no`, `on` and `off` are texts, as in YAML 1.2. */
export function parseYamlDocuments(input: string | Buffer, { words = false }: { readonly words?: boolean } = {}): JsonValue[] {
  const parser = new YamlParser(input.toString(), undefined, words ? resolveWithWords : resolvePlain);
  const documents: JsonValue[] = [];
  for (let value = parser.document(); value !== undefined; value = parser.document()) documents.push(value);
  return documents;
}
