// More cases of bench/worst.mjs that store objects and touch them: what a user with the role `edit` in one namespace can do with
// commands, probes, watches, pages, applies, owners and many pods.
import { sleep } from './worst-server.mjs';
import { mapOf, times } from './worst-shapes.mjs';
import { bytes, container, fitting, inContainer, mergePatch, pod, podSpec, STORED, stored } from './worst-stored.mjs';

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
