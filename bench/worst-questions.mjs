// More cases of bench/worst.mjs of a user with the role `edit` in one namespace: history, versions of the past, questions why, the
// console, logs that are followed, reviews and field selectors.
import { asJson, must, send, sendMeasured, sleep } from './worst-server.mjs';
import { mapOf, times } from './worst-shapes.mjs';
import { bytes, container, fitting, inContainer, mergePatch, pod, podSpec, STORED, selecting, stored, template } from './worst-stored.mjs';

const small = STORED * 0.8;
const explainApi = '/apis/explain.k8s.io/v1alpha1';
const post = (path, value) => ({ method: 'POST', path, headers: asJson, body: bytes(value) });
const wideData = (value, count = 9_000) =>
  mapOf(
    count,
    (i) => `k${i}`,
    () => value,
  );

// ---- history --------------------------------------------------------------------------------------------------------

const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
const forms = {
  JSON: {},
  Table: table,
  YAML: { accept: 'application/yaml' },
  binary: { accept: 'application/vnd.kubernetes.protobuf' },
};
/** A config map of many versions, all of whose values change each time. */
async function manyVersions(world, versions, dataOf) {
  await world.store('configmaps', 'a', { data: dataOf(0) });
  for (const i of times(versions, (n) => n)) await sendMeasured(world.server, world.touch('configmaps', 'a', { data: dataOf(i + 1) }));
  return world.path('configmaps', 'a');
}
for (const [form, headers] of Object.entries(forms))
  for (const which of ['true', 'full'])
    stored(`history ${which} of a wide config map, ${form}`, async (world) => ({
      path: `${await manyVersions(world, 8, (i) => wideData(`v${i}`))}?history=${which}&pretty=${form === 'JSON'}`,
      headers,
    }));
stored('history of a config map of long texts', async (world) => {
  const path = await manyVersions(world, 6, (i) => ({ a: `${i}${'x'.repeat(600_000)}` }));
  return times(4, () => ({ path: `${path}?history=full` }));
});
for (const which of ['true', 'full'])
  stored(`history ${which} of 10 wide config maps, 30 at once`, async (world) => {
    for (const name of times(10, (i) => `a${i}`)) {
      await world.store('configmaps', name, { data: wideData('v'.repeat(20)) });
      for (const i of times(8, (n) => n)) await sendMeasured(world.server, world.touch('configmaps', name, { data: { [`k${i}`]: 'w' } }));
    }
    return times(30, () => ({ path: `${world.path('configmaps')}?history=${which}` }));
  });
for (const [name, query] of Object.entries({
  all: '',
  'of nobody': '&user=nobody',
  'a page of one': '&limit=1',
  'of a time': '&since=2020-01-01T00:00:00Z',
}))
  stored(`history of 4,000 versions of small objects, ${name}, 20 at once`, async (world) => {
    await world.storeAll('configmaps', 2_000, (i) => ({ data: { n: `${i}` } }));
    await Promise.all(
      times(8, async (worker) => {
        for (const i of times(250, (n) => n))
          await sendMeasured(world.server, world.touch('configmaps', `o${worker * 250 + i}`, { data: { n: 'x' } }));
      }),
    );
    return times(20, (i) => ({ path: `${world.path('configmaps')}?history=true${query}`, headers: i % 2 ? table : {} }));
  });
stored('history of a list that is reversed', async (world) => {
  const env = (isReversed) => times(9_000, (i) => ({ name: `N${isReversed ? 8_999 - i : i}`, value: 'v' }));
  const deployment = (isReversed) => ({
    spec: { replicas: 0, selector: selecting, template: template(inContainer({ env: env(isReversed) })) },
  });
  await world.store('deployments', 'a', deployment(false));
  for (const i of times(4, (n) => n)) await sendMeasured(world.server, world.touch('deployments', 'a', deployment(i % 2 === 0)));
  return { path: `${world.path('deployments', 'a')}?history=true` };
});
stored('history of secrets of many keys', async (world) => {
  const data = (value) => wideData(value);
  await world.store('secrets', 'a', { data: data('eA==') });
  for (const i of times(6, (n) => n)) await sendMeasured(world.server, world.touch('secrets', 'a', { data: { [`k${i}`]: 'eHg=' } }));
  return times(10, () => ({ path: `${world.path('secrets')}?history=full` }));
});
stored('history of a key of many levels', async (world) => {
  const deep = (i) => ({ a: JSON.stringify(times(200_000, (n) => n + i)) });
  return { path: `${await manyVersions(world, 3, deep)}?history=true`, headers: table };
});
stored('history with long names and tokens that are none', (world) => {
  const long = 'x'.repeat(20_000);
  const queries = [`continue=${long}`, `user=${long}`, `since=${long}`, `manager=${long}`, `limit=${'9'.repeat(20_000)}`];
  return Promise.resolve(times(50, (i) => ({ path: `${world.path('configmaps')}?history=true&${queries[i % queries.length]}` })));
});

// ---- versions of the past -------------------------------------------------------------------------------------------

const revisionOf = async (world, plural) =>
  JSON.parse((await send(world.server, { path: `${world.path(plural)}?limit=1`, keep: true })).body).metadata.resourceVersion;
const largeThenTouched = async (world, count, size) => {
  await world.storeAll('configmaps', count, (i) => ({ metadata: { labels: { n: `${i}` } }, data: { a: 'x'.repeat(size) } }));
  const revision = await revisionOf(world, 'configmaps');
  for (const i of times(count, (n) => n)) await sendMeasured(world.server, world.touch('configmaps', `o${i}`, { data: { b: 'y' } }));
  return revision;
};
for (const [form, headers] of Object.entries(forms))
  stored(`list of the past of 100 large objects, ${form}, 10 at once`, async (world) => {
    const revision = await largeThenTouched(world, 100, 400_000);
    const path = `${world.path('configmaps')}?resourceVersion=${revision}&resourceVersionMatch=Exact`;
    return times(10, () => ({ path, headers }));
  });
stored('pages of one object of the past, 100 clients', async (world) => {
  const revision = await largeThenTouched(world, 30, 100_000);
  const path = `${world.path('configmaps')}?resourceVersion=${revision}&resourceVersionMatch=Exact&limit=1`;
  return times(100, () => ({ path }));
});
stored('list of the past of one of 3,000 by labels, 20 at once', async (world) => {
  const revision = await largeThenTouched(world, 3_000, 100);
  const path = `${world.path('configmaps')}?resourceVersion=${revision}&resourceVersionMatch=Exact&labelSelector=n%3D1`;
  return times(20, () => ({ path }));
});
stored('a large object of the past, 50 at once', async (world) => {
  const revision = await largeThenTouched(world, 1, 1_000_000);
  const path = `${world.path('configmaps', 'o0')}?resourceVersion=${revision}&resourceVersionMatch=Exact`;
  return times(50, (i) => ({ path, headers: i % 2 ? forms.YAML : {} }));
});
stored(
  'a wide object put back 20 times, as undo does',
  async (world) => {
    const path = await manyVersions(world, 2, (i) => wideData(`v${i}`));
    const { body } = await send(world.server, { path, keep: true });
    const { managedFields: _, resourceVersion: __, ...metadata } = JSON.parse(body).metadata;
    const put = (i) => bytes({ ...JSON.parse(body), metadata, data: wideData(`v${i % 2}`) });
    return times(20, (i) => ({ method: 'PUT', path: `${path}?fieldManager=plat-undo`, headers: asJson, body: put(i) }));
  },
  { statuses: [200, 409, 429] },
);

// ---- why ------------------------------------------------------------------------------------------------------------

const why = (world, question, resource, name, group = '') =>
  post(`${explainApi}/${question}explanations`, { spec: { group, resource, namespace: world.ns, name } });

stored('why is an object of many finalizers not deleted', async (world) => {
  await world.store('configmaps', 'a', { metadata: { finalizers: fitting(small, (i) => `x${i}.example.com/f`) } });
  await send(world.server, world.remove('configmaps', 'a'));
  return why(world, 'deletion', 'configmaps', 'a');
});
stored('why is a namespace of 5,000 held objects not deleted', async (world) => {
  await world.storeAll('configmaps', 5_000, (i) => ({ metadata: { finalizers: ['example.com/f', `example.com/f${i}`] } }));
  await must(world.server, 'DELETE', `/api/v1/namespaces/${world.ns}`);
  await sleep(1_000);
  return post(`${explainApi}/deletionexplanations`, { spec: { resource: 'namespaces', name: world.ns } });
});
stored('why is a namespace of large objects not deleted, 10 at once', async (world) => {
  await world.storeAll('configmaps', 100, () => ({ metadata: { finalizers: ['example.com/f'] }, data: wideData('v'.repeat(20)) }));
  await must(world.server, 'DELETE', `/api/v1/namespaces/${world.ns}`);
  await sleep(1_000);
  return times(10, () => post(`${explainApi}/deletionexplanations`, { spec: { resource: 'namespaces', name: world.ns } }));
});
stored('why is a pod beside 60 budgets of many requirements not deleted', async (world) => {
  const matchExpressions = times(4_900, (i) => ({ key: `absent${i}`, operator: 'DoesNotExist' }));
  await world.storeAll('poddisruptionbudgets', 60, () => ({ spec: { minAvailable: 1, selector: { matchExpressions } } }));
  await world.store('pods', 'a', pod({ app: 'x' }, { nodeSelector: { none: 'x' } }));
  return why(world, 'deletion', 'pods', 'a');
});
stored('why is a chain of 60 owners not deleted', async (world) => {
  let uid;
  for (const i of times(60, (n) => n)) {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: `a${i - 1}`, uid, blockOwnerDeletion: true };
    await world.store('configmaps', `a${i}`, {
      metadata: { finalizers: fitting(20_000, (n) => `x${n}.example.com/f`), ...(i > 0 && { ownerReferences: [owner] }) },
    });
    uid = JSON.parse((await send(world.server, { path: world.path('configmaps', `a${i}`), keep: true })).body).metadata.uid;
  }
  await send(world.server, { method: 'DELETE', path: `${world.path('configmaps', 'a0')}?propagationPolicy=Foreground` });
  return why(world, 'deletion', 'configmaps', 'a0');
});
const onNoNode = (more) => pod({ app: 'x' }, { nodeName: 'none', ...more });
const variablesOf = (kind, count, refOf) => inContainer({ env: times(count, (i) => ({ name: `N${i}`, valueFrom: { [kind]: refOf(i) } })) });
for (const [name, more] of Object.entries({
  '9,000 keys of one secret': () => variablesOf('secretKeyRef', 9_000, (i) => ({ name: 'a', key: `none${i}` })),
  'keys of 9,000 config maps': () => variablesOf('configMapKeyRef', 9_000, (i) => ({ name: `a${i}`, key: 'k' })),
  '9,000 volumes of one claim': () => ({ volumes: times(9_000, (i) => ({ name: `v${i}`, persistentVolumeClaim: { claimName: 'a' } })) }),
  '9,000 volumes of other claims': () => ({
    volumes: times(9_000, (i) => ({ name: `v${i}`, persistentVolumeClaim: { claimName: `n${i}` } })),
  }),
}))
  for (const nodeName of ['none', ''])
    stored(`why is a pod of ${name} pending, ${nodeName === '' ? 'not scheduled' : 'on a node that is none'}`, async (world) => {
      await world.store('secrets', 'a', { data: wideData('eA==') });
      const accessModes = ['ReadWriteOnce'];
      const spec = { accessModes, resources: { requests: { storage: '1Gi' } }, volumeName: 'none' };
      await world.store('persistentvolumeclaims', 'a', { metadata: { annotations: { a: 'x'.repeat(14_000) } }, spec });
      await world.store('pods', 'a', onNoNode({ ...more(), nodeName }));
      return why(world, 'pending', 'pods', 'a');
    });
stored('why is a service of a wide selector among 1,000 pods not ready', async (world) => {
  await world.store('services', 'a', { spec: { selector: wideData('v', 4_900), ports: [{ port: 80 }] } });
  await world.storeAll('pods', 1_000, () => pod({ k0: 'v', k1: 'v' }, { nodeSelector: { none: 'x' } }));
  return why(world, 'readiness', 'services', 'a');
});
stored('why is an ingress of 9,000 backends not ready', async (world) => {
  const ports = fitting(small * 0.4, (i) => ({ name: `p${i}`, port: i + 1 }));
  await world.store('services', 'a', { spec: { selector: { app: 'x' }, ports } });
  await world.storeAll('pods', 300, () => pod({ app: 'x' }, { nodeSelector: { none: 'x' } }));
  const backend = (i) => ({ service: { name: i % 2 ? 'a' : `none${i}`, port: { number: i + 1 } } });
  const paths = fitting(small, (i) => ({ path: `/${i}`, pathType: 'Prefix', backend: backend(i) }), 9_000);
  await world.store('ingresses', 'a', { spec: { rules: [{ http: { paths } }] } });
  return why(world, 'readiness', 'ingresses', 'a', 'networking.k8s.io');
});
stored('why is a pod of 1,000 containers that end not ready', async (world) => {
  const command = ['sh', '-c', 'exit 1'];
  const containers = times(1_000, (i) => container({ name: `c${i}`, image: 'busybox', command }));
  await world.store('pods', 'a', pod({ app: 'x' }, { containers }));
  await sleep(3_000);
  return times(10, () => why(world, 'readiness', 'pods', 'a'));
});
stored('why are 50 deployments of many pods not ready', async (world) => {
  const spec = { replicas: 20, selector: selecting, template: template({ nodeSelector: { none: 'x' } }) };
  await world.storeAll('deployments', 50, () => ({ spec }));
  await sleep(2_000);
  return times(50, (i) => why(world, 'readiness', 'deployments', `o${i}`, 'apps'));
});
const gadgets = '/apis/why.example.com/v1/namespaces';
let serverWithGadgets;
/** A custom kind without a status subresource, which `edit` may write. */
async function serveGadgets({ server, ns }) {
  if (serverWithGadgets === server) return;
  serverWithGadgets = server;
  await must(server, 'POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', {
    metadata: { name: 'why-edit', labels: { 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' } },
    rules: [{ apiGroups: ['why.example.com'], resources: ['*'], verbs: ['*'] }],
  });
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await must(server, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'gadgets.why.example.com' },
    spec: {
      group: 'why.example.com',
      scope: 'Namespaced',
      names: { plural: 'gadgets', kind: 'Gadget', singular: 'gadget' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  });
  for (let i = 0; i < 100; i++) {
    if ((await send(server, { path: `${gadgets}/${ns}/gadgets` })).status === 200) return;
    await sleep(50);
  }
}
const unmet = { type: 'Ready', status: 'False', reason: 'R' };
for (const [name, status] of Object.entries({
  'many conditions': { conditions: times(19_000, () => unmet) },
  'a message of blanks': { conditions: [{ ...unmet, message: `a${' '.repeat(1_200_000)}b` }] },
  'a message of dots and blanks': { conditions: [{ ...unmet, message: `a${'. '.repeat(600_000)}b` }] },
  'conditions of odd values': { conditions: [null, 1, 'x', [], { type: null }, { type: {} }, { type: 'Ready', status: null, message: 5 }] },
  'conditions that are none': { conditions: { map: 1 } },
  'no object at all': 'text',
}))
  for (const question of ['readiness', 'pending', 'deletion'])
    stored(`why is a custom object with ${name}: ${question}`, async (world) => {
      await serveGadgets(world);
      const gadget = { apiVersion: 'why.example.com/v1', kind: 'Gadget', metadata: { name: 'a' }, status };
      await sendMeasured(world.server, post(`${gadgets}/${world.ns}/gadgets`, gadget));
      return why(world, question, 'gadgets', 'a', 'why.example.com');
    });
stored('why is an owner of 3,000 custom objects not ready, 10 at once', async (world) => {
  await serveGadgets(world);
  const path = `${gadgets}/${world.ns}/gadgets`;
  const gadget = (name, more = {}) => ({
    apiVersion: 'why.example.com/v1',
    kind: 'Gadget',
    metadata: { name, ...more },
    status: { conditions: [unmet] },
  });
  const answer = await send(world.server, { ...post(path, gadget('a')), keep: true });
  const owner = { apiVersion: 'why.example.com/v1', kind: 'Gadget', name: 'a', uid: JSON.parse(answer.body).metadata.uid };
  let next = 0;
  await Promise.all(
    times(8, async () => {
      while (next < 3_000) await sendMeasured(world.server, post(path, gadget(`o${next++}`, { ownerReferences: [owner] })));
    }),
  );
  return times(10, () => why(world, 'readiness', 'gadgets', 'a', 'why.example.com'));
});

// ---- rights, refusals, slow requests --------------------------------------------------------------------------------

const long = 'x'.repeat(60_000);
const attributes = (world) => ({ namespace: world.ns, verb: 'delete', resource: long, name: long, group: long });
for (const kind of ['AccessExplanation', 'SubjectSearch'])
  stored(`50 ${kind} of long names at once`, (world) =>
    Promise.resolve(
      times(50, () =>
        post(`${explainApi}/${kind.toLowerCase()}${kind.endsWith('h') ? 'es' : 's'}`, { spec: { resourceAttributes: attributes(world) } }),
      ),
    ),
  );
const authorization = '/apis/authorization.k8s.io/v1';
stored('50 access reviews of oneself with long names', (world) =>
  Promise.resolve(times(50, () => post(`${authorization}/selfsubjectaccessreviews`, { spec: { resourceAttributes: attributes(world) } }))),
);
stored('50 rules reviews at once', (world) =>
  Promise.resolve(times(50, () => post(`${authorization}/selfsubjectrulesreviews`, { spec: { namespace: world.ns } }))),
);
stored('token reviews with long tokens', () =>
  Promise.resolve(
    times(20, () =>
      post('/apis/authentication.k8s.io/v1/tokenreviews', {
        spec: { token: 'a.'.repeat(500_000), audiences: times(4_000, (i) => `a${i}`) },
      }),
    ),
  ),
);
stored('search of refusals after 500 of long paths', async (world) => {
  for (const i of times(50, (n) => n))
    await Promise.all(
      times(10, (n) =>
        sendMeasured(world.server, { path: `/api/v1/namespaces/none/configmaps/${'x'.repeat(20_000)}${i * 10 + n}` }).catch(() => {}),
      ),
    );
  return times(20, () => post(`${explainApi}/refusalsearches`, { spec: {} }));
});
stored('search of slow requests', () => Promise.resolve(times(20, () => post(`${explainApi}/slowrequestsearches`, { spec: {} }))));
stored('explained creation of a wide pod', (world) => {
  const body = bytes({
    ...pod({ app: 'x' }, inContainer({ env: times(9_000, (i) => ({ name: `N${i}`, value: 'v' })) })),
    metadata: { name: 'a' },
  });
  const headers = { ...asJson, 'x-plat-explain': 'patch' };
  return Promise.resolve(times(5, () => ({ method: 'POST', path: `${world.path('pods')}?dryRun=All`, headers, body })));
});

// ---- the console ----------------------------------------------------------------------------------------------------

const websocket = { statuses: [101, 200, 400, 401, 429] };
async function logIn(world) {
  const path = '/console/session';
  const token = world.server.measured.authorization.slice('Bearer '.length);
  const answer = await send(world.server, { method: 'POST', path, headers: asJson, body: bytes({ token }), keep: true });
  if (answer.status !== 200) throw new Error(`log-in: ${answer.status} ${answer.text}`);
  return answer.headers['set-cookie'].map((one) => one.split(';')[0]).join('; ');
}
const opened = (id, path) => JSON.stringify({ id, open: path });
const largeConfigMaps = async (world) => {
  for (const name of ['a0', 'a1', 'a2']) await world.store('configmaps', name, { data: wideData('v'.repeat(20)) });
};
for (const [connections, isReading] of [
  [1, true],
  [16, true],
  [16, false],
])
  stored(
    `${connections} pages of 64 watches of large config maps${isReading ? '' : ', which read nothing'}`,
    async (world) => {
      await largeConfigMaps(world);
      const headers = { cookie: await logIn(world), origin: world.server.address };
      const input = times(64, (i) => opened(i + 1, `${world.path('configmaps')}?watch=true`));
      for (const at of [1_500, 2_000, 2_500])
        setTimeout(() => sendMeasured(world.server, world.touch('configmaps', 'a0')).catch(() => {}), at);
      return times(connections, () => ({ path: '/console/watch', protocols: ['console.v1'], headers, input, seconds: 6, isReading }));
    },
    websocket,
  );
stored(
  'a page that opens and closes 10,000 watches',
  async (world) => {
    await largeConfigMaps(world);
    const headers = { cookie: await logIn(world), origin: world.server.address };
    const path = `${world.path('configmaps')}?watch=true&fieldSelector=metadata.name%3Dnone`;
    const input = times(10_000, (i) => [opened(i + 1, path), JSON.stringify({ id: i + 1, close: true })]).flat();
    return { path: '/console/watch', protocols: ['console.v1'], headers, input, seconds: 6 };
  },
  websocket,
);
stored(
  'a page that asks for what is no watch, 10,000 times',
  async (world) => {
    const headers = { cookie: await logIn(world), origin: world.server.address };
    const input = times(10_000, (i) => opened(i + 1, `/${'x'.repeat(3_900)}`));
    return times(4, () => ({ path: '/console/watch', protocols: ['console.v1'], headers, input, seconds: 6 }));
  },
  websocket,
);
stored(
  '200 log-ins with tokens of 60 KB',
  () =>
    Promise.resolve(
      times(200, (i) => ({
        method: 'POST',
        path: '/console/session',
        headers: asJson,
        body: bytes({ token: `${i}${'x'.repeat(60_000)}` }),
      })),
    ),
  { statuses: [401, 429] },
);
stored('lists of large config maps by the console, 20 at once', async (world) => {
  await largeConfigMaps(world);
  const headers = { cookie: await logIn(world), origin: world.server.address, 'x-plat-console': '1', ...table };
  return times(20, () => ({ path: `/console/api${world.path('configmaps')}?includeObject=Object`, headers }));
});

// ---- logs, watches, selectors ---------------------------------------------------------------------------------------

const loud = ['sh', '-c', 'while true; do for i in $(seq 1 100); do seq 1 90; done; sleep 0.01; done'];
stored('50 followers of a loud log', async (world) => {
  await world.store('pods', 'a', pod({ app: 'x' }, inContainer({ image: 'busybox', command: loud })));
  await sleep(2_000);
  return times(50, () => ({ path: `${world.path('pods', 'a')}/log?follow=true`, until: 5_000_000, seconds: 6 }));
});
stored('50 followers of a loud log who read nothing', async (world) => {
  await world.store('pods', 'a', pod({ app: 'x' }, inContainer({ image: 'busybox', command: loud })));
  await sleep(2_000);
  return times(50, () => ({
    path: `${world.path('pods', 'a')}/log?follow=true&timestamps=true`,
    until: 1e9,
    seconds: 6,
    isReading: false,
  }));
});
stored('lists of 3,000 objects by long field selectors, 20 at once', async (world) => {
  await world.storeAll('configmaps', 3_000, () => ({}));
  const fieldSelector = times(2_000, (i) => `metadata.name!%3Dn${i}`).join(',');
  return times(20, () => ({ path: `${world.path('configmaps')}?limit=1&fieldSelector=${fieldSelector}` }));
});
stored('removal of 2,000 config maps by field selectors', async (world) => {
  await world.storeAll('configmaps', 2_000, () => ({}));
  const fieldSelector = times(1_000, (i) => `metadata.name!%3Dn${i}`).join(',');
  return { method: 'DELETE', path: `${world.path('configmaps')}?fieldSelector=${fieldSelector}` };
});
stored('100 watches of 20 kinds', async (world) => {
  await world.storeAll('configmaps', 500, () => ({}));
  const kinds = [
    'configmaps',
    'pods',
    'services',
    'secrets',
    'deployments',
    'replicasets',
    'statefulsets',
    'jobs',
    'cronjobs',
    'ingresses',
  ];
  setTimeout(() => world.storeAll('services', 50, () => ({ spec: { ports: [{ port: 80 }] } })).catch(() => {}), 500);
  return times(100, (i) => ({ path: `${world.path(kinds[i % kinds.length])}?watch=true&timeoutSeconds=3`, headers: i % 2 ? table : {} }));
});
stored(
  'object of 900 managers, applied by another',
  async (world) => {
    const path = world.path('configmaps', 'a');
    const applied = (i) => bytes({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { [`k${i}`]: 'v' } });
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    for (const i of times(900, (n) => n))
      await sendMeasured(world.server, { method: 'PATCH', path: `${path}?fieldManager=m${i}`, headers, body: applied(i) });
    return times(10, (i) => ({ method: 'PATCH', path: `${path}?fieldManager=other&force=true`, headers, body: applied(i) }));
  },
  { statuses: [200, 409, 429] },
);
stored('50 scales of 50 deployments of wide templates', async (world) => {
  const spec = {
    replicas: 0,
    selector: selecting,
    template: template(inContainer({ env: times(4_000, (i) => ({ name: `N${i}`, value: 'v' })) })),
  };
  await world.storeAll('deployments', 50, () => ({ spec }));
  return times(50, (i) => ({
    method: 'PATCH',
    path: `${world.path('deployments', `o${i}`)}/scale`,
    headers: mergePatch,
    body: bytes({ spec: { replicas: 1 } }),
  }));
});
stored('50 pods of many variables, created at once', (world) => {
  const large = () => ({ spec: podSpec(inContainer({ env: times(9_000, (i) => ({ name: `N${i}`, value: 'v' })) })) });
  return Promise.resolve(times(50, (i) => world.create('pods', `p${i}`, large())));
});
