/** Names of built-in groups on a server with either identity. */
import { splitApiVersion } from '@plat-dev/meta/api-version';
import { groupName, type Identity, identities } from '@plat-dev/meta/identity';
import type { Work } from '../work.ts';

/** The full name of a built-in group as the server has it: `authorization` → `authorization.DOMAIN`. Throws where it has none. */
export async function fullGroup(work: Work, base: string): Promise<string> {
  const group = await findGroup(work, base);
  if (group === undefined) throw new Error(`the server at ${work.session.connection.server} has no group ${base}`);
  return group;
}

/** The same; undefined where the server has none. */
export async function findGroup(work: Work, base: string): Promise<string | undefined> {
  const { groups = [] } = await work.session.transport.json<{ groups?: { name: string }[] }>({ path: '/apis', ...work.session.timeout });
  const names = groups.map(({ name }) => name);
  const usual = Object.values(identities).map((identity) => groupName(identity, base));
  return usual.find((name) => names.includes(name)) ?? names.find((name) => name.startsWith(`${base}.`));
}

/** The names that differ by identity, as this server has them. */
export async function serverIdentity(work: Work): Promise<Pick<Identity, 'groupSuffix' | 'domain'>> {
  const groups = (await work.discovery.groupVersions()).map((version) => splitApiVersion(version).group);
  const rbacIdentity = Object.values(identities).find((identity) => groups.includes(groupName(identity, 'rbac.authorization')));
  if (rbacIdentity !== undefined) return rbacIdentity;
  const suffix = groups.map((group) => /^rbac\.authorization\.(.+)$/.exec(group)?.[1]).find((one) => one !== undefined);
  if (suffix === undefined) throw new Error(`the server at ${work.session.connection.server} has no group rbac.authorization`);
  return { groupSuffix: suffix, domain: suffix };
}
