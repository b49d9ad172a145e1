/** --record: the command line in the annotation change-cause of what it changed. Deprecated in the stock client, but scripts have it. */
import { bool } from '@plat-dev/lib/flags';
import { domainName, type Identity } from '@plat-dev/meta/identity';
import type { JsonObject } from '@plat-dev/schema/types';
import type { IO } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { serverIdentity } from '../discovery/api-groups.ts';
import type { Work } from '../work.ts';

export const recordFlag = bool(false, 'Record the command line in the annotation change-cause. Deprecated.');

/** Flags that name a server or hold credentials are not recorded. */
const omittedFlags: ReadonlySet<string> = new Set(Object.keys(connectFlags).filter((name) => name !== 'namespace'));

/** `plat set image deployment/web web=nginx:2 --record=true` */
export function commandLine(
  io: Pick<IO, 'program'>,
  path: string,
  args: readonly string[],
  flags: ReadonlyMap<string, readonly string[]>,
): string {
  const givenFlags = [...flags].flatMap(([name, values]) => (omittedFlags.has(name) ? [] : values.map((value) => `--${name}=${value}`)));
  return [io.program, path, ...args, ...givenFlags].join(' ');
}

/** The annotation to set, or undefined without --record. */
export async function changeCause(work: Work, record: boolean, line: string): Promise<Record<string, string> | undefined> {
  if (!record) return undefined;
  work.io.err('Flag --record has been deprecated, --record will be removed in the future\n');
  return { [domainName((await serverIdentity(work)) as Identity, 'change-cause')]: line };
}

/** The object with the annotation, if there is one. */
export function withAnnotations<T extends JsonObject>(object: T, annotations: Readonly<Record<string, string>> | undefined): T {
  if (annotations === undefined) return object;
  const metadata = (object.metadata ?? {}) as JsonObject;
  return { ...object, metadata: { ...metadata, annotations: { ...(metadata.annotations as JsonObject | undefined), ...annotations } } };
}
