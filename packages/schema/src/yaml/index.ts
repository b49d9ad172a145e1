/**
 * YAML bodies to plain JSON values, as clients of a stock server expect it: YAML 1.1 with `yes` and `0644`, keys always
 * texts, times left as texts, merge keys followed.
 */
import { atOnce, type Work } from '@plat-dev/lib/slices';
import { DecodeError, TooLargeError } from '../errors.ts';
import type { RepeatedKeys } from '../fields/field-place.ts';
import { parsedJson } from '../json/parse.ts';
import type { JsonValue } from '../types.ts';
import { YamlParser } from './parser.ts';
import { resolvePlain, resolveWithWords } from './scalars.ts';

export { stringifyYaml, yamlBytes } from './write.ts';

export interface YamlOptions {
  /** Whether a second document with content is an error; otherwise the first one counts. */
  readonly single?: boolean;
  /** Reports repeated keys. The last value counts. */
  readonly repeated?: RepeatedKeys | undefined;
  /** Called with how many characters the value has with what its aliases repeat. */
  readonly expanded?: ((characters: number) => void) | undefined;
}

/** Reads one value; no document at all is null. Throws DecodeError. */
export function parseYaml(input: string | Buffer, options: YamlOptions = {}): JsonValue {
  return atOnce(parsedYaml(input, options));
}
/** The same for text that may hold much: also a small one may, as aliases repeat its parts. */
export function* parsedYaml(input: string | Buffer, options: YamlOptions = {}): Work<JsonValue> {
  // Most bodies with the content type of YAML are JSON, which is faster to parse.
  if (beginsAsJson.test(typeof input === 'string' ? input.slice(0, 64) : input.toString('latin1', 0, 64))) {
    try {
      return yield* parsedJson(typeof input === 'string' ? Buffer.from(input) : input, { place: options.repeated });
    } catch (error) {
      if (!(error instanceof DecodeError) || error instanceof TooLargeError) throw error;
      // It only began like JSON.
    }
  }
  const parser = new YamlParser(input.toString(), options.repeated);
  const value = yield* parser.document();
  for (let next = value; options.single === true && next !== undefined; ) {
    yield;
    next = yield* parser.document();
    if (next !== undefined && next !== null) throw severalDocuments();
  }
  options.expanded?.(parser.expanded);
  return value ?? null;
}

const beginsAsJson = /^\s*\{/;
const severalDocuments = (): DecodeError => new DecodeError('yaml: the text holds several documents; send one object at a time');

/** Reads every document of a text. Throws DecodeError. `words`: `yes`, `no`, `on` and `off` are texts, as in YAML 1.2. */
export function parseYamlDocuments(input: string | Buffer, { words = false }: { readonly words?: boolean } = {}): JsonValue[] {
  const parser = new YamlParser(input.toString(), undefined, words ? resolveWithWords : resolvePlain);
  const documents: JsonValue[] = [];
  for (let value = atOnce(parser.document()); value !== undefined; value = atOnce(parser.document())) documents.push(value);
  return documents;
}
