/** Names of built-in groups on a server with either identity. */
import { groupName, identities } from '../meta/identity.ts';
import type { Work } from './work.ts';

/** The full name of a built-in group as the server has it: `authorization` → `authorization.DOMAIN`. Throws where it has none. */
export async function fullGroup(work: Work, base: string): Promise<string> {
  const { groups = [] } = await work.session.transport.json<{ groups?: { name: string }[] }>({ path: '/apis', ...work.session.timeout });
  const names = groups.map(({ name }) => name);
  const usual = Object.values(identities).map((identity) => groupName(identity, base));
  const found = usual.find((name) => names.includes(name)) ?? names.find((name) => name.startsWith(`${base}.`));
  if (found === undefined) throw new Error(`the server at ${work.session.connection.server} has no group ${base}`);
  return found;
}
