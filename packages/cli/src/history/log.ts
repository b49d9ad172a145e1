/**
 * `plat log`: changes as people would say them.
 *
 *   10:32 deployment/web  spec.replicas 3 → 5  alice (kubectl)
 */
import type { ApiResource } from '@plat-dev/client/discovery';
import { bool, choice, FlagError, type FlagValues, int, list } from '@plat-dev/lib/flags';
import { jsonText } from '@plat-dev/lib/json-text';
import { timeMillis } from '@plat-dev/lib/time';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { namespaceFlag } from '../objects/object-flags.ts';
import { type Paint, paintFor } from '../output/colours.ts';
import { printable } from '../output/print-table.ts';
import { type Work, withServer } from '../work.ts';
import { ChangeFollower } from './follow-changes.ts';
import { changeFlags, warnOfRefused } from './history.ts';
import { clockText, readTime } from './moments.ts';
import { noChangesText } from './no-changes.ts';
import { type Change, changesOf, changeWords, isOfStatus, kindsWithHistory } from './versions.ts';

const logFlags = {
  Selecting: {
    namespace: namespaceFlag,
    'all-namespaces': bool(false, 'Show changes in all namespaces, and of objects without one.', { short: 'A' }),
    kind: list([], 'Only changes of these types.', { value: 'TYPE,…' }),
    ...changeFlags,
    limit: int(100, 'Show at most so many changes, the newest; 0: all.'),
    follow: bool(false, 'Go on with changes as they happen.', { short: 'f' }),
  },
  Printing: { output: choice('text', ['text', 'json'], 'Output format: lines to read, or one JSON object on each.', { short: 'o' }) },
  Connecting: connectFlags,
};
type Options = FlagValues<typeof logFlags>;

export const log = command({
  usage: '[flags]',
  summary: 'Show what changed in a namespace, as it happens with -f.',
  flags: logFlags,
  more: `
The newest change comes last. Changes of the status are left out, as controllers make them all the time. Values of secrets are never
shown. Needs the verb history beside list; with -f also watch. With -f lost connections are made again, and changes of meanwhile are
read from history; kinds that are defined later are not followed.

Examples:
  plat log
  plat log -n team -f
  plat log -A --since 1h --by alice
  plat log --kind deployments,configmaps -o json
`,
  async run({ options, args }, io) {
    if (args.length > 0) {
      const hint = 'plat logs shows those of containers, plat history the changes of an object';
      throw new FlagError(`log takes no arguments, but got ${JSON.stringify(args[0])}: ${hint}`);
    }
    const since = readTime('since', options.since, io.clock.now());
    const run = (work: Work) => new ChangeLog(work, options).run(since);
    return withServer(options, io, run, { untilInterrupted: options.follow });
  },
});

class ChangeLog {
  private readonly work: Work;
  private readonly options: Options;
  private readonly paint: Paint;

  constructor(work: Work, options: Options) {
    this.work = work;
    this.options = options;
    this.paint = paintFor(work.io);
  }
  async run(since: number | undefined): Promise<number> {
    const { work } = this;
    const { kind, by: user, manager, limit, follow, output } = this.options;
    const resources = await kindsWithHistory(work, kind, this.options.allNamespaces);
    const places = resources.map((resource) => ({ resource, namespace: this.namespaceOf(resource) }));
    const filter = { since, user, manager, ...(limit > 0 && { pageSize: Math.min(limit, 100) }) };
    const { changes, read, refused, isCut } = await changesOf(work, places, filter, limit, (change) => this.isWanted(change));
    warnOfRefused(work, refused);
    if (isCut && output === 'text') work.io.err('note: there are older changes; --limit 0 shows all\n');
    for (const change of changes.toReversed()) this.show(change);
    if (follow)
      await new ChangeFollower(
        work,
        read,
        (change) => this.isWanted(change),
        (change) => this.show(change),
      ).run();
    else if (changes.length === 0)
      work.io.err(`${await noChangesText(work, user, places, { since, manager }, (change) => this.isShown(change))}\n`);
    return refused.length > 0 && !follow ? 1 : 0;
  }
  private namespaceOf({ namespaced }: ApiResource): string | undefined {
    return namespaced && !this.options.allNamespaces ? this.work.namespace : undefined;
  }
  private isWanted(change: Change): boolean {
    const { by: user } = this.options;
    return (user === '' || change.version.user === user) && this.isShown(change);
  }
  /** Of whatever user. */
  private isShown({ version }: Change): boolean {
    const { manager, status } = this.options;
    if (manager !== '' && version.fieldManager !== manager) return false;
    return status || !isOfStatus(version);
  }

  private show({ resource, version }: Change): void {
    const { io } = this.work;
    if (this.options.output === 'json') {
      const { group, kind, version: apiVersion } = resource;
      const isSecret = group === '' && kind === 'Secret';
      const { patch, object: _, ...rest } = version;
      io.out(`${jsonText({ group, version: apiVersion, kind, ...rest, ...(!isSecret && patch !== undefined && { patch }) })}\n`);
      return;
    }
    const { name, namespace, time, user = 'unknown', fieldManager, userAgent = '' } = version;
    const when = time === undefined ? '-' : clockText(timeMillis(time), io.clock.now());
    const place = this.options.allNamespaces && namespace ? `${namespace}/` : '';
    const program = fieldManager ?? userAgent.split('/')[0] ?? '';
    const object = `${place}${resource.kind.toLowerCase()}/${name}`;
    const colour = version.type === 'deleted' ? 'red' : version.type === 'created' ? 'green' : undefined;
    const who = program === '' ? user : `${user} (${program})`;
    const { paint } = this;
    io.out(
      `${paint(when, 'dim')} ${paint(printable(object), 'bold')}  ${paint(printable(changeWords(version)), colour)}  ${paint(printable(who), 'cyan')}\n`,
    );
  }
}
