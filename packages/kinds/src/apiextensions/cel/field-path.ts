/** Paths to a field below the place of a rule, under which its error is reported: `.spec.replicas`, `.labels['a.b']`. */
import { own } from '@plat-dev/lib/own';
import type { JSONSchemaProps } from '../schema/json-schema.ts';

/** One part of a path: a field of an object, or a key of a map. */
const part = /^(?:\.([^.[\]']+)|\['((?:[^'\\]|\\.)*)'\])/;
const escaped: Readonly<Record<string, string>> = {
  ...{ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
  ...{ "'": "'", '\\': '\\' },
};

/**
 * The path in the form in which errors name fields; undefined where it is malformed or names a field that the schema does not
 * have.
 *
 *   .spec.replicas → spec.replicas      .labels['a.b'] → labels[a.b], where labels is a map
 */
export function normalFieldPath(path: string, from: JSONSchemaProps): string | undefined {
  let schema = from;
  let text = '';
  for (let rest = path; rest !== ''; ) {
    const partMatch = part.exec(rest);
    if (partMatch === null) return undefined;
    const name = partMatch[1] ?? unescaped(partMatch[2] as string);
    if (name === undefined) return undefined;
    const { properties, additionalProperties } = schema;
    if (properties !== undefined) {
      const field = own(properties, name) as JSONSchemaProps | undefined;
      if (field === undefined) return undefined;
      schema = field;
      text += text === '' ? name : `.${name}`;
    } else if (typeof additionalProperties === 'object') {
      schema = additionalProperties;
      text += `[${name}]`;
    } else return undefined;
    rest = rest.slice(partMatch[0].length);
  }
  return text;
}

function unescaped(text: string): string | undefined {
  let isValidEscape = true;
  const plain = text.replace(/\\(.)/gs, (_, letter: string) => {
    const character = own(escaped, letter);
    if (character === undefined) isValidEscape = false;
    return character ?? '';
  });
  return isValidEscape ? plain : undefined;
}
