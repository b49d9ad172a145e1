/** Service accounts. */
import { ageAt } from '@plat-dev/meta/age';
import type { FieldErrors } from '@plat-dev/meta/field';
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

export const ServiceAccountKind = kind<ServiceAccount>({
  group: '',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  short: ['sa'],
  scope: 'Namespaced',
  versions: { v1: { schema: ServiceAccount } },
  hub: 'v1',
  deleteReturnsObject: true,
  strategy: { prepareForCreate: cleanSecrets, prepareForUpdate: cleanSecrets, validateUpdate },
  subresources: {
    token: {
      type: 'action',
      verbs: ['create'],
      kind: { group: 'authentication', version: 'v1', kind: 'TokenRequest' },
      schema: TokenRequest,
    },
  },
  columns: [nameColumn, { name: 'Secrets', type: 'string', description: 'How many secrets the account lists.' }, ageColumn],
  cells: (account, env) => [
    account.metadata.name ?? '',
    account.secrets?.length ?? 0,
    ageAt(env.now(), account.metadata.creationTimestamp),
  ],
});
