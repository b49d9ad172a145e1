/** The names of kinds, and of the first objects of each kind, read when the search is opened. */

import { metaGroups } from '@plat-dev/meta/identity';
import { type Signal, signal } from '@preact/signals';
import type { Api } from '../api/api.ts';
import { collectionPath, type Kind } from '../api/kinds.ts';
import { objectHref, tableHref } from './routes.ts';

export interface SearchResult {
  readonly title: string;
  /** What it is, and where. */
  readonly place: string;
  readonly href: string;
}
interface Entry extends SearchResult {
  readonly words: string;
}
interface NameList {
  readonly items?: readonly { readonly metadata?: { readonly name?: string; readonly namespace?: string } }[] | null;
}

const MAX_RESULTS = 50;
/** Objects of one kind, of which there may be any number. */
const OBJECTS_OF_A_KIND = 500;
const REQUESTS_AT_ONCE = 4;
const accept = [...metaGroups.map((group) => `application/json;as=PartialObjectMetadataList;v=v1;g=${group}`), 'application/json'].join(
  ',',
);
/** Kinds whose objects come and go by the thousand, and say little by their names. */
const leftOut = new Set(['events', 'leases', 'endpointslices', 'controllerrevisions']);

export class SearchIndex {
  /** Raised when more names are there. */
  readonly changes: Signal<number> = signal(0);
  readonly isLoading: Signal<boolean> = signal(false);
  readonly #abort = new AbortController();
  readonly #kindEntries: readonly Entry[];
  readonly #objectEntries: Entry[] = [];
  readonly #api: Api;
  readonly #kinds: readonly Kind[];
  readonly #namespace: string | undefined;

  constructor(api: Api, kinds: readonly Kind[], namespace: string | undefined) {
    this.#api = api;
    this.#kinds = kinds;
    this.#namespace = namespace;
    this.#kindEntries = kinds.map((kind) => ({
      title: kind.kind,
      place: kind.group === '' ? 'kind' : `kind of ${kind.group}`,
      href: tableHref(kind, kind.isNamespaced ? namespace : undefined),
      words: [kind.resource, kind.kind, ...kind.shortNames].join(' ').toLowerCase(),
    }));
  }

  /** Reads names, a few kinds at a time. Kinds that the user may not list are left out. */
  async load(): Promise<void> {
    this.#objectEntries.length = 0;
    this.isLoading.value = true;
    const waiting = this.#kinds.filter(({ resource }) => !leftOut.has(resource));
    const work = async (): Promise<void> => {
      for (let kind = waiting.shift(); kind !== undefined; kind = waiting.shift()) {
        await this.#read(kind).catch(() => undefined);
        if (this.#abort.signal.aborted) return;
      }
    };
    await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, work));
    this.isLoading.value = false;
  }

  close(): void {
    this.#abort.abort();
  }

  /** Kinds before objects, and those that begin with the text before those that have it elsewhere; an object of this very name first. */
  find(text: string): SearchResult[] {
    const wanted = text.trim().toLowerCase();
    if (wanted === '') return this.#kindEntries.slice(0, MAX_RESULTS);
    const isNamed = ({ words }: Entry): boolean => words === wanted;
    const kinds = matches(this.#kindEntries, wanted);
    const objects = matches(this.#objectEntries, wanted);
    const isOfKind = kinds.some(({ words }) => words.split(' ').includes(wanted));
    const named = isOfKind ? [] : objects.filter(isNamed);
    return [...named, ...kinds, ...objects.filter((one) => !named.includes(one))].slice(0, MAX_RESULTS);
  }

  async #read(kind: Kind): Promise<void> {
    const path = collectionPath(kind, kind.isNamespaced ? this.#namespace : undefined);
    const query = { limit: OBJECTS_OF_A_KIND };
    const { items } = await this.#api.json<NameList>(path, { accept, query, signal: this.#abort.signal });
    for (const { metadata: { name = '', namespace } = {} } of items ?? []) {
      const place = namespace === undefined ? kind.kind : `${kind.kind} in ${namespace}`;
      this.#objectEntries.push({ title: name, place, href: objectHref(kind, namespace, name), words: name.toLowerCase() });
    }
    this.changes.value++;
  }
}

function matches(entries: readonly Entry[], wanted: string): Entry[] {
  const containing = entries.filter(({ words }) => words.includes(wanted));
  const isFirst = ({ words }: Entry): boolean => words.startsWith(wanted) || words.includes(` ${wanted}`);
  return [...containing.filter(isFirst), ...containing.filter((entry) => !isFirst(entry))];
}
