/** --dry-run changes nothing, whatever the command: no request that changes something leaves without dryRun=All. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { platFor } from '../support/plat.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes' });
  const pod = { containers: [{ name: 'c', image: 'x' }] };
  const apps = '/apis/apps/v1/namespaces/default';
  await server.admin.ok('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'm' }, data: { a: 'b' } });
  await server.admin.ok('POST', '/api/v1/namespaces/default/pods', { metadata: { name: 'p', labels: { a: 'b' } }, spec: pod });
  await server.admin.ok('POST', '/api/v1/nodes', { metadata: { name: 'n' } });
  const spec = { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: pod } };
  await server.admin.ok('POST', `${apps}/deployments`, { metadata: { name: 'd' }, spec });
});
afterAll(() => server.close());

const lines = [
  'create -f new.json',
  'create configmap x',
  'create deployment x --image=y',
  'create namespace x',
  'create serviceaccount x',
  'create secret generic x',
  'create role x --verb=get --resource=pods',
  'create quota x',
  'create job x --image=y',
  'create service clusterip x --tcp=1',
  'apply -f new.json',
  'apply -f old.json',
  'apply -f old.json --prune --all',
  'apply -f old.json --force',
  'replace -f old.json',
  'replace -f old.json --force',
  'delete configmap m',
  'delete configmaps --all',
  'delete -f old.json --force --grace-period=0',
  'label configmap m x=y',
  'annotate configmap m x=y',
  'patch configmap m -p {"data":{"a":"c"}}',
  'scale deployment d --replicas=3',
  'autoscale deployment d --max=3',
  'expose deployment d --port=80',
  'run x --image=y',
  'set image deployment/d c=z',
  'set env deployment/d A=B',
  'set resources deployment/d --limits=cpu=1',
  'set serviceaccount deployment/d x',
  'cordon n',
  'drain n --ignore-daemonsets --force',
  'taint node n a=b:NoSchedule',
  'rollout undo deployment/d',
  'auth reconcile -f role.json',
];
const changing = /^(POST|PUT|PATCH|DELETE) (\S+)/gm;

// As kubectl: apply has more ways there than as plat.
test.each(['client', 'server'])('--dry-run=%s', async (mode) => {
  const plat = platFor(server, {}, undefined, 'kubectl');
  plat.file('new.json', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'new' } });
  plat.file('old.json', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data: { a: 'z' } });
  const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }];
  plat.file('role.json', {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'r', namespace: 'default' },
    rules,
  });
  for (const line of lines) {
    const { stderr } = await plat.run([...line.split(' '), `--dry-run=${mode}`, '-v', '6']);
    const sent = [...stderr.matchAll(changing)].map(([, method, url = '']) => `${method} ${url}`);
    expect(mode === 'client' ? sent : sent.filter((one) => !one.includes('dryRun=All')), `${line} ${mode}\n${stderr}`).toEqual([]);
    // The trace is there at all, unless the flags exclude each other.
    if (mode === 'server' && !/GET |cannot be used with|excludes/.test(stderr)) expect(sent, `${line}\n${stderr}`).not.toEqual([]);
  }
});
