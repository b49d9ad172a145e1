/** The shared part of `plat label` and `plat annotate`. */

import { bool, FlagError, type FlagValues, text } from '@plat-dev/lib/flags';
import { own } from '@plat-dev/lib/own';
import { ApiError } from '@plat-dev/meta/errors';
import { type Command, command, type IO } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { changeCause, commandLine, recordFlag } from '../edit/record.ts';
import { withObjectHint } from '../get/hints.ts';
import { checkLocal, localFlag, localObjects } from '../objects/local-objects.ts';
import { commandManagerFlag, dryRunFlag, fileFlags, namespaceFlag, resultFlags, selectFlags } from '../objects/object-flags.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { checkTargets, findTargets } from '../objects/targets.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { printable } from '../output/print-table.ts';
import { Results } from '../output/results.ts';
import { fieldManager, isStock } from '../program.ts';
import { shownName, type Work, withServer } from '../work.ts';
import { type Changes, readChanges } from './arguments.ts';

export interface Marks {
  readonly command: 'label' | 'annotate';
  readonly field: 'labels' | 'annotations';
  readonly summary: string;
  readonly examples: string;
  /** The message about an object, by what changed. */
  readonly verbs: { readonly set: string; readonly removed: string; readonly unchanged: string };
}

const flagsOf = ({ field }: Marks) => ({
  Objects: { ...fileFlags, namespace: namespaceFlag, ...selectFlags, local: localFlag },
  Changing: {
    overwrite: bool(false, `Change ${field} that have another value.`),
    list: bool(false, `Show the ${field} of the objects.`),
    'resource-version': text('', 'Change only if the object has this resourceVersion.', { value: 'VERSION' }),
    'field-manager': commandManagerFlag,
    'dry-run': dryRunFlag,
    record: recordFlag,
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
Examples:
${marks.examples}
Exit codes:
  0   all objects have the values
  1   some objects failed, for example because they have another value and --overwrite was not given
  2   the command line is wrong
`,
    async run({ options, args: all, raw }, io) {
      const changes = readChanges(all);
      if (options.local) checkLocal(changes.args, options);
      else checkTargets(marks.command, changes.args, options);
      if (options.list && options.output !== '') throw new FlagError('--list and --output exclude each other');
      if (changes.pairs.size === 0 && !options.list)
        throw new FlagError(
          `which ${marks.field}? key=value sets one, key- removes it, --list shows them`,
          `error: at least one ${marks.field.slice(0, -1)} update is required`,
        );
      if (options.local) return new Marker(io, options, marks, changes).runLocal();
      const line = commandLine(io, marks.command, all, raw);
      return withServer(options, io, (work) => new Marker(io, options, marks, changes).run(work, line));
    },
  });
}

type Meta = { readonly resourceVersion?: string } & Partial<Record<'labels' | 'annotations', Record<string, string>>>;

type Pairs = readonly (readonly [key: string, value: string | null])[];

class Marker {
  private readonly io: IO;
  private readonly options: MarkOptions;
  private readonly marks: Marks;
  private readonly changes: Changes;
  private readonly results: Results;
  /** Of --record. */
  private annotations: Record<string, string> | undefined;

  constructor(io: IO, options: MarkOptions, marks: Marks, changes: Changes) {
    this.io = io;
    this.options = options;
    this.marks = marks;
    this.changes = changes;
    this.results = new Results(io, options);
  }
  async run(work: Work, line: string): Promise<number> {
    const refs = await findTargets(work, this.changes.args, this.options);
    if (refs.length === 0 && !work.hasLeftOut) this.io.err('No resources found\n');
    if (this.options.resourceVersion !== '' && refs.length > 1)
      throw new FlagError('--resource-version needs a single object, but there are several');
    this.annotations = await changeCause(work, this.options.record, line);
    const { all, selector, fieldSelector } = this.options;
    const several = refs.length > 1 || all || selector !== '' || fieldSelector !== '';
    for (const ref of refs)
      await this.each(ref, several, () =>
        this.change(work, ref).catch(async (error) => Promise.reject(await withObjectHint(work, error, ref))),
      );
    return this.results.end();
  }
  /** The objects of files are changed and printed. */
  async runLocal(): Promise<number> {
    const objects = await localObjects(this.options, this.io, this.results);
    for (const { ref, object } of objects) {
      await this.each(ref, objects.length > 1, async () => this.changeHere(ref, object as ApiItem));
    }
    return this.results.end();
  }
  private async each(ref: ObjectRef, several: boolean, change: () => Promise<ApiItem>): Promise<void> {
    try {
      const object = await change();
      if (this.options.list) this.show(ref, object, several);
    } catch (error) {
      this.results.failed(shownName(ref.resource, ref.name), error);
    }
  }
  private changeHere(ref: ObjectRef, original: ApiItem): ApiItem {
    const differing = this.differing(original);
    this.check(this.marksOf(original), differing);
    return this.done(ref, original, this.changed(original, differing));
  }
  private async change(work: Work, ref: ObjectRef): Promise<ApiItem> {
    for (let tries = 1; ; tries++) {
      const original = await work.get(ref);
      // A list shows the object as it would be.
      if (this.options.dryRun === 'client' || this.options.list) return this.changeHere(ref, original);
      const differing = this.differing(original);
      if (tries === 1) this.reportMissing(original);
      this.check(this.marksOf(original), differing);
      const after = this.changed(original, differing);
      if (differing.length === 0 && this.annotations === undefined) return this.done(ref, original, original);
      try {
        const storedObject = await this.send(work, ref, this.patchOf(original, differing));
        return this.done(ref, original, after, storedObject);
      } catch (error) {
        const again = error instanceof ApiError && error.code === 409 && this.options.resourceVersion === '' && tries < TRIES;
        if (!again) throw error;
      }
    }
  }
  private marksOf(object: ApiItem): Readonly<Record<string, string>> {
    return (object.metadata as Meta | undefined)?.[this.marks.field] ?? {};
  }
  private differing(original: ApiItem): Pairs {
    const marks = this.marksOf(original);
    return [...this.changes.pairs].filter(([key, value]) => (own(marks, key) ?? null) !== value);
  }
  private patchOf(original: ApiItem, differing: Pairs): unknown {
    const { resourceVersion } = this.options;
    const metadata: Record<string, unknown> = {
      resourceVersion: resourceVersion === '' ? original.metadata?.resourceVersion : resourceVersion,
    };
    if (this.annotations !== undefined) metadata.annotations = this.annotations;
    const own = metadata[this.marks.field] as object | undefined;
    metadata[this.marks.field] = { ...own, ...Object.fromEntries(differing) };
    return { metadata };
  }
  private async send(work: Work, ref: ObjectRef, body: unknown): Promise<ApiItem> {
    const { dryRun } = this.options;
    const query = {
      fieldManager: fieldManager(this.io, this.marks.command, this.options.fieldManager),
      dryRun: dryRun === 'server' ? 'All' : undefined,
    };
    return (await work.send(ref, { method: 'PATCH', body, contentType: 'application/merge-patch+json', query })).object;
  }
  /** `storedObject`: the object as the server has it now. */
  private done(ref: ObjectRef, before: ApiItem, after: ApiItem, storedObject = after): ApiItem {
    if (!this.options.list) this.results.done(ref, this.verb(before, after), storedObject);
    return storedObject;
  }
  /** Labels to remove that are not there. */
  private reportMissing(original: ApiItem): void {
    if (this.marks.field !== 'labels' || this.options.output !== '') return;
    const marks = this.marksOf(original);
    for (const [key, value] of this.changes.pairs) {
      if (value === null && own(marks, key) === undefined) this.io.out(`label ${JSON.stringify(key)} not found.\n`);
    }
  }
  /** Existing values are kept without --overwrite; for the stock client of this release an equal one exists, too. */
  private check(marks: Readonly<Record<string, string>>, differing: Pairs): void {
    if (this.options.overwrite) return;
    const stock = isStock(this.io);
    const wantedPairs = stock ? [...this.changes.pairs] : differing;
    const isTaken = ([key, value]: Pairs[number]): boolean =>
      value !== null && own(marks, key) !== undefined && !(stock && key.endsWith('/change-cause'));
    const conflictingPairs = wantedPairs.filter(isTaken);
    if (conflictingPairs.length === 0) return;
    const texts = conflictingPairs.map(([key]) => `'${key}' already has a value (${own(marks, key)})`);
    if (stock && this.marks.field === 'annotations')
      throw new Error(`--overwrite is false but found the following declared annotation(s): ${texts.join('; ')}`);
    throw new Error(`${texts.join(', ')}, and --overwrite is false`);
  }
  private verb(before: ApiItem, after: ApiItem): string {
    const { set, removed, unchanged } = this.marks.verbs;
    const [old, now] = [JSON.stringify(this.marksOf(before)), JSON.stringify(this.marksOf(after))];
    if (old === now) return unchanged;
    return !this.options.overwrite && now.length < old.length ? removed : set;
  }
  private changed(object: ApiItem, differing: Pairs): ApiItem {
    if (differing.length === 0) return object;
    const removedKeys = new Set(differing.filter(([, value]) => value === null).map(([key]) => key));
    const entries = Object.entries({ ...this.marksOf(object), ...Object.fromEntries(differing) }).filter(([key]) => !removedKeys.has(key));
    return { ...object, metadata: { ...object.metadata, [this.marks.field]: Object.fromEntries(entries) } };
  }
  private show(ref: ObjectRef, object: ApiItem, several: boolean): void {
    const marks = this.marksOf(object);
    const { kind, group } = ref.resource;
    if (several) this.io.out(`Listing ${this.marks.field} for ${kind}.${group}/${ref.name}:\n`);
    for (const key of Object.keys(marks).sort()) this.io.out(`${several ? ' ' : ''}${key}=${printable(marks[key] as string)}\n`);
  }
}
