// More cases of bench/worst.mjs that store objects and touch them: what a user with the role `edit` in one namespace can do with
// commands, probes, watches, pages, applies, owners and many pods.
import { asJson, must, send, sleep } from './worst-server.mjs';
import { mapOf, times } from './worst-shapes.mjs';
import { bytes, container, fitting, inContainer, mergePatch, pod, podSpec, STORED, selecting, stored, template } from './worst-stored.mjs';

const small = STORED * 0.8;
const sh = (script) => ['sh', '-c', script];
const LONG = 60_000;
const filled = (part, length = LONG) => part.repeat(Math.floor(length / part.length));

// ---- commands of containers -----------------------------------------------------------------------------------------

const scripts = {
  'short commands': filled('a=1;'),
  words: `echo ${filled('a ')}`,
  'quoted text': `echo "${filled('a ')}"`,
  variables: `a=b; echo ${filled('$a ')}`,
  'variables that double': `a=xxxxxxxx; ${filled('a="$a$a";', 9 * 13)} echo ${filled('$a', 400)}`,
  'a loop of numbers': 'for i in $(seq 1 4000); do a=$i; done',
  'loops in loops': 'for i in $(seq 1 60); do for j in $(seq 1 60); do a=$i$j; done; done',
  'a loop without an end': 'while true; do a=1; done',
  'a loop that waits': 'while true; do for i in $(seq 1 2000); do a=$i; done; sleep 1; done',
  'a loop that waits briefly': 'while true; do sleep 0.001; done',
  'arithmetic in a loop': 'i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done',
  'long arithmetic': `echo $((${filled('1+', 50_000)}1))`,
  pipes: `${filled('echo a | ', 40_000)} cat`,
  'pipes of long text': `seq 1 9999 | ${filled('cat | ', 120)} wc -l`,
  'commands in commands': `${'echo $('.repeat(15)}seq 1 9000${')'.repeat(15)}`,
  'shells in shells': `${'sh -c "'.repeat(1)}${filled('sh -c true;', 20_000)}"`,
  'groups in groups': `${'{ '.repeat(48)}${filled('a=1;', 40_000)} ${'; }'.repeat(48)}`,
  negations: `${filled('! ', 50_000)}true`,
  conditions: `${filled('if true; then a=1; fi; ', 40_000)}`,
  'many arms': `if false; then a=1; ${filled('elif false; then a=1; ', 50_000)} fi`,
  'patterns of paths': filled('echo /*/*/*;', 3_000),
  files: 'for i in $(seq 1 990); do echo $i > /tmp/f$i; done; for i in $(seq 1 50); do ls /tmp; echo /tmp/*; find /tmp -name "*1*"; done',
  'deep directories': `d=/tmp; for i in $(seq 1 900); do mkdir -p $d/a; d=$d/a; done; find /tmp; ls $d`,
  appends: 'for i in $(seq 1 4000); do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa >> /tmp/a; done',
  'copies of trees':
    'mkdir -p /tmp/a; for i in $(seq 1 400); do echo $i > /tmp/a/$i; done; for i in 1 2 3 4 5; do cp -r /tmp/a /tmp/b$i; done; rm -r /tmp/*',
  'long searches':
    'dd if=/dev/zero of=/tmp/z bs=1k count=200; for i in $(seq 1 20); do grep -c aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab /tmp/z; done',
  'many options of a program': `test ${filled('! ', 50_000)} a`,
  'long brackets of a test': `[ ${filled('-n a -a ', 50_000)} -n a ]`,
  'a long format': `printf "${filled('%s', 50_000)}" ${filled('a ', 8_000)}`,
  'a long date': `date +${filled('%F%T', 50_000)}`,
  'a long sleep': `sleep ${filled('1 ', 50_000)}`,
  'a here document': `cat <<X\n${filled('a\n')}\nX`,
  output: 'for i in $(seq 1 100); do seq 1 9999; done',
};
for (const [name, script] of Object.entries(scripts)) {
  stored(`command of ${name}`, async (world) => {
    await world.storeAll('pods', 5, () => pod({ app: 'x' }, inContainer({ image: 'busybox', command: sh(script) })));
    return world.touch('pods', 'o1');
  });
}
for (const [name, script] of Object.entries({
  'short commands': filled('a=1;'),
  'a loop that waits': scripts['a loop that waits'],
  'a loop of numbers': scripts['a loop of numbers'],
  appends: scripts.appends,
})) {
  stored(`20 containers of ${name}`, async (world) => {
    const containers = times(20, (i) => container({ name: `c${i}`, image: 'busybox', command: sh(script) }));
    await world.store('pods', 'a', pod({ app: 'x' }, { containers }));
    return world.touch('pods', 'a');
  });
  stored(`20 init containers of ${name}`, async (world) => {
    const initContainers = times(20, (i) => container({ name: `i${i}`, image: 'busybox', command: sh(script) }));
    await world.store('pods', 'a', pod({ app: 'x' }, { initContainers }));
    return world.touch('pods', 'a');
  });
  for (const [kind, annotations] of Object.entries({ 'by default': {}, used: { 'simulation.kubernetes.io/use-probes': 'true' } }))
    stored(`20 containers with probes of ${name}, ${kind}`, async (world) => {
      const probe = { exec: { command: sh(script) }, periodSeconds: 1, timeoutSeconds: 1 };
      const probed = (i) =>
        container({
          name: `c${i}`,
          image: 'busybox',
          command: sh('sleep infinity'),
          readinessProbe: probe,
          livenessProbe: probe,
          startupProbe: probe,
        });
      await world.store('pods', 'a', {
        metadata: { labels: { app: 'x' }, annotations },
        spec: podSpec({ containers: fitting(STORED * 0.9, probed, 20) }),
      });
      await sleep(2_000);
      return world.touch('pods', 'a');
    });
  stored(`pod with hooks of ${name}, removed`, async (world) => {
    const lifecycle = { preStop: { exec: { command: sh(script) } }, postStart: { exec: { command: sh(script) } } };
    const containers = times(8, (i) => container({ name: `c${i}`, image: 'busybox', command: sh('sleep infinity'), lifecycle }));
    await world.store('pods', 'a', pod({ app: 'x' }, { containers, terminationGracePeriodSeconds: 1 }));
    await sleep(1_000);
    return { method: 'DELETE', path: world.path('pods', 'a') };
  });
}
stored('1,000 probes of one pod', async (world) => {
  const probe = { exec: { command: sh('test -f /tmp/a') }, periodSeconds: 1 };
  const probed = (i) =>
    container({ name: `c${i}`, image: 'busybox', command: sh('sleep infinity'), readinessProbe: probe, livenessProbe: probe });
  await world.store('pods', 'a', {
    metadata: { labels: { app: 'x' }, annotations: { 'simulation.kubernetes.io/use-probes': 'true' } },
    spec: podSpec({ containers: fitting(STORED * 0.4, probed, 1_000) }),
  });
  await sleep(3_000);
  return world.touch('pods', 'a');
});
stored('probe of many headers', async (world) => {
  const httpHeaders = fitting(small, (i) => ({ name: `H${i}`, value: 'v' }));
  const readinessProbe = { httpGet: { port: 80, path: '/', httpHeaders } };
  await world.store('pods', 'a', pod({ app: 'x' }, inContainer({ image: 'nginx', readinessProbe })));
  return world.touch('pods', 'a');
});
stored('probe of a long path', async (world) => {
  const readinessProbe = { httpGet: { port: 80, path: `/${filled('../a/', small)}` } };
  await world.store('pods', 'a', pod({ app: 'x' }, inContainer({ image: 'nginx', readinessProbe })));
  return world.touch('pods', 'a');
});
stored('50 pods with probes of their own', async (world) => {
  const readinessProbe = { exec: { command: sh('cat /tmp/ready') }, periodSeconds: 1 };
  const command = sh('for i in $(seq 1 500); do echo $i > /tmp/f$i; done; sleep 5; touch /tmp/ready; sleep infinity');
  await world.storeAll('pods', 50, () => pod({ app: 'x' }, inContainer({ image: 'busybox', command, readinessProbe })));
  await sleep(6_000);
  return world.touch('pods', 'o1');
});
stored('pod whose simulation is told in many annotations', async (world) => {
  const annotations = mapOf(
    4_000,
    (i) => `simulation.kubernetes.io/exit-code.c${i}`,
    () => '3',
  );
  const containers = fitting(STORED * 0.1, (i) => container({ name: `c${i}` }));
  await world.store('pods', 'a', { metadata: { labels: { app: 'x' }, annotations }, spec: podSpec({ containers }) });
  return world.touch('pods', 'a');
});
stored('pod with a long log of its own', async (world) => {
  const annotations = { 'simulation.kubernetes.io/logs': filled('a\n', 250_000) };
  await world.store('pods', 'a', { metadata: { labels: { app: 'x' }, annotations }, spec: podSpec() });
  await sleep(500);
  return times(20, () => ({ path: `${world.path('pods', 'a')}/log?tailLines=100000&timestamps=true` }));
});
const loud = sh('while true; do for i in $(seq 1 100); do seq 1 90; done; sleep 0.01; done');
for (const [name, query] of Object.entries({
  all: 'limitBytes=100000000',
  'a huge tail': 'tailLines=2000000000&timestamps=true',
  since: 'sinceSeconds=1000000',
}))
  stored(`logs of a loud command, ${name}, 20 at once`, async (world) => {
    await world.store('pods', 'a', pod({ app: 'x' }, inContainer({ image: 'busybox', command: loud })));
    await sleep(3_000);
    return times(20, () => ({ path: `${world.path('pods', 'a')}/log?${query}` }));
  });

// ---- exec, attach, port-forward -------------------------------------------------------------------------------------

const execPath = (world, command, more = '') =>
  `${world.path('pods', 'a')}/exec?stdout=1&stderr=1${more}&${command.map((word) => `command=${encodeURIComponent(word)}`).join('&')}`;
const quietPod = async (world) => {
  await world.store('pods', 'a', pod({ app: 'x' }, inContainer({ image: 'busybox', command: sh('sleep infinity') })));
  await sleep(1_000);
};
const executed = { statuses: [101, 400, 413, 414, 431] };
const onStdin = (text) => Buffer.concat([Buffer.from([0]), Buffer.from(text)]);
for (const [name, script] of Object.entries(scripts))
  stored(
    `exec of ${name}`,
    async (world) => {
      await quietPod(world);
      // A URL holds so much.
      const command = encodeURIComponent(script).length < 6_000 ? sh(script) : ['sh'];
      const input = command.length === 1 ? [onStdin(`${script}\n`), onStdin('exit\n')] : [];
      return times(3, () => ({ path: execPath(world, command, '&stdin=1'), input, seconds: 3 }));
    },
    executed,
  );
for (const [name, input] of Object.entries({
  'empty lines': [onStdin('\n'.repeat(900_000))],
  'short commands': [onStdin('a=1\n'.repeat(200_000))],
  'a line without an end': times(40, () => onStdin('a'.repeat(60_000))),
  'many small messages': times(20_000, () => onStdin('a=1\n')),
}))
  stored(
    `exec of a shell with ${name}`,
    async (world) => {
      await quietPod(world);
      return { path: execPath(world, ['sh'], '&stdin=1'), input, seconds: 8 };
    },
    executed,
  );
stored(
  'exec of a program that reads much',
  async (world) => {
    await quietPod(world);
    const input = times(60, () => onStdin('abc def\n'.repeat(20_000)));
    return ['cat', 'wc', 'tar xf -', 'grep a', 'dd of=/tmp/a', 'head', 'tee /tmp/b', 'tail'].map((command) => ({
      path: execPath(world, command.split(' '), '&stdin=1'),
      input,
      seconds: 8,
    }));
  },
  executed,
);
stored(
  'exec of a terminal that types much',
  async (world) => {
    await quietPod(world);
    const input = times(60, () => onStdin('echo abc def\r'.repeat(20_000)));
    return { path: execPath(world, ['sh'], '&stdin=1&tty=1'), input, seconds: 8 };
  },
  executed,
);
stored(
  '50 execs of a loop at once',
  async (world) => {
    await quietPod(world);
    return times(50, () => ({ path: execPath(world, sh('for i in $(seq 1 2000); do a=$i; done')), input: [], seconds: 8 }));
  },
  executed,
);
stored(
  '50 execs in a pod of many environment variables',
  async (world) => {
    const env = times(9_000, (i) => ({ name: `N${i}`, value: `$(N${i - 1})v`.slice(0, 12) }));
    await world.store('pods', 'a', pod({ app: 'x' }, inContainer({ image: 'busybox', env, command: sh('sleep infinity') })));
    await sleep(1_000);
    return times(50, () => ({ path: execPath(world, ['env']), input: [], seconds: 8 }));
  },
  executed,
);
stored(
  '50 attaches to a loud command',
  async (world) => {
    await world.store('pods', 'a', pod({ app: 'x' }, inContainer({ image: 'busybox', command: loud })));
    await sleep(1_000);
    return times(50, () => ({ path: `${world.path('pods', 'a')}/attach?stdout=1&stderr=1`, input: [], seconds: 3 }));
  },
  executed,
);
stored(
  'port-forward of many ports',
  async (world) => {
    await quietPod(world);
    return times(20, () => ({
      path: `${world.path('pods', 'a')}/portforward?${times(100, (i) => `ports=${i + 1}`).join('&')}`,
      input: times(200, (i) => Buffer.concat([Buffer.from([(i * 2) & 255]), Buffer.alloc(10_000, 120)])),
      seconds: 3,
    }));
  },
  executed,
);
stored('ephemeral containers, many', async (world) => {
  await quietPod(world);
  const ephemeralContainers = fitting(STORED * 0.3, (i) => ({ name: `e${i}`, image: 'busybox', command: sh('sleep 1') }));
  const path = `${world.path('pods', 'a')}/ephemeralcontainers`;
  return { method: 'PATCH', path, headers: mergePatch, body: bytes({ spec: { ephemeralContainers } }) };
});

// ---- tokens ---------------------------------------------------------------------------------------------------------

const tokenOf = (world, spec = {}) => ({
  method: 'POST',
  path: `${world.path('serviceaccounts', 'default')}/token`,
  headers: asJson,
  body: bytes({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }),
});
stored('50 tokens at once', (world) => Promise.resolve(times(50, () => tokenOf(world))));
const variables = times(9_000, (i) => ({ name: `N${i}`, value: 'v' }));
const manyVariables = () => inContainer({ env: variables });
for (const kind of ['Pod', 'Secret'])
  stored(`50 requests with a token of a large ${kind}`, async (world) => {
    if (kind === 'Pod') await world.store('pods', 'a', pod({ app: 'x' }, manyVariables()));
    else
      await world.store('secrets', 'a', {
        data: mapOf(
          15_000,
          (i) => `k${i}`,
          () => 'eA==',
        ),
      });
    const boundObjectRef = { apiVersion: 'v1', kind, name: 'a' };
    const { body } = await send(world.server, { ...tokenOf(world, { boundObjectRef }), keep: true });
    const headers = { authorization: `Bearer ${JSON.parse(body).status.token}` };
    return times(50, () => ({ path: world.path('configmaps'), headers }));
  });
stored('1,000 secrets of tokens', async (world) => {
  const annotations = { 'kubernetes.io/service-account.name': 'default' };
  await world.storeAll('secrets', 1_000, () => ({ metadata: { annotations }, type: 'kubernetes.io/service-account-token' }));
  return world.remove('serviceaccounts', 'default');
});

// ---- lists and watches ----------------------------------------------------------------------------------------------

const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
const forms = { JSON: {}, Tables: table, binary: { accept: 'application/vnd.kubernetes.protobuf' } };
for (const [name, headers] of Object.entries(forms))
  for (const [which, selector] of Object.entries({
    all: '',
    'by many requirements': `&labelSelector=${times(400, (i) => `k${i}!%3Dv`).join(',')}`,
  }))
    stored(`50 watches of large config maps as ${name}, ${which}`, async (world) => {
      const data = mapOf(
        9_000,
        (i) => `k${i}`,
        () => 'v'.repeat(10),
      );
      for (const i of times(4, (n) => n)) await world.store('configmaps', `a${i}`, { data });
      const path = `${world.path('configmaps')}?watch=1&timeoutSeconds=3&allowWatchBookmarks=true${selector}`;
      setTimeout(() => times(4, (i) => send(world.server, world.touch('configmaps', `a${i}`)).catch(() => {})), 1_000);
      return times(50, () => ({ path, headers }));
    });
stored('50 watches from long ago', async (world) => {
  const { body } = await send(world.server, { path: world.path('configmaps'), keep: true });
  await world.storeAll('configmaps', 3_000, (i) => ({ metadata: { labels: { n: `${i}` } }, data: { a: 'x'.repeat(500) } }));
  const from = JSON.parse(body).metadata.resourceVersion;
  const path = `${world.path('configmaps')}?watch=1&timeoutSeconds=2&resourceVersion=${from}&labelSelector=n%3D1`;
  return times(50, () => ({ path, headers: table }));
});
stored('100 lists of one object of 3,000, by every way to choose', async (world) => {
  await world.storeAll('configmaps', 3_000, (i) => ({ metadata: { labels: { n: `${i}` } } }));
  const queries = [
    'limit=1',
    'limit=1&labelSelector=n%3D2999',
    'limit=1&fieldSelector=metadata.name%3Dnone',
    'limit=1&labelSelector=n!%3D1,n!%3D2',
  ];
  return times(100, (i) => ({ path: `${world.path('configmaps')}?${queries[i % 4]}`, headers: i % 8 < 4 ? {} : table }));
});
stored('pages of one object, 100 clients', async (world) => {
  await world.storeAll('configmaps', 500, () => ({}));
  const { body } = await send(world.server, { path: `${world.path('configmaps')}?limit=250`, keep: true });
  const from = encodeURIComponent(JSON.parse(body).metadata.continue);
  await world.store('configmaps', 'later', {});
  return times(100, () => ({ path: `${world.path('configmaps')}?limit=1&continue=${from}` }));
});
stored('removal of 1,000 pods that finalizers keep', async (world) => {
  await world.storeAll('pods', 1_000, () => ({
    metadata: { labels: { app: 'x' }, finalizers: ['example.com/a'] },
    spec: podSpec({ nodeSelector: { none: 'x' } }),
  }));
  return { method: 'DELETE', path: `${world.path('pods')}?gracePeriodSeconds=0` };
});
stored('removal of 300 running pods', async (world) => {
  await world.storeAll('pods', 300, () => pod());
  await sleep(3_000);
  return { method: 'DELETE', path: world.path('pods') };
});
stored('2,000 events about one pod', async (world) => {
  await world.store('pods', 'a', pod());
  await world.storeAll('events', 2_000, (i) => ({
    involvedObject: { kind: 'Pod', name: 'a', namespace: world.ns },
    reason: `R${i}`,
    message: 'm'.repeat(900),
    type: 'Normal',
  }));
  return times(20, () => ({ path: `${world.path('events')}?fieldSelector=involvedObject.name%3Da,reason!%3DR1`, headers: table }));
});

// ---- owners ---------------------------------------------------------------------------------------------------------

const ownedBy = (name, uid, more = {}) => ({
  metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, ...more }] },
});
const uidOf = async (world, plural, name) =>
  JSON.parse((await send(world.server, { path: world.path(plural, name), keep: true })).body).metadata.uid;
for (const propagation of ['Foreground', 'Background', 'Orphan'])
  stored(`chain of 300 owners, removed with ${propagation}`, async (world) => {
    await world.store('configmaps', 'a0', {});
    for (let i = 1; i < 300; i++)
      await world.store(
        'configmaps',
        `a${i}`,
        ownedBy(`a${i - 1}`, await uidOf(world, 'configmaps', `a${i - 1}`), { blockOwnerDeletion: true }),
      );
    return { method: 'DELETE', path: `${world.path('configmaps', 'a0')}?propagationPolicy=${propagation}` };
  });
stored('owner of 3,000 objects of many owners', async (world) => {
  for (const i of times(20, (n) => n)) await world.store('configmaps', `a${i}`, {});
  const owners = [];
  for (const i of times(20, (n) => n))
    owners.push({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: `a${i}`,
      uid: await uidOf(world, 'configmaps', `a${i}`),
      blockOwnerDeletion: true,
    });
  await world.storeAll('secrets', 3_000, () => ({ metadata: { ownerReferences: owners, finalizers: ['example.com/never'] } }));
  return times(20, (i) => ({ method: 'DELETE', path: `${world.path('configmaps', `a${i}`)}?propagationPolicy=Foreground` }));
});

// ---- many pods ------------------------------------------------------------------------------------------------------

for (const [name, labelSelector] of Object.entries({
  labels: (i, n) => ({ matchLabels: { app: `y${i}-${n}` } }),
  'other values': (i, n) => ({ matchExpressions: [{ key: 'app', operator: 'NotIn', values: [`y${i}-${n}`] }] }),
}))
  stored(`1,000 pods of 200 terms of affinity each, by ${name}`, async (world) => {
    const term = (i, n) => ({ weight: 1, podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: labelSelector(i, n) } });
    await world.storeAll('pods', 1_000, (i) =>
      pod(
        { app: 'x' },
        { affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: times(200, (n) => term(i, n)) } } },
      ),
    );
    return world.create('pods', 'new', pod({ app: 'y1-1' }));
  });
stored('300 pods of 200 terms of affinity each, with labels of their own', async (world) => {
  const selector = (i, n) => ({ matchExpressions: [{ key: 'app', operator: 'NotIn', values: [`y${i}-${n}`] }] });
  const term = (i, n) => ({ weight: 1, podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: selector(i, n) } });
  const affinity = (i) => ({ podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: times(200, (n) => term(i, n)) } });
  await world.storeAll('pods', 300, (i) => pod({ app: `x${i}` }, { affinity: affinity(i) }));
  return world.create('pods', 'new', pod({ app: 'y1-1' }));
});
stored('300 pods that wait for others by 200 terms each', async (world) => {
  const term = (i, n) => ({ topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: `y${i}-${n}` } } });
  const affinity = (i) => ({ podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: times(200, (n) => term(i, n)) } });
  await world.storeAll('pods', 300, (i) => pod({ app: `x${i}` }, { affinity: affinity(i) }));
  return world.create('pods', 'new', pod({ app: 'y1-1' }));
});
stored('200 pods of 256 KiB of annotations', async (world) => {
  const annotations = { a: 'x'.repeat(250_000) };
  await world.store('services', 'a', { spec: { selector: { app: 'x' }, ports: [{ port: 80 }] } });
  await world.storeAll('pods', 200, () => ({ metadata: { labels: { app: 'x' }, annotations }, spec: podSpec() }));
  return times(20, (i) => world.touch('pods', `o${i}`, { metadata: { labels: { touched: 'yes' } } }));
});
stored('preemption among 330 pods and 50 budgets', async (world) => {
  await world.storeAll('poddisruptionbudgets', 50, (i) => ({
    spec: { minAvailable: 1, selector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: [`v${i}`] }] } },
  }));
  await world.storeAll('pods', 340, () => pod());
  await sleep(3_000);
  return times(10, (i) => world.create('pods', `critical${i}`, pod({ app: 'y' }, { priorityClassName: 'system-cluster-critical' })));
});
for (const plural of ['statefulsets', 'daemonsets', 'deployments'])
  stored(`${plural} of a large template, 12 revisions`, async (world) => {
    const large = template({
      ...inContainer({ env: times(9_000, (i) => ({ name: `N${i}`, value: 'v' })) }),
      nodeSelector: { none: 'none' },
    });
    await world.store(plural, 'a', {
      spec: {
        ...(plural !== 'daemonsets' && { replicas: 1 }),
        selector: selecting,
        template: large,
        ...(plural === 'statefulsets' && { serviceName: 's' }),
      },
    });
    for (const i of times(12, (n) => n)) {
      const patch = { spec: { template: { metadata: { annotations: { n: `${i}` } } } } };
      await must(world.server, 'PATCH', world.path(plural, 'a'), patch, mergePatch);
      await sleep(300);
    }
    return world.touch(plural, 'a');
  });
stored('150 services of load balancers', async (world) => {
  await world.storeAll('services', 150, () => ({ spec: { type: 'LoadBalancer', selector: { app: 'x' }, ports: [{ port: 80 }] } }));
  return world.touch('services', 'o1', { spec: { type: 'ClusterIP' } });
});
stored('service of hints and 320 pods', async (world) => {
  const annotations = { 'service.kubernetes.io/topology-aware-hints': 'Auto' };
  await world.store('services', 'a', { metadata: { annotations }, spec: { selector: { app: 'x' }, ports: [{ port: 80 }] } });
  await world.storeAll('pods', 320, () => pod());
  return world.touch('pods', 'o1', { metadata: { labels: { touched: 'yes' } } });
});
stored('500 claims and a pod of 100 ephemeral ones', async (world) => {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  await world.storeAll('persistentvolumeclaims', 500, () => ({ spec }));
  const volumes = times(100, (i) => ({ name: `v${i}`, ephemeral: { volumeClaimTemplate: { spec } } }));
  return world.create('pods', 'a', pod({ app: 'x' }, { volumes }));
});
stored('1,000 cron jobs of every minute', async (world) => {
  const jobTemplate = { spec: { suspend: true, template: { spec: { ...podSpec(), restartPolicy: 'Never' } } } };
  await world.storeAll('cronjobs', 1_000, () => ({ spec: { schedule: '* * * * *', jobTemplate } }));
  await sleep(61_000 - (Date.now() % 60_000));
  return world.touch('cronjobs', 'o1');
});
stored('job of 300 pods that fail', async (world) => {
  const spec = {
    parallelism: 100,
    completions: 300,
    backoffLimit: 1_000,
    template: { spec: { ...podSpec(inContainer({ image: 'busybox', command: sh('exit 1') })), restartPolicy: 'Never' } },
  };
  await world.store('jobs', 'a', { spec });
  await sleep(5_000);
  return world.remove('jobs', 'a');
});
stored(
  '50 requests to a pod by its proxy',
  async (world) => {
    await world.store('pods', 'a', pod({ app: 'x' }, inContainer({ image: 'nginx', env: variables })));
    await sleep(1_500);
    return times(50, () => ({ path: `${world.path('pods', 'a')}/proxy/` }));
  },
  { statuses: [200, 400, 503] },
);
stored(
  'apply of containers with many ports and variables',
  async (world) => {
    const applied = (value) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'a' },
      spec: {
        replicas: 0,
        selector: selecting,
        template: template({
          containers: times(20, (i) =>
            container({
              name: `c${i}`,
              ports: times(80, (n) => ({ containerPort: n + 1, protocol: n % 2 ? 'TCP' : 'UDP' })),
              env: times(80, (n) => ({ name: `E${n}`, value })),
            }),
          ),
        }),
      },
    });
    const path = (manager) => `${world.path('deployments', 'a')}?fieldManager=${manager}&force=true`;
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    for (const i of times(5, (n) => n)) await must(world.server, 'PATCH', path(`m${i}`), applied(`v${i}`), headers);
    return times(5, (i) => ({ method: 'PATCH', path: path(`m${i}`), headers, body: bytes(applied('w')) }));
  },
  { statuses: [200, 409] },
);
