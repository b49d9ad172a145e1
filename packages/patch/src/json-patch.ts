/**
 * JSON patch (RFC 6902), with the leniencies of the stock server: a path may count list items from the end, `replace`
 * and `add` alike set a key, and a missing value is null. A patch that does not apply is refused as a whole.
 */

import { isNumeric } from '@plat-dev/lib/integers';
import { jsonText } from '@plat-dev/lib/json-text';
import { own, setOwn } from '@plat-dev/lib/own';
import { atOnce, type Work } from '@plat-dev/lib/slices';
import { badRequest, requestTooLarge, unprocessable } from '@plat-dev/meta/errors';
import { DecodeError, maxDepth } from '@plat-dev/schema/errors';
import { holdsFloats } from '@plat-dev/schema/json/parse';
import { clonedJson } from '@plat-dev/schema/json/plain';
import type { JsonValue } from '@plat-dev/schema/types';
import { clonePlain, LONG_FROM, LongList, withPlainLists } from './long-list.ts';
import { type PatchBody, patchValue } from './patch-body.ts';
import type { Values } from './shape.ts';
import { readsOtherwise, type Touched } from './touched.ts';

/** A parsed patch: makes the new document, at once, which shares only unchanged parts with the old one. Throws ApiError. */
export interface Patch extends PatchFacts {
  (document: JsonValue): JsonValue;
  /** The same as work that can be interrupted. */
  patched(document: JsonValue): Work<JsonValue>;
}
/** What differs between releases of the API. */
export interface PatchRules {
  /** A strategic merge patch that sets a field for the first time sets nothing where it has a directive. */
  readonly dropsDirectives: boolean;
  /** A JSON patch may not replace the document by anything but an object or a list; before, it then changes nothing. */
  readonly checksRoot: boolean;
  /** A merge patch is an object; before, a list is one, too, that results in no object. */
  readonly refusesLists: boolean;
}
export const earlyRules: PatchRules = { dropsDirectives: false, checksRoot: false, refusesLists: false };

interface PatchFacts {
  /** The fields that it reads or may change; undefined: any. */
  readonly touched?: Touched | undefined;
  /** The text of the patch holds numbers that are floats by their spelling. */
  readonly floats?: boolean;
  /** How many characters it may add to a document without holding them. */
  readonly copies?: number;
  /** Whether it is a strategic merge patch: an invalid result has another message. */
  readonly strategic?: true | undefined;
}
export function patchOf(patched: Patch['patched'], facts: PatchFacts): Patch {
  const { touched, floats = false, copies = 0, strategic } = facts;
  return Object.assign((document: JsonValue) => atOnce(patched(document)), { patched, touched, floats, copies, strategic });
}
/** The patch `null`. */
export const emptyPatch: Patch = patchOf(function* (document) {
  yield;
  return document;
}, {});

/** Limit of operations. */
export const MAX_OPERATIONS = 10_000;
/** Limit of the JSON characters that the copies of one patch add: that of bodies. */
const MAX_COPIED = 3 * 1024 * 1024;

/** Operations after which a patch yields; a power of two. */
const OPERATIONS_A_STEP = 64;

interface Operation {
  readonly op?: unknown;
  readonly path?: unknown;
  readonly from?: unknown;
  readonly value?: JsonValue;
}
type Container = JsonValue[] | LongList | { [key: string]: JsonValue };

/** Parses the body of a patch request. */
export function readJsonPatch(body: PatchBody, rules: PatchRules = earlyRules): Patch {
  const operations = patchValue(body, badRequest);
  const patch = jsonPatch(operations, rules);
  return holdsFloats(operations) ? patchOf(patch.patched, { ...patch, floats: true }) : patch;
}

/** A patch from parsed operations, as webhooks send them. */
export function jsonPatch(operations: JsonValue, rules: PatchRules = earlyRules): Patch {
  if (operations === null) return emptyPatch;
  if (!Array.isArray(operations)) throw badRequest(`json: cannot unmarshal ${goKind(operations)}: a JSON patch is a list of operations`);
  for (const operation of operations)
    if (typeof operation !== 'object' || Array.isArray(operation))
      throw badRequest(`json: cannot unmarshal ${goKind(operation)}: an operation of a JSON patch is an object`);
  if (operations.length > MAX_OPERATIONS)
    throw requestTooLarge(
      `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`,
    );
  return patchOf((document) => patchedBy(operations as Operation[], document, rules), {
    touched: touchedByPaths(operations as Operation[]),
    copies: (operations as Operation[]).some((operation) => operation?.op === 'copy') ? MAX_COPIED : 0,
  });
}

/** Undefined when an operation concerns the whole document, or is none. */
function touchedByPaths(operations: readonly (Operation | null)[]): Touched | undefined {
  const fields = new Set<string>();
  for (const operation of operations)
    for (const pointer of [operation?.path, operation?.from]) {
      if (pointer === undefined) continue;
      const field = typeof pointer === 'string' ? firstField(pointer) : undefined;
      if (field === undefined || readsOtherwise(field)) return undefined;
      fields.add(field);
    }
  return { fields, metadata: undefined };
}

export function goKind(value: JsonValue): string {
  return value === null
    ? 'null'
    : Array.isArray(value)
      ? 'array'
      : typeof value === 'boolean'
        ? 'bool'
        : isNumeric(value)
          ? 'number'
          : typeof value;
}

function* patchedBy(operations: readonly Operation[], document: JsonValue, { checksRoot }: PatchRules): Work<JsonValue> {
  const root = { document: yield* clonedJson(document), copied: 0, checked: checksRoot };
  yield;
  let at = 0;
  try {
    for (; at < operations.length; at++) {
      // A null operation has no `op`.
      const operation = operations[at] ?? {};
      yield* run(root, operation);
      // The copied value may be most of the document.
      if (operation.op === 'copy' || (at & (OPERATIONS_A_STEP - 1)) === OPERATIONS_A_STEP - 1) yield;
    }
    root.document = yield* withPlainLists(root.document);
  } catch (error) {
    const refusal = error instanceof DecodeError ? unprocessable() : (error as Error);
    // The error does not name the operation, as with a stock server; callers may add it.
    if (at < operations.length) refusal.cause = `operation ${at} (${operationText(operations[at] ?? {})}) does not apply`;
    throw refusal;
  }
  return root.document;
}

const operationText = ({ op, path }: Operation): string => `${String(op)} ${String(path)}`.slice(0, 200);

interface Root {
  document: JsonValue;
  copied: number;
  /** Whether it must be replaced by an object or a list. */
  readonly checked: boolean;
}

function* run(root: Root, operation: Operation): Work<void> {
  const path = pointer(operation.path);
  switch (operation.op) {
    case 'add':
      add(root, locate(root, path), yield* clonedJson(operation.value ?? null));
      break;
    case 'remove':
      remove(root, locate(root, path));
      break;
    case 'replace':
      if (path.length === 1) replaceRoot(root, yield* clonedJson(operation.value));
      else replace(locate(root, path), yield* clonedJson(operation.value ?? null));
      break;
    case 'move': {
      const moved = remove(root, locate(root, pointer(operation.from)));
      add(root, locate(root, path), moved);
      break;
    }
    case 'copy': {
      const { container, key } = locate(root, pointer(operation.from));
      // A missing key is copied as null.
      const copiedValue = yield* clonePlain(child(container, key) ?? null);
      root.copied += jsonText(copiedValue).length;
      if (root.copied > MAX_COPIED) throw unprocessable();
      add(root, locate(root, path), copiedValue);
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

/** The parts of a path; the text before its first slash is ignored. The root has one part. */
function pointer(path: unknown): string[] {
  if (typeof path !== 'string') throw unprocessable();
  const parts = path.split('/');
  // Paths deeper than any document need no lookup.
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
  /** The place of the container; undefined for the whole document. */
  readonly holder: { readonly container: Container; readonly key: string } | undefined;
}

function locate(root: Root, parts: readonly string[]): Place {
  let container: JsonValue | undefined = root.document;
  let above: JsonValue | undefined;
  for (let i = 1; i < parts.length - 1; i++) {
    above = container;
    container = child(container, parts[i] as string);
  }
  if (parts.length < 2 || typeof container !== 'object' || container === null) throw unprocessable();
  const holder = above === undefined ? undefined : { container: above as Container, key: parts[parts.length - 2] as string };
  return { container: container as Container, key: parts[parts.length - 1] as string, holder };
}
function child(container: JsonValue | LongList | undefined, key: string): JsonValue | undefined {
  if (typeof container !== 'object' || container === null) return undefined;
  if (container instanceof LongList) return container.at(index(key, container.length));
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

function existingValue({ container, key }: Place): JsonValue {
  const value = child(container, key);
  if (value === undefined) throw unprocessable();
  return value;
}
/** Splits a long list into pieces before items are moved in it. */
function movable(root: Root, { container, holder }: Place): Container {
  if (!Array.isArray(container) || container.length <= LONG_FROM) return container;
  const long = new LongList(container);
  if (holder === undefined) root.document = long as unknown as JsonValue;
  else replace(holder, long as unknown as JsonValue);
  return long;
}
function add(root: Root, place: Place, value: JsonValue): void {
  const { container, key } = place;
  if (Array.isArray(container) && key === '-') {
    container.push(value);
    return;
  }
  const list = movable(root, place);
  if (list instanceof LongList) list.insert(key === '-' ? list.length : index(key, list.length + 1), value);
  else if (Array.isArray(list)) list.splice(index(key, list.length + 1), 0, value);
  else setOwn(list, key, value);
}
function replace({ container, key }: Pick<Place, 'container' | 'key'>, value: JsonValue): void {
  if (container instanceof LongList) container.set(index(key, container.length), value);
  else if (Array.isArray(container)) container[index(key, container.length)] = value;
  else setOwn(container, key, value);
}
function remove(root: Root, place: Place): JsonValue {
  const { key } = place;
  const value = existingValue(place);
  const container = movable(root, place);
  if (container instanceof LongList) container.remove(index(key, container.length));
  else if (Array.isArray(container)) container.splice(index(key, container.length), 1);
  else delete container[key];
  return value;
}
function replaceRoot(root: Root, value: JsonValue | undefined): void {
  // The document must stay an object: otherwise earlier releases leave it unchanged.
  if (typeof value === 'object' && value !== null) root.document = value;
  else if (root.checked) throw unprocessable();
}
function test(root: Root, path: readonly string[], value: JsonValue): void {
  const actualValue = path.length === 1 ? root.document : (child(locate(root, path).container, path[path.length - 1] as string) ?? null);
  if (!sameAs(actualValue, value)) throw Object.assign(unprocessable(), { isFailedTest: true });
}
/** Whether a patch was refused because the document has another value than one of its tests expects. */
export const isFailedTest = (error: unknown): boolean => error instanceof Error && 'isFailedTest' in error;

/** Long lists are compared up to the first difference, so that all tests together cost no more than their values. */
function sameAs(actualValue: JsonValue | LongList | undefined, value: JsonValue | undefined): boolean {
  if (actualValue instanceof LongList) {
    if (!Array.isArray(value) || value.length !== actualValue.length) return false;
    return actualValue.items().every((item, i) => sameAs(item, value[i]));
  }
  if (typeof actualValue !== 'object' || typeof value !== 'object' || actualValue === null || value === null) return actualValue === value;
  if (Array.isArray(actualValue) || Array.isArray(value)) {
    if (!Array.isArray(actualValue) || !Array.isArray(value) || actualValue.length !== value.length) return false;
    return actualValue.every((item, i) => sameAs(item, value[i]));
  }
  const keys = Object.keys(actualValue);
  return (
    keys.length === Object.keys(value).length &&
    keys.every((key) => Object.hasOwn(value, key) && sameAs(own(actualValue, key), own(value, key)))
  );
}
