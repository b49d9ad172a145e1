/** Requests for objects of any kind, as values in and values out. */

import type { ApiObject } from '@plat-dev/kinds/kind';
import { jsonText } from '@plat-dev/lib/json-text';
import { nextTurn } from '@plat-dev/lib/next-turn';
import { inSlices, SLICED_FROM, Slices } from '@plat-dev/lib/slices';
import type { TextBytes } from '@plat-dev/lib/text-bytes';
import { notFound } from '@plat-dev/meta/errors';
import { pathSegmentName } from '@plat-dev/meta/names';
import { parseExact } from '@plat-dev/schema/json/parse';
import { parsedExact } from '@plat-dev/schema/json/parse-parts';
import { errorFrom, type Http, isNotFound } from './http.ts';
import { versionPath } from './paths.ts';

/** The parts of a resource's path. `group` is the full name. */
export interface ResourceRef {
  readonly group: string;
  readonly version: string;
  readonly name: string;
  readonly namespaced: boolean;
}

export interface DeleteChoice {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  readonly gracePeriodSeconds?: number;
}
export interface ObjectList<T> {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string; readonly remainingItemCount?: number };
  readonly items: T[];
  /** The length of its text. */
  readonly bytes: number;
}
export interface ListChoice {
  readonly limit?: number;
  readonly continue?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion?: string;
  /** Only kind, version and metadata of each object. */
  readonly metadataOnly?: boolean;
}

export const resourceKey = (resource: { readonly group: string; readonly name: string }): string =>
  resource.group === '' ? resource.name : `${resource.name}.${resource.group}`;

/**
 * Path of a collection, of an object in it, or of a subresource. An undefined namespace means all of them. Names may come
 * from user input, as those of owners do. Servers decode a path before they split it, so a name with a slash
 * would address another object or a subresource, and an empty one the whole collection: no object has such a name,
 * and no request is made.
 */
export function pathOf(resource: ResourceRef, namespace: string | undefined, name?: string, subresource?: string): string {
  if (name !== undefined && !isSegment(name)) throw notFound({ group: resource.group, resource: resource.name }, name);
  if (resource.namespaced && namespace !== undefined && namespace !== '' && !isSegment(namespace))
    throw notFound({ group: '', resource: 'namespaces' }, namespace);
  const scope = resource.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  const object = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  const below = subresource === undefined ? '' : `/${subresource}`;
  return `${versionPath(resource.group, resource.version)}${scope}/${resource.name}${object}${below}`;
}

const isSegment = (name: string): boolean => name !== '' && pathSegmentName(name).length === 0;

/** `a=1&b=x%2Fy`, without undefined values. */
export function queryOf(parameters: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') parts.push(`${name}=${encodeURIComponent(String(value))}`);
  }
  return parts.join('&');
}

/** Of an object its metadata. */
export interface Brief {
  readonly metadata: ApiObject['metadata'];
}

/** Many writers look at nothing of what they wrote: its metadata is found when it is needed. */
class WrittenObject implements Brief {
  private readonly find: () => ApiObject['metadata'];
  private foundMetadata: ApiObject['metadata'] | undefined;

  constructor(find: () => ApiObject['metadata']) {
    this.find = find;
  }
  get metadata(): ApiObject['metadata'] {
    this.foundMetadata ??= this.find();
    return this.foundMetadata;
  }
}

export class Client {
  readonly http: Http;
  private readonly userAgent: string;
  private readonly metadataGroup: string;
  private lastSent: { readonly value: object; readonly body: Buffer } | undefined;

  /** `metadataGroup` is the full name of the group that the metadata forms of objects and lists belong to. */
  constructor(http: Http, options: { readonly userAgent: string; readonly metadataGroup: string }) {
    this.http = http;
    this.userAgent = options.userAgent;
    this.metadataGroup = options.metadataGroup;
  }
  /** Headers of a read. */
  accept(form: 'whole' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'): Record<string, string> {
    const accept = form === 'whole' ? 'application/json' : `application/json;as=${form};v=v1;g=${this.metadataGroup}`;
    return { accept, 'user-agent': this.userAgent };
  }
  async get<T extends ApiObject>(resource: ResourceRef, namespace: string, name: string, metadataOnly = false): Promise<T> {
    return this.call('GET', pathOf(resource, namespace, name), this.accept(metadataOnly ? 'PartialObjectMetadata' : 'whole'));
  }
  /** The object, or undefined if there is none of that name. */
  async find<T extends ApiObject>(resource: ResourceRef, namespace: string, name: string, metadataOnly = false): Promise<T | undefined> {
    try {
      return await this.get<T>(resource, namespace, name, metadataOnly);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
  /**
   * One page of a collection. Pages after the first begin in a new turn of the event loop: within the server nothing else would
   * run between them, and a long list would delay other requests.
   */
  async list<T extends ApiObject>(resource: ResourceRef, namespace: string | undefined, choice: ListChoice = {}): Promise<ObjectList<T>> {
    const { metadataOnly, ...parameters } = choice;
    if (parameters.continue !== undefined) await nextTurn();
    const query = queryOf(parameters);
    const path = pathOf(resource, namespace);
    const headers = this.accept(metadataOnly ? 'PartialObjectMetadataList' : 'whole');
    const body = await this.answer('GET', query === '' ? path : `${path}?${query}`, headers);
    const page = (await parsed(body)) as { metadata: ObjectList<T>['metadata']; items?: T[] | null };
    // Some servers write an empty list as null.
    return { metadata: page.metadata, items: page.items ?? [], bytes: body.length };
  }
  /** All objects of a collection, fetched in pages. */
  async *each<T extends ApiObject>(resource: ResourceRef, namespace: string | undefined, choice: ListChoice = {}): AsyncGenerator<T> {
    let next: string | undefined;
    do {
      const page: ObjectList<T> = await this.list<T>(resource, namespace, {
        limit: PAGE,
        ...choice,
        ...(next !== undefined && { continue: next }),
      });
      yield* page.items;
      next = page.metadata.continue;
    } while (next !== undefined && next !== '');
  }
  async create<T extends ApiObject>(
    resource: ResourceRef,
    namespace: string,
    object: unknown,
    subresource?: { name: string; path: string },
  ): Promise<T> {
    return this.call('POST', pathOf(resource, namespace, subresource?.name, subresource?.path), this.accept('whole'), object);
  }
  async update<T extends ApiObject>(resource: ResourceRef, object: ApiObject, subresource?: string): Promise<T> {
    const { name = '', namespace = '' } = object.metadata;
    return this.call('PUT', pathOf(resource, namespace, name, subresource), this.accept('whole'), object);
  }
  /** A JSON merge patch. */
  async patch<T extends ApiObject>(
    resource: ResourceRef,
    namespace: string,
    name: string,
    patch: unknown,
    subresource?: string,
  ): Promise<T> {
    const headers = { ...this.accept('PartialObjectMetadata'), 'content-type': 'application/merge-patch+json' };
    return this.call('PATCH', pathOf(resource, namespace, name, subresource), headers, patch);
  }
  /**
   * As `create`, `update` and `patch`, for what is written often: only the metadata of the result is returned, which nobody may change, and
   * within the process of the server no text is parsed on the way. The object must not be changed afterwards.
   */
  createBriefly(resource: ResourceRef, namespace: string, object: object, subresource?: { name: string; path: string }): Promise<Brief> {
    return this.brief('POST', pathOf(resource, namespace, subresource?.name, subresource?.path), 'application/json', object);
  }
  updateBriefly(resource: ResourceRef, object: ApiObject, subresource?: string): Promise<Brief> {
    const { name = '', namespace = '' } = object.metadata;
    return this.brief('PUT', pathOf(resource, namespace, name, subresource), 'application/json', object);
  }
  patchBriefly(resource: ResourceRef, namespace: string, name: string, patch: object, subresource?: string): Promise<Brief> {
    return this.brief('PATCH', pathOf(resource, namespace, name, subresource), 'application/merge-patch+json', patch);
  }
  private async brief(method: string, path: string, type: string, value: object): Promise<Brief> {
    // The same object may be sent many times in a row: the pods of a set are.
    if (this.lastSent?.value !== value) this.lastSent = { value, body: Buffer.from(jsonText(value)) };
    const { body } = this.lastSent;
    const headers = { ...this.accept('PartialObjectMetadata'), 'content-type': type };
    const answer = await this.http.request({ method, path, headers, body, value, brief: true });
    if (answer.status >= 300) throw errorFrom(answer.status, answer.body);
    const { metadata } = answer;
    return metadata === undefined ? (parseExact(answer.body.toString()) as Brief) : new WrittenObject(metadata);
  }
  /** Server-side apply, with force. */
  async apply<T extends ApiObject>(resource: ResourceRef, object: ApiObject, manager: string): Promise<T> {
    const { name = '', namespace = '' } = object.metadata;
    const path = `${pathOf(resource, namespace, name)}?${queryOf({ fieldManager: manager, force: true })}`;
    return this.call('PATCH', path, { ...this.accept('whole'), 'content-type': 'application/apply-patch+yaml' }, object);
  }
  async delete(resource: ResourceRef, namespace: string, name: string, choice: DeleteChoice = {}): Promise<void> {
    await this.call('DELETE', pathOf(resource, namespace, name), this.accept('whole'), {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      ...choice,
    });
  }
  /** Deletes a page of a collection. Returns where the next one begins; undefined after the last. */
  async deleteCollection(
    resource: ResourceRef,
    namespace: string,
    choice: ListChoice = {},
    how: DeleteChoice = {},
  ): Promise<string | undefined> {
    const query = queryOf({ ...choice });
    const path = pathOf(resource, namespace);
    const options = { kind: 'DeleteOptions', apiVersion: 'v1', ...how };
    const deletedList = await this.call<ObjectList<ApiObject>>(
      'DELETE',
      query === '' ? path : `${path}?${query}`,
      this.accept('PartialObjectMetadataList'),
      options,
    );
    const next = deletedList.metadata.continue;
    return next === '' ? undefined : next;
  }
  /** Any request with JSON in and out. Throws ApiError and TransportError. */
  async call<T>(method: string, path: string, headers: Readonly<Record<string, string>>, body?: unknown): Promise<T> {
    return (await parsed(await this.answer(method, path, headers, body))) as T;
  }
  private async answer(method: string, path: string, headers: Readonly<Record<string, string>>, body?: unknown): Promise<TextBytes> {
    const answer = await this.http.request({
      method,
      path,
      headers: body === undefined || headers['content-type'] !== undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body !== undefined && { body: jsonText(body) }),
    });
    if (answer.status >= 300) throw errorFrom(answer.status, answer.body);
    return answer.body;
  }
  json<T>({ path }: { readonly path: string }): Promise<T> {
    return this.call('GET', path, this.accept('whole'));
  }
}

/** Within the server many answers come in one turn, and twenty pods of 5,000 labels each take the engine's parser 0.2 s. */
const parsed = async (text: TextBytes): Promise<unknown> =>
  text.length > SLICED_FROM ? inSlices(parsedExact(text), new Slices()) : parseExact(text.toString());
/** Objects of a page: few enough that neither side holds much at a time. */
const PAGE = 500;
