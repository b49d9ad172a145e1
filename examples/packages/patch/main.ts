/** A three-way merge, as clients merge that remember what they applied; and the ownership of fields, as servers keep it. */
import { Deployment } from '@plat-dev/kinds/apps/schema/deployment';
import { ConfigMap } from '@plat-dev/kinds/core/schema/config';
import { apply, readStrategicPatch, threeWayPatch } from '@plat-dev/patch';

const containers = (...items: Record<string, string>[]) => ({ spec: { template: { spec: { containers: items } } } });
const original = containers({ name: 'web', image: 'nginx:1.24' }, { name: 'log', image: 'log:1' });
const modified = containers({ name: 'web', image: 'nginx:1.25' });
const live = containers({ name: 'web', image: 'nginx:1.24' }, { name: 'log', image: 'log:1' }, { name: 'injected', image: 'mesh:9' });
const patch = threeWayPatch({ type: Deployment, lastApplied: original, applied: modified, current: live, overwrite: true });
console.log('patch:', JSON.stringify(patch));
console.log('merged:', JSON.stringify(readStrategicPatch(Deployment, { value: patch })(live)));

type Stored = Parameters<typeof apply>[0]['live'];
function applied(manager: string, data: Record<string, string>, stored: Stored, force = false): Stored {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data };
  const time = Date.UTC(2024, 0, 1);
  const write = { type: ConfigMap, kind: 'ConfigMap', apiVersion: 'v1', manager, applied: body, live: stored, force, now: time };
  const { object, managedFields } = apply(write);
  return { ...object, metadata: { ...(object.metadata as object), managedFields } };
}
const first = applied('alice', { color: 'red', size: 'large' }, undefined);
const second = applied('bob', { shape: 'round' }, first);
try {
  applied('bob', { shape: 'round', color: 'blue' }, second);
} catch (error) {
  console.log('conflict:', (error as Error).message);
}
const forced = applied('bob', { shape: 'round', color: 'blue' }, second, true) as unknown as {
  data: object;
  metadata: { managedFields: { manager: string; fieldsV1: object }[] };
};
console.log('forced:', JSON.stringify(forced.data));
for (const { manager, fieldsV1 } of forced.metadata.managedFields) console.log(`${manager} owns ${JSON.stringify(fieldsV1)}`);
