/**
 * The stream of changes and requests: rows of what happened, newest first, at most 5,000. A watch says at once which object changed;
 * the history of the server, where it has one, says soon after who changed what.
 */
import { type Signal, signal } from '@preact/signals';
import type { ObjectVersion } from '../../api/history.ts';
import type { Kind } from '../../api/kinds.ts';
import type { WatchEvent } from '../../api/watch-connection.ts';
import { objectHref } from '../../app/routes.ts';

export type Happening = 'created' | 'changed' | 'deleted' | 'refused' | 'slow';

export interface NowRow {
  /** Differs from those of all other rows. */
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly what: Happening;
  /** `pods`, or the path of a request that is for no resource. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** The user, or the field manager with a tilde before it where the user is not known. */
  readonly user: string;
  readonly text: string;
  /** The object, or the explanation of a refusal. */
  readonly href: string | undefined;
}

export const MAX_NOW_ROWS = 5000;

/** The rows, and those that came while the stream was paused. */
export class NowRows {
  readonly rows: Signal<readonly NowRow[]> = signal<readonly NowRow[]>([]);
  readonly isPaused: Signal<boolean> = signal(false);
  /** Rows that will be shown when the stream goes on. */
  readonly waiting: Signal<number> = signal(0);
  #all: readonly NowRow[] = [];

  /** Rows in the order in which they happened. */
  add(rows: readonly NowRow[]): void {
    if (rows.length === 0) return;
    const newest = rows.toReversed().sort((one, other) => other.at - one.at);
    this.#all = [...newest, ...this.#all].slice(0, MAX_NOW_ROWS);
    if (this.isPaused.peek()) this.waiting.value = Math.min(this.waiting.peek() + rows.length, MAX_NOW_ROWS);
    else this.rows.value = this.#all;
  }

  /** Adds to rows what became known later; rows that are gone stay gone. */
  complete(details: ReadonlyMap<string, Pick<NowRow, 'user' | 'text'>>): void {
    const completed = (row: NowRow): NowRow => {
      const more = details.get(row.key);
      return more === undefined ? row : { ...row, ...more };
    };
    this.#all = this.#all.map(completed);
    this.rows.value = this.isPaused.peek() ? this.rows.peek().map(completed) : this.#all;
  }

  pause(isPaused: boolean): void {
    this.isPaused.value = isPaused;
    if (isPaused) return;
    this.waiting.value = 0;
    this.rows.value = this.#all;
  }

  clear(): void {
    this.#all = [];
    this.waiting.value = 0;
    this.rows.value = [];
  }
}

interface ChangedObject {
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly resourceVersion?: string;
    readonly managedFields?: readonly { readonly manager?: string; readonly time?: string; readonly subresource?: string }[];
  };
}
const happenings = { ADDED: 'created', MODIFIED: 'changed', DELETED: 'deleted' } as const;

const rowKey = ({ group, resource }: Kind, resourceVersion: string, name: string): string =>
  `${group}/${resource} ${resourceVersion} ${name}`;

/** Rows of watch events. Who made a change is known from the owner of fields that wrote last, unless history says it. */
export function rowsOf(kind: Kind, events: readonly WatchEvent[], now: number): NowRow[] {
  return events.flatMap(({ type, object }) => {
    if (type === 'BOOKMARK' || type === 'ERROR') return [];
    const { name = '', namespace = '', resourceVersion = '', managedFields = [] } = (object as ChangedObject).metadata ?? {};
    const last = managedFields.reduce<(typeof managedFields)[number] | undefined>(
      (newest, one) => (newest === undefined || (one.time ?? '') >= (newest.time ?? '') ? one : newest),
      undefined,
    );
    const isDeleted = type === 'DELETED';
    return {
      key: rowKey(kind, resourceVersion, name),
      at: now,
      what: happenings[type],
      resource: kind.resource,
      namespace,
      name,
      href: isDeleted ? undefined : objectHref(kind, kind.isNamespaced ? namespace : undefined, name),
      user: isDeleted || last?.manager === undefined ? '' : `~${last.manager}`,
      text: isDeleted ? '' : (last?.subresource ?? ''),
    };
  });
}

/** What history adds to the rows of a kind. */
export function detailsOf(kind: Kind, versions: readonly ObjectVersion[]): ReadonlyMap<string, Pick<NowRow, 'user' | 'text'>> {
  return new Map(
    versions.map(({ name, resourceVersion, user = '', userAgent = '', fieldManager = '', change, verb = '', subresource = '' }) => {
      const program = fieldManager || (userAgent.split(/[/ ]/, 1)[0] as string);
      const text = change || [verb, subresource].filter(Boolean).join(' ');
      return [rowKey(kind, resourceVersion, name), { user, text: program === '' ? text : `${text} (${program})` }];
    }),
  );
}

/** `pods/web`, or the resource alone. */
export const placeOf = ({ resource, name }: NowRow): string => (name === '' ? resource : `${resource}/${name}`);

export interface NowFilter {
  readonly namespace: string | undefined;
  readonly user: string;
  readonly text: string;
  readonly what: string;
}

/** Each part of a filter has to be in its row, in any case of its letters. */
export function filterRows(rows: readonly NowRow[], { namespace, user, text, what }: NowFilter): readonly NowRow[] {
  const wantedUser = user.toLowerCase();
  const wantedText = text.toLowerCase();
  return rows.filter(
    (row) =>
      (namespace === undefined || row.namespace === namespace) &&
      (what === '' || row.what === what) &&
      row.user.toLowerCase().includes(wantedUser) &&
      (wantedText === '' || `${placeOf(row)} ${row.namespace} ${row.text}`.toLowerCase().includes(wantedText)),
  );
}
