/** `plat get -o …`: whole objects in a format, once or as they change. */
import type { ApiResource } from '@plat-dev/client/discovery';
import { apiVersionOf } from '@plat-dev/meta/api-version';
import { ApiError } from '@plat-dev/meta/errors';
import { type FormPrinter, formPrinter, type Printed, printBytes } from '../output/print-forms.ts';
import type { ApiItem } from '../output/print-objects.ts';
import type { Work } from '../work.ts';
import type { GetOptions } from './arguments.ts';
import type { GetRequests, Query } from './requests.ts';
import { sortedBy } from './sort-objects.ts';

interface Answered {
  readonly query: Query;
  readonly items: readonly Printed[];
  readonly version: string;
}

/** Objects of a list that are turned into text at once. */
const PIECE = 32;

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
    const { sortBy, ignoreNotFound } = this.options;
    const pieces = single || sortBy !== '' ? undefined : this.printer.listInPieces?.();
    const errors: ApiError[] = [];
    const items: Printed[] = [];
    let isEmpty = true;
    for await (const page of this.requests.inOrder(queries, (query) => this.pages(query))) {
      if (page instanceof ApiError) {
        errors.push(page);
        continue;
      }
      isEmpty &&= page.items.length === 0;
      if (pieces === undefined) for (const item of page.items) items.push(item);
      else for (let i = 0; i < page.items.length; i += PIECE) this.out(await pieces.items(page.items.slice(i, i + PIECE)));
    }
    if (isEmpty && (single || ignoreNotFound)) return errors;
    const [only] = items;
    if (pieces !== undefined) this.out(await pieces.end());
    else if (single && only !== undefined) this.out(await this.printer.one(only));
    else this.out(await this.printer.list(sortBy === '' ? items : sortedBy(items, sortBy, ({ item }) => item)));
    return errors;
  }
  private out(text: string): void {
    printBytes(this.work.io, text);
  }
  private async *pages(query: Query, only = false): AsyncGenerator<Pick<Answered, 'items' | 'version'>> {
    for await (const piece of this.requests.pieces<ApiItem>(query, 'application/json', {}, only)) {
      const items = query.name === undefined ? itemsOf(piece, query.resource) : [piece];
      yield { items: items.map((item) => ({ item, resource: query.resource })), version: piece.metadata?.resourceVersion ?? '' };
    }
  }
  private async answer(query: Query, only: boolean): Promise<Answered> {
    const items: Printed[] = [];
    let version = '';
    for await (const page of this.pages(query, only)) {
      for (const item of page.items) items.push(item);
      ({ version } = page);
    }
    return { query, items, version };
  }

  /** Prints the objects and every change of them until interrupted. */
  async watch(queries: readonly Query[]): Promise<void> {
    const { watchOnly } = this.options;
    const answers = await this.requests.each(queries, (query) => this.answer(query, watchOnly));
    const error = answers.find((answer) => answer instanceof ApiError);
    if (error !== undefined) throw error;
    const answeredQueries = answers as Answered[];
    if (!watchOnly) for (const { items } of answeredQueries) for (const item of items) await this.change('ADDED', item);
    await Promise.all(answeredQueries.map((answer) => this.follow(answer)));
  }
  private async change(type: string, printed: Printed): Promise<void> {
    this.out(this.options.outputWatchEvents ? await this.printer.event(type, printed) : await this.printer.one(printed));
  }
  private async follow({ query, items, version }: Answered): Promise<void> {
    const resourceVersion = query.name === undefined ? undefined : items[0]?.item.metadata?.resourceVersion;
    // The version of an object may be older than what a server remembers: 0 is the current state, which is known already.
    const from = query.name === undefined ? version : '0';
    let first = query.name !== undefined;
    for await (const { type, object } of this.requests.events<ApiItem>(
      query,
      from,
      'application/json',
      (o) => o.metadata?.resourceVersion,
    )) {
      const isKnown = first && object.metadata?.resourceVersion === resourceVersion;
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
