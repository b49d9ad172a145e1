/** `plat get -o …`: whole objects in a format, once or as they change. */
import type { ApiResource } from '../client/discovery.ts';
import { apiVersionOf } from '../meta/api-version.ts';
import { ApiError } from '../meta/errors.ts';
import type { GetOptions } from './get-args.ts';
import type { GetRequests, Query } from './get-requests.ts';
import { type FormPrinter, formPrinter, type Printed, printBytes } from './print-forms.ts';
import type { ApiItem } from './print-objects.ts';
import { sortedBy } from './sort-objects.ts';
import type { Work } from './work.ts';

interface Answered {
  readonly query: Query;
  readonly items: readonly Printed[];
  readonly version: string;
}

export class GetObjects {
  private readonly work: Work;
  private readonly options: GetOptions;
  private readonly requests: GetRequests;
  private readonly printer: FormPrinter;

  constructor(work: Work, options: GetOptions, requests: GetRequests) {
    this.work = work;
    this.options = options;
    this.requests = requests;
    this.printer = formPrinter(options, work.io);
  }
  /** Prints what was found; returns the errors of the others. `single`: one object was named, which is printed without a list. */
  async print(queries: readonly Query[], single: boolean): Promise<ApiError[]> {
    const answers = await this.requests.each(queries, (query) => this.answer(query));
    const errors = answers.filter((answer) => answer instanceof ApiError);
    const items = answers.flatMap((answer) => (answer instanceof ApiError ? [] : answer.items));
    if (items.length === 0 && (single || this.options.ignoreNotFound)) return errors;
    const [only] = items;
    const sorted = this.options.sortBy === '' ? items : sortedBy(items, this.options.sortBy, ({ item }) => item);
    this.out(single && only !== undefined ? await this.printer.one(only) : await this.printer.list(sorted));
    return errors;
  }
  private out(text: string): void {
    printBytes(this.work.io, text);
  }
  private async answer(query: Query, only = false): Promise<Answered> {
    const items: Printed[] = [];
    let version = '';
    for await (const piece of this.requests.pieces<ApiItem>(query, 'application/json', {}, only)) {
      version = piece.metadata?.resourceVersion ?? '';
      for (const item of query.name === undefined ? itemsOf(piece, query.resource) : [piece])
        items.push({ item, resource: query.resource });
    }
    return { query, items, version };
  }

  /** Prints the objects and every change of them until interrupted. */
  async watch(queries: readonly Query[]): Promise<void> {
    const { watchOnly } = this.options;
    const answers = await this.requests.each(queries, (query) => this.answer(query, watchOnly));
    const error = answers.find((answer) => answer instanceof ApiError);
    if (error !== undefined) throw error;
    const found = answers as Answered[];
    if (!watchOnly) for (const { items } of found) for (const item of items) await this.change('ADDED', item);
    await Promise.all(found.map((answer) => this.follow(answer)));
  }
  private async change(type: string, printed: Printed): Promise<void> {
    this.out(this.options.outputWatchEvents ? await this.printer.event(type, printed) : await this.printer.one(printed));
  }
  private async follow({ query, items, version }: Answered): Promise<void> {
    const known = query.name === undefined ? undefined : items[0]?.item.metadata?.resourceVersion;
    // The version of an object may be older than what a server remembers: 0 is the current state, which is known already.
    const from = query.name === undefined ? version : '0';
    let first = query.name !== undefined;
    for await (const { type, object } of this.requests.events<ApiItem>(
      query,
      from,
      'application/json',
      (o) => o.metadata?.resourceVersion,
    )) {
      const isKnown = first && object.metadata?.resourceVersion === known;
      first = false;
      if (!isKnown) await this.change(type, { item: object, resource: query.resource });
    }
  }
}

/** Items of a list have no apiVersion and kind; the output has them. */
function itemsOf(list: ApiItem, resource: ApiResource): ApiItem[] {
  const apiVersion = apiVersionOf(resource);
  return (list.items ?? []).map((item) => ({ apiVersion, kind: resource.kind, ...item }));
}
