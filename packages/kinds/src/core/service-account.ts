/** Service accounts. */
import { own } from '@plat-dev/lib/own';
import { ageAt } from '@plat-dev/meta/age';
import type { FieldErrors } from '@plat-dev/meta/field';
import { domainName } from '@plat-dev/meta/identity';
import { TokenRequest } from '../authentication/schema/v1.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { type KindEnv, kind } from '../kind.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { ServiceAccount } from './schema/config.ts';

/** References to secrets keep only the name: the secret is in the namespace of the account. */
function cleanSecrets(account: ServiceAccount): void {
  if (account.secrets !== undefined) account.secrets = account.secrets.map(({ name }) => (name === undefined ? {} : { name }));
}

function validateUpdate(account: ServiceAccount, old: ServiceAccount, errors: FieldErrors, env: KindEnv): void {
  metadataUpdateAgain(account, old, errors, env);
  metadataAgain(account, { namespaced: true }, errors, env);
}

/** The annotation was to limit which secrets pods of the account may mount. */
function warnings({ metadata }: ServiceAccount, old: ServiceAccount | undefined, env: KindEnv): string[] {
  const annotation = domainName(env.identity, 'enforce-mountable-secrets');
  const isNew = own(metadata.annotations, annotation) === 'true' && own(old?.metadata.annotations, annotation) !== 'true';
  if (!isNew || !env.since('1.32')) return [];
  return [`metadata.annotations[${annotation}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`];
}

export const ServiceAccountKind = kind<ServiceAccount>({
  group: '',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  short: ['sa'],
  scope: 'Namespaced',
  versions: { v1: { schema: ServiceAccount } },
  hub: 'v1',
  deleteReturnsObject: true,
  strategy: { prepareForCreate: cleanSecrets, prepareForUpdate: cleanSecrets, validateUpdate, warnings },
  subresources: {
    token: {
      type: 'action',
      verbs: ['create'],
      kind: { group: 'authentication', version: 'v1', kind: 'TokenRequest' },
      schema: TokenRequest,
    },
  },
  columns: [nameColumn, { name: 'Secrets', type: 'string', description: 'How many secrets the account lists.', until: '1.34' }, ageColumn],
  cells: (account, env) => [
    account.metadata.name ?? '',
    account.secrets?.length ?? 0,
    ageAt(env.now(), account.metadata.creationTimestamp),
  ],
});
