/**
 * What mutating policies make: `Object{spec: Object.spec{replicas: 3}}`, whose fields are not declared, and
 * `JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b'), value: 'c'}`.
 */
import type { Frame } from '../budget.ts';
import { makesSame } from '../prices.ts';
import { DYN, type ObjectType, objectOf, STRING } from '../types.ts';
import { global, type Library } from './signature.ts';

const OBJECT = 'Object';
const JSON_PATCH: ObjectType = {
  ...objectOf('JSONPatch', { op: STRING, path: STRING, from: STRING, value: DYN }),
  constructed: true,
};
const anyFields = { kind: 'object', fields: new Map(), open: DYN, constructed: true } as const;

/** The type of objects that an expression makes by a name. */
function constructed(name: string): ObjectType | undefined {
  if (name === JSON_PATCH.name) return JSON_PATCH;
  return name === OBJECT || name.startsWith(`${OBJECT}.`) ? { ...anyFields, name } : undefined;
}

function escapeKey(frame: Frame, key: string): string {
  frame.spendLength(4 * key.length);
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

export const mutationLibrary: readonly Library[] = [
  { since: '1.32', functions: [global('jsonpatch.escapeKey', [STRING], STRING, escapeKey, makesSame)], constructed },
];
