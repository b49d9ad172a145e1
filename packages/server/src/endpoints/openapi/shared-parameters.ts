/** Parameters that stand once in a document of OpenAPI v2, and are referred to by every operation that has them. */

import { jsonText } from '@plat-dev/lib/json-text';
import type { JsonObject } from '@plat-dev/schema/types';
import { PARAMETERS } from '../../extension/aggregation/spec.ts';

/** Clients look for these where the operation is: they tell from them what the server can do. */
const searched: ReadonlySet<unknown> = new Set(['fieldValidation', 'dryRun']);

/** Collects them while a document is written: `pretty` → `{ $ref: '#/parameters/pretty-tJGM1-ng' }`. */
export class SharedParameters {
  /** By name: what the document has under `parameters`. It only grows, by parameters that the server itself has. */
  readonly parameters = new Map<string, JsonObject>();
  private readonly references = new Map<string, JsonObject>();
  private readonly definitionPrefix: string;

  /** `definitionPrefix`: of the definitions that every kind uses; bodies of others belong to one operation. */
  constructor(definitionPrefix: string) {
    this.definitionPrefix = definitionPrefix;
  }

  /** The parameter, or a reference to it. */
  shared(parameter: JsonObject): JsonObject {
    if (!this.isShared(parameter)) return parameter;
    const text = jsonText(parameter);
    let reference = this.references.get(text);
    if (reference === undefined) {
      const name = `${parameter.name as string}-${shortHash(text)}`;
      this.parameters.set(name, parameter);
      reference = { $ref: PARAMETERS + name };
      this.references.set(text, reference);
    }
    return reference;
  }

  private isShared({ name, in: place, schema }: JsonObject): boolean {
    if (place === 'body') return ((schema as JsonObject).$ref as string).startsWith(this.definitionPrefix);
    return name !== 'name' && !(place === 'query' && searched.has(name));
  }
}

const MASK = (1n << 64n) - 1n;
/** The first six bytes of a 64-bit FNV-1 hash: stock servers name parameters so. */
function shortHash(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = ((hash * 0x100000001b3n) & MASK) ^ BigInt(byte);
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(hash);
  return bytes.subarray(0, 6).toString('base64url');
}
