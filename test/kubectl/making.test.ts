/**
 * Commands that make objects and set their fields: the stock kubectl and plat called as kubectl print the same, exit the same and
 * leave the same objects. kubectl works in one namespace of a server, plat in another.
 */

import { beforeAll, describe, expect, test } from 'vitest';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { kubectlBefore, kubectlFixture, kubectlMinor, kubectlMissing } from '../support/kubectl.ts';
import { type Plat, platFor } from '../support/plat.ts';
import type { Loose } from '../support/server.ts';

/** Each with the standard input, where it has one. */
const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'file', labels: { a: 'b' } } };
type Line = readonly [line: string, input?: unknown];
/** Later releases take no offence at a value that is there already. */
const equalAgain: readonly Line[] = [['label deployment web x=1'], ['label deployment web x=1 y=2']];
const lines: readonly Line[] = [
  ['create deployment web --image=nginx --replicas=2 --port=80'],
  ['create deployment web --image=nginx'],
  ['create deployment dry --image=nginx --dry-run=server'],
  ['create cronjob tidy --image=busybox --schedule=@daily -- date'],
  ['create job now --from=cronjob/tidy'],
  ['create ingress i --class=c --rule=a.example.com/x*=web:80,tls=cert --rule=a.example.com/y=web:http'],
  ['create service clusterip s1 --tcp=80:8080'],
  ['create service nodeport s2 --tcp=80'],
  ['create pdb p --selector=app=web --min-available=50%'],
  ['create configmap cm --from-literal=a=1 --append-hash'],
  ['create secret generic sec --from-literal=a=1 -o name'],
  ['create secret docker-registry reg --docker-username=a --docker-password=b --docker-email=c'],
  ['create role r --verb=get,list --resource=pods,deployments.apps,pods/log --resource-name=x'],
  ['create rolebinding b --role=r --user=ann --group=dev --serviceaccount=team:robot'],
  ['create -f -', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'file', labels: { l: 'm' } } }],
  ['run p --image=nginx --env=A=1 --labels=app=p --port=80 --expose'],
  ['run q --image=nginx --restart=Never --command -- sleep 1'],
  ['expose deployment web --port=80 --target-port=8080'],
  ['expose pod p --name=p2 --type=NodePort'],
  ['autoscale deployment web --min=2 --max=5 --cpu-percent=80'],
  ['set image deployment/web nginx=nginx:2'],
  ['set image deployment/web nginx=nginx:2'],
  ['set env deployment/web A=1 B=2'],
  ['set env deployment/web A- --from=secret/sec --prefix=P_'],
  ['set env deployment/web --list --resolve'],
  ['set resources deployment web --limits=cpu=500m,memory=1Gi --requests=cpu=100m'],
  ['set selector service s1 app=other'],
  ['set subject rolebinding b --user=ben'],
  ['label deployment web x=1'],
  ...(kubectlMinor === 24 ? equalAgain : []),
  ['label deployment web x=2'],
  ['label deployment web x=2 --overwrite'],
  ['label deployment web x-'],
  ['label deployment web --list'],
  ['label --local -f - x=1', deployment],
  ['annotate deployment web note=1'],
  ['annotate deployment web note=2'],
  ['annotate deployment web note-'],
  ['patch deployment web -p {"spec":{"replicas":3}}'],
  ['patch deployment web -p {"spec":{"replicas":3}}'],
  ['patch configmap file --type=json -p [{"op":"add","path":"/data","value":{"a":"b"}}]'],
  ['scale deployment web --replicas=4 --current-replicas=3'],
  ['scale deployment web --replicas=4 --current-replicas=9'],
];

/** By the line, why plat differs. */
const deliberate: Readonly<Record<string, string>> = {};

/** Lists whose objects are compared at the end. */
const lists = [
  ...['configmaps', 'pods', 'secrets', 'services'].map((name) => `/api/v1/namespaces/NS/${name}`),
  '/apis/apps/v1/namespaces/NS/deployments',
  '/apis/autoscaling/v1/namespaces/NS/horizontalpodautoscalers',
  ...['cronjobs', 'jobs'].map((name) => `/apis/batch/v1/namespaces/NS/${name}`),
  '/apis/networking.k8s.io/v1/namespaces/NS/ingresses',
  '/apis/policy/v1/namespaces/NS/poddisruptionbudgets',
  ...['roles', 'rolebindings'].map((name) => `/apis/rbac.authorization.k8s.io/v1/namespaces/NS/${name}`),
];

describe.skipIf(kubectlMissing)('kubectl and plat called as kubectl', () => {
  const fixture = kubectlFixture();
  let plat: Plat;
  let other: string;
  beforeAll(async () => {
    other = await fixture.server.namespace();
    plat = platFor(fixture.server, {}, ['--kubeconfig', fixture.server.running.adminConfigPath], 'kubectl');
  });
  const inNamespace = (line: string, namespace: string): string[] => {
    const words = line.split(' ');
    const end = words.indexOf('--');
    return [...words.slice(0, end === -1 ? undefined : end), '-n', namespace, ...(end === -1 ? [] : words.slice(end))];
  };
  /** Namespaces and generated names differ. */
  const plain = (text: string): string =>
    text
      .replaceAll(fixture.ns, 'NS')
      .replaceAll(other, 'NS')
      .replace(/\bkube-api-access-\w{5}\b/g, 'TOKEN')
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID');

  // Some forty programs, one after another: on a busy machine they take long.
  test.skipIf(kubectlBefore(24))('print and exit the same', { timeout: 600_000 }, async () => {
    const found: unknown[] = [];
    const expected: unknown[] = [];
    for (const [line, input] of lines) {
      const stock = await fixture.kubectl.run(inNamespace(line, fixture.ns), input);
      const own = await plat.run(inNamespace(line, other), input);
      if (line in deliberate) continue;
      expected.push({ line, code: stock.code, stdout: plain(stock.stdout) });
      found.push({ line, code: own.code, stdout: plain(own.stdout) });
    }
    expect(found).toEqual(expected);
  });

  test.skipIf(kubectlBefore(24))('leave the same objects', async () => {
    for (const path of lists) {
      const objects = async (namespace: string): Promise<unknown> => {
        const { items } = await fixture.server.admin.ok('GET', path.replace('NS', namespace));
        return (items as Loose[]).map((item) => comparable(item, plain)).sort((a, b) => (a.name < b.name ? -1 : 1));
      };
      expect(await objects(other), path).toEqual(await objects(fixture.ns));
    }
  });
});

/** Without what every object has of its own: uid, version, times and addresses. Of managers their names. */
function comparable(item: Loose, plain: (text: string) => string): { name: string; object: Loose } {
  const { metadata, spec = {}, status: _, ...rest } = JSON.parse(plain(jsonText(item))) as Loose;
  const { uid: __, resourceVersion: ___, creationTimestamp: ____, managedFields = [], ownerReferences = [], ...meta } = metadata;
  const { clusterIP, clusterIPs: _____, ports, ...others } = spec;
  // Newer clients than 1.24 make a cron job the controller of a job that is made from it.
  const owners = (ownerReferences as Loose[]).map(({ uid: ______, controller: ________, ...owner }) => owner);
  const managers = (managedFields as Loose[]).map(({ manager, operation }) => `${manager} ${operation}`);
  const object = {
    ...rest,
    metadata: { ...meta, owners, managers: [...new Set(managers)].sort() },
    spec: {
      ...others,
      headless: clusterIP === 'None',
      ...(ports !== undefined && { ports: (ports as Loose[]).map(({ nodePort: _______, ...port }) => port) }),
    },
  };
  return { name: metadata.name as string, object };
}
