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
