/** `plat wait`: waits for a condition of objects, or a timeout. */

import type { ApiResource } from '@plat-dev/client/discovery';
import { bool, duration, type Flag, FlagError, type FlagValues, flag } from '@plat-dev/lib/flags';
import { parseDuration } from '@plat-dev/lib/time';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import { ApiError } from '@plat-dev/meta/errors';
import { command, type IO } from '../command.ts';
import { connectFlags } from '../connect.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { Results } from '../output/results.ts';
import { isStock, withStockText } from '../program.ts';
import { shownName, type Work, withServer } from '../work.ts';
import { Deadline, followObject } from './follow-object.ts';
import { manifestsFrom, namesManifests } from './manifests.ts';
import { fileFlags, namespaceFlag, resultFlags, selectFlags } from './object-flags.ts';
import type { ObjectRef } from './object-ref.ts';
import { checkTargets, findAllTargets } from './targets.ts';
import { type Goal, readGoal } from './wait-args.ts';

const WEEK_MS = 7 * 24 * 3_600_000;
const timeout: Flag<number> = {
  ...duration('30s', 'Longest wait for all objects together; 0 checks once, a negative value waits a week.'),
  read: (values) => {
    const millis = Number(parseDuration(values.at(-1) as string) / 1_000_000n);
    return millis < 0 ? WEEK_MS : millis;
  },
};
const waitFlags = {
  Objects: {
    ...fileFlags,
    recursive: bool(true, 'Read the directories of --filename recursively.', { short: 'R', defaultText: 'true' }),
    namespace: namespaceFlag,
    ...selectFlags,
    local: bool(false, 'Check the objects of the files once, without a server.'),
  },
  Waiting: {
    for: flag<Goal | undefined>(undefined, 'What to wait for.', 'delete|create|condition=NAME[=VALUE]|jsonpath={.path}[=VALUE]', readGoal),
    timeout,
  },
  Printing: resultFlags,
  Connecting: connectFlags,
};
type WaitOptions = FlagValues<typeof waitFlags>;

export const wait = command({
  usage: 'TYPE NAME… | TYPE/NAME… | TYPE -l QUERY | TYPE --all | -f FILE --for=… [flags]',
  summary: 'Wait for a condition.',
  flags: waitFlags,
  more: `
Examples:
  plat wait --for=condition=Ready pod/web --timeout=1m
  plat wait --for=delete namespace/old
  plat wait --for=jsonpath='{.status.phase}'=Bound pvc --all

Exit codes:
  0     all objects meet the condition
  1     an object does not exist, or does not meet the condition in time
  2     the command line is wrong
  130   interrupted
`,
  async run({ options, args }, io) {
    checkTargets('wait --for=condition=Ready', args, options);
    const goal = options.for;
    if (goal === undefined) throw new FlagError('condition missing. For example: --for=condition=Ready, --for=delete');
    if (options.local && !namesManifests(options)) throw new FlagError('--local needs files: name them with -f');
    if (options.local) return checkFiles(io, options, goal);
    return withServer(options, io, (work) => waitFor(work, args, options, goal));
  },
});

/** The objects as the files have them. */
async function checkFiles(io: IO, options: WaitOptions, goal: Goal): Promise<number> {
  const results = new Results(io, { ...options, dryRun: 'none' });
  for (const { object, name = '' } of await manifestsFrom(options, io)) {
    const { kind } = object;
    const { group } = splitApiVersion(object.apiVersion);
    const resource = { kind, singularName: kind.toLowerCase(), group } as ApiResource;
    const item = object as unknown as ApiItem;
    if (goal.met(item)) results.done({ resource, name }, goal.reached, item);
    else results.failed(shownName(resource, name), new Error(`not ${goal.reached}: ${goal.distance(item)}`));
  }
  return results.end();
}

async function waitFor(work: Work, args: readonly string[], options: WaitOptions, goal: Goal): Promise<number> {
  const refs = await findAllTargets(work, args, options);
  const results = new Results(work.io, { ...options, dryRun: 'none' });
  if (refs.length === 0) {
    work.io.err('No resources found\n');
    return goal.kind === 'delete' ? 0 : 1;
  }
  const deadline = new Deadline(Math.max(options.timeout, 1), work.io.clock);
  for (const ref of refs) {
    try {
      const item = await waitForOne(work, ref, goal, options.timeout === 0 ? undefined : deadline);
      // The stock client has nothing to say of an object that was never there, and one line for every condition.
      if (item === undefined && isStock(work.io) && !isListed(options)) continue;
      results.done(ref, isStock(work.io) ? 'condition met' : goal.reached, item ?? {});
    } catch (error) {
      results.failed(shownName(ref.resource, ref.name), error);
    }
  }
  return results.end();
}

/** Whether the objects were found on the server, and not named by the user. */
const isListed = ({ all, selector, fieldSelector }: WaitOptions): boolean => all || selector !== '' || fieldSelector !== '';

/** Without a deadline it checks once. Returns the last state; undefined if there was none. */
async function waitForOne(work: Work, ref: ObjectRef, goal: Goal, deadline: Deadline | undefined): Promise<ApiItem | undefined> {
  let last: ApiItem | undefined;
  let wasPresent = false;
  const check = (object: ApiItem | undefined): boolean => {
    if (object === undefined && goal.kind === 'state') throw wasPresent ? new Error('the object was deleted') : missing(ref);
    wasPresent = true;
    last = object ?? last;
    return goal.met(object);
  };
  if (deadline === undefined ? check(await now(work, ref)) : await followObject(work, ref, deadline, check)) return last;
  const why = last === undefined ? 'the object does not exist' : goal.distance(last);
  throw withStockText(
    new Error(`timed out waiting for ${goal.expectation}: ${why}`),
    `error: timed out waiting for the condition on ${ref.resource.name}/${ref.name}`,
  );
}
const missing = ({ resource, name }: ObjectRef): Error =>
  withStockText(
    new Error('the object does not exist; --for=create waits for it'),
    `Error from server (NotFound): ${groupResource(resource)} ${JSON.stringify(name)} not found`,
  );
const groupResource = ({ group, name }: ApiResource): string => (group === '' ? name : `${name}.${group}`);

async function now(work: Work, ref: ObjectRef): Promise<ApiItem | undefined> {
  try {
    return await work.get(ref);
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return undefined;
    throw error;
  }
}
