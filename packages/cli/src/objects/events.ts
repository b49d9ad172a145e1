/** `plat events`: lists events, oldest first. */
import { type ApiResource, resourcePath } from '@plat-dev/client/discovery';
import { queryOf } from '@plat-dev/client/dynamic';
import { errorOf, jsonLines } from '@plat-dev/client/transport';
import { bool, choice, FlagError, type FlagValues, int, list, readChoice, text } from '@plat-dev/lib/flags';
import { humanDuration } from '@plat-dev/meta/age';
import { apiVersionOf } from '@plat-dev/meta/api-version';
import { ApiError } from '@plat-dev/meta/errors';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { type ApiItem, ObjectPrinter } from '../output/print-objects.ts';
import { TablePrinter } from '../output/print-table.ts';
import { type Work, withServer } from '../work.ts';
import { namespaceFlag } from './object-flags.ts';

const table = {
  Selecting: {
    namespace: namespaceFlag,
    'all-namespaces': bool(false, 'List events of all namespaces.', { short: 'A' }),
    for: text('', 'List events of one object: pod/web.', { value: 'TYPE/NAME' }),
    types: list([], 'List events of these types.', {
      value: 'Normal,Warning',
      check: (one) => void readChoice(one, ['Normal', 'Warning']),
    }),
    'chunk-size': int(500, 'Events to list in one request; 0 lists all at once.'),
    watch: bool(false, 'Watch for new events.', { short: 'w' }),
  },
  Printing: {
    output: choice('table', ['table', 'json', 'yaml', 'name'], 'Output format.', { short: 'o' }),
    'no-headers': bool(false, 'Do not print the headers of the table.'),
    'show-managed-fields': bool(false, 'Keep managedFields in YAML and JSON.'),
  },
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

interface Event extends ApiItem {
  readonly metadata: NonNullable<ApiItem['metadata']> & { readonly namespace?: string; readonly creationTimestamp?: string };
  readonly involvedObject?: { readonly kind?: string; readonly name?: string; readonly apiVersion?: string };
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string } | null;
}
interface EventList {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly Event[] | null;
}
interface Change {
  readonly type: string;
  readonly object: Event & { readonly code?: number; readonly message?: string; readonly reason?: string };
}

/** Delay after a watch that ended at once. */
const PAUSE_MS = 1000;

export const events = command({
  usage: '[flags]',
  summary: 'List events, the newest last.',
  flags: table,
  more: `
Examples:
  plat events
  plat events --for pod/web
  plat events -A --types=Warning --watch
`,
  async run({ options, args }, io) {
    if (args.length > 0) throw new FlagError(`events takes no arguments, but got ${JSON.stringify(args[0])}: name an object with --for`);
    if (options.for !== '' && !/^[^/]+\/[^/]+$/.test(options.for)) throw new FlagError('--for is of the form TYPE/NAME, such as pod/web');
    return withServer(options, io, (work) => new Events(work, options).run());
  },
});

class Events {
  private readonly work: Work;
  private readonly options: Options;
  private readonly printer: TablePrinter;
  private readonly objects: ObjectPrinter;
  private path = '';
  private selector = '';

  constructor(work: Work, options: Options) {
    this.work = work;
    this.options = options;
    this.printer = new TablePrinter({
      wide: true,
      headers: !options.noHeaders,
      namespaces: options.allNamespaces,
      labels: false,
      prefix: '',
    });
    this.objects = new ObjectPrinter(options.output === 'table' ? 'yaml' : options.output, options.showManagedFields);
  }
  async run(): Promise<number> {
    const resource = { group: '', version: 'v1', name: 'events', namespaced: true } as ApiResource;
    this.path = resourcePath(resource, this.options.allNamespaces ? undefined : this.work.namespace);
    this.selector = await this.fields();
    const { events, version } = await this.list();
    events.sort((a, b) => lastSeen(a) - lastSeen(b));
    await this.show(events);
    if (this.options.watch) await this.watch(version);
    else if (events.length === 0 && this.options.output === 'table') {
      const where = this.options.allNamespaces ? 'any namespace' : `namespace ${this.work.namespace}`;
      this.work.io.err(`No events${this.options.for === '' ? '' : ` of ${this.options.for}`} found in ${where}.\n`);
    }
    return 0;
  }
  private async fields(): Promise<string> {
    const [only, more] = this.options.types;
    const parts = only !== undefined && more === undefined ? [`type=${only}`] : [];
    if (this.options.for !== '') {
      const [type = '', name = ''] = this.options.for.split('/');
      const resource = await this.work.discovery.find(type);
      parts.push(
        `involvedObject.kind=${resource.kind}`,
        `involvedObject.name=${name}`,
        `involvedObject.apiVersion=${apiVersionOf(resource)}`,
      );
    }
    return parts.join(',');
  }
  private async list(): Promise<{ events: Event[]; version: string }> {
    const events: Event[] = [];
    let next: string | undefined;
    let version = '';
    do {
      const query = queryOf({ limit: this.options.chunkSize || undefined, continue: next, fieldSelector: this.selector });
      const page = await this.work.session.transport.json<EventList>({
        path: `${this.path}?${query}`,
        signal: this.work.signal,
        ...this.work.session.timeout,
      });
      for (const event of page.items ?? []) if (this.isOfWantedType(event)) events.push(event);
      version ||= page.metadata?.resourceVersion ?? '';
      next = page.metadata?.continue;
    } while (next);
    return { events, version };
  }
  private isOfWantedType({ type = '' }: Event): boolean {
    return this.options.types.length === 0 || this.options.types.includes(type);
  }

  /** Watches end by themselves after a while; another begins where the last one ended. */
  private async watch(from: string): Promise<never> {
    let version = from;
    const { clock } = this.work.io;
    for (;;) {
      const began = clock.monotonic();
      const query = queryOf({ watch: 1, resourceVersion: version, fieldSelector: this.selector, allowWatchBookmarks: true });
      const answer = await this.work.session.transport.open({ path: `${this.path}?${query}`, signal: this.work.signal });
      if (answer.status >= 300) throw await errorOf(answer);
      for await (const { type, object } of jsonLines<Change>(answer.body)) {
        if (type === 'ERROR') throw new ApiError(object.code ?? 500, object.reason ?? '', object.message ?? 'the watch failed');
        version = object.metadata.resourceVersion ?? version;
        if ((type === 'ADDED' || type === 'MODIFIED') && this.isOfWantedType(object)) await this.show([object]);
      }
      if (clock.monotonic() - began < PAUSE_MS) await clock.sleep(PAUSE_MS, this.work.signal);
    }
  }

  private async show(events: readonly Event[]): Promise<void> {
    const { io } = this.work;
    const whole = events.map((event) => ({ ...event, kind: 'Event', apiVersion: 'v1' }));
    if (this.options.output === 'name') io.out(events.map(({ metadata }) => `event/${metadata.name}\n`).join(''));
    else if (this.options.output !== 'table') {
      if (!this.options.watch) io.out(await this.objects.list(whole));
      else for (const event of whole) io.out(await this.objects.one(event));
    } else if (events.length > 0)
      io.out(
        this.printer.print(
          columns,
          events.map((event) => rowOf(event, io.clock.now())),
        ),
      );
  }
}

const columns = ['Last Seen', 'Type', 'Reason', 'Object', 'Message'].map((name) => ({ name }));
function rowOf(event: Event, now: number) {
  const { involvedObject = {}, type = '', reason = '', message = '' } = event;
  const cells = [lastSeenText(event, now), type, reason, `${involvedObject.kind ?? ''}/${involvedObject.name ?? ''}`, message.trim()];
  return { cells, object: { metadata: { namespace: event.metadata.namespace ?? '' } } };
}
const time = (text: string | null | undefined): number => (text ? Date.parse(text) : 0);
const firstSeen = (event: Event): number => time(event.firstTimestamp) || time(event.eventTime) || time(event.metadata.creationTimestamp);
const lastSeen = (event: Event): number => time(event.series?.lastObservedTime) || time(event.lastTimestamp) || firstSeen(event);

/** `5m`, or `2m (x7 over 1h)` for a repeated event. */
function lastSeenText(event: Event, now: number): string {
  const count = event.series?.count ?? event.count ?? 1;
  const last = humanDuration(now - lastSeen(event));
  return count > 1 ? `${last} (x${count} over ${humanDuration(now - firstSeen(event))})` : last;
}
