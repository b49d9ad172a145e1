/** Objects by which pages of the console can be looked at: a shop that mostly works, on a server with workloads. */

const template = (app, image, { annotations = {}, volumes = [], volumeMounts = [], containers = [] } = {}) => ({
  metadata: { labels: { app }, annotations },
  spec: {
    containers: [
      { name: app, image, ports: [{ containerPort: 8080 }], resources: { requests: { cpu: '100m', memory: '128Mi' } }, volumeMounts },
      ...containers,
    ],
    volumes,
  },
});
const labelled = (app) => ({ matchLabels: { app } });
const apps = '/apis/apps/v1';
const core = '/api/v1';

const deployment = (name, replicas, image, more) => [
  `${apps}/namespaces/shop/deployments`,
  { metadata: { name, labels: { app: name } }, spec: { replicas, selector: labelled(name), template: template(name, image, more) } },
];
const service = (name, app = name) => [
  `${core}/namespaces/shop/services`,
  { metadata: { name }, spec: { selector: { app }, ports: [{ port: 80, targetPort: 8080 }] } },
];

/** Collections and objects, in the order in which they are created. `suffix`: of the API groups of the server. */
export function demoObjects(suffix, { domain = suffix } = {}) {
  const simulated = (name, value) => ({ [`simulation.${domain}/${name}`]: value });
  const log = Array.from({ length: 400 }, (_, i) => logLine(i)).join('\n');
  return [
    [`${core}/namespaces`, { metadata: { name: 'shop' } }],
    [
      `${core}/namespaces/shop/configmaps`,
      { metadata: { name: 'settings' }, data: { currency: 'EUR', theme: 'spring', 'page.size': '20' } },
    ],
    [`${core}/namespaces/shop/secrets`, { metadata: { name: 'payment' }, stringData: { token: 'not-a-real-token' } }],
    deployment('web', 3, 'shop/web:4.2', {
      annotations: simulated('logs.web', log),
      containers: [{ name: 'proxy', image: 'envoy:1.29' }],
    }),
    deployment('api', 4, 'shop/api:7.0'),
    deployment('search', 2, 'shop/search:1.9', { annotations: simulated('pull-error', 'true') }),
    deployment('mail', 1, 'shop/mail:2.1', { annotations: simulated('crash-loop', 'true') }),
    service('web'),
    service('api'),
    service('search'),
    service('db'),
    [
      `/apis/networking.${suffix}/v1/namespaces/shop/ingresses`,
      {
        metadata: { name: 'shop' },
        spec: {
          rules: [
            {
              host: 'shop.example.com',
              http: {
                paths: [
                  { path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } },
                  { path: '/api', pathType: 'Prefix', backend: { service: { name: 'api', port: { number: 80 } } } },
                ],
              },
            },
          ],
        },
      },
    ],
    [
      `${apps}/namespaces/shop/statefulsets`,
      {
        metadata: { name: 'db', labels: { app: 'db' } },
        spec: {
          serviceName: 'db',
          replicas: 2,
          selector: labelled('db'),
          template: template('db', 'postgres:16', { volumeMounts: [{ name: 'data', mountPath: '/data' }] }),
          volumeClaimTemplates: [
            { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Gi' } } } },
          ],
        },
      },
    ],
    [
      '/apis/batch/v1/namespaces/shop/cronjobs',
      {
        metadata: { name: 'report' },
        spec: {
          schedule: '* * * * *',
          jobTemplate: {
            spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'report', image: 'shop/report:1' }] } } },
          },
        },
      },
    ],
    [
      '/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers',
      {
        metadata: { name: 'api' },
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'api' },
          minReplicas: 4,
          maxReplicas: 10,
          metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } }],
        },
      },
    ],
  ];
}

function logLine(i) {
  const paths = ['/', '/cart', '/products/17', '/search?q=lamp', '/healthz'];
  if (i % 37 === 36) return `ERROR timeout of search after 3000 ms, request ${1000 + i}`;
  return `INFO  GET ${paths[i % paths.length]} 200 ${(i * 7) % 40} ms, request ${1000 + i}`;
}
