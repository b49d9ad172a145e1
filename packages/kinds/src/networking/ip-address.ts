/** Addresses in use: the name of the object is the address. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { canonicalIP } from '@plat-dev/meta/ip';
import { dns1123Subdomain, pathSegmentName } from '@plat-dev/meta/names';
import { nameCell } from '../cells.ts';
import { nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { immutable, report } from '../validation/field-checks.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { IPAddress, olderAddress, type ParentReference } from './schema/service-addresses.ts';

const at = Path.of('spec', 'parentRef');

function validateParent(parent: ParentReference | undefined, errors: FieldErrors): void {
  if (parent === undefined) {
    errors.required(at);
    return;
  }
  const { group = '', resource = '', namespace = '', name = '' } = parent;
  if (group !== '') report(errors, at.child('group'), group, dns1123Subdomain(group));
  const segment = (field: string, value: string): void => report(errors, at.child(field), value, pathSegmentName(value));
  if (resource === '') errors.required(at.child('resource'));
  else segment('resource', resource);
  if (name === '') errors.required(at.child('name'));
  else segment('name', name);
  if (namespace !== '') segment('namespace', namespace);
}

/** `services/default/kubernetes` */
function parentCell({ spec }: IPAddress): string {
  if (spec.parentRef === undefined) return '<none>';
  const { group = '', resource = '', namespace = '', name = '' } = spec.parentRef;
  const qualified = `${resource}${group === '' ? '' : `.${group}`}`.toLowerCase();
  return [qualified, ...(namespace === '' ? [] : [namespace]), name].join('/');
}

export const IPAddressKind = kind<IPAddress>({
  group: 'networking',
  kind: 'IPAddress',
  plural: 'ipaddresses',
  short: ['ip'],
  scope: 'Cluster',
  versions: {
    v1: { schema: IPAddress },
    v1beta1: { schema: olderAddress('v1beta1') },
    v1alpha1: { schema: olderAddress('v1alpha1') },
  },
  hub: 'v1',
  nameRule: canonicalIP,
  strategy: {
    validate: ({ spec }, errors) => validateParent(spec.parentRef, errors),
    validateUpdate(address, old, errors, env) {
      metadataUpdateAgain(address, old, errors, env);
      immutable(address.spec.parentRef, old.spec.parentRef, at, errors);
    },
  },
  fields: {
    'spec.parentRef.group': ({ spec }) => spec.parentRef?.group ?? '',
    'spec.parentRef.resource': ({ spec }) => spec.parentRef?.resource ?? '',
  },
  columns: [nameColumn, { name: 'ParentRef', type: 'string', description: 'The object that uses the address.' }],
  cells: (address) => [nameCell(address), parentCell(address)],
});
