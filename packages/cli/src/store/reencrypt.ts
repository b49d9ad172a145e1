/** `plat store reencrypt`: encrypts stored objects with the current key, through a running server or in a store that no server uses. */

import type { ApiResource } from '@plat-dev/client/discovery';
import type { ReencryptResult } from '@plat-dev/compose/store/reencrypt';
import { bool, FlagError, file, text } from '@plat-dev/lib/flags';
import { apiVersionOf } from '@plat-dev/meta/api-version';
import { ApiError } from '@plat-dev/meta/errors';
import { identityOf } from '@plat-dev/meta/identity-file';
import { command, type IO } from '../command.ts';
import { connectFlags } from '../connect.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { type Work, withServer } from '../work.ts';
import { noArguments, outputFlag, placeFlags, placeOf } from './place.ts';

const flags = {
  Encryption: {
    check: bool(false, 'Change nothing; show whether objects remain under other keys than the first.'),
    'encryption-provider-config': file('Configuration of the server, with --data-dir or --etcd-servers.'),
    identity: text('plat', 'Identity of the server, with --data-dir or --etcd-servers.', { value: 'NAME|FILE' }),
    ...outputFlag,
  },
  Store: placeFlags,
  Connecting: connectFlags,
};

export const reencrypt = command({
  usage: '[--check] [--data-dir DIRECTORY --encryption-provider-config FILE] [flags]',
  summary:
    'Write objects again that are not under the first key of the encryption configuration. Without --data-dir and --etcd-servers this is done through the running server.',
  flags,
  more: `
Examples:
  plat store reencrypt                       through the running server, after its configuration has a new first key
  plat store reencrypt --check               check whether the old key can be removed
  plat store reencrypt --data-dir .plat --encryption-provider-config encryption.yaml

Objects under the first key are skipped, so an interrupted run can be started again. A running server requires the
right to get the path /store/encryption, and to list and update the objects.

Exit codes:
  0   all objects are under the first key
  1   it failed; objects that were written before are kept
  2   the command line is wrong
  3   objects remain under other keys, or cannot be read
`,
  async run({ options, givenFlags, args }, io) {
    noArguments(args);
    const place = placeOf(options, givenFlags, io);
    const own = options.encryptionProviderConfig;
    if (place === undefined) {
      if (own !== undefined || givenFlags.has('identity'))
        throw new FlagError('--encryption-provider-config and --identity need --data-dir or --etcd-servers: a running server has its own');
      return withServer(options, io, async (work) => report(await online(work, options.check), options, io));
    }
    if (own === undefined)
      throw new FlagError('--encryption-provider-config is missing: name the file with the keys, as the server has it');
    const [{ withPlace }, { reencryptStore }] = await Promise.all([
      import('@plat-dev/compose/store/store-tools'),
      import('@plat-dev/compose/store/reencrypt'),
    ]);
    const settings = { file: own, identity: identityOf(options.identity), check: options.check };
    return report(await withPlace(place, (engine) => reencryptStore(engine, settings)), options, io);
  },
});

/** Page size of lists. */
const PAGE = 100;
/** How often to retry an object after a conflicting write. */
const TRIES = 5;

type State = Pick<ReencryptResult, 'collections'>;

async function online(work: Work, check: boolean): Promise<ReencryptResult> {
  const { session } = work;
  const ask = (): Promise<State> =>
    session.transport.json<State>({ path: '/store/encryption', signal: work.signal }).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 404)
        throw new Error('the server encrypts nothing: it has no --encryption-provider-config');
      throw error;
    });
  const initialState = await ask();
  if (check) return { rewritten: 0, ...initialState };
  let rewritten = 0;
  for (const { resource, outdated } of initialState.collections) if (outdated > 0) rewritten += await rewrite(work, resource);
  return { rewritten, ...(await ask()) };
}

/** Every object is written as it is: the server stores it again when its key is not the first. Returns how many it stored. */
async function rewrite(work: Work, name: string): Promise<number> {
  const resource = await work.discovery.find(name);
  let storedCount = 0;
  let next: string | undefined;
  do {
    const query = { limit: PAGE, continue: next };
    const { object } = await work.sendTo<ItemList>(resource, undefined, { method: 'GET', query });
    for (const item of object.items ?? []) if (await rewriteOne(work, resource, item)) storedCount++;
    next = object.metadata?.continue;
  } while (next !== undefined && next !== '');
  return storedCount;
}
interface ItemList {
  readonly items?: readonly ApiItem[];
  readonly metadata?: { readonly continue?: string };
}

async function rewriteOne(work: Work, resource: ApiResource, listedItem: ApiItem): Promise<boolean> {
  const { namespace, name = '' } = (listedItem.metadata ?? {}) as { namespace?: string; name?: string };
  const ref = { resource, namespace, name };
  let item: ApiItem = { ...listedItem, apiVersion: apiVersionOf(resource), kind: resource.kind };
  for (let attempt = 1; ; attempt++) {
    try {
      const { object } = await work.send(ref, { method: 'PUT', body: item });
      return object.metadata?.resourceVersion !== item.metadata?.resourceVersion;
    } catch (error) {
      const code = error instanceof ApiError ? error.code : 0;
      // It was deleted meanwhile; or it was written, and is read again.
      if (code === 404) return false;
      if (code !== 409 || attempt >= TRIES) throw error;
      const now = await getIfExists(work, ref);
      if (now === undefined) return false;
      item = now;
    }
  }
}
const getIfExists = (work: Work, ref: ObjectRef): Promise<ApiItem | undefined> =>
  work.get(ref).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 404) return undefined;
    throw error;
  });

function report({ rewritten, collections }: ReencryptResult, { check, output }: { check: boolean; output: string }, io: IO): number {
  const remaining = collections.reduce((sum, { outdated, unreadable }) => sum + outdated + unreadable, 0);
  if (output === 'json') io.out(`${JSON.stringify({ rewritten, collections })}\n`);
  else {
    if (!check) io.out(`${rewritten} ${rewritten === 1 ? 'object was' : 'objects were'} written again\n`);
    for (const { resource, current, outdated, unreadable, forms } of collections) {
      io.out(`${resource}: ${current} current, ${outdated} under other keys, ${unreadable} unreadable\n`);
      for (const { provider, name, objects } of forms)
        io.out(`  ${[provider, name].filter((part) => part !== '').join(' ')}: ${objects}\n`);
    }
  }
  return remaining === 0 ? 0 : 3;
}
