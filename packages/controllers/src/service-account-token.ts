/**
 * Secrets that hold the token of a service account: the token, the namespace and the root certificates are filled in, and
 * put back when they are taken out; a Secret whose account is gone goes too, and an account forgets Secrets that are gone.
 * Without the feature LegacyServiceAccountTokenNoAutoGeneration every account is given such a Secret (`account-secret.ts`).
 */

import { unlessGone } from '@plat-dev/client/http';
import { type Informer, keyOf, splitKey } from '@plat-dev/client/informer';
import type { Secret, ServiceAccount } from '@plat-dev/kinds/core/schema/config';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { domainName } from '@plat-dev/meta/identity';
import { generateSecrets } from './account-secret.ts';
import { type Controller, refs } from './runtime/controller.ts';

interface TokenClaims {
  readonly namespace: string;
  readonly secretName: string;
  readonly account: { readonly name: string; readonly uid: string };
}
export interface TokenSettings {
  readonly sign: (claims: TokenClaims) => Promise<string>;
  readonly rootCertificates: string;
  /** Make a Secret for every account that names none. */
  readonly generate?: boolean;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** It acts as the manager of all controllers: no role of its own lets it write Secrets everywhere. */
export function serviceAccountTokenController(settings: TokenSettings | undefined): Controller {
  const { sign, rootCertificates, generate = false } = settings ?? { sign: async () => '', rootCertificates: '' };
  return {
    name: 'serviceaccount-token',
    ...(settings === undefined && { unavailable: 'it has no key to sign tokens with (--service-account-private-key-file)' }),
    start(context) {
      const { informers, queue, client, identity } = context;
      const type = domainName(identity, 'service-account-token');
      const nameAnnotation = domainName(identity, 'service-account.name');
      const uidAnnotation = domainName(identity, 'service-account.uid');
      const root = base64(rootCertificates);
      const secrets = informers.of<Secret>(refs.secrets, { fieldSelector: `type=${type}` });
      const accounts: Informer = generate
        ? informers.of<ServiceAccount>(refs.serviceAccounts)
        : informers.of(refs.serviceAccounts, { metadataOnly: true });
      const accountOf = (secret: Secret): string => secret.metadata.annotations?.[nameAnnotation] ?? '';
      const belongs = (secret: Secret, account: ApiObject | undefined): account is ApiObject => {
        const uid = secret.metadata.annotations?.[uidAnnotation] ?? '';
        return account !== undefined && (uid === '' || uid === account.metadata.uid);
      };
      const isComplete = ({ data = {}, metadata }: Secret): boolean =>
        (data.token ?? '') !== '' &&
        (data.namespace ?? '') !== '' &&
        (rootCertificates === '' || data['ca.crt'] === root) &&
        (metadata.annotations?.[uidAnnotation] ?? '') !== '';

      const filled = async (secret: Secret, account: ApiObject): Promise<Secret> => {
        const { namespace = '', name = '', annotations } = secret.metadata;
        const { name: accountName = '', uid = '' } = account.metadata;
        const data = { ...secret.data };
        if (rootCertificates !== '') data['ca.crt'] = root;
        data.namespace ||= base64(namespace);
        data.token ||= base64(await sign({ namespace, secretName: name, account: { name: accountName, uid } }));
        const metadata = { ...secret.metadata, annotations: { ...annotations, [nameAnnotation]: accountName, [uidAnnotation]: uid } };
        return { ...secret, metadata, data } as Secret;
      };
      const fill = async (secret: Secret, account: ApiObject): Promise<void> => {
        await client.update(refs.secrets, await filled(secret, account));
      };
      const tend = async (key: string): Promise<void> => {
        const { namespace, name } = splitKey(key);
        const existingSecret = secrets.get(namespace, name);
        if (existingSecret === undefined || existingSecret.metadata.deletionTimestamp !== undefined || accountOf(existingSecret) === '')
          return;
        let account = accounts.get(namespace, accountOf(existingSecret));
        if (belongs(existingSecret, account) && isComplete(existingSecret)) return;
        // What is about to be filled or deleted is looked at as it is now.
        const secret = await client.find<Secret>(refs.secrets, namespace, name);
        if (secret === undefined || secret.metadata.uid !== existingSecret.metadata.uid || accountOf(secret) === '') return;
        if (!belongs(secret, account)) account = await client.find(refs.serviceAccounts, namespace, accountOf(secret), true);
        if (!belongs(secret, account)) {
          const uid = secret.metadata.uid ?? '';
          await client.delete(refs.secrets, namespace, name, { preconditions: { uid } }).catch(unlessGone);
        } else if (!isComplete(secret)) await fill(secret, account).catch(unlessGone);
      };
      const work = queue(tend, { after: [secrets.synced, accounts.synced] });

      /** `namespace/account/secret`: the account names a Secret that is gone. */
      const forgetSecret = async (key: string): Promise<void> => {
        const [namespace = '', accountName = '', secretName = ''] = key.split('/');
        if (secrets.get(namespace, secretName) !== undefined) return;
        const account = await client.find<ServiceAccount>(refs.serviceAccounts, namespace, accountName);
        if (!(account?.secrets ?? []).some(({ name }) => name === secretName)) return;
        if ((await client.find(refs.secrets, namespace, secretName, true)) !== undefined) return;
        const remainingSecrets = (account?.secrets ?? []).filter(({ name }) => name !== secretName);
        await client.update(refs.serviceAccounts, { ...account, secrets: remainingSecrets } as ServiceAccount).catch(unlessGone);
      };
      const forgotten = queue(forgetSecret, { name: 'serviceaccount-token_references', after: [accounts.synced] });

      secrets.onChange(({ type: what, object }) => {
        if (what !== 'deleted') work.add(keyOf(object));
        else if (accountOf(object) !== '') forgotten.add(`${object.metadata.namespace}/${accountOf(object)}/${object.metadata.name}`);
      });
      if (generate) generateSecrets(context, { type, accounts: accounts as Informer<ServiceAccount>, secrets, belongs, filled });
      accounts.onChange(({ type: what, object }) => {
        if (what === 'modified') return;
        for (const secret of secrets.list(object.metadata.namespace ?? ''))
          if (accountOf(secret) === object.metadata.name) work.add(keyOf(secret));
      });
    },
  };
}
