/** `plat get`: objects as tables, YAML, JSON or by templates, once or as they change. */
import { errorOf } from '@plat-dev/client/transport';
import { FlagError } from '@plat-dev/lib/flags';
import type { ApiError } from '@plat-dev/meta/errors';
import { command, type IO } from '../command.ts';
import type { Session } from '../connect.ts';
import { readMoment } from '../history/moments.ts';
import { choosesForm, formPrinter } from '../output/print-forms.ts';
import { errorLine, isStock } from '../program.ts';
import { type Work, withServer } from '../work.ts';
import { type GetOptions, getFlags, readTargets, type Target } from './arguments.ts';
import { withNameHint } from './hints.ts';
import { GetObjects } from './objects.ts';
import { GetRequests, type Query } from './requests.ts';
import { sortPath } from './sort-objects.ts';
import { GetTables } from './tables.ts';

/** Each watch takes a connection, of which a client opens 16. */
const mostWatches = 15;

export const get = command({
  usage: 'TYPE [NAME…] | TYPE/NAME… | -f FILE [flags]',
  summary: 'Show objects as tables, YAML, JSON or by templates.',
  flags: getFlags,
  more: `
Examples:
  plat get pods -A -o wide
  plat get deployment/web -o yaml
  plat get pods -l app=web --sort-by .metadata.creationTimestamp -L tier
  plat get nodes -o custom-columns=NAME:.metadata.name,CPU:.status.capacity.cpu
  plat get pods -o go-template='{{range .items}}{{.metadata.name}}{{"\\n"}}{{end}}'
  plat get all -w
  plat get all -n team --at 10m

On a terminal -w keeps the table up to date in place; --output-watch-events shows one change after another.
`,
  async run({ options, args, warnings }, io) {
    for (const warning of warnings) io.err(`Warning: ${warning}\n`);
    const targets = readTargets(options, args);
    if (options.at !== '') readMoment('at', options.at, io.clock.now());
    // Templates and paths are checked before the first request.
    if (choosesForm(options)) formPrinter(options, io);
    if (options.sortBy !== '' && !(isStock(io) && !choosesForm(options))) sortPath(options.sortBy);
    return withServer(options, io, (work) =>
      options.raw === '' ? new Getter(work, options).run(targets) : raw(work.session, options.raw, io),
    );
  },
});

async function raw(session: Session, path: string, io: IO): Promise<number> {
  const answer = await session.transport.open({ path, ...session.timeout });
  if (answer.status >= 300) throw await errorOf(answer);
  for await (const chunk of answer.body) io.terminal.write(chunk);
  return 0;
}

class Getter {
  private readonly work: Work;
  private readonly options: GetOptions;
  private readonly requests: GetRequests;

  constructor(work: Work, options: GetOptions) {
    this.work = work;
    this.options = options;
    this.requests = new GetRequests(work, options);
  }
  async run(targets: readonly Target[]): Promise<number> {
    const { watch, watchOnly, sortBy } = this.options;
    const queries = await this.requests.queries(targets);
    if (queries.length === 0) return 0;
    if (!watch && !watchOnly) return this.once(queries);
    // The stock client reports errors at its end, which a watch may never reach.
    if (isStock(this.work.io) && this.work.hasLeftOut) return 1;
    if (sortBy !== '') this.work.io.err('warning: --watch or --watch-only requested, --sort-by will be ignored\n');
    const watched = this.watchable(queries);
    const form = choosesForm(this.options) ? GetObjects : GetTables;
    await new form(this.work, { ...this.options, sortBy: '' }, this.requests).watch(watched);
    return 0;
  }
  private watchable(queries: readonly Query[]): readonly Query[] {
    const watched = queries.filter(({ resource }) => resource.verbs.includes('watch'));
    const others = new Set(queries.filter((query) => !watched.includes(query)).map(({ resource }) => resource.name));
    if (watched.length === 0) throw new FlagError(`${[...others].join(', ')} cannot be watched`);
    if (others.size > 0) this.work.io.err(`Warning: ${[...others].join(', ')} cannot be watched\n`);
    if (isStock(this.work.io) && queries.length > 1)
      throw new Error('watch is only supported on individual resources and resource collections - more than 1 resource was found');
    if (watched.length > mostWatches) throw new FlagError(`at most ${mostWatches} types or objects can be watched at the same time`);
    return watched;
  }
  private async once(queries: readonly Query[]): Promise<number> {
    const single = queries.length === 1 && queries[0]?.name !== undefined;
    const errors = choosesForm(this.options)
      ? await new GetObjects(this.work, this.options, this.requests).print(queries, single)
      : await new GetTables(this.work, this.options, this.requests).print(queries);
    return this.report(errors, queries);
  }
  private async report(errors: readonly ApiError[], queries: readonly Query[]): Promise<number> {
    const counting = errors.filter((error) => !(this.options.ignoreNotFound && error.reason === 'NotFound'));
    if (counting.length === 0) return 0;
    const explained = await Promise.all(counting.map((error) => this.explained(error, queries)));
    if (queries.length === 1) throw explained[0];
    for (const error of explained) this.work.io.err(errorLine(error, this.work.io));
    return 1;
  }
  private async explained(error: ApiError, queries: readonly Query[]): Promise<ApiError> {
    const query = queries.find(({ name }) => name !== undefined && name === error.details?.name);
    if (query === undefined) return error;
    const { at } = this.options;
    if (at === '' || error.reason !== 'NotFound') return withNameHint(this.work, error, query.resource, query.namespace);
    const { withCreation } = await import('../history/past-version.ts');
    return withCreation(this.work, error, query, readMoment('at', at, this.work.io.clock.now()));
  }
}
