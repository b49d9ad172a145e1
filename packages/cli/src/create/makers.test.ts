/** Objects that `create` makes from flags, as the stock client makes them. None of these needs a server. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { kubernetes } from '@plat-dev/meta/identity';
import { newAuthority } from '@plat-dev/pki';
import { expect, test } from 'vitest';
import type { ProgramName } from '../command.ts';
import { run } from '../index.ts';
import { testIO } from '../testing.ts';

async function made(args: readonly string[], program: ProgramName = 'kubectl', cwd = '/') {
  const io = testIO({ program, cwd });
  const at = args.indexOf('--');
  const dry = ['--dry-run=client', '-o', 'json'];
  const code = await run(at === -1 ? ['create', ...args, ...dry] : ['create', ...args.slice(0, at), ...dry, ...args.slice(at)], io);
  if (code !== 0) throw new Error(io.stderr);
  return JSON.parse(io.stdout);
}

const time = { creationTimestamp: null };
const networking = `networking.${kubernetes.groupSuffix}/v1`;
const container = { name: 'nginx', image: 'nginx', resources: {} };
const labels = { app: 'w' };
const path = (path: string, pathType: string, name: string, port: object) => ({ path, pathType, backend: { service: { name, port } } });

test.each<[string, object]>([
  [
    'deployment w --image=nginx',
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'w', labels, ...time },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        strategy: {},
        template: { metadata: { labels, ...time }, spec: { containers: [container] } },
      },
      status: {},
    },
  ],
  [
    'deploy w --image=r.example.com:5000/team/nginx:1@sha256:abc,busybox -r 3 --port 80 -n team',
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'w', namespace: 'team', labels, ...time },
      spec: {
        replicas: 3,
        selector: { matchLabels: labels },
        strategy: {},
        template: {
          metadata: { labels, ...time },
          spec: {
            containers: [
              { ...container, image: 'r.example.com:5000/team/nginx:1@sha256:abc', ports: [{ containerPort: 80 }] },
              { name: 'busybox', image: 'busybox', resources: {} },
            ],
          },
        },
      },
      status: {},
    },
  ],
  [
    'job j --image=busybox -- date -u',
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'j', ...time },
      spec: {
        template: {
          metadata: { ...time },
          spec: { containers: [{ name: 'j', image: 'busybox', command: ['date', '-u'], resources: {} }], restartPolicy: 'Never' },
        },
      },
      status: {},
    },
  ],
  [
    'cj c --image=busybox --schedule=@daily',
    {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'c', ...time },
      spec: {
        jobTemplate: {
          metadata: { name: 'c', ...time },
          spec: {
            template: {
              metadata: { ...time },
              spec: { containers: [{ name: 'c', image: 'busybox', resources: {} }], restartPolicy: 'OnFailure' },
            },
          },
        },
        schedule: '@daily',
      },
      status: {},
    },
  ],
  [
    'ingress i --class=x --rule=a.example.com/x*=web:80,tls=cert --rule=a.example.com/y=web:http --rule=b.example.com/=b:1,tls=cert --rule=/=c:2,tls --annotation=k=v=w --default-backend=d:80',
    {
      apiVersion: networking,
      kind: 'Ingress',
      metadata: { name: 'i', annotations: { k: 'v=w' }, ...time },
      spec: {
        ingressClassName: 'x',
        defaultBackend: { service: { name: 'd', port: { number: 80 } } },
        rules: [
          {
            host: 'a.example.com',
            http: { paths: [path('/x', 'Prefix', 'web', { number: 80 }), path('/y', 'Exact', 'web', { name: 'http' })] },
          },
          { host: 'b.example.com', http: { paths: [path('/', 'Exact', 'b', { number: 1 })] } },
          { http: { paths: [path('/', 'Exact', 'c', { number: 2 })] } },
        ],
        tls: [{ hosts: ['a.example.com', 'b.example.com'], secretName: 'cert' }],
      },
      status: { loadBalancer: {} },
    },
  ],
  [
    'service clusterip s --tcp=80:8080,443:https',
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's', labels: { app: 's' }, ...time },
      spec: {
        ports: [
          { name: '80-8080', port: 80, protocol: 'TCP', targetPort: 8080 },
          { name: '443-https', port: 443, protocol: 'TCP', targetPort: 'https' },
        ],
        selector: { app: 's' },
        type: 'ClusterIP',
      },
      status: { loadBalancer: {} },
    },
  ],
  [
    'svc clusterip s --clusterip=None',
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's', labels: { app: 's' }, ...time },
      spec: { clusterIP: 'None', selector: { app: 's' }, type: 'ClusterIP' },
      status: { loadBalancer: {} },
    },
  ],
  [
    'service nodeport s --tcp=80 --node-port=30000',
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's', labels: { app: 's' }, ...time },
      spec: {
        ports: [{ name: '80', port: 80, protocol: 'TCP', targetPort: 80, nodePort: 30000 }],
        selector: { app: 's' },
        type: 'NodePort',
      },
      status: { loadBalancer: {} },
    },
  ],
  [
    'service externalname s --external-name=db.example.com',
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's', labels: { app: 's' }, ...time },
      spec: { externalName: 'db.example.com', selector: { app: 's' }, type: 'ExternalName' },
      status: { loadBalancer: {} },
    },
  ],
  [
    'quota q --hard=cpu=1000m,pods=2 --scopes=BestEffort,NotTerminating',
    {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'q', ...time },
      spec: { hard: { cpu: '1000m', pods: '2' }, scopes: ['BestEffort', 'NotTerminating'] },
      status: {},
    },
  ],
  [
    'pdb p --selector=app=w,tier --min-available=50%',
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'p', ...time },
      spec: { minAvailable: '50%', selector: { matchLabels: labels, matchExpressions: [{ key: 'tier', operator: 'Exists' }] } },
      status: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 },
    },
  ],
  [
    'pc p --value=-5 --global-default --description=d',
    {
      apiVersion: `scheduling.${kubernetes.groupSuffix}/v1`,
      kind: 'PriorityClass',
      metadata: { name: 'p', ...time },
      value: -5,
      globalDefault: true,
      description: 'd',
      preemptionPolicy: 'PreemptLowerPriority',
    },
  ],
  ['ns n', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n', ...time }, spec: {}, status: {} }],
  ['sa s', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 's', ...time } }],
  [
    'clusterrolebinding b --clusterrole=view --user=ann',
    {
      apiVersion: `rbac.authorization.${kubernetes.groupSuffix}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'b', ...time },
      roleRef: { apiGroup: `rbac.authorization.${kubernetes.groupSuffix}`, kind: 'ClusterRole', name: 'view' },
      subjects: [{ apiGroup: `rbac.authorization.${kubernetes.groupSuffix}`, kind: 'User', name: 'ann' }],
    },
  ],
  [
    'secret docker-registry d --docker-username=a --docker-password=b<c --docker-email=e',
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'd', ...time },
      data: {
        '.dockerconfigjson': Buffer.from(
          '{"auths":{"https://index.docker.io/v1/":{"username":"a","password":"b\\u003cc","email":"e","auth":"YTpiPGM="}}}',
        ).toString('base64'),
      },
      type: `${kubernetes.domain}/dockerconfigjson`,
    },
  ],
  [
    'cm c --from-literal=k=v --append-hash',
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c-tgfmcfgbt5', ...time }, data: { k: 'v' } },
  ],
  [
    'cm c --from-literal=k=<&>"é --append-hash',
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c-t4b6bh9gbm', ...time }, data: { k: '<&>"é' } },
  ],
  [
    'secret generic s --from-literal=k=v --type=t --append-hash',
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's-6bbkbk5b62', ...time }, data: { k: 'dg==' }, type: 't' },
  ],
])('create %s', async (line, object) => {
  expect(await made(line.split(' '))).toEqual(object);
});

test('as plat, fields that are empty are left out, and the namespace of a dry run is that of the command line', async () => {
  expect(await made(['-n', 'team', 'deployment', 'w', '--image=nginx'], 'plat')).toEqual({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'w', namespace: 'team', labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx' }] } },
    },
  });
});

test('container names that must be changed get random characters, since others may become the same', async () => {
  const { spec } = await made(['deployment', 'w', '--image=my_app.v1']);
  expect(spec.template.spec.containers[0].name).toMatch(/^my-app-v1-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});

test('--save-config keeps the object in its annotation', async () => {
  const { metadata } = await made(['cm', 'c', '--from-literal=k=v', '--save-config'], 'plat');
  const [text] = Object.values(metadata.annotations) as string[];
  expect(text).toMatch(/\n$/);
  expect(JSON.parse(text as string)).toEqual({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { annotations: {}, name: 'c' },
    data: { k: 'v' },
  });
});

test('a certificate and its key; others are refused', async () => {
  const cwd = temporaryDirectory('create-tls');
  for (const name of ['a', 'b']) {
    const { certificate, key } = newAuthority(name, 0);
    writeFileSync(join(cwd, `${name}.crt`), certificate);
    writeFileSync(join(cwd, `${name}.key`), key);
  }
  writeFileSync(join(cwd, 'none'), 'none');
  const secret = await made(['secret', 'tls', 't', '--cert=a.crt', '--key=a.key'], 'kubectl', cwd);
  expect(secret.type).toBe(`${kubernetes.domain}/tls`);
  expect(Object.keys(secret.data)).toEqual(['tls.crt', 'tls.key']);
  await expect(made(['secret', 'tls', 't', '--cert=a.crt', '--key=b.key'], 'kubectl', cwd)).rejects.toThrow(
    'is not that of the certificate',
  );
  await expect(made(['secret', 'tls', 't', '--cert=none', '--key=a.key'], 'kubectl', cwd)).rejects.toThrow('none holds no certificate');
  await expect(made(['secret', 'tls', 't', '--cert=a.crt', '--key=none'], 'kubectl', cwd)).rejects.toThrow('none holds no private key');
});

test.each([
  ['deployment w', 'required flag(s) "image" not set'],
  ['deployment w --image=a,b -- date', 'a command needs a single --image'],
  ['deployment w x --image=a', 'a command comes after --'],
  ['configmap w -- date', 'has no command'],
  ['job j', 'either an --image or a cron job'],
  ['job j --image=a --from=cronjob/b', 'either an --image or a cron job'],
  ['cronjob c --image=a', 'when?'],
  ['ingress i', 'where to?'],
  ['ingress i --rule=a', 'is not of the form host/path=service:port'],
  ['ingress i --default-backend=a', 'is not of the form service:port'],
  ['ingress i --rule=/=a:1 --annotation=a', 'is not of the form key=value'],
  ['service clusterip s', 'which port?'],
  ['service clusterip s --tcp=0', 'is not a port from 1 to 65535'],
  ['service clusterip s --tcp=80:70000', '70000 is not a port'],
  ['service clusterip s --tcp=80:BAD', 'must contain only alpha-numeric'],
  ['service externalname s', 'which name?'],
  ['service externalname s --external-name=A_B', '--external-name: '],
  ['quota q --hard=cpu', 'is not of the form resource=quantity'],
  ['quota q --hard=cpu=x', '--hard: cpu: quantities must match'],
  ['quota q --scopes=a,', 'has an empty scope'],
  ['pdb p --min-available=1', 'which pods?'],
  ['pdb p --selector=a=b', 'Give either --min-available or --max-unavailable'],
  ['pdb p --selector=a=b --min-available=x', 'neither a number nor a percentage'],
  ['pdb p --selector=a>1 --min-available=1', 'the API has no selectors with < and >'],
  ['secret docker-registry d', 'which credentials?'],
  ['secret tls t', 'Name its files with --cert and --key'],
  ['clusterrolebinding b', 'which role?'],
])('create %s is refused', async (line, message) => {
  await expect(made(line.split(' '))).rejects.toThrow(message);
});
