// The objects of bench/worst.mjs that are stored first and touched afterwards: a small request after which controllers, the
// scheduler and the simulated nodes work on what is there. Each case has a namespace of its own.
import { allowEdit, asJson, must, send, sendMeasured, sleep } from './worst-server.mjs';
import { mapOf, times } from './worst-shapes.mjs';

/** The size of an object that can be stored; what defaults and managed fields add leaves so much of the limit. */
export const STORED = Math.floor(1.3 * 2 ** 20);
/** Entries of a list or map, and requirements of a selector, that an object may have. */
const ENTRIES = 19_900;
const REQUIREMENTS = 4_990;
export const mergePatch = { 'content-type': 'application/merge-patch+json' };
export const bytes = (value) => Buffer.from(JSON.stringify(value));
/** As many as fit the size, and at most as many as a list may have. */
export const fitting = (size, make, most = ENTRIES) => {
  const list = [];
  for (let used = 0; list.length < most; ) {
    const entry = make(list.length);
    used += JSON.stringify(entry).length + 1;
    if (used > size) break;
    list.push(entry);
  }
  return list;
};

const groups = {
  pods: '/api/v1',
  services: '/api/v1',
  endpoints: '/api/v1',
  configmaps: '/api/v1',
  events: '/api/v1',
  secrets: '/api/v1',
  serviceaccounts: '/api/v1',
  persistentvolumeclaims: '/api/v1',
  replicationcontrollers: '/api/v1',
  resourcequotas: '/api/v1',
  limitranges: '/api/v1',
  deployments: '/apis/apps/v1',
  replicasets: '/apis/apps/v1',
  statefulsets: '/apis/apps/v1',
  daemonsets: '/apis/apps/v1',
  jobs: '/apis/batch/v1',
  cronjobs: '/apis/batch/v1',
  poddisruptionbudgets: '/apis/policy/v1',
  horizontalpodautoscalers: '/apis/autoscaling/v2',
  networkpolicies: '/apis/networking.k8s.io/v1',
  ingresses: '/apis/networking.k8s.io/v1',
  endpointslices: '/apis/discovery.k8s.io/v1',
  roles: '/apis/rbac.authorization.k8s.io/v1',
  rolebindings: '/apis/rbac.authorization.k8s.io/v1',
};

let serial = 0;
/** A namespace, and what a case does in it before it is measured. */
class World {
  constructor(server) {
    this.server = server;
    this.ns = `s${++serial}`;
    /** Bytes that were stored. */
    this.bytes = 0;
  }
  path(plural, name = '') {
    return `${groups[plural]}/namespaces/${this.ns}/${plural}${name === '' ? '' : `/${name}`}`;
  }
  async open() {
    await must(this.server, 'POST', '/api/v1/namespaces', { metadata: { name: this.ns } });
    await allowEdit(this.server, this.ns);
    for (let i = 0; i < 200; i++) {
      if ((await send(this.server, { path: this.path('serviceaccounts', 'default') })).status === 200) return;
      await sleep(25);
    }
    throw new Error('the namespace has no service account');
  }
  close() {
    return send(this.server, { method: 'DELETE', path: `/api/v1/namespaces/${this.ns}` });
  }
  /** Stores an object. A limit may refuse it: then the touch finds nothing, which is as good. */
  async store(plural, name, object) {
    const body = bytes({ ...object, metadata: { name, ...object.metadata } });
    this.bytes += body.length;
    const answer = await sendMeasured(this.server, { method: 'POST', path: this.path(plural), headers: asJson, body, keep: true });
    if (![201, 400, 403, 413, 422].includes(answer.status)) throw new Error(`${plural} ${name}: ${answer.status} ${answer.text}`);
    if (answer.status !== 201 && process.env.WORST_VERBOSE)
      console.error(`${plural} ${name}: ${answer.status} ${answer.text.slice(0, 200)}`);
  }
  async storeAll(plural, count, make) {
    let next = 0;
    const work = async () => {
      while (next < count) {
        const i = next++;
        await this.store(plural, `o${i}`, make(i));
      }
    };
    await Promise.all(times(8, work));
  }
  touch(plural, name, patch = { metadata: { annotations: { touched: `t${++serial}` } } }) {
    return { method: 'PATCH', path: this.path(plural, name), headers: mergePatch, body: bytes(patch) };
  }
  create(plural, name, object) {
    return { method: 'POST', path: this.path(plural), headers: asJson, body: bytes({ ...object, metadata: { name, ...object.metadata } }) };
  }
  remove(plural, name) {
    return { method: 'DELETE', path: `${this.path(plural, name)}?gracePeriodSeconds=0` };
  }
}

export const storedCases = [];
/** `prepare` stores objects and gives the requests that touch them. */
export function stored(name, prepare, more = {}) {
  let world;
  storedCases.push({
    name: `touched: ${name}`,
    async request(server) {
      world = new World(server);
      await world.open();
      return prepare(world);
    },
    after: () => world.close(),
    stored: () => world.bytes,
    // 204: the log of a pod that no node runs.
    statuses: [200, 201, 204, 400, 403, 404, 409, 413, 422],
    ...more,
  });
}

export const container = (more = {}) => ({ name: 'c', image: 'i', ...more });
export const podSpec = (more = {}) => ({ containers: [container()], terminationGracePeriodSeconds: 0, ...more });
export const pod = (labels = /** @type {Record<string, string>} */ ({ app: 'x' }), more = {}) => ({
  metadata: { labels },
  spec: podSpec(more),
});
export const template = (more = {}, labels = /** @type {Record<string, string>} */ ({ app: 'x' })) => ({
  metadata: { labels },
  spec: podSpec(more),
});
export const selecting = { matchLabels: { app: 'x' } };

// ---- schedules ------------------------------------------------------------------------------------------------------

const jobTemplate = { spec: { template: { spec: { ...podSpec(), restartPolicy: 'Never' } } } };
const cronJob = (schedule, more = {}) => ({ spec: { schedule, jobTemplate, ...more } });
for (const [name, schedule] of Object.entries({
  'a list of ranges': `${'0-59,'.repeat(250_000)}0 * * * *`,
  'a list of steps': `${'*/1,'.repeat(300_000)}0 0 1 1 *`,
  'lists of names': `0 0 1 ${'jan-dec,'.repeat(80_000)}jan ${'sun-sat,'.repeat(80_000)}sun`,
  spaces: `0${' '.repeat(1_300_000)}0 * * *`,
  'a time that never comes': 'TZ=Europe/Berlin 0 0 31 2,4,6,9,11 *',
  'a number of many digits': `${'0'.repeat(1_300_000)}5 * * * *`,
  'a long time zone': `CRON_TZ=${'A/'.repeat(600_000)} 0 * * * *`,
}))
  stored(`cron job with ${name}`, async (world) => {
    await world.store('cronjobs', 'a', cronJob(schedule));
    return world.touch('cronjobs', 'a');
  });
stored('cron job, last scheduled long ago', async (world) => {
  await world.store('cronjobs', 'a', cronJob('* * * * *', { suspend: true }));
  const path = `${world.path('cronjobs', 'a')}/status`;
  await must(world.server, 'PATCH', path, { status: { lastScheduleTime: '1970-01-01T00:00:00Z' } }, mergePatch);
  return world.touch('cronjobs', 'a', { spec: { suspend: false } });
});
stored('cron job with 1,000 jobs', async (world) => {
  await world.store('cronjobs', 'a', cronJob('0 0 1 1 *', { suspend: true }));
  const { body } = await send(world.server, { path: world.path('cronjobs', 'a'), keep: true });
  const { uid } = JSON.parse(body).metadata;
  const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'a', uid, controller: true }];
  await world.storeAll('jobs', 1_000, () => ({ metadata: { ownerReferences }, spec: { ...jobTemplate.spec, suspend: true } }));
  return world.touch('cronjobs', 'a');
});

// ---- selectors ------------------------------------------------------------------------------------------------------

const absent = (count = REQUIREMENTS) => times(count, (i) => ({ key: `absent${i}`, operator: 'DoesNotExist' }));
const others = (count = REQUIREMENTS) => times(count, (i) => ({ key: 'app', operator: 'NotIn', values: [`v${i}`] }));
const wide = (count = REQUIREMENTS) =>
  mapOf(
    count,
    (i) => `k${i}`,
    () => 'v',
  );
/** Labels that such a selector selects. */
const wideLabels = wide();
const selectors = {
  'of absent keys': { ...selecting, matchExpressions: absent() },
  'of other values': { ...selecting, matchExpressions: others() },
  'without a value that is required': { matchExpressions: absent() },
};
const budget = (selector) => ({ spec: { minAvailable: 1, selector } });
for (const [name, selector] of Object.entries(selectors)) {
  stored(`100 pods and 10 budgets ${name}`, async (world) => {
    await world.storeAll('pods', 100, () => pod());
    await world.storeAll('poddisruptionbudgets', 10, () => budget(selector));
    return world.touch('pods', 'o1', { metadata: { labels: { touched: 'yes' } } });
  });
  stored(`100 pods and 10 replica sets ${name}`, async (world) => {
    await world.storeAll('pods', 100, () => pod());
    await world.storeAll('replicasets', 10, () => ({ spec: { replicas: 0, selector, template: template() } }));
    return world.touch('pods', 'o1', { metadata: { labels: { touched: 'yes' } } });
  });
  stored(`100 pods and 10 stateful sets ${name}`, async (world) => {
    await world.storeAll('pods', 100, () => pod());
    await world.storeAll('statefulsets', 10, () => ({ spec: { replicas: 0, selector, template: template(), serviceName: 's' } }));
    return world.touch('pods', 'o1', { metadata: { labels: { touched: 'yes' } } });
  });
  stored(`100 pods and 10 daemon sets ${name}`, async (world) => {
    await world.storeAll('pods', 100, () => pod());
    const never = { nodeSelector: { none: 'none' } };
    await world.storeAll('daemonsets', 10, () => ({ spec: { selector, template: template(never) } }));
    return world.touch('pods', 'o1', { metadata: { labels: { touched: 'yes' } } });
  });
  stored(`100 replica sets and 10 deployments ${name}`, async (world) => {
    await world.storeAll('replicasets', 100, () => ({
      metadata: { labels: { app: 'x' } },
      spec: { replicas: 0, selector: selecting, template: template() },
    }));
    await world.storeAll('deployments', 10, () => ({ spec: { replicas: 0, selector, template: template() } }));
    return world.touch('replicasets', 'o1', { metadata: { labels: { touched: 'yes' } } });
  });
  stored(`100 pods and 10 jobs ${name}`, async (world) => {
    await world.storeAll('pods', 100, () => pod());
    const spec = {
      selector,
      manualSelector: true,
      parallelism: 0,
      template: { metadata: { labels: { app: 'x' } }, spec: { ...podSpec(), restartPolicy: 'Never' } },
    };
    await world.storeAll('jobs', 10, () => ({ spec }));
    return world.touch('pods', 'o1', { metadata: { labels: { touched: 'yes' } } });
  });
  stored(`100 pods and 10 pods with affinity ${name}`, async (world) => {
    await world.storeAll('pods', 100, () => pod());
    const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: selector };
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    for (const i of times(10, (n) => n)) await world.store('pods', `a${i}`, pod({ app: 'y' }, { affinity }));
    return world.create('pods', 'new', pod({ app: 'y' }, { affinity }));
  });
  stored(`100 pods and a pod with spread constraints ${name}`, async (world) => {
    await world.storeAll('pods', 100, () => pod());
    const constraint = (i) => ({
      maxSkew: 1,
      topologyKey: `kubernetes.io/hostname${i === 0 ? '' : i}`,
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: selector,
    });
    const topologySpreadConstraints = fitting(STORED, constraint);
    return world.create('pods', 'new', pod({ app: 'x' }, { topologySpreadConstraints }));
  });
  stored(`a claim ${name}`, async (world) => {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, selector, storageClassName: '' };
    await world.storeAll('persistentvolumeclaims', 10, () => ({ spec }));
    return world.touch('persistentvolumeclaims', 'o1');
  });
}
for (const [plural, make] of Object.entries({
  services: () => ({ spec: { selector: wideLabels, ports: [{ port: 80 }] } }),
  replicationcontrollers: () => ({ spec: { replicas: 0, selector: wideLabels, template: template({}, wideLabels) } }),
}))
  stored(`100 pods and 10 ${plural} with many labels`, async (world) => {
    await world.storeAll('pods', 100, () => pod({ ...wideLabels, app: 'x' }));
    await world.storeAll(plural, 10, make);
    return world.touch('pods', 'o1', { metadata: { labels: { touched: 'yes' } } });
  });
/** Many selecting objects, of which the touched pod concerns one, or all. */
for (const [name, selector] of Object.entries({ 'another pod': (i) => ({ app: `y${i}` }), 'the pod': () => ({ app: 'x' }) })) {
  stored(`1,000 services that select ${name}`, async (world) => {
    await world.storeAll('services', 1_000, (i) => ({ spec: { clusterIP: 'None', selector: selector(i), ports: [{ port: 80 }] } }));
    await world.store('pods', 'a', pod());
    return world.touch('pods', 'a', { metadata: { labels: { touched: 'yes' } } });
  });
  stored(`1,000 budgets that select ${name}`, async (world) => {
    await world.storeAll('poddisruptionbudgets', 1_000, (i) => budget({ matchLabels: selector(i) }));
    await world.store('pods', 'a', pod());
    return world.touch('pods', 'a', { metadata: { labels: { touched: 'yes' } } });
  });
  stored(`1,000 replica sets that select ${name}`, async (world) => {
    const of = (i) => ({ replicas: 0, selector: { matchLabels: selector(i) }, template: template({}, selector(i)) });
    await world.storeAll('replicasets', 1_000, (i) => ({ spec: of(i) }));
    await world.store('pods', 'a', pod());
    return world.touch('pods', 'a', { metadata: { labels: { touched: 'yes' } } });
  });
}
stored('1,000 pods that one service selects', async (world) => {
  await world.storeAll('pods', 1_000, () => pod());
  await world.store('services', 'a', { spec: { selector: { app: 'x' }, ports: [{ port: 80 }] } });
  return world.touch('pods', 'o1', { metadata: { labels: { touched: 'yes' } } });
});
stored('1,000 pods that one budget selects', async (world) => {
  await world.storeAll('pods', 1_000, () => pod());
  await world.store('poddisruptionbudgets', 'a', budget(selecting));
  return world.touch('pods', 'o1', { metadata: { labels: { touched: 'yes' } } });
});

stored('eviction beside 50 budgets of many requirements', async (world) => {
  await world.store('pods', 'a', pod());
  await world.storeAll('poddisruptionbudgets', 50, () => budget({ matchExpressions: absent().concat({ key: 'app', operator: 'Exists' }) }));
  const path = `${world.path('pods', 'a')}/eviction`;
  return { method: 'POST', path, headers: asJson, body: bytes({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } }) };
});
for (const [name, count] of Object.entries({ 'as many as a pod may have': 200, 'more than a pod may have': 5_000 }))
  stored(`100 pods and a pod with affinity in topologies, ${name}`, async (world) => {
    await world.storeAll('pods', 100, (i) => pod({ app: 'x', n: `${i}` }));
    const term = (i) => ({
      topologyKey: `k${i}`,
      labelSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: [`v${i}`] }] },
    });
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: times(count, term) } };
    return world.create('pods', 'new', pod({ app: 'x' }, { affinity }));
  });

// ---- pods with one long list ----------------------------------------------------------------------------------------

export const inContainer = (more) => ({ containers: [container(more)] });
const small = STORED * 0.8;
const podLists = {
  env: () => inContainer({ env: fitting(small, (i) => ({ name: `N${i}`, value: 'v' })) }),
  'variables of variables': () =>
    inContainer({ env: times(60, (i) => ({ name: `N${i}`, value: i === 0 ? 'xxxxxxxxxx' : `$(N${i - 1})$(N${i - 1})` })) }),
  'variables in arguments': () =>
    inContainer({ env: [{ name: 'A', value: 'x'.repeat(600_000) }], command: ['echo'], args: times(ENTRIES, () => '$(A)') }),
  arguments: () => inContainer({ command: ['echo'], args: fitting(small, () => 'x') }),
  'a long command': () => inContainer({ command: ['sh', '-c', 'echo a; '.repeat(100_000)] }),
  volumes: () => ({ volumes: fitting(small * 0.7, (i) => ({ name: `v${i}`, emptyDir: {} })) }),
  mounts: () => ({
    volumes: [{ name: 'v', emptyDir: {} }],
    ...inContainer({ volumeMounts: fitting(small, (i) => ({ name: 'v', mountPath: `/m${i}` })) }),
  }),
  'config map volumes': () => ({ volumes: fitting(small * 0.6, (i) => ({ name: `v${i}`, configMap: { name: 'none', optional: true } })) }),
  claims: () => ({ volumes: fitting(small, (i) => ({ name: `v${i}`, persistentVolumeClaim: { claimName: `c${i}` } })) }),
  'items of the downward API': () => ({
    volumes: [
      {
        name: 'v',
        downwardAPI: { items: fitting(small * 0.5, (i) => ({ path: `p${i}`, fieldRef: { fieldPath: 'metadata.annotations' } })) },
      },
    ],
    ...inContainer({ volumeMounts: [{ name: 'v', mountPath: '/v' }] }),
  }),
  tolerations: () => ({ tolerations: fitting(small, (i) => ({ key: `k${i}`, operator: 'Exists' })) }),
  'node selector': () => ({
    nodeSelector: mapOf(
      REQUIREMENTS,
      (i) => `k${i}`,
      () => 'v',
    ),
  }),
  'node terms': () => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: fitting(small, (i) => ({ matchExpressions: [{ key: `k${i}`, operator: 'Exists' }] })),
        },
      },
    },
  }),
  'preferred node terms': () => ({
    affinity: {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: fitting(small, (i) => ({
          weight: 1,
          preference: { matchExpressions: [{ key: `k${i}`, operator: 'Exists' }] },
        })),
      },
    },
  }),
  'affinity terms': () => ({
    affinity: {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: fitting(small, () => ({
          topologyKey: 'kubernetes.io/hostname',
          labelSelector: selecting,
        })),
      },
    },
  }),
  'anti-affinity terms': () => ({
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: fitting(small, (i) => ({
          topologyKey: 'kubernetes.io/hostname',
          labelSelector: { matchLabels: { app: `y${i}` } },
        })),
      },
    },
  }),
  'preferred affinity terms': () => ({
    affinity: {
      podAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: fitting(small, (i) => ({
          weight: 1,
          podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: `y${i}` } } },
        })),
      },
    },
  }),
  'affinity terms of namespaces': () => ({
    affinity: {
      podAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: fitting(small, (i) => ({
          weight: 1,
          podAffinityTerm: {
            topologyKey: 'kubernetes.io/hostname',
            namespaceSelector: { matchLabels: { a: `y${i}` } },
            labelSelector: selecting,
          },
        })),
      },
    },
  }),
  'spread constraints': () => ({
    topologySpreadConstraints: fitting(small * 0.8, (i) => ({
      maxSkew: 1,
      topologyKey: `k${i}`,
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: selecting,
    })),
  }),
  containers: () => ({ containers: fitting(STORED * 0.1, (i) => container({ name: `c${i}` })) }),
  'init containers': () => ({ initContainers: fitting(STORED * 0.1, (i) => container({ name: `i${i}` })) }),
  ports: () => inContainer({ ports: fitting(small * 0.5, (i) => ({ name: `p${i}`, containerPort: (i % 60_000) + 1 })) }),
  'host ports': () => inContainer({ ports: fitting(small * 0.5, (i) => ({ containerPort: i + 1, hostPort: i + 1 })) }),
  'readiness gates': () => ({ readinessGates: fitting(small, (i) => ({ conditionType: `example.com/g${i}` })) }),
  'scheduling of resources': () =>
    inContainer({
      resources: {
        limits: mapOf(
          990,
          (i) => `example.com/r${i}`,
          () => '0',
        ),
      },
    }),
  'aliases of hosts': () => ({ hostAliases: fitting(small, (i) => ({ ip: '10.0.0.1', hostnames: [`h${i}`] })) }),
  'pull secrets': () => ({ imagePullSecrets: fitting(small, (i) => ({ name: `s${i}` })) }),
};
for (const [name, make] of Object.entries(podLists)) {
  stored(`pod, ${name}`, async (world) => {
    await world.store('pods', 'a', pod({ app: 'x' }, make()));
    return world.touch('pods', 'a');
  });
  stored(`pod, ${name}: a deployment of three`, async (world) => {
    await world.store('deployments', 'a', { spec: { replicas: 3, selector: selecting, template: template(make()) } });
    return world.touch('deployments', 'a');
  });
}
for (const [kind, spec] of Object.entries({ statefulsets: { replicas: 3, serviceName: 's' }, daemonsets: {} }))
  stored(`${kind} of pods with aliases of hosts`, async (world) => {
    await world.store(kind, 'a', { spec: { ...spec, selector: selecting, template: template(podLists['aliases of hosts']()) } });
    return world.touch(kind, 'a');
  });
stored('deployment with replica sets of other large templates', async (world) => {
  const sets = (i) => ({ metadata: { labels: { app: 'x' } }, spec: { replicas: 0, selector: selecting, template: other(i) } });
  const other = (i) => template({ ...podLists['aliases of hosts'](), hostname: `h${i}` });
  await world.storeAll('replicasets', 10, sets);
  await world.store('deployments', 'a', {
    spec: { replicas: 0, revisionHistoryLimit: 20, selector: selecting, template: template(podLists['aliases of hosts']()) },
  });
  return world.touch('deployments', 'a');
});
stored('pod, 256 KiB of annotations in files of 5,000 names', async (world) => {
  const annotations = { a: 'x'.repeat(250_000) };
  const items = times(5_000, (i) => ({ path: `p${i}`, fieldRef: { fieldPath: 'metadata.annotations' } }));
  const spec = podSpec({
    volumes: [{ name: 'v', downwardAPI: { items } }],
    ...inContainer({ volumeMounts: [{ name: 'v', mountPath: '/v' }] }),
  });
  await world.store('pods', 'a', { metadata: { annotations, labels: { app: 'x' } }, spec });
  return world.touch('pods', 'a');
});
for (const [name, source] of Object.entries({ 'config map': 'configmaps', secret: 'secrets' })) {
  const field = source === 'configmaps' ? 'configMap' : 'secret';
  const key = source === 'configmaps' ? 'name' : 'secretName';
  const data = mapOf(
    ENTRIES,
    (i) => `K${i}`,
    () => 'eA==',
  );
  stored(`20 pods with a ${name} of many keys`, async (world) => {
    await world.store(source, 'a', { data });
    const spec = { volumes: [{ name: 'v', [field]: { [key]: 'a' } }] };
    const from = source === 'configmaps' ? { configMapRef: { name: 'a' } } : { secretRef: { name: 'a' } };
    const containers = [container({ volumeMounts: [{ name: 'v', mountPath: '/v' }], envFrom: [from], command: ['sleep', 'infinity'] })];
    await world.storeAll('pods', 20, () => pod({ app: 'x' }, { ...spec, containers }));
    return world.touch(source, 'a', { data: { K1: 'eQ==' } });
  });
}
stored('pod of an account with many pull secrets', async (world) => {
  await world.store('serviceaccounts', 'a', { imagePullSecrets: fitting(small, (i) => ({ name: `s${i}` })) });
  return world.create('pods', 'a', pod({ app: 'x' }, { serviceAccountName: 'a' }));
});

// ---- workloads ------------------------------------------------------------------------------------------------------

/** More than a controller can ever make: the touch counts, what it makes is bounded by the time. */
const MANY = 2 ** 31 - 1;
const huge = {
  deployments: { spec: { replicas: 0, selector: selecting, template: template({ nodeSelector: { none: 'none' } }) } },
  replicasets: { spec: { replicas: 0, selector: selecting, template: template({ nodeSelector: { none: 'none' } }) } },
  replicationcontrollers: { spec: { replicas: 0, selector: { app: 'x' }, template: template({ nodeSelector: { none: 'none' } }) } },
  statefulsets: {
    spec: {
      replicas: 0,
      serviceName: 's',
      podManagementPolicy: 'Parallel',
      selector: selecting,
      template: template({ nodeSelector: { none: 'none' } }),
    },
  },
};
for (const [plural, object] of Object.entries(huge))
  stored(`${plural} of two thousand million`, async (world) => {
    // A quota keeps the pods few, so that the case ends.
    await world.store('resourcequotas', 'q', { spec: { hard: { pods: '20' } } });
    await world.store(plural, 'a', object);
    return world.touch(plural, 'a', { spec: { replicas: MANY } });
  });
for (const completionMode of ['NonIndexed', 'Indexed'])
  stored(`job of many, ${completionMode}`, async (world) => {
    await world.store('resourcequotas', 'q', { spec: { hard: { pods: '20' } } });
    const most = completionMode === 'Indexed' ? 100_000 : MANY;
    const spec = {
      completionMode,
      completions: most,
      parallelism: 0,
      template: { spec: { ...podSpec({ nodeSelector: { none: 'none' } }), restartPolicy: 'Never' } },
    };
    await world.store('jobs', 'a', { spec });
    return world.touch('jobs', 'a', { spec: { parallelism: most } });
  });
stored('stateful set with many claims', async (world) => {
  const claim = (i) => ({
    metadata: { name: `c${i}` },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  await world.store('statefulsets', 'a', {
    spec: { replicas: 0, serviceName: 's', selector: selecting, template: template(), volumeClaimTemplates: fitting(small * 0.3, claim) },
  });
  return world.touch('statefulsets', 'a', { spec: { replicas: 1 } });
});
const metrics = {
  resources: (i) => ({ type: 'Resource', resource: { name: `cpu${i}`, target: { type: 'Utilization', averageUtilization: 50 } } }),
  pods: (i) => ({ type: 'Pods', pods: { metric: { name: `m${i}` }, target: { type: 'AverageValue', averageValue: '1' } } }),
  external: (i) => ({
    type: 'External',
    external: { metric: { name: `m${i}`, selector: selecting }, target: { type: 'Value', value: '1' } },
  }),
};
for (const [name, make] of Object.entries(metrics))
  stored(`autoscaler of many metrics of ${name}`, async (world) => {
    await world.store('deployments', 'a', { spec: { replicas: 1, selector: selecting, template: template() } });
    const spec = {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' },
      maxReplicas: 3,
      metrics: fitting(small, make),
    };
    await world.store('horizontalpodautoscalers', 'a', { spec });
    return world.touch('horizontalpodautoscalers', 'a');
  });
stored('autoscaler of 100 deployments', async (world) => {
  await world.storeAll('deployments', 100, () => ({ spec: { replicas: 0, selector: selecting, template: template() } }));
  const spec = (i) => ({ scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: `o${i}` }, maxReplicas: 3 });
  await world.storeAll('horizontalpodautoscalers', 100, (i) => ({ spec: spec(i) }));
  return times(100, (i) => world.touch('horizontalpodautoscalers', `o${i}`));
});
stored('deployment with 200 old sets', async (world) => {
  await world.store('deployments', 'a', { spec: { replicas: 0, revisionHistoryLimit: 1000, selector: selecting, template: template() } });
  for (const i of times(200, (n) => n)) {
    await must(
      world.server,
      'PATCH',
      world.path('deployments', 'a'),
      { spec: { template: { metadata: { annotations: { n: `${i}` } } } } },
      mergePatch,
    );
    await sleep(10);
  }
  return world.touch('deployments', 'a');
});

// ---- networks -------------------------------------------------------------------------------------------------------

stored('endpoints of many addresses', async (world) => {
  const subset = {
    addresses: fitting(small, (i) => ({ ip: `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}` })),
    ports: [{ port: 80 }],
  };
  await world.store('services', 'a', { spec: { ports: [{ port: 80 }] } });
  await world.store('endpoints', 'a', { subsets: [subset] });
  return world.touch('endpoints', 'a');
});
stored('endpoints of many subsets', async (world) => {
  const subset = (i) => ({
    addresses: [{ ip: `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}` }],
    ports: [{ port: (i % 60_000) + 1 }],
  });
  await world.store('services', 'a', { spec: { ports: [{ port: 80 }] } });
  await world.store('endpoints', 'a', { subsets: fitting(small, subset) });
  return world.touch('endpoints', 'a');
});
stored('service of many ports and 100 pods', async (world) => {
  await world.storeAll('pods', 100, () => pod());
  await world.store('services', 'a', {
    spec: { clusterIP: 'None', selector: { app: 'x' }, ports: fitting(small * 0.5, (i) => ({ name: `p${i}`, port: i + 1 })) },
  });
  return world.touch('pods', 'o1', { metadata: { labels: { touched: 'yes' } } });
});
stored('service of many named ports and a pod of many', async (world) => {
  const ports = fitting(small * 0.4, (i) => ({ name: `p${i}`, containerPort: (i % 60_000) + 1 }));
  for (const i of times(3, (n) => n)) await world.store('pods', `a${i}`, pod({ app: 'x' }, inContainer({ ports })));
  await world.store('services', 'a', {
    spec: {
      clusterIP: 'None',
      selector: { app: 'x' },
      ports: fitting(small * 0.5, (i) => ({ name: `p${i}`, port: i + 1, targetPort: `p${i}` })),
    },
  });
  return world.touch('pods', 'a1', { metadata: { labels: { touched: 'yes' } } });
});
stored('slice of many endpoints', async (world) => {
  const endpoints = times(1_000, (i) => ({ addresses: times(100, (n) => `10.${i & 255}.${n}.${(i >> 8) & 255}`) }));
  await world.store('endpointslices', 'a', { addressType: 'IPv4', endpoints, ports: [] });
  return world.touch('endpointslices', 'a');
});
stored('network policy of many rules', async (world) => {
  const ingress = fitting(small, () => ({ from: [{ podSelector: selecting }] }));
  await world.store('networkpolicies', 'a', { spec: { podSelector: {}, ingress } });
  return world.touch('networkpolicies', 'a');
});
stored('ingress of many rules', async (world) => {
  const path = { path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 1 } } } };
  await world.store('ingresses', 'a', { spec: { rules: fitting(small, (i) => ({ host: `h${i}.example.com`, http: { paths: [path] } })) } });
  return world.touch('ingresses', 'a');
});

// ---- owners, quotas, rights -----------------------------------------------------------------------------------------

stored('object of many owners', async (world) => {
  const owner = (i) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: `none${i}`, uid: `u${i}` });
  await world.store('configmaps', 'a', { metadata: { ownerReferences: fitting(small, owner) } });
  return world.touch('configmaps', 'a');
});
stored('owner of 5,000 objects', async (world) => {
  await world.store('configmaps', 'a', {});
  const { body } = await send(world.server, { path: world.path('configmaps', 'a'), keep: true });
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: JSON.parse(body).metadata.uid }];
  await world.storeAll('configmaps', 5_000, () => ({ metadata: { ownerReferences } }));
  return world.remove('configmaps', 'a');
});
stored('object of many finalizers', async (world) => {
  await world.store('configmaps', 'a', { metadata: { finalizers: fitting(small, (i) => `x.example/f${i}`) } });
  return [world.touch('configmaps', 'a', { metadata: { finalizers: null } }), world.remove('configmaps', 'a')];
});
stored('100 quotas of many resources', async (world) => {
  const hard = mapOf(
    REQUIREMENTS,
    (i) => `count/k${i}.example.com`,
    () => '1',
  );
  await world.storeAll('resourcequotas', 100, () => ({ spec: { hard: { ...hard, pods: '10' } } }));
  return world.create('pods', 'a', pod());
});
stored('quota of 2,000 pods', async (world) => {
  await world.store('resourcequotas', 'a', { spec: { hard: { pods: '5000', 'requests.cpu': '5000' } } });
  const resources = { requests: { cpu: '1m' } };
  await world.storeAll('pods', 2_000, () => pod({ app: 'x' }, { containers: [container({ resources })], nodeSelector: { none: 'none' } }));
  return world.touch('resourcequotas', 'a', { spec: { hard: { pods: '6000' } } });
});
stored('role of many rules, asked for', async (world) => {
  const rule = (i) => ({ apiGroups: [''], resources: [`r${i}`], verbs: ['get'] });
  await world.store('roles', 'a', { rules: fitting(small, rule) });
  const subjects = [{ kind: 'User', name: 'jane', apiGroup: 'rbac.authorization.k8s.io' }];
  await world.store('rolebindings', 'a', { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'a' }, subjects });
  return { path: world.path('configmaps'), headers: { 'impersonate-user': 'jane' } };
});

// ---- values that are long -------------------------------------------------------------------------------------------

const digits = '1'.repeat(1_200_000);
for (const [name, make] of Object.entries({
  'a number of many digits': () => ({ resources: { requests: { cpu: digits } } }),
  'a number of many decimals': () => ({ resources: { requests: { cpu: `0.${digits}` } } }),
  'a huge exponent': () => ({ resources: { requests: { cpu: `1e${digits}` } } }),
}))
  stored(`pod that requests ${name}`, async (world) => {
    await world.store('pods', 'a', pod({ app: 'x' }, inContainer(make())));
    return world.create('pods', 'b', pod({ app: 'x' }, inContainer(make())));
  });

// ---- many small requests for one large object ----------------------------------------------------------------------

const wideAnnotations = {
  annotations: mapOf(
    15_000,
    (i) => `a${i}`,
    () => 'v'.repeat(10),
  ),
};
// Requests that change one object at the same time are repeated after conflicts.
const fifty = (make) => times(50, make);
const together = { statuses: [200, 201, 409, 429] };
stored(
  'deployment of a wide template, 50 scales',
  async (world) => {
    const wideTemplate = template(inContainer({ env: times(5_000, (i) => ({ name: `N${i}`, value: 'v' })) }));
    await world.store('deployments', 'a', { spec: { replicas: 0, selector: selecting, template: wideTemplate } });
    const path = `${world.path('deployments', 'a')}/scale`;
    return fifty((i) => ({ method: 'PATCH', path, headers: mergePatch, body: bytes({ spec: { replicas: i % 2 } }) }));
  },
  together,
);
stored(
  'pod of many annotations, 50 evictions as a test',
  async (world) => {
    await world.store('pods', 'a', { metadata: { ...pod().metadata, ...wideAnnotations }, spec: podSpec() });
    await world.store('poddisruptionbudgets', 'a', budget(selecting));
    const path = `${world.path('pods', 'a')}/eviction?dryRun=All`;
    const body = bytes({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } });
    return fifty(() => ({ method: 'POST', path, headers: asJson, body }));
  },
  together,
);
stored(
  'config map as kubectl applied it, 50 patches',
  async (world) => {
    const data = mapOf(
      8_000,
      (i) => `k${i}`,
      () => 'v'.repeat(20),
    );
    const lastApplied = JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      data: mapOf(
        7_000,
        (i) => `k${i}`,
        () => 'v',
      ),
    });
    await world.store('configmaps', 'a', {
      metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': lastApplied } },
      data,
    });
    return fifty((i) => world.touch('configmaps', 'a', { data: { [`k${i}`]: 'other' } }));
  },
  together,
);
stored('autoscaler in another version, replaced', async (world) => {
  const annotations = mapOf(
    5_000,
    (i) => `a${i}`,
    () => 'v'.repeat(40),
  );
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'none' };
  const metadata = { name: 'a', annotations };
  await world.store('horizontalpodautoscalers', 'a', { metadata, spec: { scaleTargetRef, maxReplicas: 3 } });
  const path = world.path('horizontalpodautoscalers', 'a').replace('/v2/', '/v1/');
  const changed = { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata, spec: { scaleTargetRef, maxReplicas: 4 } };
  return { method: 'PUT', path, headers: asJson, body: bytes(changed) };
});
