/** `plat undo`: takes back changes of an object, or those that a user made since a time. */
import { bool, FlagError, type FlagValues, list, text } from '@plat-dev/lib/flags';
import { timeMillis } from '@plat-dev/lib/time';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { oneTarget } from '../get/arguments.ts';
import { dryRunFlag, namespaceFlag } from '../objects/object-flags.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { paintFor } from '../output/colours.ts';
import { printable } from '../output/print-table.ts';
import { screenText } from '../output/screen-text.ts';
import { isConfirmed } from '../terminal/question.ts';
import { shownName, type Work, withServer } from '../work.ts';
import { warnOfRefused } from './history.ts';
import { clockText, readMoment, readTime } from './moments.ts';
import { noChangesText } from './no-changes.ts';
import { stateAt } from './past-object.ts';
import { NotUndone, type UndoStep, undoOfChanges, undoOfLastChange, undoTo } from './undo-plan.ts';
import { doneWords, inUndoOrder, type PreparedStep, stepDiff, UndoRequests } from './undo-steps.ts';
import { type Change, changesOf, isOfStatus, kindsWithHistory, type ObjectVersion, versionsOf } from './versions.ts';

const undoFlags = {
  'One object': {
    to: text('', 'Restore this version, or the one of this time: 1234, 10m (ago), 10:32.', {
      value: 'VERSION|TIME',
      defaultText: 'the one before the last change',
    }),
  },
  'Many objects': {
    since: text('', 'Undo the changes since this time: 10m (ago), 10:32 or 2026-05-01T10:00:00Z.', { value: 'TIME' }),
    by: text('', 'Undo the changes of this user.', { value: 'USER' }),
    kind: list([], 'Undo only changes of these types.', { value: 'TYPE,…' }),
    'all-namespaces': bool(false, 'Undo changes in all namespaces, and of objects without one.', { short: 'A' }),
    force: bool(false, 'Overwrite what others changed since.'),
  },
  Changing: {
    namespace: namespaceFlag,
    'dry-run': dryRunFlag,
    yes: bool(false, 'Change without a question.', { short: 'y' }),
  },
  Connecting: connectFlags,
};
type Options = FlagValues<typeof undoFlags>;

export const undo = command({
  usage: 'TYPE/NAME [--to VERSION] | --since TIME --by USER [flags]',
  summary: 'Take back changes of objects.',
  flags: undoFlags,
  more: `
Labels, annotations and all fields but the status get their earlier values, by an ordinary update. A deleted object is made anew with
another uid, and one that was just created is deleted. What changes is shown first, and on a terminal you are asked; scripts add --yes.

Of many changes those of deleted objects are undone first, owners before dependents, and objects that were created are deleted last.
Objects that others changed since are reported and left as they are.

Examples:
  plat undo deployment/web
  plat undo deployment/web --to 1234
  plat undo configmap/settings --to 10:32 --dry-run=server
  plat undo --since 10m --by alice -n team

Exit codes:
  0   everything was undone, or is as it was already
  1   something could not be undone
  2   the command line is wrong
`,
  async run({ options, args }, io) {
    const now = io.clock.now();
    const isMany = options.since !== '' || options.by !== '';
    if (!isMany) {
      if (options.kind.length > 0 || options.allNamespaces || options.force)
        throw new FlagError('--kind, --all-namespaces and --force are for many objects: plat undo --since 10m --by USER');
      const target = oneTarget('undo', args);
      const moment = options.to === '' ? undefined : readMoment('to', options.to, now);
      return withServer(options, io, async (work) => {
        const resource = await work.discovery.find(target.type);
        const ref = { resource, namespace: resource.namespaced ? work.namespace : undefined, name: target.name };
        return undoObject(work, ref, moment, options);
      });
    }
    if (args.length > 0 || options.to !== '') throw new FlagError('an object and --since or --by exclude each other');
    const since = readTime('since', options.since, now);
    if (since === undefined) throw new FlagError('since when? For example: plat undo --since 10m --by alice');
    if (options.by === '')
      throw new FlagError('whose changes? For example: plat undo --since 10m --by alice; plat log shows who changed what');
    return withServer(options, io, (work) => undoMany(work, since, options));
  },
});

// ---- one object --------------------------------------------------------------------------------------------------

async function undoObject(
  work: Work,
  ref: ObjectRef,
  moment: ReturnType<typeof readMoment> | undefined,
  options: Options,
): Promise<number> {
  const { io } = work;
  const shown = shownName(ref.resource, ref.name);
  const versions = () => versionsOf(work, ref, { full: true, pageSize: 20 });
  const step = moment === undefined ? await undoOfLastChange(ref, versions()) : await stepTo(work, ref, moment);
  if (step === undefined) {
    io.out(`${shown} is as it was already\n`);
    return 0;
  }
  const isDry = options.dryRun === 'server';
  const requests = new UndoRequests(work, isDry);
  const prepared = await requests.prepare(step);
  io.out(screenText(`${lineOf(work, step)}\n${stepDiff(prepared, shown)}`));
  if (step.stays !== undefined)
    io.err(`note: ${laterChange(work, step.stays)} stays: undo restores neither finalizers nor owner references\n`);
  if (options.dryRun === 'client') return 0;
  if (!(await isConfirmed(`Undo this change of ${shown}?`, { yes: options.yes || isDry }, io, work.signal))) {
    io.err('nothing was changed\n');
    return 1;
  }
  await requests.send(prepared);
  io.out(`${shown} ${doneWords[step.action]}${isDry ? ' (server dry run)' : ''}\n`);
  return 0;
}

async function stepTo(work: Work, ref: ObjectRef, moment: ReturnType<typeof readMoment>): Promise<UndoStep | undefined> {
  const { version } = await stateAt(work, ref, moment);
  return undoTo(ref, versionsOf(work, ref, { full: true, pageSize: 20 }), version);
}

/** `restore  deployment.apps/web  takes back spec.replicas 3 → 5 10:32 by alice` */
function lineOf({ io }: Work, { ref, action, undoes, others = 0 }: UndoStep): string {
  const words = { update: 'restore', create: 'create ', delete: 'delete ' }[action];
  const { time, user, change, type } = undoes;
  const when = time === undefined ? '' : ` ${clockText(timeMillis(time), io.clock.now())}`;
  const what = action === 'update' ? `takes back ${type === 'updated' ? (change ?? 'the change of') : 'what was created'}` : type;
  const before = others === 0 ? '' : `, and ${others === 1 ? 'the change' : `${others} changes`} before it`;
  return `${words}  ${shownName(ref.resource, ref.name)}  ${printable(`${what}${when}${user === undefined ? '' : ` by ${user}`}${before}`)}`;
}

/** `the later change of 10:41 by alice` */
function laterChange({ io }: Work, { time, user }: ObjectVersion): string {
  const when = time === undefined ? '' : ` of ${clockText(timeMillis(time), io.clock.now())}`;
  return `the later change${when}${user === undefined ? '' : ` by ${printable(user)}`}`;
}

// ---- many objects ------------------------------------------------------------------------------------------------

async function undoMany(work: Work, since: number, options: Options): Promise<number> {
  const { io } = work;
  const resources = await kindsWithHistory(work, options.kind, options.allNamespaces);
  const places = resources.map((resource) => ({
    resource,
    namespace: resource.namespaced && !options.allNamespaces ? work.namespace : undefined,
  }));
  const isWanted = ({ version }: Change): boolean => !isOfStatus(version);
  const { changes, refused } = await changesOf(work, places, { since, user: options.by }, 0, isWanted);
  warnOfRefused(work, refused);
  if (changes.length === 0) {
    io.out(`${await noChangesText(work, options.by, places, { since }, isWanted)}\n`);
    return refused.length > 0 ? 1 : 0;
  }
  const failures: NotUndone[] = [];
  const steps = await plan(work, changes, options, failures);
  if (steps.length === 0 && failures.length === 0) {
    io.out(`nothing to undo: no changes of ${printable(options.by)} are left\n`);
    return refused.length > 0 ? 1 : 0;
  }
  io.out(steps.map((step) => `${lineOf(work, step)}\n`).join(''));
  for (const { message } of failures) io.out(paintFor(io)(`skip     ${printable(message)}\n`, 'yellow'));
  if (options.dryRun === 'client' || steps.length === 0) return failures.length > 0 ? 1 : 0;
  const isDry = options.dryRun === 'server';
  const question = `Undo ${steps.length === 1 ? 'this change' : `these ${steps.length} changes`}?`;
  if (!(await isConfirmed(question, { yes: options.yes || isDry }, io, work.signal))) {
    io.err('nothing was changed\n');
    return 1;
  }
  const failed = await sendAll(work, steps, isDry);
  const [undone, left] = [steps.length - failed, failed + failures.length];
  io.out(`${undone} undone${left > 0 ? `, ${left} not` : ''}${isDry ? ' (server dry run)' : ''}\n`);
  return left > 0 || refused.length > 0 ? 1 : 0;
}

/** One step for each object with changes. What cannot be undone is added to the failures. */
async function plan(work: Work, changes: readonly Change[], { force }: Options, failures: NotUndone[]): Promise<UndoStep[]> {
  const byObject = new Map<string, Change[]>();
  for (const change of changes) {
    const { resource, version } = change;
    const key = JSON.stringify([resource.group, resource.name, version.namespace, version.name]);
    byObject.set(key, [...(byObject.get(key) ?? []), change]);
  }
  const steps: UndoStep[] = [];
  for (const objectChanges of byObject.values()) {
    const [{ resource, version }] = objectChanges as [Change];
    const ref = { resource, namespace: version.namespace || undefined, name: version.name };
    const meant = new Set(objectChanges.map((change) => change.version.resourceVersion));
    try {
      const versions = await versionsDownTo(work, ref, meant);
      const step = undoOfChanges(ref, versions, ({ resourceVersion }) => meant.has(resourceVersion), force);
      if (step !== undefined) steps.push(step);
    } catch (error) {
      if (!(error instanceof NotUndone)) throw error;
      failures.push(error);
    }
  }
  return inUndoOrder(steps);
}

/** The versions of an object down to the last one, not being deleted, before all that are meant. */
async function versionsDownTo(work: Work, ref: ObjectRef, meant: ReadonlySet<string>): Promise<ObjectVersion[]> {
  const oldest = Math.min(...[...meant].map(Number));
  const versions: ObjectVersion[] = [];
  for await (const version of versionsOf(work, ref, { full: true, pageSize: 20 })) {
    versions.push(version);
    if (Number(version.resourceVersion) < oldest && version.object?.metadata.deletionTimestamp === undefined) break;
  }
  return versions;
}

/** Returns how many failed. */
async function sendAll(work: Work, steps: readonly UndoStep[], isDry: boolean): Promise<number> {
  const requests = new UndoRequests(work, isDry);
  let failed = 0;
  for (const [i, step] of steps.entries()) {
    const shown = shownName(step.ref.resource, step.ref.name);
    try {
      const prepared: PreparedStep = await requests.prepare(step, isDry ? steps.slice(0, i) : []);
      await requests.send(prepared);
      work.io.out(`${shown} ${doneWords[step.action]}\n`);
    } catch (error) {
      if (work.signal.aborted) throw error;
      failed++;
      work.io.fail({ error, ...(!(error instanceof NotUndone) && { during: shown }) });
    }
  }
  return failed;
}
