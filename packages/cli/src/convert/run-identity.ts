/** By the names of which identity a run converts or checks files. */
import { splitApiVersion } from '@plat-dev/meta/api-version';
import { type Identity, identities, kubernetes, plat } from '@plat-dev/meta/identity';
import { identityOf } from '@plat-dev/meta/identity-file';
import type { JsonValue } from '@plat-dev/schema/types';
import type { IO } from '../command.ts';
import type { ConnectOptions } from '../connect.ts';
import { identityAt } from '../discovery/cluster-info.ts';
import { isStock } from '../program.ts';
import { withServer } from '../work.ts';
import { isObject } from './carry-changes.ts';

/** How long the server is waited for: files can be converted without one. */
const SERVER_MS = 5000;
/** The group without a suffix whose kinds moved to groups that have one. */
const MOVED_GROUP = 'extensions';

export interface RunNames {
  /** The flag `--identity`. */
  readonly identity: string;
  readonly outputVersion?: string | undefined;
  readonly connect: ConnectOptions;
}

/**
 * That of the flag, else that of the first group with a suffix, else that of the server, else the default. The server is asked only
 * if an object gets its name from the answer.
 */
export async function identityOfRun(
  { identity, outputVersion = '', connect }: RunNames,
  values: readonly JsonValue[],
  io: IO,
): Promise<Identity> {
  if (identity !== '') return identityOf(identity);
  const apiVersions = [...versionsIn(values), outputVersion];
  const manifestIdentity = apiVersions.map(identityOfVersion).find((one) => one !== undefined);
  if (manifestIdentity !== undefined) return manifestIdentity;
  if (isStock(io)) return kubernetes;
  if (!apiVersions.some((apiVersion) => splitApiVersion(apiVersion).group === MOVED_GROUP)) return plat;
  const detectedIdentity = await serverIdentity(connect, io);
  if (detectedIdentity === undefined)
    io.err(
      `plat: no server says how its groups are named: they are named as by ${plat.name}; --identity ${kubernetes.name} names them as stock servers do\n`,
    );
  return detectedIdentity ?? plat;
}

function* versionsIn(values: readonly JsonValue[]): Generator<string> {
  for (const value of values) {
    if (!isObject(value)) continue;
    if (typeof value.apiVersion === 'string') yield value.apiVersion;
    if (Array.isArray(value.items)) yield* versionsIn(value.items);
  }
}
function identityOfVersion(apiVersion: string): Identity | undefined {
  const { group } = splitApiVersion(apiVersion);
  return Object.values(identities).find(({ groupSuffix }) => group.endsWith(`.${groupSuffix}`));
}

/** Undefined if no server is known or none answers. */
async function serverIdentity(connect: ConnectOptions, io: IO): Promise<Identity | undefined> {
  let identity: Identity | undefined;
  const requestTimeout = connect.requestTimeout === 0 ? SERVER_MS : connect.requestTimeout;
  try {
    await withServer({ ...connect, requestTimeout }, io, async (work) => {
      identity = await identityAt(work);
      return 0;
    });
  } catch {
    return undefined;
  }
  return identity;
}
