/** Permissions on signers: for one (`example.com/own`) or for all of a domain (`example.com/*`). */
import { groupName } from '@plat-dev/meta/identity';
import type { User } from '@plat-dev/meta/user';
import type { PluginEnv } from '../../plugin.ts';

export async function mayForSigner(env: PluginEnv, user: User, verb: 'approve' | 'sign', signerName: string): Promise<boolean> {
  const group = groupName(env.identity, 'certificates');
  const may = (name: string) => env.may(user, { verb, group, version: '*', resource: 'signers', name });
  if (await may(signerName)) return true;
  return may(`${signerName.split('/')[0]}/*`);
}
