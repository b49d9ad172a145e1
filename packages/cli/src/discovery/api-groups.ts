/** Names of built-in groups on a server with either identity. */
import { type AskedServer, explainSetting, findGroup } from '@plat-dev/client/why';
import { jsonText } from '@plat-dev/lib/json-text';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import { groupName, type Identity, identities, kubernetes } from '@plat-dev/meta/identity';
import type { Work } from '../work.ts';

/** The full name of a built-in group as the server has it: `authorization` → `authorization.DOMAIN`. Throws where it has none. */
export async function fullGroup(work: Work, base: string): Promise<string> {
  const group = await findGroup(askedServer(work), base);
  if (group === undefined) throw new Error(`the server at ${work.session.connection.server} has no group ${base}`);
  return group;
}

/** What turns the group explain, and history with it, on. */
export const explainRemedy = `with --identity ${kubernetes.name} it needs --runtime-config ${explainSetting(kubernetes)}`;

/** The server of a command, for questions. */
export const askedServer = (work: Work): AskedServer => ({
  name: `the server at ${work.session.connection.server}`,
  remedy: `only a plat server can say why; ${explainRemedy}`,
  get: (path) => work.session.transport.json({ path, ...work.session.timeout }),
  post: (path, body) =>
    work.session.transport.json({
      method: 'POST',
      path,
      headers: { 'content-type': 'application/json' },
      body: jsonText(body),
      signal: work.signal,
      ...work.session.timeout,
    }),
});

/** The names that differ by identity, as this server has them. */
export async function serverIdentity(work: Work): Promise<Pick<Identity, 'groupSuffix' | 'domain'>> {
  const groups = (await work.discovery.groupVersions()).map((version) => splitApiVersion(version).group);
  const rbacIdentity = Object.values(identities).find((identity) => groups.includes(groupName(identity, 'rbac.authorization')));
  if (rbacIdentity !== undefined) return rbacIdentity;
  const suffix = groups.map((group) => /^rbac\.authorization\.(.+)$/.exec(group)?.[1]).find((one) => one !== undefined);
  if (suffix === undefined) throw new Error(`the server at ${work.session.connection.server} has no group rbac.authorization`);
  return { groupSuffix: suffix, domain: suffix };
}
