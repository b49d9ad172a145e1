/** The kinds that the server has, custom and aggregated ones among them. */

import { type GroupList, type ListedResource, type ResourceList, versionsInOrder } from '@plat-dev/client/discovery-documents';
import { apiVersionOf, type GroupVersion, splitApiVersion } from '@plat-dev/meta/api-version';
import { type Signal, signal } from '@preact/signals';
import type { Api } from './api.ts';
import { type ApiError, asApiError } from './api-error.ts';
import { type Kind, type KindReference, kindKey } from './kinds.ts';

type FullResource = ListedResource & Required<Pick<ListedResource, 'verbs'>>;

export type DiscoveryState =
  | { readonly phase: 'loading' }
  | { readonly phase: 'failed'; readonly error: ApiError }
  /** `missing`: versions that did not answer, such as those of an aggregated server that is down. */
  | { readonly phase: 'ready'; readonly missing: readonly string[] };

export class Discovery {
  readonly state: Signal<DiscoveryState> = signal<DiscoveryState>({ phase: 'loading' });
  /** Kinds that can be listed, each at the version that its group prefers. */
  readonly kinds: Signal<readonly Kind[]> = signal<readonly Kind[]>([]);
  readonly #api: Api;
  #all: ReadonlyMap<string, Kind> = new Map();

  constructor(api: Api) {
    this.#api = api;
  }

  /** Reads all kinds. A second call while one is under way waits for both. */
  async load(): Promise<void> {
    try {
      const [core, groups] = await Promise.all([
        this.#api.json<{ readonly versions: readonly string[] }>('/api'),
        this.#api.json<GroupList>('/apis'),
      ]);
      const versions = [...core.versions.map((version) => ({ group: '', version })), ...(groups.groups ?? []).flatMap(versionsInOrder)];
      const answers = await Promise.all(versions.map((one) => this.#kindsOf(one)));
      this.#take(answers.flatMap((kinds) => kinds ?? []));
      this.state.value = {
        phase: 'ready',
        missing: versions.filter((_, i) => answers[i] === undefined).map(apiVersionOf),
      };
    } catch (error) {
      this.state.value = { phase: 'failed', error: asApiError(error) };
    }
  }

  /** Kinds that are as they were stay the same values: what is open for one stays open. */
  #take(kinds: readonly Kind[]): void {
    const all = kinds.map((kind) => {
      const last = this.#all.get(kindKey(kind));
      return last !== undefined && JSON.stringify(last) === JSON.stringify(kind) ? last : kind;
    });
    this.#all = new Map(all.map((kind) => [kindKey(kind), kind]));
    const listable = preferred(all).filter(({ verbs }) => verbs.includes('list'));
    const shown = this.kinds.peek();
    if (shown.length !== listable.length || listable.some((kind, i) => kind !== shown[i])) this.kinds.value = listable;
  }

  /** The kind that a URL names, at any version that is served. */
  find(reference: KindReference): Kind | undefined {
    // Reading the signal lets whoever asks see kinds that are found later.
    return this.kinds.value.length === 0 ? undefined : this.#all.get(kindKey(reference));
  }

  /** The kind of an owner or of an event's object: `apps/v1`, `Deployment`. */
  findKind(apiVersion: string, kind: string): Kind | undefined {
    if (this.kinds.value.length === 0) return undefined;
    const { group, version } = splitApiVersion(apiVersion);
    for (const one of this.#all.values()) if (one.group === group && one.version === version && one.kind === kind) return one;
    return this.kinds.value.find((one) => one.group === group && one.kind === kind);
  }

  async #kindsOf({ group, version }: GroupVersion): Promise<readonly Kind[] | undefined> {
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    try {
      return kindsOf({ group, version }, await this.#api.json<ResourceList>(path));
    } catch {
      return undefined;
    }
  }
}

/** `pods` with its subresources `pods/log` and `pods/status`. */
function kindsOf({ group, version }: GroupVersion, list: ResourceList): Kind[] {
  const resources = (list.resources ?? []).filter(isResource);
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map(({ name, kind, namespaced, verbs, shortNames }) => ({
      group,
      version,
      resource: name,
      kind,
      isNamespaced: namespaced === true,
      shortNames: isTextList(shortNames) ? shortNames : [],
      verbs,
      subresources: resources.filter((one) => one.name.startsWith(`${name}/`)).map((one) => one.name.slice(name.length + 1)),
    }));
}

/** Aggregated servers list their kinds themselves: one that leaves something out must not cost all others. */
const isResource = (one: Partial<ListedResource>): one is FullResource =>
  typeof one.name === 'string' && typeof one.kind === 'string' && isTextList(one.verbs);
const isTextList = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every((one) => typeof one === 'string');

/** The first version of each kind, which is the preferred one that has it. */
function preferred(all: readonly Kind[]): Kind[] {
  const byName = new Map<string, Kind>();
  for (const kind of all) {
    const name = `${kind.group}/${kind.resource}`;
    if (!byName.has(name)) byName.set(name, kind);
  }
  return [...byName.values()];
}
