// Requests of bench/worst.mjs for large objects in every form and version, and for watches of them.

import { definition, metadata } from './worst-bodies.mjs';
import { must, send } from './worst-server.mjs';
import { mapOf, times, wideSchema } from './worst-shapes.mjs';

const NS = 'worst';
const configMaps = `/api/v1/namespaces/${NS}/configmaps`;
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const custom = `/apis/worst.example.com/v1/namespaces/${NS}/things`;
/** A size of objects that can be stored. */
const STORED = Math.floor(1.3 * 2 ** 20);
const protobuf = 'application/vnd.kubernetes.protobuf';
const bytes = (value) => Buffer.from(JSON.stringify(value));
const text = (length, part) => part.repeat(Math.ceil(length / part.length)).slice(0, length);
const shuffled = (i) => `k${(i * 7919) % 90_001}`;
let serial = 0;
const fresh = () => `form${++serial}`;

/** Adds the cases to those of bench/worst-cases.mjs by its `add`. */
export function addFormCases(add) {
  /** @type {Record<string, [string, (name: string) => object, ((name: string) => string)?]>} */
  const shapes = {
    labels: [
      configMaps,
      (name) => ({ ...metadata('v1', 'ConfigMap', name), metadata: { name, labels: mapOf(19_900, shuffled, () => 'v') } }),
    ],
    'binary data': [configMaps, (name) => ({ ...metadata('v1', 'ConfigMap', name), binaryData: mapOf(19_900, shuffled, () => 'eA==') })],
    'one long text': [configMaps, (name) => ({ ...metadata('v1', 'ConfigMap', name), data: { a: text(2 ** 20 - 4_000, 'word ') } })],
    'one text of escapes': [configMaps, (name) => ({ ...metadata('v1', 'ConfigMap', name), data: { a: text(STORED / 2 - 4_000, '\\') } })],
    'short texts': [configMaps, (name) => ({ ...metadata('v1', 'ConfigMap', name), data: mapOf(19_900, shuffled, () => 'yes') })],
    'a definition': [
      definitions,
      (name) => definition('forms', wideSchema(9_000), `${name}.example.com`),
      (name) => `forms.${name}.example.com`,
    ],
    'a role': [
      `/apis/rbac.authorization.k8s.io/v1/namespaces/${NS}/roles`,
      (name) => ({
        ...metadata('rbac.authorization.k8s.io/v1', 'Role', name),
        rules: times(9_000, (i) => ({ verbs: ['get'], apiGroups: [''], resources: [`r${i}`] })),
      }),
    ],
    'a custom object': [
      custom,
      (name) => ({ ...metadata('worst.example.com/v1', 'Thing', name), spec: { free: mapOf(19_900, shuffled, () => [1]) } }),
    ],
    'numbers of a custom object': [
      custom,
      (name) => ({ ...metadata('worst.example.com/v1', 'Thing', name), spec: { numbers: new Array(19_900).fill(1) } }),
    ],
    'an autoscaler': [
      `/apis/autoscaling/v2/namespaces/${NS}/horizontalpodautoscalers`,
      (name) => ({
        ...metadata('autoscaling/v2', 'HorizontalPodAutoscaler', name),
        spec: {
          maxReplicas: 2,
          scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
          metrics: times(5_000, (i) => ({
            type: 'Pods',
            pods: { metric: { name: `m${i}` }, target: { type: 'AverageValue', averageValue: '1' } },
          })),
        },
      }),
    ],
    'an endpoint slice': [
      `/apis/discovery.k8s.io/v1/namespaces/${NS}/endpointslices`,
      (name) => ({
        ...metadata('discovery.k8s.io/v1', 'EndpointSlice', name),
        addressType: 'IPv4',
        ports: [],
        endpoints: times(1_000, (i) => ({ addresses: times(90, (j) => `10.1.${i & 255}.${j}`) })),
      }),
    ],
    'a cron job': [
      `/apis/batch/v1/namespaces/${NS}/cronjobs`,
      (name) => ({
        ...metadata('batch/v1', 'CronJob', name),
        spec: {
          suspend: true,
          schedule: '0 0 1 1 *',
          jobTemplate: {
            spec: {
              template: {
                spec: {
                  restartPolicy: 'Never',
                  containers: [{ name: 'a', image: 'b', env: times(12_000, (i) => ({ name: `E${i}`, value: 'v' })) }],
                },
              },
            },
          },
        },
      }),
    ],
  };
  const older = {
    'a custom object': ['/v1/', '/v2/'],
    'numbers of a custom object': ['/v1/', '/v2/'],
    'an autoscaler': ['/v2/', '/v1/'],
    'an endpoint slice': ['/v1/', '/v1beta1/'],
    'a cron job': ['/v1/', '/v1beta1/'],
  };
  for (const [shape, [path, make, nameOf = (name) => name]] of Object.entries(shapes)) {
    const stored = async (server) => {
      const name = fresh();
      await must(server, 'POST', path, make(name));
      return nameOf(name);
    };
    const read = (form, headers, pathOf) => {
      let made;
      add(
        `form of ${shape} as ${form}`,
        async (server) => {
          const name = await stored(server);
          made = `${path}/${name}`;
          return { path: pathOf(path, name), headers };
        },
        { statuses: [200, 404, 406], after: (server) => send(server, { method: 'DELETE', path: made }) },
      );
    };
    for (const [form, headers] of Object.entries(forms)) {
      const query = form === 'pretty' ? 'pretty=true' : 'includeObject=Object';
      read(form, headers, (at, name) => `${at}/${name}?${query}`);
    }
    read('a list in the binary form', { accept: protobuf }, listOf);
    read('a Table of the list', { accept: table }, (at, name) => `${listOf(at, name)}&includeObject=Object`);
    const change = older[shape];
    if (change !== undefined) {
      for (const [form, headers] of Object.entries({ JSON: {}, ...forms }))
        read(`${form} of another version`, headers, (at, name) => `${at.replace(...change)}/${name}`);
      read('a list in another version', {}, (at, name) => listOf(at.replace(...change), name));
    }
    for (const [form, headers] of Object.entries({ JSON: {}, ...watchForms }))
      add(
        `form of ${shape} as ${form} in a watch`,
        async (server) => ({ path: watched(path, await stored(server)), headers, until: 100 }),
        { statuses: [200, 406] },
      );
    // Each form of the object is watched, then a small patch touches it.
    let ended = [];
    add(
      `form of ${shape} for all watches of a change`,
      async (server) => {
        const name = await stored(server);
        ended = Object.values(watchForms).map((headers) => send(server, { path: watched(path, name, 5), headers }).catch(() => {}));
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        const patch = bytes({ metadata: { annotations: { touched: 'yes' } } });
        return { method: 'PATCH', path: `${path}/${name}`, headers: { 'content-type': 'application/merge-patch+json' }, body: patch };
      },
      { after: () => Promise.all(ended) },
    );
  }
}

const listOf = (path, name) => `${path}?fieldSelector=metadata.name%3D${name}`;
const watched = (path, name, seconds = 1) => `${path}?watch=1&timeoutSeconds=${seconds}&fieldSelector=metadata.name%3D${name}`;
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const watchForms = {
  YAML: { accept: 'application/yaml' },
  binary: { accept: protobuf },
  Table: { accept: table },
  metadata: { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' },
};
const forms = {
  YAML: { accept: 'application/yaml' },
  pretty: {},
  binary: { accept: protobuf },
  'Table with the object': { accept: table },
  'metadata in YAML': { accept: 'application/yaml;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' },
};
