/** `plat get` as tables: one for each kind, once or as rows change. */
import { FlagError } from '@plat-dev/lib/flags';
import { ageAt } from '@plat-dev/meta/age';
import { apiVersionOf } from '@plat-dev/meta/api-version';
import { ApiError } from '@plat-dev/meta/errors';
import { metaGroups } from '@plat-dev/meta/identity';
import { hasColours, paintFor } from '../output/colours.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { type Table, TablePrinter, type TableRow, type TableStyle } from '../output/print-table.ts';
import { isStock } from '../program.ts';
import { typeName, type Work } from '../work.ts';
import type { GetOptions } from './arguments.ts';
import { namespaceHint } from './hints.ts';
import { LiveTable } from './live-table.ts';
import type { GetRequests, Query } from './requests.ts';
import { MissingField, sortedBy } from './sort-objects.ts';

const tableAccept = [...metaGroups.map((group) => `application/json;as=Table;v=v1;g=${group}`), 'application/json'].join(',');

/** Requests are shown from this value of -v on. */
const SHOWN_REQUESTS = 6;

/** Tables of consecutive queries for one resource are one table. */
interface Group {
  readonly query: Query;
  readonly tables: Table[];
  readonly style: TableStyle;
}
/** A query with its answer. */
interface Answered {
  readonly query: Query;
  readonly table: Table;
}

export class GetTables {
  private readonly work: Work;
  private readonly options: GetOptions;
  private readonly requests: GetRequests;
  private readonly serverPrint: boolean;

  constructor(work: Work, options: GetOptions, requests: GetRequests) {
    this.work = work;
    this.options = options;
    this.requests = requests;
    this.serverPrint = options.serverPrint && !options.useOpenapiPrintColumns;
  }
  /** Prints the tables of what was found; returns the errors of the others. */
  async print(queries: readonly Query[]): Promise<ApiError[]> {
    const answers = await this.requests.each(
      queries,
      async (query): Promise<Answered> => ({ query, table: await this.table(query, false) }),
    );
    const errors = answers.filter((answer) => answer instanceof ApiError);
    const answeredQueries = answers.filter((answer): answer is Answered => !(answer instanceof ApiError));
    const groups = this.groups(answeredQueries);
    let output = '';
    for (const { style, tables } of groups) {
      const printer = new TablePrinter(style);
      const rows = tables.flatMap((table) => this.sorted(table.rows ?? [], answeredQueries.length === 1));
      const text = printer.print(tables.find((table) => table.columnDefinitions)?.columnDefinitions, rows);
      // Tables are separated by an empty line, unless they have no headers.
      if (text !== '') output += output !== '' && style.headers ? `\n${text}` : text;
    }
    if (output !== '') this.work.io.out(output);
    else if (errors.length === 0 && !this.options.ignoreNotFound) await this.nothingFound(answeredQueries.map(({ query }) => query));
    return errors;
  }
  private async nothingFound(queries: readonly Query[]): Promise<void> {
    const { io } = this.work;
    if (this.options.allNamespaces || !queries.every((query) => query.resource.namespaced)) return io.err('No resources found\n');
    io.err(`No resources found in ${this.work.namespace} namespace.\n`);
    io.err(await namespaceHint(this.work));
  }
  /** Tables of one resource that follow each other belong together. */
  private groups(answeredQueries: readonly Answered[]): Group[] {
    const [first] = answeredQueries;
    const several = answeredQueries.some(({ query }) => keyOf(query) !== (first === undefined ? '' : keyOf(first.query)));
    const groups: Group[] = [];
    for (const { query, table } of answeredQueries) {
      const last = groups.at(-1);
      if (last !== undefined && keyOf(last.query) === keyOf(query)) last.tables.push(table);
      else groups.push({ query, tables: [table], style: this.style(query, several) });
    }
    return groups;
  }
  private style(query: Query, several: boolean): TableStyle {
    const { output, allNamespaces, noHeaders, showLabels, labelColumns, showKind } = this.options;
    return {
      wide: output === 'wide',
      headers: !noHeaders,
      namespaces: allNamespaces && query.resource.namespaced,
      labels: showLabels,
      labelColumns,
      prefix: several || showKind ? `${typeName(query.resource)}/` : '',
      ...(hasColours(this.work.io) && { paint: paintFor(this.work.io) }),
    };
  }
  /**
   * The stock client fails by a path that it cannot sort by only if there are several tables. Of a single one it prints nothing,
   * and a row that is alone as it is.
   */
  private sorted(rows: readonly TableRow[], isOnly: boolean): readonly TableRow[] {
    const { sortBy } = this.options;
    const { io } = this.work;
    if (sortBy === '') return rows;
    const isForgiven = isOnly && isStock(io);
    if (isForgiven && rows.length === 1) return rows;
    try {
      return sortedBy(rows, sortBy, (row) => row.object);
    } catch (error) {
      if (!isForgiven || !(error instanceof FlagError || error instanceof MissingField)) throw error;
      io.err(`warning: ${error.message}\n`);
      return [];
    }
  }
  private get accept(): string {
    return this.serverPrint ? tableAccept : 'application/json';
  }
  /**
   * Rows hold their objects where these are sorted by, and no metadata, most of an answer, where nothing of it is shown. As the
   * stock client, which always gets it, where requests are shown.
   */
  private parameters(watches: boolean): { readonly includeObject?: string } {
    const { sortBy, allNamespaces, showLabels, labelColumns, v } = this.options;
    if (!this.serverPrint) return {};
    if (sortBy !== '') return { includeObject: 'Object' };
    const showsMetadata = allNamespaces || showLabels || labelColumns.length > 0;
    return watches || showsMetadata || (isStock(this.work.io) && v >= SHOWN_REQUESTS) ? {} : { includeObject: 'None' };
  }
  private async table(query: Query, watches: boolean, only = false): Promise<Table> {
    const rows: TableRow[] = [];
    let first: Table | undefined;
    for await (const piece of this.requests.pieces<Table | ApiItem>(query, this.accept, this.parameters(watches), only)) {
      const table = this.asTable(piece);
      first ??= table;
      for (const row of table.rows ?? []) rows.push(row);
    }
    return { kind: 'Table', ...first, rows };
  }
  /** A server that makes no tables sends the objects: the table has their names and ages. */
  private asTable(answer: Table | ApiItem): Table {
    if (answer.kind === 'Table') return answer as Table;
    const { items, metadata } = answer as ApiItem;
    const objects = items ?? [answer as ApiItem];
    const now = this.work.io.clock.now();
    return {
      kind: 'Table',
      ...(metadata !== undefined && { metadata }),
      columnDefinitions: [
        { name: 'Name', type: 'string', format: 'name' },
        { name: 'Age', type: 'string' },
      ],
      rows: objects.map((object) => {
        const { metadata: meta } = object as TableRow['object'] & object;
        return { cells: [meta?.name ?? '', ageAt(now, meta?.creationTimestamp)], object: object as TableRow['object'] & object };
      }),
    };
  }

  // ---- changes ---------------------------------------------------------------------------------------------------

  /** Shows the tables and every change until interrupted. On a terminal the tables are kept up to date. */
  async watch(queries: readonly Query[]): Promise<void> {
    const { watchOnly, outputWatchEvents } = this.options;
    const answers = await this.requests.each(
      queries,
      async (query): Promise<Answered> => ({ query, table: await this.table(query, true, watchOnly) }),
    );
    const error = answers.find((answer) => answer instanceof ApiError);
    if (error !== undefined) throw error;
    const answeredQueries = answers as Answered[];
    const several = new Set(answeredQueries.map(({ query }) => keyOf(query))).size > 1;
    const styles = answeredQueries.map(({ query }) => this.style(query, several));
    const { io } = this.work;
    const isLive = !isStock(io) && io.terminal.size() !== undefined && io.env.TERM !== 'dumb' && !outputWatchEvents;
    const screen = isLive ? new LiveTable(io, styles) : new Scroll(this.work, styles, outputWatchEvents);
    try {
      answeredQueries.forEach(({ table }, i) => {
        screen.change(i, 'ADDED', table.columnDefinitions, watchOnly ? [] : (table.rows ?? []));
      });
      await Promise.all(
        answeredQueries.map((answer, i) =>
          this.follow(answer, (type, table) => screen.change(i, type, table.columnDefinitions, table.rows ?? [])),
        ),
      );
    } finally {
      screen.close();
    }
  }
  private async follow({ query, table }: Answered, show: (type: string, table: Table) => void): Promise<void> {
    const resourceVersion = query.name === undefined ? undefined : table.rows?.[0]?.object?.metadata?.resourceVersion;
    // The version of an object may be older than what a server remembers: 0 is the current state, which is known already.
    const from = query.name === undefined ? (table.metadata?.resourceVersion ?? '') : '0';
    let first = query.name !== undefined;
    for await (const { type, object } of this.requests.events<Table | ApiItem>(
      query,
      from,
      this.accept,
      versionOf,
      this.parameters(true),
    )) {
      const change = this.asTable(object);
      const isKnown = first && change.rows?.[0]?.object?.metadata?.resourceVersion === resourceVersion;
      first = false;
      if (!isKnown) show(type, change);
    }
  }
}

/** Changes one after another, as lines. */
class Scroll {
  private readonly work: Work;
  private readonly printers: readonly TablePrinter[];
  private readonly events: boolean;
  private last = -1;

  constructor(work: Work, styles: readonly TableStyle[], events: boolean) {
    this.work = work;
    this.printers = styles.map((style) => new TablePrinter(style));
    this.events = events;
  }
  change(section: number, type: string, definitions: Table['columnDefinitions'], rows: readonly TableRow[]): void {
    const printer = this.printers[section] as TablePrinter;
    const isOtherSection = this.last >= 0 && this.last !== section && rows.length > 0;
    if (isOtherSection) printer.repeatHeaders();
    const text = printer.print(definitions, rows, this.events ? type : undefined);
    if (rows.length === 0) return;
    this.work.io.out(isOtherSection && printer.hasHeaderLine ? `\n${text}` : text);
    this.last = section;
  }
  close(): void {}
}

const keyOf = ({ resource }: Query): string => `${resource.name}.${apiVersionOf(resource)}`;
/** The version that an answer of a watch stands for, also of a bookmark. */
function versionOf(object: Table | ApiItem): string | undefined {
  return object.kind === 'Table'
    ? ((object as Table).rows?.at(-1)?.object?.metadata?.resourceVersion ?? object.metadata?.resourceVersion)
    : object.metadata?.resourceVersion;
}
