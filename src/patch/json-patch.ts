/**
 * JSON patch (RFC 6902), with the leniencies of the stock server: a path may count list items from the end, `replace`
 * and `add` alike set a key, and a missing value is null. A patch that does not apply is refused as a whole.
 */

import { equal } from '../lib/equal.ts';
import { own } from '../lib/own.ts';
import { badRequest, requestTooLarge, unprocessable } from '../meta/errors.ts';
import { DecodeError, maxDepth } from '../schema/errors.ts';
import { parseJson } from '../schema/parse.ts';
import { cloneJson, setKey } from '../schema/plain.ts';
import type { JsonValue } from '../schema/types.ts';
import type { Values } from './shape.ts';
import { readsOtherwise, type Touched } from './touched.ts';

/** A patch that was read: makes the new document, sharing nothing that it changes with the old one. Throws ApiError. */
export interface Patch {
  (document: JsonValue): JsonValue;
  /** What of the document it looks at and may change; undefined: anything. */
  readonly touched?: Touched | undefined;
}

/** More operations than this are refused, whatever they do. */
export const MAX_OPERATIONS = 10_000;
/** Characters of JSON that the copies of one patch may add up to: the bound on bodies. */
export const MAX_COPIED = 3 * 1024 * 1024;

interface Operation {
  readonly op?: unknown;
  readonly path?: unknown;
  readonly from?: unknown;
  readonly value?: JsonValue;
}
type Container = JsonValue[] | { [key: string]: JsonValue };

/** Reads the body of a patch request. */
export function readJsonPatch(body: string | Buffer): Patch {
  let operations: JsonValue;
  try {
    operations = parseJson(body);
  } catch (error) {
    throw error instanceof DecodeError ? badRequest(error.message) : error;
  }
  return jsonPatch(operations);
}

/** Takes a patch that is parsed already, as webhooks send it. */
export function jsonPatch(operations: JsonValue): Patch {
  if (operations === null) return (document) => document;
  if (!Array.isArray(operations)) throw badRequest(`json: cannot unmarshal ${goKind(operations)} into Go value of type jsonpatch.Patch`);
  for (const operation of operations)
    if (typeof operation !== 'object' || operation === null || Array.isArray(operation))
      throw badRequest(`json: cannot unmarshal ${goKind(operation)} into Go value of type jsonpatch.Operation`);
  if (operations.length > MAX_OPERATIONS)
    throw requestTooLarge(
      `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`,
    );
  const patch = (document: JsonValue): JsonValue => apply(operations as Operation[], document);
  return Object.assign(patch, { touched: touchedByPaths(operations as Operation[]) });
}

/** Undefined when an operation concerns the whole document, or is none. */
function touchedByPaths(operations: readonly Operation[]): Touched | undefined {
  const fields = new Set<string>();
  for (const { path, from } of operations)
    for (const place of [path, from]) {
      if (place === undefined) continue;
      const field = typeof place === 'string' ? firstField(place) : undefined;
      if (field === undefined || readsOtherwise(field)) return undefined;
      fields.add(field);
    }
  return { fields, metadata: undefined };
}

export function goKind(value: JsonValue): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
}

function apply(operations: readonly Operation[], document: JsonValue): JsonValue {
  const root = { document: cloneJson(document), copied: 0 };
  let at = 0;
  try {
    for (; at < operations.length; at++) run(root, operations[at] as Operation);
    checkDepth(root.document, 0);
  } catch (error) {
    const refusal = error instanceof DecodeError ? unprocessable() : (error as Error);
    // Clients are not told which operation it was, as with a stock server; who patches for another may tell.
    if (at < operations.length) refusal.cause = `operation ${at} (${shown(operations[at] as Operation)}) does not apply`;
    throw refusal;
  }
  return root.document;
}

const shown = ({ op, path }: Operation): string => `${String(op)} ${String(path)}`.slice(0, 200);

interface Root {
  document: JsonValue;
  copied: number;
}

function run(root: Root, operation: Operation): void {
  const path = pointer(operation.path);
  switch (operation.op) {
    case 'add':
      add(locate(root, path), cloneJson(operation.value ?? null));
      break;
    case 'remove':
      remove(locate(root, path));
      break;
    case 'replace':
      if (path.length === 1) replaceRoot(root, operation.value);
      else replace(locate(root, path), cloneJson(operation.value ?? null));
      break;
    case 'move': {
      const moved = remove(locate(root, pointer(operation.from)));
      add(locate(root, path), moved);
      break;
    }
    case 'copy': {
      const copied = cloneJson(existing(locate(root, pointer(operation.from))));
      root.copied += JSON.stringify(copied).length;
      if (root.copied > MAX_COPIED) throw unprocessable();
      add(locate(root, path), copied);
      break;
    }
    case 'test':
      test(root, path, operation.value ?? null);
      break;
    default:
      throw unprocessable();
  }
}

// ---- places in the document --------------------------------------------------------------------------------------

/** The parts of a path; the text before its first slash counts for nothing. The root has one part. */
function pointer(path: unknown): string[] {
  if (typeof path !== 'string') throw unprocessable();
  const parts = path.split('/');
  // What lies deeper than any document may be is not looked for.
  if (parts.length > maxDepth) throw unprocessable();
  return path.includes('~') ? parts.map(unescaped) : parts;
}

/** The first part of a path; undefined for the root. */
function firstField(path: string): string | undefined {
  const [, field] = path.split('/', 2);
  return field === undefined ? undefined : unescaped(field);
}
function unescaped(part: string): string {
  return part.replaceAll(/~[01]/g, (escaped) => (escaped === '~1' ? '/' : '~'));
}

interface Place {
  readonly container: Container;
  readonly key: string;
}

function locate(root: Root, parts: readonly string[]): Place {
  let container: JsonValue | undefined = root.document;
  for (let i = 1; i < parts.length - 1; i++) container = child(container, parts[i] as string);
  if (parts.length < 2 || typeof container !== 'object' || container === null) throw unprocessable();
  return { container, key: parts[parts.length - 1] as string };
}
function child(container: JsonValue | undefined, key: string): JsonValue | undefined {
  if (typeof container !== 'object' || container === null) return undefined;
  if (Array.isArray(container)) return container[index(key, container.length)];
  return own(container as Values, key) as JsonValue | undefined;
}

/** An index below `length`; negative ones count from the end. */
function index(key: string, length: number): number {
  if (!/^[+-]?\d{1,9}$/.test(key)) throw unprocessable();
  const at = Number(key);
  if (at >= length || at < -length) throw unprocessable();
  return at < 0 ? at + length : at;
}

function existing({ container, key }: Place): JsonValue {
  const value = child(container, key);
  if (value === undefined) throw unprocessable();
  return value;
}
function add({ container, key }: Place, value: JsonValue): void {
  if (!Array.isArray(container)) setKey(container, key, value);
  else if (key === '-') container.push(value);
  else container.splice(index(key, container.length + 1), 0, value);
}
function replace({ container, key }: Place, value: JsonValue): void {
  if (Array.isArray(container)) container[index(key, container.length)] = value;
  else setKey(container, key, value);
}
function remove(place: Place): JsonValue {
  const { container, key } = place;
  const value = existing(place);
  if (Array.isArray(container)) container.splice(index(key, container.length), 1);
  else delete container[key];
  return value;
}
function replaceRoot(root: Root, value: JsonValue | undefined): void {
  // A document that would be no object is left as it is.
  if (typeof value === 'object' && value !== null) root.document = cloneJson(value);
}
function test(root: Root, path: readonly string[], value: JsonValue): void {
  const found = path.length === 1 ? root.document : (child(locate(root, path).container, path[path.length - 1] as string) ?? null);
  if (!equal(found, value)) throw unprocessable();
}

function checkDepth(value: JsonValue, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > maxDepth) throw unprocessable();
  if (Array.isArray(value)) for (const item of value) checkDepth(item, depth + 1);
  else for (const key in value) checkDepth(value[key] as JsonValue, depth + 1);
}
