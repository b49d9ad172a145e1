/** `plat get`: objects as tables, YAML or JSON, once or as they change. */

import { type ApiResource, Discovery, resourcePath } from '../client/discovery.ts';
import { errorOf, jsonLines, maxBodyBytes, readAll, type Transport } from '../client/transport.ts';
import { apiVersionOf } from '../meta/api-version.ts';
import { ApiError } from '../meta/errors.ts';
import { metaGroups } from '../meta/identity.ts';
import { command, type IO } from './command.ts';
import type { Session } from './connect.ts';
import { type GetOptions, getFlags, readTargets, type Target } from './get-args.ts';
import { formPrinter, type Printed } from './print-forms.ts';
import type { ApiItem } from './print-objects.ts';
import { type Table, TablePrinter } from './print-table.ts';
import { Warnings } from './warnings.ts';
import { typeName, withServer } from './work.ts';

const tableAccept = [...metaGroups.map((group) => `application/json;as=Table;v=v1;g=${group}`), 'application/json'].join(',');
/** Page size: large collections are read in pages, so that neither side holds all objects at once. */
const pieceSize = 500;

export const get = command({
  usage: 'TYPE [NAME…] | TYPE/NAME… [flags]',
  summary: 'Show objects: plat get pods, plat get po,svc -A, plat get deployment/web -o yaml, plat get all -w',
  flags: getFlags,
  async run({ options, args }, io) {
    const targets = readTargets(options, args);
    return withServer(options, io, ({ session, signal }) =>
      options.raw === '' ? new Getter(session, options, io, signal).run(targets) : raw(session, options.raw, io),
    );
  },
});

async function raw(session: Session, path: string, io: IO): Promise<number> {
  const answer = await session.transport.open({ path, ...session.timeout });
  if (answer.status >= 400) throw await errorOf(answer);
  for await (const chunk of answer.body) io.out(chunk.toString());
  return 0;
}

/** A collection or an object to request. */
interface Query {
  readonly resource: ApiResource;
  readonly name: string | undefined;
}

class Getter {
  private readonly session: Session;
  private readonly options: GetOptions;
  private readonly io: IO;
  private readonly signal: AbortSignal;
  private readonly transport: Transport;
  private readonly warnings: Warnings;
  private failed = false;

  constructor(session: Session, options: GetOptions, io: IO, signal: AbortSignal) {
    this.session = session;
    this.transport = session.transport;
    this.options = options;
    this.io = io;
    this.warnings = new Warnings(io);
    this.signal = signal;
  }
  async run(targets: readonly Target[]): Promise<number> {
    const queries = await this.queries(targets);
    if (this.options.output === 'table' || this.options.output === 'wide') await this.tables(queries);
    else await this.objects(queries);
    return this.failed ? 1 : 0;
  }
  private async queries(targets: readonly Target[]): Promise<Query[]> {
    const discovery = new Discovery(this.transport);
    const queries: Query[] = [];
    for (const { type, names } of targets) {
      const resources = await discovery.findAll(type);
      for (const resource of resources) {
        if (names.length === 0) queries.push({ resource, name: undefined });
        for (const name of names) queries.push({ resource, name });
      }
    }
    return queries;
  }
  private path(query: Query, parameters: Record<string, string> = {}): string {
    const namespace = this.options.allNamespaces ? undefined : this.session.connection.namespace;
    const search = new URLSearchParams(parameters);
    if (query.name === undefined) {
      if (this.options.selector !== '') search.set('labelSelector', this.options.selector);
      if (this.options.fieldSelector !== '') search.set('fieldSelector', this.options.fieldSelector);
    }
    const text = search.toString();
    return `${resourcePath(query.resource, namespace, query.name)}${text === '' ? '' : `?${text}`}`;
  }
  /** All pages of a collection, or the one object. */
  private async *pieces<T extends { metadata?: { continue?: string } }>(query: Query, accept: string): AsyncGenerator<T> {
    let token = '';
    do {
      const parameters: Record<string, string> = query.name === undefined ? { limit: String(pieceSize) } : {};
      if (token !== '') parameters.continue = token;
      const answer = await this.transport.open({
        path: this.path(query, parameters),
        headers: { accept },
        signal: this.signal,
        ...this.session.timeout,
      });
      this.warnings.print(answer.headers.warning);
      if (answer.status >= 400) throw await errorOf(answer);
      const piece = JSON.parse((await readAll(answer.body, maxBodyBytes)).toString()) as T;
      yield piece;
      token = query.name === undefined ? (piece.metadata?.continue ?? '') : '';
    } while (token !== '');
  }
  /** An error of one request does not stop the others. */
  private async attempt(query: Query, work: () => Promise<void>, alone: boolean): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (alone || !(error instanceof ApiError) || query.name === undefined) throw error;
      this.failed = true;
      this.io.err(`plat: ${error.message}\n`);
    }
  }

  // ---- tables --------------------------------------------------------------------------------------------------

  private async tables(queries: readonly Query[]): Promise<void> {
    const several = new Set(queries.map((q) => q.resource)).size > 1;
    let shown = 0;
    let printer: TablePrinter | undefined;
    let last: ApiResource | undefined;
    for (const query of queries) {
      if (query.resource !== last) {
        printer = this.tablePrinter(query, several);
        last = query.resource;
      }
      await this.attempt(
        query,
        async () => {
          const rows = await this.table(query, printer as TablePrinter, several && shown > 0 ? '\n' : '');
          shown += rows;
        },
        queries.length === 1,
      );
    }
    if (shown === 0 && !this.failed) this.io.err(this.nothingFound(queries));
  }
  private tablePrinter(query: Query, several: boolean): TablePrinter {
    const { output, allNamespaces, noHeaders, showLabels } = this.options;
    return new TablePrinter({
      wide: output === 'wide',
      headers: !noHeaders,
      namespaces: allNamespaces && query.resource.namespaced,
      labels: showLabels,
      prefix: several ? `${typeName(query.resource)}/` : '',
    });
  }
  private async table(query: Query, printer: TablePrinter, before: string): Promise<number> {
    const rows: NonNullable<Table['rows']>[number][] = [];
    let columns: Table['columnDefinitions'];
    let version = '';
    for await (const piece of this.pieces<Table>(query, tableAccept)) {
      columns ??= piece.columnDefinitions;
      rows.push(...(piece.rows ?? []));
      version = piece.metadata?.resourceVersion ?? version;
    }
    if (rows.length > 0) this.io.out(`${before}${printer.print(columns, rows)}`);
    if (!this.options.watch) return rows.length;
    if (query.name !== undefined) version = rows[0]?.object?.metadata?.resourceVersion ?? version;
    await this.watch<Table>(query, version, tableAccept, (table) => {
      this.io.out(printer.print(table.columnDefinitions ?? columns, table.rows ?? []));
      return table.rows?.at(-1)?.object?.metadata?.resourceVersion;
    });
    return rows.length;
  }
  private nothingFound(queries: readonly Query[]): string {
    const namespaced = queries.some((q) => q.resource.namespaced);
    return namespaced && !this.options.allNamespaces
      ? `No resources found in ${this.session.connection.namespace} namespace.\n`
      : 'No resources found\n';
  }

  // ---- whole objects -------------------------------------------------------------------------------------------

  private async objects(queries: readonly Query[]): Promise<void> {
    const { output, showManagedFields, noHeaders } = this.options;
    const printer = formPrinter(output, { showManagedFields, headers: !noHeaders });
    const items: Printed[] = [];
    let version = '';
    for (const query of queries) {
      await this.attempt(
        query,
        async () => {
          for await (const piece of this.pieces<ApiItem>(query, 'application/json')) {
            version = piece.metadata?.resourceVersion ?? '';
            for (const item of query.name === undefined ? itemsOf(piece, query.resource) : [piece])
              items.push({ item, resource: query.resource });
          }
        },
        queries.length === 1,
      );
    }
    const query = queries[0];
    const single = queries.length === 1 && query?.name !== undefined;
    if (this.options.watch) for (const printed of items) this.io.out(await printer.one(printed));
    else if (!single) this.io.out(await printer.list(items));
    else if (items[0] !== undefined) this.io.out(await printer.one(items[0]));
    if (!this.options.watch || query === undefined) return;
    await this.watch<ApiItem>(query, version, 'application/json', async (item) => {
      this.io.out(await printer.one({ item, resource: query.resource }));
      return item.metadata?.resourceVersion;
    });
  }

  // ---- watching ------------------------------------------------------------------------------------------------

  /** Shows every change after a version, over as many connections as it takes, until interrupted. */
  private async watch<T>(
    query: Query,
    from: string,
    accept: string,
    show: (object: T) => string | undefined | Promise<string | undefined>,
  ): Promise<void> {
    let version = from;
    const collection: Query = { resource: query.resource, name: undefined };
    const only: Record<string, string> = query.name === undefined ? {} : { fieldSelector: `metadata.name=${query.name}` };
    for (;;) {
      const path = this.path(collection, { ...only, watch: '1', resourceVersion: version, allowWatchBookmarks: 'true' });
      const answer = await this.transport.open({ path, headers: { accept }, signal: this.signal });
      if (answer.status >= 400) throw await errorOf(answer);
      const began = this.io.clock.monotonic();
      for await (const event of jsonLines<{ type: string; object: T & { message?: string; code?: number; reason?: string } }>(
        answer.body,
      )) {
        if (event.type === 'ERROR')
          throw new ApiError(event.object.code ?? 500, event.object.reason ?? '', event.object.message ?? 'the watch failed');
        const seen = event.type === 'BOOKMARK' ? bookmarkVersion(event.object) : await show(event.object);
        version = seen ?? version;
      }
      // A server that ends watches at once is retried with a delay.
      if (this.io.clock.monotonic() - began < 1000) await this.io.clock.sleep(1000, this.signal);
    }
  }
}

/** Items of a list have no apiVersion and kind; the output has them. */
function itemsOf(list: ApiItem, resource: ApiResource): ApiItem[] {
  const apiVersion = apiVersionOf(resource);
  return (list.items ?? []).map((item) => ({ apiVersion, kind: resource.kind, ...item }));
}
function bookmarkVersion(object: unknown): string | undefined {
  const bookmark = object as Table & ApiItem;
  return bookmark.kind === 'Table'
    ? (bookmark.rows?.at(-1)?.object?.metadata?.resourceVersion ?? bookmark.metadata?.resourceVersion)
    : bookmark.metadata?.resourceVersion;
}
