/**
 * Changes of a request. An edit is a number that says what it does and one from which all else of it follows, so that
 * fast-check can leave edits out until only those remain that a failure needs.
 */
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { decode } from '../../packages/schema/src/json/index.ts';
import { encodeObject } from '../../packages/schema/src/protobuf/envelope.ts';
import type { JsonObject, JsonValue } from '../../packages/schema/src/types.ts';
import { stringifyYaml } from '../../packages/schema/src/yaml/index.ts';
import { pick, type Random, randomOf, randomValue } from '../support/arbitrary.ts';
import type { Base } from './bases.ts';
import { fields, headers, known, parameters, values, words } from './tables.ts';

export interface Edit {
  readonly what: number;
  readonly seed: number;
}
const users = ['admin', 'alice', 'bob', 'anonymous'] as const;

/** A request as it is sent. */
export interface Sent {
  method: string;
  /** Without the query. */
  path: string;
  query: string[];
  headers: Record<string, string>;
  body: string | Buffer | undefined;
  user: (typeof users)[number];
  http2: boolean;
}

/** A request while it is changed: its body is a value until an edit makes it text. */
interface Draft extends Omit<Sent, 'body'> {
  body: JsonValue | undefined;
  bytes: Buffer | undefined;
  readonly schema: Base['schema'];
}

/** Longest body; what length does is the business of tests of bounds. */
const LONGEST = 200_000;
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'];
const below = (random: Random, limit: number): number => Math.floor(random() * limit);

export interface EditWorld {
  readonly bases: readonly Base[];
  /** The binary media type. */
  readonly binary: string;
  /** Texts of a stock server in the names of this one. */
  named(text: string): string;
}

type EditOf = (draft: Draft, random: Random, world: EditWorld) => void;

const swapped = (value: JsonValue | undefined, random: Random): JsonValue => {
  if (typeof value === 'string') return pick<JsonValue>(random, [Number(value) || 7, [value], { [value.slice(0, 40)]: value }, true]);
  if (typeof value === 'number') return pick<JsonValue>(random, [String(value), value + 0.5, -value, [value], value * 1e12]);
  if (Array.isArray(value)) return pick<JsonValue>(random, [{}, value[0] ?? null, 'x', { ...value }]);
  if (typeof value === 'object' && value !== null) return pick<JsonValue>(random, [Object.values(value), 'x', [value], Object.keys(value)]);
  return 'x';
};

interface Place {
  readonly parent: JsonObject | JsonValue[];
  readonly key: string;
  get(): JsonValue;
  set(value: JsonValue): void;
  remove(): void;
}
/** A place in a value, at any depth. */
function placeIn(root: JsonValue | undefined, random: Random): Place | undefined {
  let found: Place | undefined;
  let at = root;
  for (let depth = below(random, 9); depth >= 0; depth--) {
    if (typeof at !== 'object' || at === null) break;
    const keys = Object.keys(at);
    if (keys.length === 0) break;
    const parent = at as Record<string, JsonValue>;
    const key = pick(random, keys);
    found = {
      parent: at,
      key,
      get: () => parent[key] as JsonValue,
      set: (value) => {
        Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true });
      },
      remove: () => void (Array.isArray(parent) ? parent.splice(Number(key), 1) : delete parent[key]),
    };
    at = parent[key];
  }
  return found;
}
const put = (target: JsonValue, key: string, value: JsonValue): void => {
  Object.defineProperty(target as object, key, { value, enumerable: true, configurable: true, writable: true });
};
const copy = (value: JsonValue | undefined): JsonValue => (value === undefined ? null : (JSON.parse(jsonText(value)) as JsonValue));
const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const inBody =
  (change: (place: Place, random: Random, draft: Draft, world: EditWorld) => void): EditOf =>
  (draft, random, world) => {
    const place = placeIn(draft.body, random);
    if (place !== undefined) change(place, random, draft, world);
  };

const textOf = (draft: Draft): string =>
  draft.bytes?.toString('latin1') ?? (draft.body === undefined ? '' : jsonText(draft.body).slice(0, LONGEST));

/** JSON patches on what is there, and on what is not. */
function operationsOn(body: JsonValue | undefined, random: Random): JsonValue {
  const pathTo = (): string => {
    const parts: string[] = [];
    let at = body;
    for (let depth = 1 + below(random, 5); depth > 0 && typeof at === 'object' && at !== null; depth--) {
      const key = pick(random, [...Object.keys(at), ...(random() < 0.2 ? ['-', '0', '01', '-1', '9999999999', 'x', '~', '~2', ''] : [])]);
      if (key === undefined) break;
      parts.push(key.replaceAll('~', '~0').replaceAll('/', '~1'));
      at = (at as JsonObject)[key];
    }
    return random() < 0.05 ? parts.join('/') : `/${parts.join('/')}`;
  };
  return Array.from({ length: 1 + below(random, 4) }, () => ({
    op: pick(random, ['add', 'remove', 'replace', 'move', 'copy', 'test', 'add', 'replace', 'x']),
    path: pathTo(),
    ...(random() < 0.4 && { from: pathTo() }),
    ...(random() < 0.8 && { value: copy(pick(random, values)) }),
  }));
}

/** Every edit, in tables of what it changes. */
const bodyEdits: readonly EditOf[] = [
  inBody((place, random) => place.set(swapped(place.get(), random))),
  inBody((place, random) => place.set(copy(pick(random, values)))),
  inBody((place, random) => place.set(copy(pick(random, values)))),
  inBody((place) => place.remove()),
  inBody(({ parent, get }, random) => {
    const value = copy(get());
    if (Array.isArray(parent)) parent.push(value);
    else put(parent, pick(random, fields), value);
  }),
  inBody((place, random) => {
    const value = place.get();
    if (isObject(value)) put(value, pick(random, fields), copy(pick(random, values)));
    else if (Array.isArray(value)) value.push(copy(pick(random, values)));
  }),
  // A list or a map that is long.
  inBody((place, random) => {
    const value = place.get();
    const item = jsonText(Array.isArray(value) ? (value[0] ?? null) : value);
    const times = Math.min(pick(random, [10, 100, 2000]), Math.floor(LONGEST / 2 / (item.length + 12)));
    if (Array.isArray(value)) {
      const named = random() < 0.7;
      for (let i = 0; i < times; i++) {
        const one = JSON.parse(item) as JsonValue;
        if (named && isObject(one) && typeof one.name === 'string') one.name = `${one.name}${i}`;
        value.push(one);
      }
    } else if (isObject(place.parent)) for (let i = 0; i < times; i++) put(place.parent, `${place.key}${i}`, JSON.parse(item) as JsonValue);
  }),
  // Depth.
  inBody((place, random) => {
    const depth = pick(random, [5, 50, 200, 1000]);
    let value: JsonValue = copy(pick(random, values));
    for (let i = 0; i < depth; i++) value = random() < 0.5 ? [value] : { a: value };
    place.set(value);
  }),
  // A part of another object, of whatever kind.
  inBody((place, random, _draft, { bases }) => {
    const other = placeIn(pick(random, bases).body, random);
    if (other !== undefined) place.set(copy(other.get()));
  }),
  (draft, random, { bases }) => {
    const { body } = pick(random, bases);
    if (body !== undefined) draft.body = copy(body);
  },
  (draft, random) => {
    if (!isObject(draft.body)) return;
    const name = pick(random, Object.keys(known));
    const metadata = isObject(draft.body.metadata) ? draft.body.metadata : {};
    draft.body.metadata = { ...metadata, [name]: copy(pick(random, known[name] as JsonValue[])) };
  },
  // Another object of the kind, of which each field is of its type.
  (draft, random) => {
    if (draft.schema === undefined || !isObject(draft.body)) return;
    const { apiVersion, kind, metadata } = draft.body;
    const made = randomValue(draft.schema, random) as JsonObject;
    draft.body = { apiVersion, kind, ...made, ...(random() < 0.8 && metadata !== undefined && { metadata }) } as JsonObject;
  },
  (draft, random) => {
    draft.body = operationsOn(draft.body, random);
    draft.method = 'PATCH';
    draft.headers['content-type'] = 'application/json-patch+json';
  },
  (draft, random) => {
    draft.method = 'PATCH';
    const type = pick(random, ['merge-patch+json', 'strategic-merge-patch+json', 'apply-patch+yaml']);
    draft.headers['content-type'] = `application/${type}`;
    if (type === 'apply-patch+yaml') draft.query.push('fieldManager=property');
  },
];

const formEdits: readonly EditOf[] = [
  (draft) => {
    if (draft.body === undefined || draft.bytes !== undefined) return;
    draft.bytes = Buffer.from(stringifyYaml(draft.body));
    if (draft.method !== 'PATCH') draft.headers['content-type'] = 'application/yaml';
  },
  (draft, _random, { binary }) => {
    if (draft.schema === undefined || draft.bytes !== undefined || draft.method === 'PATCH') return;
    try {
      draft.bytes = encodeObject(draft.schema, { ...(draft.body as object), ...(decode(draft.schema, draft.body) as object) });
      draft.headers['content-type'] = binary;
    } catch {
      // It has no binary form.
    }
  },
  // A repeated key.
  (draft, random) => {
    draft.bytes = Buffer.from(textOf(draft).replace('{', `{"${pick(random, fields.slice(0, 20))}":${jsonText(pick(random, values))},`));
  },
  // Bytes that are not what they were.
  (draft, random) => {
    const bytes = Buffer.from(draft.bytes ?? textOf(draft));
    if (bytes.length > 0) for (let i = below(random, 3); i >= 0; i--) bytes[below(random, bytes.length)] = below(random, 256);
    draft.bytes = bytes;
  },
  (draft, random) => {
    const bytes = draft.bytes ?? Buffer.from(textOf(draft));
    draft.bytes = bytes.subarray(0, below(random, bytes.length + 1));
  },
  (draft, random) => {
    const bytes = draft.bytes ?? Buffer.from(textOf(draft));
    draft.bytes = Buffer.concat([bytes, Buffer.from(pick(random, ['\n---\n{}', '}', ' ', '\0', '\xff', 'x', '\n...\n', ',', '//']))]);
  },
  (draft, random) => {
    draft.bytes = Buffer.from(
      pick(random, ['', ' ', 'null', '[]', '"x"', '0', '{', '{}', '---', 'a: &a [*a]', '&a a: *b', '\ufeff{}', 'k8s\0', '!!int x']),
    );
  },
];

const queryEdits: readonly EditOf[] = [
  (draft, random) => {
    const name = pick(random, Object.keys(parameters));
    draft.query.push(`${name}=${encodeURIComponent(pick(random, parameters[name] as string[]))}`);
  },
  (draft, random) => {
    const name = pick(random, Object.keys(parameters));
    for (const value of [pick(random, parameters[name] as string[]), pick(random, parameters[name] as string[])])
      draft.query.push(`${name}=${encodeURIComponent(value)}`);
  },
  (draft, random) => {
    draft.query.push(`${encodeURIComponent(pick(random, words))}=${encodeURIComponent(pick(random, words))}`);
  },
  (draft, random) => {
    draft.query.push(
      pick(random, ['', '=', '&', '%', '%zz', 'a=%ff', 'limit', 'limit=1;x', '+', 'watch', '?', 'dryRun[]=All', 'a'.repeat(3000)]),
    );
  },
];

const headEdits: readonly EditOf[] = [
  (draft, random, { named }) => {
    const name = pick(random, Object.keys(headers));
    draft.headers[name] = named(pick(random, headers[name] as string[]));
  },
  (draft, random, { named }) => {
    draft.headers.accept = named(pick(random, headers.accept as string[]));
  },
  (draft, random) => {
    draft.user = pick(random, users);
  },
  (draft) => {
    draft.http2 = true;
  },
  (draft, random) => {
    draft.method = pick(random, methods);
  },
];

const pathEdits: readonly EditOf[] = [
  (draft, random) => {
    const parts = draft.path.split('/');
    const at = 1 + below(random, parts.length);
    const chosen = pick(random, words);
    // Not encoded, only what can stand in a request line.
    const word = random() < 0.5 ? encodeURIComponent(chosen) : chosen.replace(/[^\x21-\x7e]|[?#]/g, '');
    switch (below(random, 5)) {
      case 0:
        parts[at] = word;
        break;
      case 1:
        parts.splice(at, 0, word);
        break;
      case 2:
        parts.splice(at, 1);
        break;
      case 3:
        parts.push(word);
        break;
      default: {
        const other = 1 + below(random, parts.length);
        [parts[at], parts[other]] = [parts[other] ?? '', parts[at] ?? ''];
      }
    }
    const made = parts.join('/');
    draft.path = made.startsWith('/') ? made : `/${made}`;
  },
  // The body of this request, sent to the path of another.
  (draft, random, { bases }) => {
    draft.path = (pick(random, bases).path.split('?')[0] as string) || '/';
  },
];

/** Bodies have the most to go wrong in; a path that is changed mostly leads nowhere. */
const shares: readonly (readonly [readonly EditOf[], number])[] = [
  [bodyEdits, bodyEdits.length * 4],
  [formEdits, formEdits.length * 2],
  [queryEdits, queryEdits.length * 3],
  [headEdits, headEdits.length * 2],
  [pathEdits, pathEdits.length * 2],
];
const edits: readonly EditOf[] = shares.flatMap(([table, share]) =>
  Array.from({ length: share }, (_, i) => table[i % table.length] as EditOf),
);
export const EDITS: number = edits.length;

export function edited(base: Base, changes: readonly Edit[], world: EditWorld): Sent {
  const [path = '/', query] = base.path.split('?');
  const draft: Draft = {
    method: base.method,
    path,
    query: query === undefined ? [] : query.split('&'),
    headers: { ...base.headers },
    user: 'admin',
    http2: false,
    body: base.body === undefined ? undefined : copy(base.body),
    bytes: undefined,
    schema: base.schema,
  };
  for (const { what, seed } of changes) edits[what]?.(draft, randomOf(seed), world);
  const { body, bytes, schema: _, ...rest } = draft;
  const text = bytes ?? (body === undefined ? undefined : jsonText(body));
  return { ...rest, body: text?.slice(0, LONGEST * 2) };
}
