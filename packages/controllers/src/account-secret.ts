/**
 * A Secret with a token for every service account that names none, as servers had it before the feature
 * LegacyServiceAccountTokenNoAutoGeneration: `robot` names `robot-token-x7k2p`.
 */
import { unlessGone } from '@plat-dev/client/http';
import { type Informer, keyOf, splitKey } from '@plat-dev/client/informer';
import type { Secret, ServiceAccount } from '@plat-dev/kinds/core/schema/config';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { generateName } from '@plat-dev/meta/names';
import { type ControllerContext, refs } from './runtime/controller.ts';
import { isTerminating } from './runtime/manager.ts';

export interface AccountSecrets {
  /** The type of Secrets that hold tokens. */
  readonly type: string;
  readonly accounts: Informer<ServiceAccount>;
  readonly secrets: Informer<Secret>;
  belongs(secret: Secret, account: ApiObject | undefined): boolean;
  /** The Secret with the token of the account in it. */
  filled(secret: Secret, account: ApiObject): Promise<Secret>;
}

export function generateSecrets({ client, queue, random }: ControllerContext, accountSecrets: AccountSecrets): void {
  const { type, accounts, secrets, belongs, filled } = accountSecrets;

  /** New Secrets may not be in the cache yet: those that it does not have are read from the server. */
  const namesToken = async (account: ServiceAccount): Promise<boolean> => {
    const { namespace = '' } = account.metadata;
    for (const { name = '' } of account.secrets ?? []) {
      const secret = secrets.get(namespace, name) ?? (await client.find<Secret>(refs.secrets, namespace, name));
      if (secret?.type === type && belongs(secret, account)) return true;
    }
    return false;
  };

  const generate = async (key: string): Promise<void> => {
    const { namespace, name } = splitKey(key);
    const existingAccount = accounts.get(namespace, name);
    if (existingAccount === undefined || existingAccount.metadata.deletionTimestamp !== undefined || (await namesToken(existingAccount)))
      return;
    const account = await client.find<ServiceAccount>(refs.serviceAccounts, namespace, name);
    if (account === undefined || account.metadata.uid !== existingAccount.metadata.uid || (await namesToken(account))) return;
    const secretName = generateName(`${name}-token-`, (limit) => random.below(limit));
    const bare = { kind: 'Secret', apiVersion: 'v1', metadata: { name: secretName, namespace }, type } as Secret;
    try {
      await client.create(refs.secrets, namespace, await filled(bare, account));
    } catch (error) {
      if (isTerminating(error)) return;
      throw error;
    }
    try {
      const withSecret = { ...account, secrets: [...(account.secrets ?? []), { name: secretName }] } as ServiceAccount;
      await client.update(refs.serviceAccounts, withSecret);
    } catch (error) {
      // Delete the Secret, which no account names: a retry creates another one.
      await client.delete(refs.secrets, namespace, secretName).catch(unlessGone);
      unlessGone(error);
    }
  };
  const work = queue(generate, { name: 'serviceaccount-token_secrets', after: [accounts.synced, secrets.synced] });
  accounts.onChange(({ type: what, object }) => {
    if (what !== 'deleted') work.add(keyOf(object));
  });
}
