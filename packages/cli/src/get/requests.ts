/** The requests of `plat get`: collections in pages, named objects, and their changes. */
import type { ApiResource } from '@plat-dev/client/discovery';
import { pathOf, queryOf } from '@plat-dev/client/dynamic';
import { TransportError } from '@plat-dev/client/http';
import { AnswerLost, errorOf, jsonLines, maxBodyBytes, objectOf, readAll } from '@plat-dev/client/transport';
import { ApiError } from '@plat-dev/meta/errors';
import { Deadline } from '../objects/follow-object.ts';
import { findManifests, namesManifests } from '../objects/manifests.ts';
import { refOf } from '../objects/targets.ts';
import { choosesForm } from '../output/print-forms.ts';
import type { Work } from '../work.ts';
import type { GetOptions, Target } from './arguments.ts';

/** A collection or an object to request. */
export interface Query {
  readonly resource: ApiResource;
  /** Undefined for objects without one, and for all namespaces. */
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}
export interface WatchEvent<T> {
  readonly type: string;
  readonly object: T;
}
type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;
/** What the answers of all forms have. */
interface Answered {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
}

/** Lists that are requested at the same time. */
const mostRequests = 8;
/** A server that ends watches at once is retried after so many milliseconds. */
const watchPause = 1000;

export class GetRequests {
  private readonly work: Work;
  private readonly options: GetOptions;

  constructor(work: Work, options: GetOptions) {
    this.work = work;
    this.options = options;
  }
  async queries(targets: readonly Target[]): Promise<Query[]> {
    const { work, options } = this;
    const queryList: Query[] = [];
    if (namesManifests(options)) {
      const { manifests, broken } = await findManifests(options, work.io);
      // The stock client lists the errors of tables.
      const asList = !choosesForm(options);
      work.leaveOut(broken, { asList });
      for (const [manifest, resource] of await work.withResources(manifests, { asList }))
        queryList.push(refOf(manifest, resource, work, options.namespace));
    }
    for (const { type, names } of targets) {
      for (const resource of await work.discovery.findAll(type)) {
        const namespace = resource.namespaced && !options.allNamespaces ? work.namespace : undefined;
        if (names.length === 0) queryList.push({ resource, namespace, name: undefined });
        for (const name of names) queryList.push({ resource, namespace, name });
      }
    }
    return queryList;
  }
  /** Calls for each query, some at the same time; the results are in the order of the queries, errors of the API among them. */
  async each<T>(queries: readonly Query[], call: (query: Query) => Promise<T>): Promise<(T | ApiError)[]> {
    const results: (T | ApiError)[] = [];
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let i = next++; i < queries.length; i = next++) {
        results[i] = await call(queries[i] as Query).catch((error: unknown) => {
          if (error instanceof ApiError) return error;
          throw error;
        });
      }
    };
    await Promise.all(Array.from({ length: Math.min(mostRequests, queries.length) }, worker));
    return results;
  }
  /**
   * The pages of each query, in the order of the queries; an error of the API stands for the rest of its query. The first pages of
   * the next queries are requested meanwhile.
   */
  async *inOrder<T>(queries: readonly Query[], pagesOf: (query: Query) => AsyncGenerator<T>): AsyncGenerator<T | ApiError> {
    const begin = (query: Query) => {
      const pages = pagesOf(query);
      const first = pages.next();
      // The loop below gets the error.
      first.catch(() => {});
      return { pages, first };
    };
    const startedQueries = queries.slice(0, mostRequests).map(begin);
    for (let i = 0; i < queries.length; i++) {
      const { pages, first } = startedQueries.shift() as ReturnType<typeof begin>;
      try {
        for (let page = await first; page.done !== true; page = await pages.next()) yield page.value;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        yield error;
      }
      const query = queries[i + mostRequests];
      if (query !== undefined) startedQueries.push(begin(query));
    }
  }
  /** All pages of a collection, or the one object. `only`: no more than the first page. */
  async *pieces<T extends Answered>(query: Query, accept: string, more: Parameters = {}, only = false): AsyncGenerator<T> {
    const { chunkSize, selector, fieldSelector, sortBy, subresource } = this.options;
    const single = query.name !== undefined;
    // Sorting needs all of them, and asks for them at once as kubectl does.
    const limit = single || chunkSize === 0 || sortBy !== '' ? undefined : chunkSize;
    const path = pathOf(query.resource, query.namespace, query.name, subresource === '' ? undefined : subresource);
    const past = await this.past(query);
    const select = single ? {} : { fieldSelector: fieldSelector || undefined, labelSelector: selector || undefined };
    let next: string | undefined;
    do {
      // In the order of the stock client, for those who read what -v prints.
      const search = queryOf({ continue: next, ...select, limit, ...more, ...(next === undefined && past) });
      const answer = await this.work.session.transport.open({
        path: search === '' ? path : `${path}?${search}`,
        headers: { accept },
        signal: this.work.signal,
        ...this.work.session.timeout,
      });
      if (answer.status >= 300) throw await errorOf(answer);
      const piece = objectOf<T>((await readAll(answer.body, maxBodyBytes)).toString());
      yield piece;
      next = single || only ? '' : piece.metadata?.continue;
    } while (next !== undefined && next !== '');
  }
  /** Parameters of the first request for what was there at the moment of `--at`. */
  private async past(query: Query): Promise<Parameters> {
    const { at } = this.options;
    if (at === '') return {};
    const [{ readMoment }, { versionAt }] = await Promise.all([import('../history/moments.ts'), import('../history/past-version.ts')]);
    const moment = readMoment('at', at, this.work.io.clock.now());
    return { resourceVersion: await versionAt(this.work, query, moment), resourceVersionMatch: 'Exact' };
  }
  /** Every change after a version, over as many connections as it takes, until interrupted or until the time of --request-timeout is over. */
  async *events<T>(
    query: Query,
    from: string,
    accept: string,
    versionOf: (object: T) => string | undefined,
    more: Parameters = {},
  ): AsyncGenerator<WatchEvent<T>> {
    const { selector, fieldSelector } = this.options;
    const path = pathOf(query.resource, query.namespace);
    const select =
      query.name === undefined
        ? { labelSelector: selector || undefined, fieldSelector: fieldSelector || undefined }
        : { fieldSelector: `metadata.name=${query.name}` };
    let version = from;
    let lost = false;
    const deadline = new Deadline(this.work.session.timeout.timeout ?? 0, this.work.io.clock);
    const signal = deadline.signal === undefined ? this.work.signal : AbortSignal.any([this.work.signal, deadline.signal]);
    while (!deadline.passed) {
      const search = queryOf({ watch: 1, resourceVersion: version, allowWatchBookmarks: true, ...more, ...select });
      const began = this.work.io.clock.monotonic();
      try {
        for await (const event of this.stream<T>(`${path}?${search}`, accept, signal)) {
          lost = false;
          version = versionOf(event.object) ?? version;
          if (event.type !== 'BOOKMARK') yield event;
        }
      } catch (error) {
        if (this.work.signal.aborted || error instanceof ApiError) throw error;
        if (deadline.passed) break;
        if (lost || !(error instanceof AnswerLost)) throw error;
        lost = true;
      }
      if (this.work.io.clock.monotonic() - began < watchPause) await this.work.io.clock.sleep(watchPause, this.work.signal);
    }
    if (this.options.v >= 5) this.work.io.err('Timeout of --request-timeout: the watch ended\n');
  }
  private async *stream<T>(path: string, accept: string, signal: AbortSignal): AsyncGenerator<WatchEvent<T>> {
    const { server } = this.work.session.connection;
    const answer = await this.work.session.transport.open({ path, headers: { accept }, signal }).catch((error: unknown) => {
      if (!(error instanceof TransportError)) throw error;
      throw new TransportError(`the connection to ${server} was lost, and ${error.message}`, error.code, error);
    });
    if (answer.status >= 300) throw await errorOf(answer);
    for await (const event of jsonLines<WatchEvent<T & { message?: string; code?: number; reason?: string }>>(answer.body)) {
      if (event.type === 'ERROR')
        throw new ApiError(event.object.code ?? 500, event.object.reason ?? '', event.object.message ?? 'the watch failed');
      yield event;
    }
  }
}
