/** The shared part of `plat label` and `plat annotate`. */
import { bool, FlagError, type FlagValues, text } from '../lib/flags.ts';
import { ApiError } from '../meta/errors.ts';
import { type Command, command } from './command.ts';
import { connectFlags } from './connect.ts';
import { type Changes, readChanges } from './mark-args.ts';
import { dryRunFlag, fileFlags, managerFlag, namespaceFlag, resultFlags, selectFlags } from './object-flags.ts';
import type { ApiItem } from './print-objects.ts';
import { printable } from './print-table.ts';
import { Results } from './results.ts';
import { checkTargets, findTargets } from './targets.ts';
import { type ObjectRef, shownName, type Work, withServer } from './work.ts';

export interface Marks {
  readonly command: 'label' | 'annotate';
  readonly field: 'labels' | 'annotations';
  readonly summary: string;
  /** `labeled`, `unlabeled`, for the sentence about an object. */
  readonly set: string;
  readonly removed: string;
}

const flagsOf = ({ field }: Marks) => ({
  Objects: { ...fileFlags, namespace: namespaceFlag, ...selectFlags },
  Changing: {
    overwrite: bool(false, `Change ${field} that have another value.`),
    list: bool(false, `Show the ${field} of the objects.`),
    'resource-version': text('', 'Change only if the object has this resourceVersion.', { value: 'VERSION' }),
    'field-manager': managerFlag,
    'dry-run': dryRunFlag,
  },
  Printing: resultFlags,
  Connecting: connectFlags,
});
type MarkOptions = FlagValues<ReturnType<typeof flagsOf>>;

/** How often to retry after a conflicting write. */
const TRIES = 5;

export function markCommand(marks: Marks): Command {
  const flags = flagsOf(marks);
  return command({
    usage: 'TYPE NAME… | TYPE/NAME… | TYPE -l QUERY | TYPE --all | -f FILE  KEY=VALUE… KEY-… [flags]',
    summary: marks.summary,
    flags,
    more: `
Exit codes:
  0   all objects have the values
  1   some objects failed, for example because they have another value and --overwrite was not given
  2   the command line is wrong
`,
    async run({ options, args: all }, io) {
      const changes = readChanges(all);
      checkTargets(marks.command, changes.args, options);
      if (changes.pairs.size === 0 && !options.list)
        throw new FlagError(`which ${marks.field}? key=value sets one, key- removes it, --list shows them`);
      return withServer(options, io, (work) => new Marker(work, options, marks, changes).run());
    },
  });
}

type Meta = { readonly resourceVersion?: string } & Partial<Record<'labels' | 'annotations', Record<string, string>>>;

class Marker {
  private readonly work: Work;
  private readonly options: MarkOptions;
  private readonly marks: Marks;
  private readonly changes: Changes;
  private readonly results: Results;

  constructor(work: Work, options: MarkOptions, marks: Marks, changes: Changes) {
    this.work = work;
    this.options = options;
    this.marks = marks;
    this.changes = changes;
    this.results = new Results(work.io, options);
  }
  async run(): Promise<number> {
    const refs = await findTargets(this.work, this.changes.args, this.options);
    if (refs.length === 0) this.work.io.err('No resources found\n');
    if (this.options.resourceVersion !== '' && refs.length > 1)
      throw new FlagError('--resource-version needs a single object, but there are several');
    for (const ref of refs) {
      try {
        const object = await this.change(ref);
        if (this.options.list) this.show(ref, object, refs.length > 1);
      } catch (error) {
        this.results.failed(shownName(ref.resource, ref.name), error);
      }
    }
    return this.results.end();
  }
  private async change(ref: ObjectRef): Promise<ApiItem> {
    for (let tries = 1; ; tries++) {
      const before = await this.work.get(ref);
      if (this.changes.pairs.size === 0) return before;
      const marks = (before.metadata as Meta | undefined)?.[this.marks.field] ?? {};
      const differing = [...this.changes.pairs].filter(([key, value]) => (marks[key] ?? null) !== value);
      const verb = this.verb(differing);
      if (differing.length === 0) return this.done(ref, verb, before);
      this.check(marks, differing);
      const patch = { metadata: { [this.marks.field]: Object.fromEntries(differing), resourceVersion: before.metadata?.resourceVersion } };
      if (this.options.resourceVersion !== '') patch.metadata.resourceVersion = this.options.resourceVersion;
      if (this.options.dryRun === 'client') return this.done(ref, verb, this.changed(before, marks, differing));
      try {
        return this.done(ref, verb, await this.send(ref, patch));
      } catch (error) {
        const again = error instanceof ApiError && error.code === 409 && this.options.resourceVersion === '' && tries < TRIES;
        if (!again) throw error;
      }
    }
  }
  private async send(ref: ObjectRef, body: unknown): Promise<ApiItem> {
    const { fieldManager, dryRun } = this.options;
    const query = { fieldManager, dryRun: dryRun === 'server' ? 'All' : undefined };
    return (await this.work.send(ref, { method: 'PATCH', body, contentType: 'application/merge-patch+json', query })).object;
  }
  private done(ref: ObjectRef, verb: string, object: ApiItem): ApiItem {
    if (!this.options.list) this.results.done(ref, verb, object);
    return object;
  }
  /** Existing values are kept without --overwrite. */
  private check(marks: Readonly<Record<string, string>>, differing: readonly (readonly [string, string | null])[]): void {
    const taken = differing.filter(([key, value]) => value !== null && marks[key] !== undefined);
    if (this.options.overwrite || taken.length === 0) return;
    const texts = taken.map(([key]) => `${key} is ${JSON.stringify(marks[key])}`);
    throw new Error(`${texts.join(', ')} already; --overwrite changes it`);
  }
  private verb(differing: readonly (readonly [string, string | null])[]): string {
    if (differing.length === 0) return `not ${this.marks.set}`;
    return differing.every(([, value]) => value === null) ? this.marks.removed : this.marks.set;
  }
  private changed(
    object: ApiItem,
    marks: Readonly<Record<string, string>>,
    differing: readonly (readonly [string, string | null])[],
  ): ApiItem {
    const gone = new Set(differing.filter(([, value]) => value === null).map(([key]) => key));
    const entries = [...Object.entries({ ...marks, ...Object.fromEntries(differing) })].filter(([key]) => !gone.has(key));
    return { ...object, metadata: { ...object.metadata, [this.marks.field]: Object.fromEntries(entries) } };
  }
  private show(ref: ObjectRef, object: ApiItem, several: boolean): void {
    const marks = (object.metadata as Meta | undefined)?.[this.marks.field] ?? {};
    const prefix = several ? `${shownName(ref.resource, ref.name)} ` : '';
    for (const key of Object.keys(marks).sort()) this.work.io.out(`${prefix}${key}=${printable(marks[key] as string)}\n`);
  }
}
