import { Deployment } from '@plat-dev/kinds/apps/schema/deployment';
import { readStrategicPatch, threeWayPatch } from '@plat-dev/patch';

const containers = (...items: Record<string, string>[]) => ({ spec: { template: { spec: { containers: items } } } });
const lastApplied = containers({ name: 'web', image: 'web:1' });
const applied = containers({ name: 'web', image: 'web:2' });
// Another client has added a container.
const current = containers({ name: 'web', image: 'web:1' }, { name: 'proxy', image: 'proxy:1' });

const patch = threeWayPatch({ type: Deployment, lastApplied, applied, current, overwrite: true });
console.log(JSON.stringify(readStrategicPatch(Deployment, { value: patch })(current)));
