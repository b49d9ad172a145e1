/** `plat store import`: creates the objects of an export in a store, with the names of its identity. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { type ApiResource, UnknownKind } from '@plat-dev/client/discovery';
import { FlagError, file, flag } from '@plat-dev/lib/flags';
import { groupName, type Identity, identities } from '@plat-dev/meta/identity';
import { identityOf } from '@plat-dev/meta/identity-file';
import type { JsonObject } from '@plat-dev/schema/types';
import { command, type IO } from '../command.ts';
import { type ConnectOptions, connectFlags } from '../connect.ts';
import { fullGroup } from '../discovery/api-groups.ts';
import { manifestsOf, readManifests } from '../objects/manifests.ts';
import { Progress } from '../terminal/progress.ts';
import { shownName, type Work, withServer } from '../work.ts';
import { demandPath, exitCodes, noArguments, outputFlag, placeFlags, placeOf } from './place.ts';
import { type Exported, identityOfObject, rankOf, ranks, renamer, stripped } from './portable.ts';

const flags = {
  Import: {
    from: file('Directory or file that `plat store export` made, or manifests of your own.'),
    identity: flag<string | undefined>(
      undefined,
      'Names of the store that --data-dir or --etcd-servers names.',
      'NAME|FILE',
      (name) => name,
      {
        defaultText: 'plat',
      },
    ),
    ...outputFlag,
  },
  Store: placeFlags,
  Connecting: connectFlags,
};

/** Time for a kind to be served whose definition was made just before. */
const DEFINITION_MS = 10_000;
const POLL_MS = 100;

export const importCommand = command({
  usage: '--from DIRECTORY|FILE [--data-dir DIRECTORY | --etcd-servers URL,…] [flags]',
  summary: 'Create or update the objects of an export in a running server, a data directory or etcd.',
  flags,
  more: `
Examples:
  plat store import --from objects                                        into the running server
  plat store import --from all.jsonl --context plat-dev                   into the server of a context
  plat store import --from objects --data-dir new --identity kubernetes   into a directory, under other names

Objects of the other identity are renamed: groups, namespaces of the system, labels, annotations and types. Content of
config maps, secrets, commands and environments is not. Objects in a version that the server does not serve are converted
to one that it serves.
${exitCodes()}  The exit code is also 1 when some objects were refused; the others were created.
`,
  async run({ options, givenFlags, args }, io) {
    noArguments(args);
    const from = demandPath(options.from, 'from', io);
    await stat(from).catch(() => {
      throw new FlagError(`--from ${options.from}: there is no such file or directory`);
    });
    const place = placeOf(options, givenFlags, io);
    if (place === undefined) {
      if (options.identity !== undefined)
        throw new FlagError('--identity has no effect without --data-dir or --etcd-servers: a running server has its own');
      return withServer(options, io, async (work) => importAll(from, work, await identityAt(work), options.output));
    }
    const { withPrivateServer } = await import('@plat-dev/compose/store/store-import');
    const identity = identityOf(options.identity ?? 'plat');
    return withPrivateServer(place, options.identity ?? 'plat', (kubeconfig) => {
      // Flags of the connection name a running server; the private one is reached by its own configuration.
      const connection = Object.fromEntries(Object.entries(connectFlags).map(([name, { default: value }]) => [camel(name), value]));
      return withServer({ ...(connection as unknown as ConnectOptions), kubeconfig }, io, (work) =>
        importAll(from, work, identity, options.output),
      );
    });
  },
});
const camel = (name: string): string => name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

async function identityAt(work: Work): Promise<Identity> {
  const group = await fullGroup(work, 'authorization');
  const groupIdentity = Object.values(identities).find((identity) => groupName(identity, 'authorization') === group);
  if (groupIdentity === undefined) throw new Error(`unknown identity: the server serves the group ${group}`);
  return groupIdentity;
}

async function importAll(from: string, work: Work, identity: Identity, output: string): Promise<number> {
  const { io } = work;
  const counts = { made: 0, failed: 0 };
  const rename = renamers(identity, await sourceIdentity(from, io));
  const progress = new Progress(io);
  let patience = 0;
  // One pass per rank, so that memory holds one file at a time.
  for (let rank = 0; rank < ranks.length; rank++) {
    for await (const { object: exported, source } of objectsIn(from, io)) {
      if (rankOf(exported) !== rank) continue;
      const object = rename(stripped(exported));
      try {
        const name = await apply(object, work, identity, () => io.clock.monotonic() < patience);
        if (object.kind === 'CustomResourceDefinition') patience = io.clock.monotonic() + DEFINITION_MS;
        counts.made++;
        progress.clear();
        if (output === 'text') io.out(`${name} imported\n`);
      } catch (error) {
        if (work.signal.aborted) throw error;
        counts.failed++;
        progress.clear();
        io.err(`plat: ${source}: ${(error as Error).message}\n`);
      }
      progress.count('importing', counts.made + counts.failed);
    }
  }
  progress.clear();
  io.out(output === 'json' ? `${JSON.stringify(counts)}\n` : `${counts.made} objects imported, ${counts.failed} refused\n`);
  return counts.failed > 0 ? 1 : 0;
}

/** The identity of the objects, from the first one that has names of an identity. */
async function sourceIdentity(from: string, io: IO): Promise<Identity | undefined> {
  for await (const { object } of objectsIn(from, io)) {
    const identity = identityOfObject(object);
    if (identity !== undefined) return identity;
  }
  return undefined;
}

/** Objects without such names fit every identity. */
function renamers(to: Identity, from: Identity | undefined): (object: Exported) => Exported {
  const others = from === undefined ? Object.values(identities).filter(({ name }) => name !== to.name) : [from];
  const all = others.map((one) => renamer(one, to));
  return (object) => all.reduce((renamed, rename) => rename(renamed), object);
}

async function apply(exported: Exported, work: Work, identity: Identity, mayWait: () => boolean): Promise<string> {
  const { object, resource } = await inServedVersion(exported, work, identity, mayWait);
  const { name, namespace } = object.metadata as { name: string; namespace?: string };
  const ref = { resource, namespace: resource.namespaced ? namespace : undefined, name };
  const query = { fieldManager: 'plat-import', force: true };
  await work.send(ref, { method: 'PATCH', body: object, contentType: 'application/apply-patch+yaml', query });
  return shownName(resource, namespace === undefined ? name : `${namespace}/${name}`);
}

/**
 * Servers of other releases of the API may have the kind in another version alone: the object is converted to it.
 *
 *   exported  networking/v1 Ingress      a server of release 1.15 gets  networking/v1beta1 Ingress
 */
async function inServedVersion(
  object: Exported,
  work: Work,
  identity: Identity,
  mayWait: () => boolean,
): Promise<{ readonly object: Exported; readonly resource: ApiResource }> {
  try {
    return { object, resource: await resourceOf(object, work, mayWait) };
  } catch (error) {
    if (!(error instanceof UnknownKind)) throw error;
    const { Catalogue } = await import('../convert/catalogue.ts');
    const catalogue = new Catalogue(identity);
    const from = catalogue.find(object.apiVersion, object.kind);
    for (const to of from === undefined ? [] : catalogue.versionsOf(from)) {
      const resource = await work.discovery.forKind(to.apiVersion, object.kind).catch(() => undefined);
      if (from === undefined || resource === undefined) continue;
      const { convertObject } = await import('../convert/convert-object.ts');
      return { object: convertObject(object as unknown as JsonObject, from, to).object as unknown as Exported, resource };
    }
    throw error;
  }
}

/** A kind may take a moment to be served after its definition. */
async function resourceOf({ apiVersion, kind }: Exported, work: Work, mayWait: () => boolean): Promise<ApiResource> {
  for (;;) {
    try {
      return await work.discovery.forKind(apiVersion, kind);
    } catch (error) {
      if (!(error instanceof UnknownKind) || !mayWait()) throw error;
      await work.io.clock.sleep(POLL_MS, work.signal);
      work.forget();
    }
  }
}

interface FoundObject {
  readonly object: Exported;
  readonly source: string;
}

async function* objectsIn(from: string, io: IO): AsyncGenerator<FoundObject> {
  if (!(await stat(from)).isDirectory()) {
    yield* linesOf(from);
    return;
  }
  for (const { object, source } of await readManifests([from], true, io)) yield { object: withMetadata(object), source };
}

/** One line of JSON per object, or one or more documents. */
async function* linesOf(path: string): AsyncGenerator<FoundObject> {
  let number = 0;
  let rest = '';
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    number++;
    if (rest === '' && line.startsWith('{') && line.endsWith('}')) {
      for (const { object } of manifestsOf(line, `${path}, line ${number}`))
        yield { object: withMetadata(object), source: `${path}, line ${number}` };
    } else rest += `${line}\n`;
  }
  if (rest.trim() !== '') for (const { object, source } of manifestsOf(rest, path)) yield { object: withMetadata(object), source };
}
const withMetadata = (object: JsonObject & { apiVersion: string; kind: string }): Exported =>
  ({ ...object, metadata: (object.metadata ?? {}) as JsonObject }) as Exported;
