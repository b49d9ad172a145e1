/** Jobs, cron jobs, autoscalers, nodes and volumes through the API of a server, with the rights of their own accounts. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readFeatureGates } from '../../packages/kinds/src/feature-gates.ts';
import { startTestServer } from '../../packages/testing/src/server.ts';
import type { TestServer } from '../../packages/testing/src/test-server.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a test looks at has no type until it has looked.
type Loose = any;
const start = '2026-01-01T00:00:00Z';

describe.each(['kubernetes', 'plat'])('identity %s', (identity) => {
  const suffix = identity === 'plat' ? 'plat.dev' : 'k8s.io';
  const domain = identity === 'plat' ? 'plat.dev' : 'kubernetes.io';
  let server: TestServer;
  let serial = 0;
  let namespace = '';
  beforeAll(async () => {
    // Both ways to count are used: by default in one identity, with finalizers in the other.
    const features = readFeatureGates(new Map([['JobTrackingWithFinalizers', String(identity === 'plat')]]));
    server = await startTestServer({ identity, clock: start, workloads: ['controllers'], server: { features } });
  });
  afterAll(() => server.close());

  async function good(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Loose> {
    const answer = await server.request(method, path, { ...(body !== undefined && { body }), ...(headers && { headers }) });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body;
  }
  const core = (name: string): string => `/api/v1/namespaces/${namespace}/${name}`;
  const batch = (name: string): string => `/apis/batch/v1/namespaces/${namespace}/${name}`;
  const list = async (path: string): Promise<Loose[]> => (await good('GET', path)).items;
  const patch = (path: string, body: unknown): Promise<Loose> =>
    good('PATCH', path, body, { 'content-type': 'application/merge-patch+json' });
  const now = (): string => new Date(server.clock.now()).toISOString().replace('.000', '');
  async function begin(): Promise<void> {
    namespace = `n${serial++}`;
    await good('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    await server.settled();
  }
  const advance = async (time: string): Promise<void> => {
    await server.clock.advance(time);
    await server.settled();
  };
  /** What a node does: pods that have not ended get a phase, and those that terminate end. */
  async function end(phase: string): Promise<void> {
    for (const { metadata, status } of await list(core('pods'))) {
      const path = core(`pods/${metadata.name}`);
      if (metadata.deletionTimestamp !== undefined) await good('DELETE', `${path}?gracePeriodSeconds=0`);
      else if (status.phase === 'Pending' || status.phase === 'Running') await patch(`${path}/status`, { status: { phase } });
    }
    await server.settled();
  }
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
  const reasons = async (name: string): Promise<string[]> =>
    (await list(core('events'))).filter(({ involvedObject }) => involvedObject.name === name).map(({ reason }) => reason);
  const conditions = (object: Loose): string[] =>
    (object.status.conditions ?? []).map(({ type, status, reason = '' }: Loose) => `${type} ${status} ${reason}`.trim());

  test('a job completes, one fails, and a suspended one waits', async () => {
    await begin();
    const spec = { parallelism: 2, completions: 3, completionMode: 'Indexed', template };
    await good('POST', batch('jobs'), { metadata: { name: 'good' }, spec });
    await good('POST', batch('jobs'), { metadata: { name: 'waits' }, spec: { ...spec, suspend: true } });
    await server.settled();
    const finalizers = identity === 'plat' ? [`batch.${domain}/job-tracking`] : undefined;
    expect((await list(core('pods'))).map(({ metadata }) => metadata.finalizers)).toEqual([finalizers, finalizers]);
    await end('Succeeded');
    await end('Succeeded');
    const done = await good('GET', batch('jobs/good'));
    expect([conditions(done), done.status.succeeded, done.status.completedIndexes, done.status.active]).toEqual([
      ['Complete True'],
      3,
      '0-2',
      undefined,
    ]);
    const pods = await list(core('pods'));
    expect(pods.map(({ metadata, spec: { hostname } }) => [hostname, metadata.finalizers])).toEqual(
      expect.arrayContaining(['good-0', 'good-1', 'good-2'].map((name) => [name, undefined])),
    );
    expect(pods[0].spec.containers[0].env[0].valueFrom.fieldRef.fieldPath).toBe(
      `metadata.annotations['batch.${domain}/job-completion-index']`,
    );
    expect(await reasons('good')).toEqual(expect.arrayContaining(['SuccessfulCreate', 'Completed']));
    expect(conditions(await good('GET', batch('jobs/waits')))).toEqual(['Suspended True JobSuspended']);
    await patch(batch('jobs/waits'), { spec: { suspend: false } });
    await server.settled();
    expect(await good('GET', batch('jobs/waits'))).toMatchObject({ status: { active: 2, ready: 0 } });

    await good('POST', batch('jobs'), { metadata: { name: 'bad' }, spec: { backoffLimit: 1, template } });
    await server.settled();
    await end('Failed');
    await advance('11s');
    await end('Failed');
    await advance('1s');
    const bad = await good('GET', batch('jobs/bad'));
    expect([conditions(bad), bad.status.failed]).toEqual([['Failed True BackoffLimitExceeded'], 2]);
  });

  test('a cron job runs every minute, and forgets old jobs', async () => {
    await begin();
    const jobTemplate = { spec: { template } };
    const spec = { schedule: '* * * * *', successfulJobsHistoryLimit: 1, jobTemplate };
    await good('POST', batch('cronjobs'), { metadata: { name: 'often' }, spec });
    for (let minute = 0; minute < 3; minute++) {
      await advance('1m');
      await end('Succeeded');
    }
    const cron = await good('GET', batch('cronjobs/often'));
    const last = cron.status.lastScheduleTime;
    expect([cron.status.active, last.slice(17), cron.status.lastSuccessfulTime === now()]).toEqual([undefined, '00Z', true]);
    const jobs = await list(batch('jobs'));
    expect(jobs.map(({ metadata }) => metadata.name)).toEqual([`often-${Date.parse(last) / 60_000}`]);
    expect(await reasons('often')).toEqual(expect.arrayContaining(['SuccessfulCreate', 'SawCompletedJob', 'SuccessfulDelete']));
    await good('DELETE', batch('cronjobs/often'));
  });

  test('an autoscaler keeps a deployment within its limits, and reports metrics that it cannot read', async () => {
    await begin();
    await good('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, {
      metadata: { name: 'web' },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: template.spec.containers } },
      },
    });
    // Its status may change between the autoscaler's read and write of its scale, which is a conflict then.
    await server.settled();
    const scalers = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
    await good('POST', scalers, { metadata: { name: 'web' }, spec: { scaleTargetRef, minReplicas: 2, maxReplicas: 4 } });
    await server.settled();
    await advance('16s');
    const scaler = await good('GET', `${scalers}/web`);
    expect((await good('GET', `/apis/apps/v1/namespaces/${namespace}/deployments/web`)).spec.replicas).toBe(2);
    expect([scaler.status.currentReplicas, conditions(scaler)]).toEqual([
      2,
      ['AbleToScale True SucceededGetScale', 'ScalingActive False FailedGetResourceMetric'],
    ]);
    expect(await reasons('web')).toEqual(
      expect.arrayContaining(['SuccessfulRescale', 'FailedGetResourceMetric', 'FailedComputeMetricsReplicas']),
    );
    await good('DELETE', `${scalers}/web`);
  });

  test('a node that stops reporting is tainted, its pods are evicted, and collected when it is gone', async () => {
    await begin();
    const report = async (name: string): Promise<void> => {
      const condition = { type: 'Ready', status: 'True', lastHeartbeatTime: now(), lastTransitionTime: start };
      await patch(`/api/v1/nodes/${name}/status`, { status: { conditions: [condition] } });
    };
    for (const name of ['a', 'b', 'c']) {
      await good('POST', '/api/v1/nodes', { metadata: { name } });
      await report(name);
    }
    await server.settled();
    const taints = async (name: string): Promise<string[]> =>
      ((await good('GET', `/api/v1/nodes/${name}`)).spec.taints ?? []).map(({ key, effect }: Loose) => `${key}:${effect}`);
    expect(await taints('a')).toEqual([]);
    const spec = { nodeName: 'a', containers: template.spec.containers };
    await good('POST', core('pods'), { metadata: { name: 'p' }, spec });
    const tolerations = [{ operator: 'Exists' }];
    await good('POST', core('pods'), { metadata: { name: 'stays' }, spec: { ...spec, tolerations } });
    await advance('39s');
    for (const name of ['b', 'c']) await report(name);
    await advance('2s');
    expect(await taints('a')).toEqual([`node.${domain}/unreachable:NoSchedule`, `node.${domain}/unreachable:NoExecute`]);
    expect((await good('GET', core('pods/p'))).metadata.deletionTimestamp).toBeUndefined();
    for (let i = 0; i < 10; i++) {
      for (const name of ['b', 'c']) await report(name);
      await advance('31s');
    }
    // Admission lets pods tolerate it for five minutes.
    expect((await good('GET', core('pods/p'))).metadata.deletionTimestamp).toBeDefined();
    expect((await good('GET', core('pods/stays'))).metadata.deletionTimestamp).toBeUndefined();
    for (const name of ['a', 'b', 'c']) await good('DELETE', `/api/v1/nodes/${name}`);
    await advance('41s');
    expect(await list(core('pods'))).toEqual([]);
  });

  test('a claim gets a volume of its class, grows, and the volume goes with it', async () => {
    await begin();
    const name = `fast-${namespace}`;
    await good('POST', `/apis/storage.${suffix}/v1/storageclasses`, {
      metadata: { name },
      provisioner: `simulated.storage.${suffix}`,
      allowVolumeExpansion: true,
    });
    const volumeClaimTemplate = {
      spec: { storageClassName: name, accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    };
    await good('POST', core('persistentvolumeclaims'), { metadata: { name: 'data' }, ...volumeClaimTemplate });
    await good('POST', core('pods'), {
      metadata: { name: 'p' },
      spec: { containers: template.spec.containers, volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate } }] },
    });
    await advance('1s');
    const claim = (): Promise<Loose> => good('GET', core('persistentvolumeclaims/data'));
    expect((await claim()).status).toMatchObject({ phase: 'Bound', capacity: { storage: '1Gi' } });
    expect((await good('GET', core('persistentvolumeclaims/p-scratch'))).status.phase).toBe('Bound');
    const volume = `/api/v1/persistentvolumes/${(await claim()).spec.volumeName}`;
    expect((await good('GET', volume)).status.phase).toBe('Bound');
    await patch(core('persistentvolumeclaims/data'), { spec: { resources: { requests: { storage: '2Gi' } } } });
    await advance('1s');
    expect([(await claim()).status.capacity.storage, (await good('GET', volume)).spec.capacity.storage]).toEqual(['2Gi', '2Gi']);
    await good('DELETE', core('persistentvolumeclaims/data'));
    await advance('1s');
    expect((await server.request('GET', volume)).status).toBe(404);
    await good('DELETE', `${core('pods/p')}?gracePeriodSeconds=0`);
    await advance('1m');
    expect(await list(core('persistentvolumeclaims'))).toEqual([]);
  });

  test('a volume is attached to the node of the pod that uses it', async () => {
    await begin();
    await good('POST', '/api/v1/persistentvolumes', {
      metadata: { name: `v-${namespace}` },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'none',
        csi: { driver: `simulated.storage.${suffix}`, volumeHandle: 'h' },
      },
    });
    await good('POST', core('persistentvolumeclaims'), {
      metadata: { name: 'data' },
      spec: { storageClassName: 'none', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
    await good('POST', '/api/v1/nodes', { metadata: { name: 'n' } });
    await advance('1s');
    await good('POST', core('pods'), {
      metadata: { name: 'p' },
      spec: { nodeName: 'n', containers: template.spec.containers, volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }] },
    });
    await advance('1s');
    const attachments = `/apis/storage.${suffix}/v1/volumeattachments`;
    expect((await list(attachments)).map(({ spec, status }) => [spec.nodeName, status.attached])).toEqual([['n', true]]);
    expect((await good('GET', '/api/v1/nodes/n')).status.volumesAttached).toEqual([
      { name: `${domain}/csi/simulated.storage.${suffix}^h`, devicePath: '' },
    ]);
    await good('DELETE', `${core('pods/p')}?gracePeriodSeconds=0`);
    await advance('1s');
    expect(await list(attachments)).toEqual([]);
    await good('DELETE', '/api/v1/nodes/n');
  });
});
