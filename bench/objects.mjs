// Objects that the benches write.
export const pod = (name) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'bench', index: name } },
  spec: {
    automountServiceAccountToken: false,
    containers: [
      {
        name: 'main',
        image: 'registry.example/app:1.2.3',
        command: ['/app', '--port=8080'],
        env: [
          { name: 'A', value: 'one' },
          { name: 'B', value: 'two' },
        ],
        ports: [{ containerPort: 8080, protocol: 'TCP' }],
        resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '1', memory: '1Gi' } },
        volumeMounts: [{ name: 'config', mountPath: '/etc/config' }],
      },
    ],
    volumes: [{ name: 'config', configMap: { name: 'config' } }],
  },
});
export const configMap = (name) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { app: 'bench' } },
  data: { a: 'x'.repeat(200), b: 'y'.repeat(200) },
});

/** A custom kind with what schemas usually say, and an object of it. */
export const lampDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'lamps.bench.example.com' },
  spec: {
    group: 'bench.example.com',
    scope: 'Namespaced',
    names: { plural: 'lamps', kind: 'Lamp' },
    versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: lampSchema() } }],
  },
};
function lampSchema() {
  const text = { type: 'string', maxLength: 500 };
  const part = { type: 'object', required: ['name'], properties: { name: text, size: { type: 'integer', minimum: 0 } } };
  const spec = {
    type: 'object',
    required: ['watts'],
    properties: {
      watts: { type: 'integer', minimum: 0, maximum: 100 },
      colour: { type: 'string', default: 'warm', enum: ['warm', 'cold'] },
      note: text,
      parts: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'], items: part },
      tags: { type: 'object', additionalProperties: text },
    },
  };
  return { type: 'object', properties: { spec, status: { type: 'object', properties: { lit: { type: 'boolean' } } } } };
}
export const lamp = (name) => ({
  apiVersion: 'bench.example.com/v1',
  kind: 'Lamp',
  metadata: { name, labels: { app: 'bench' } },
  spec: {
    watts: 40,
    note: 'x'.repeat(300),
    parts: [
      { name: 'a', size: 1 },
      { name: 'b', size: 2 },
    ],
    tags: { a: 'b', c: 'd' },
  },
});
