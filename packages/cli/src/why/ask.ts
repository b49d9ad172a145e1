/** Questions why, on servers that can answer them. */
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { groupName, kubernetes } from '@plat-dev/meta/identity';
import { askServer } from '../auth/asked-action.ts';
import { findGroup } from '../discovery/api-groups.ts';
import type { Work } from '../work.ts';

export async function askWhy<T>(work: Work, kind: string, resource: string, spec: object): Promise<T> {
  const group = await findGroup(work, 'explain');
  if (group === undefined) {
    const setting = `${groupName(kubernetes, 'explain')}/v1alpha1=true`;
    const hint = `only a plat server can say why; with --identity ${kubernetes.name} it needs --runtime-config ${setting}`;
    throw new Error(`the server at ${work.session.connection.server} has no group explain: ${hint}`);
  }
  return askServer<T>(work, joinApiVersion(group, 'v1alpha1'), kind, resource, spec);
}
