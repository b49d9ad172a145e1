import { builtinKinds } from '@plat-dev/kinds';
import { GatedFields } from '@plat-dev/kinds/gated-fields';
import { type Kind, kind } from '@plat-dev/kinds/kind';
import { type ServedKind, serve } from '@plat-dev/kinds/served-kind';
import { kubernetes, plat } from '@plat-dev/meta/identity';
import { message } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import type { Resource } from './catalog.ts';
import { stockKey, uidDiffers } from './preconditions.ts';
import { RecentObjects } from './recent.ts';
import { Versions } from './versions.ts';

const resourceOf = (definition: Kind, options: Parameters<typeof serve>[2] = {}, identity = kubernetes): Resource => {
  const served = serve(definition, identity, options)[0] as ServedKind;
  const gated = new GatedFields(served.hub.schema, undefined, identity, () => true);
  const versions = new Versions(served, new RecentObjects());
  return { ...served, collection: undefined, read: undefined, fieldNames: [], gated, versions };
};
const builtin = (group: string, plural: string, identity = kubernetes): Resource =>
  resourceOf(builtinKinds(identity).find((k) => k.group === group && k.plural === plural) as Kind, {}, identity);
const key = (resource: Resource): string => stockKey({ resource, namespace: 'ns', name: 'x' });

test.each([
  ['', 'configmaps', '/registry/configmaps/ns/x'],
  ['', 'services', '/registry/services/specs/ns/x'],
  ['', 'endpoints', '/registry/services/endpoints/ns/x'],
  ['', 'nodes', '/registry/minions/x'],
  ['', 'replicationcontrollers', '/registry/controllers/ns/x'],
  ['events', 'events', '/registry/events/ns/x'],
  ['networking', 'ingresses', '/registry/ingress/ns/x'],
  ['networking', 'ingressclasses', '/registry/ingressclasses/x'],
  ['policy', 'podsecuritypolicies', '/registry/podsecuritypolicy/x'],
  ['rbac.authorization', 'clusterroles', '/registry/clusterroles/x'],
  ['apiregistration', 'apiservices', '/registry/apiregistration.k8s.io/apiservices/x'],
  ['apiextensions', 'customresourcedefinitions', '/registry/apiextensions.k8s.io/customresourcedefinitions/x'],
])('%s/%s is kept at %s', (group, plural, text) => {
  expect(key(builtin(group, plural))).toBe(text);
});

test('custom objects are kept by group', () => {
  const lamp = kind({
    group: 'example.com',
    kind: 'Lamp',
    plural: 'lamps',
    scope: 'Namespaced',
    versions: { v1: { schema: message('example.v1.Lamp', {}) } },
    hub: 'v1',
  });
  expect(key(resourceOf(lamp, { custom: true }))).toBe('/registry/example.com/lamps/ns/x');
});

test('another object than the one that was meant', () => {
  const target = { resource: builtin('coordination', 'leases', plat), namespace: 'ns', name: 'x', subresource: '' };
  expect(uidDiffers(target, 'a', 'b')).toMatchObject({
    code: 409,
    reason: 'Conflict',
    message:
      'Operation cannot be fulfilled on leases.coordination.plat.dev "x": StorageError: invalid object, Code: 4, Key: /registry/leases/ns/x, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: a, UID in object meta: b',
  });
});
