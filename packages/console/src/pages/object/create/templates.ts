/** What the text of a new object begins with: the least that objects of its kind need. */
import { joinApiVersion } from '@plat-dev/meta/api-version';
import type { JsonObject } from '@plat-dev/schema/types';
import { stringifyYaml } from '@plat-dev/schema/yaml';
import type { Kind } from '../../../api/kinds.ts';

const containers = [{ name: 'web', image: 'nginx' }];
const selected = { metadata: { labels: { app: 'example' } }, spec: { containers } };
const selector = { matchLabels: { app: 'example' } };
const requests = { storage: '1Gi' };

const contents: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['/configmaps', { data: { key: 'value' } }],
  ['/secrets', { stringData: { key: 'value' } }],
  ['/pods', { spec: { containers } }],
  ['/services', { spec: { selector: { app: 'example' }, ports: [{ port: 80 }] } }],
  ['/persistentvolumeclaims', { spec: { accessModes: ['ReadWriteOnce'], resources: { requests } } }],
  ['apps/deployments', { spec: { replicas: 1, selector, template: selected } }],
  ['apps/statefulsets', { spec: { serviceName: 'example', replicas: 1, selector, template: selected } }],
  ['apps/daemonsets', { spec: { selector, template: selected } }],
  ['batch/jobs', { spec: { template: { spec: { containers, restartPolicy: 'Never' } } } }],
  [
    'batch/cronjobs',
    { spec: { schedule: '0 * * * *', jobTemplate: { spec: { template: { spec: { containers, restartPolicy: 'Never' } } } } } },
  ],
]);

export function templateOf({ group, version, resource, kind, isNamespaced }: Kind, namespace: string): string {
  const metadata = { name: 'example', ...(isNamespaced && { namespace }) };
  return stringifyYaml({ apiVersion: joinApiVersion(group, version), kind, metadata, ...contents.get(`${group}/${resource}`) });
}
