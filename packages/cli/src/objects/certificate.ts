/** `plat certificate approve` and `deny`: approves or denies certificate signing requests. */
import { bool, FlagError, type FlagValues } from '@plat-dev/lib/flags';
import { formatTime } from '@plat-dev/lib/time';
import { ApiError } from '@plat-dev/meta/errors';
import { type Command, command, type IO } from '../command.ts';
import { commandGroup } from '../command-group.ts';
import { connectFlags } from '../connect.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { Results } from '../output/results.ts';
import { isStock } from '../program.ts';
import { shownName, type Work, withServer } from '../work.ts';
import { namesManifests } from './manifests.ts';
import { fileFlags, resultFlags } from './object-flags.ts';
import type { ObjectRef } from './object-ref.ts';
import { findTargets } from './targets.ts';

const table = {
  Requests: fileFlags,
  Deciding: { force: bool(false, 'Update a request that was already decided this way.') },
  Printing: resultFlags,
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

interface Decision {
  readonly word: 'approve' | 'deny';
  readonly pastTense: 'approved' | 'denied';
  readonly condition: 'Approved' | 'Denied';
}
interface Condition {
  readonly type: string;
  readonly status?: string;
}
interface SigningRequest extends ApiItem {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** Retries after a conflicting write. */
const TRIES = 5;
const AGAIN_MS = 50;

function decider(decision: Decision): Command {
  return command({
    usage: 'NAME… | -f FILE [flags]',
    summary:
      decision.word === 'approve'
        ? 'Approve certificate signing requests, so that their signer signs them.'
        : 'Deny certificate signing requests.',
    flags: table,
    more: `
Examples:
  plat certificate ${decision.word} csr-1
  plat certificate ${decision.word} csr-1 csr-2 --force
  plat certificate ${decision.word} -f requests.yaml

Exit codes:
  0   all requests are ${decision.pastTense}
  1   some requests failed; the others are ${decision.pastTense}
  2   the command line is wrong
`,
    async run({ options, args }, io) {
      if (args.length === 0 && !namesManifests(options))
        throw new FlagError(`which requests? For example: plat certificate ${decision.word} csr-1`);
      if (args.length > 0 && namesManifests(options)) throw new FlagError('names and -f or -k exclude each other');
      return withServer(options, io, async (work) => {
        const results = new Results(io, { ...options, dryRun: 'none' });
        for (const ref of await requests(work, args, options)) {
          try {
            results.done(ref, decision.pastTense, await decide(work, ref, decision, options.force));
          } catch (error) {
            results.failed(shownName(ref.resource, ref.name), error);
          }
        }
        return results.end();
      });
    },
  });
}

async function requests(work: Work, args: readonly string[], options: Options): Promise<ObjectRef[]> {
  if (namesManifests(options)) return findTargets(work, [], { ...options, namespace: undefined });
  const resource = await work.discovery.find('certificatesigningrequests');
  return args.map((word) => ({ resource, namespace: undefined, name: word.replace(/^(csr|certificatesigningrequests?)\//, '') }));
}

/** Who decided, and how: controllers and people read it in the condition. */
function reasonFor({ word, pastTense }: Decision, io: IO): { reason: string; message: string } {
  const verb = word === 'approve' ? 'Approve' : 'Deny';
  return isStock(io)
    ? { reason: `Kubectl${verb}`, message: `This CSR was ${pastTense} by kubectl certificate ${word}.` }
    : { reason: `Plat${verb}`, message: `This request was ${pastTense} with plat certificate ${word}.` };
}

async function decide(work: Work, ref: ObjectRef, decision: Decision, force: boolean): Promise<ApiItem> {
  for (let attempt = 1; ; attempt++) {
    const request = await work.getNamed<SigningRequest>(ref);
    const conditions = request.status?.conditions ?? [];
    if (!force && conditions.some(({ type }) => type === decision.condition)) return request;
    const now = formatTime(work.io.clock.now());
    const newCondition = {
      type: decision.condition,
      status: 'True',
      ...reasonFor(decision, work.io),
      lastUpdateTime: now,
    };
    const others = conditions.filter(({ type }) => type !== decision.condition);
    const body = { ...request, status: { ...request.status, conditions: [...others, newCondition] } };
    try {
      return (await work.send(ref, { method: 'PUT', subresource: 'approval', body })).object;
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'Conflict' || attempt === TRIES) throw error;
      await work.io.clock.sleep(AGAIN_MS * attempt, work.signal);
    }
  }
}

export const certificate = commandGroup(
  'certificate',
  'Approve or deny certificate signing requests.',
  [
    {
      name: 'approve',
      summary: 'Approve certificate signing requests.',
      load: async () => decider({ word: 'approve', pastTense: 'approved', condition: 'Approved' }),
    },
    {
      name: 'deny',
      summary: 'Deny certificate signing requests.',
      load: async () => decider({ word: 'deny', pastTense: 'denied', condition: 'Denied' }),
    },
  ],
  ['plat certificate approve web-csr', 'plat certificate deny web-csr', 'plat get csr -o name | xargs plat certificate approve'],
);
