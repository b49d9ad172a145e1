/** The pod that `plat run` makes, as the stock client makes it. None of these needs a server. */
import { expect, test } from 'vitest';
import { run } from '../index.ts';
import { testIO } from '../testing.ts';

async function line(args: readonly string[]) {
  const io = testIO({ program: 'kubectl' });
  const code = await run(['run', ...args], io);
  return { code, stdout: io.stdout, stderr: io.stderr };
}
async function made(args: readonly string[]) {
  const at = args.indexOf('--');
  const dry = ['--dry-run=client', '-o', 'json'];
  const { code, stdout, stderr } = await line(at === -1 ? [...args, ...dry] : [...args.slice(0, at), ...dry, ...args.slice(at)]);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}
const container = async (...args: string[]) => (await made(['p', '--image=i', ...args])).spec.containers[0];

test('a pod from flags', async () => {
  expect(await made(['p', '--image=nginx', '--port=80', '--env=A=1', '--env=B=', '--annotations=a=b', '-n', 'team'])).toEqual({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'team', labels: { run: 'p' }, annotations: { a: 'b' }, creationTimestamp: null },
    spec: {
      containers: [
        {
          name: 'p',
          image: 'nginx',
          env: [{ name: 'A', value: '1' }, { name: 'B' }],
          ports: [{ containerPort: 80 }],
          resources: {},
        },
      ],
      dnsPolicy: 'ClusterFirst',
      restartPolicy: 'Always',
    },
    status: {},
  });
});

test('arguments, command, labels, policies', async () => {
  expect(await container('--', 'date', '-u')).toMatchObject({ args: ['date', '-u'] });
  expect(await container('date', '--command')).toMatchObject({ command: ['date'] });
  expect(await container('--privileged', '--image-pull-policy=Never')).toMatchObject({
    securityContext: { privileged: true },
    imagePullPolicy: 'Never',
  });
  const pod = await made(['p', '--image=r.example.com:5000/a/b:c', '-l', 'a=b,c=', '--restart=Never']);
  expect(pod.metadata.labels).toEqual({ a: 'b', c: '' });
  expect(pod.spec.restartPolicy).toBe('Never');
});

test('a container with input closes it after the first client, unless it is left open', async () => {
  expect(await container('-i', '--attach=false')).toMatchObject({ stdin: true, stdinOnce: true });
  expect(await container('-i', '-t', '--attach=false', '--leave-stdin-open')).toEqual({
    name: 'p',
    image: 'i',
    stdin: true,
    tty: true,
    resources: {},
  });
});

test('overrides of each type', async () => {
  expect((await made(['p', '--image=i', '--overrides={"spec":{"nodeName":"n"}}'])).spec.nodeName).toBe('n');
  const strategic = '--overrides={"spec":{"containers":[{"name":"p","tty":true},{"name":"q","image":"r"}]}}';
  const { spec } = await made(['p', '--image=i', '--override-type=strategic', strategic]);
  expect(spec.containers.map(({ name, image, tty }: Record<string, unknown>) => [name, image, tty])).toEqual([
    ['p', 'i', true],
    ['q', 'r', undefined],
  ]);
  const json = '--overrides=[{"op":"add","path":"/metadata/labels/x","value":"y"}]';
  expect((await made(['p', '--image=i', '--override-type=json', json])).metadata.labels).toEqual({ run: 'p', x: 'y' });
  await expect(made(['p', '--image=i', '--overrides={'])).rejects.toThrow('--overrides: ');
});

test('--expose makes a service, too, which comes first', async () => {
  const { stdout } = await line(['p', '--image=i', '--port=80', '--expose', '--dry-run=client']);
  expect(stdout).toBe('service/p created (dry run)\npod/p created (dry run)\n');
  const yaml = await line(['p', '--image=i', '--port=80', '--expose', '--dry-run=client', '-o', 'yaml']);
  const [service] = yaml.stdout.split('---\n');
  expect(service).toBe(`apiVersion: v1
kind: Service
metadata:
  creationTimestamp: null
  name: p
spec:
  ports:
  - port: 80
    protocol: TCP
    targetPort: 80
  selector:
    run: p
status:
  loadBalancer: {}
`);
});

test.each([
  [[], 'which name?'],
  [['p'], 'required flag(s) "image" not set'],
  [['p', '--image=A b'], 'invalid reference format'],
  [['p', '--image=i', '-t'], '-t needs -i'],
  [['p', '--image=i', '--expose'], '--expose needs --port'],
  [['p', '--image=i', '--rm'], '--rm needs --attach or -i'],
  [['p', '--image=i', '-i', '--dry-run=client'], '--dry-run excludes --attach and -i'],
  [['p', '--image=i', '--restart=x'], 'is not one of Always, OnFailure, Never'],
  [['p', '--image=i', '--image-pull-policy=x'], 'is not one of Always, IfNotPresent, Never'],
  [['p', '--image=i', '--env=1=2'], 'is not of the form NAME=value'],
  [['p', '--image=i', '--port=x'], '--port: '],
  [['p', '--image=i', '--annotations=x'], 'is not of the form key=value'],
  [['p', '--image=i', '-l', 'x'], 'is not of the form key=value'],
])('run %j is refused', async (args, message) => {
  const { code, stderr } = await line(args);
  expect(stderr).toContain(message);
  expect(code).not.toBe(0);
});
