import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@plat-dev/lib/clock';
import { afterEach, expect, test } from 'vitest';
import { podOf, refusalOf, World } from '../../testing.ts';
import { imagePolicyWebhook } from './image-policy-webhook.ts';

let server: Server;
const asked: { spec: { containers: { image: string }[]; annotations?: object; namespace: string } }[] = [];
afterEach(() => {
  server?.close();
  asked.length = 0;
});

/** A service that answers with what `answer` makes of the question. */
async function start(answer: (images: string[]) => object | number, settings: object = {}) {
  server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', () => {
      const review = JSON.parse(Buffer.concat(chunks).toString());
      asked.push(review);
      const status = answer(review.spec.containers.map(({ image }: { image: string }) => image));
      if (typeof status === 'number') res.writeHead(status).end();
      else res.end(JSON.stringify({ ...review, status }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const world = new World();
  const remote = { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
  const env = {
    ...world.env,
    remoteOf: async () => remote,
    clock: { ...systemClock, monotonic: () => world.clock.monotonic(), sleep: async () => {} },
  };
  const configuration = { value: { imagePolicy: { kubeConfigFile: 'x', ...settings } }, directory: '/' };
  const plugin = await imagePolicyWebhook(env as never, configuration);
  return {
    world,
    plugin,
    pod: (image: string, metadata: object = {}) =>
      refusalOf(plugin, world.request('pods', podOf({ containers: [{ name: 'c', image }] }, metadata))),
  };
}

test('the service is asked about images, with the annotations that are for it, and its word counts', async () => {
  const { pod, world } = await start((images) =>
    images.includes('bad') ? { allowed: false, reason: 'no such luck' } : { allowed: true, auditAnnotations: { seen: 'yes' } },
  );
  expect(await pod('good', { annotations: { 'x.image-policy.k8s.io/ticket': '5', other: 'y' } })).toBeUndefined();
  expect(asked[0]?.spec).toEqual({
    containers: [{ image: 'good' }],
    annotations: { 'x.image-policy.k8s.io/ticket': '5' },
    namespace: 'ns',
  });
  expect(world.annotations.get('imagepolicywebhook.image-policy.k8s.io/seen')).toBe('yes');
  expect(await pod('bad')).toBe('pods "p" is forbidden: image policy webhook backend denied one or more images: no such luck');
});

test('its word is remembered for a while', async () => {
  const { pod, world } = await start(() => ({ allowed: true }), { allowTTL: 10 });
  await pod('a');
  await pod('a');
  expect(asked).toHaveLength(1);
  await world.clock.advance(11_000);
  await pod('a');
  expect(asked).toHaveLength(2);
});

test('a service that fails is asked again, then the default holds', async () => {
  const closed = await start(() => 500);
  expect(await closed.pod('a')).toMatch(/the webhook answered 500/);
  expect(asked).toHaveLength(5);
  server.close();
  const open = await start(() => 500, { defaultAllow: true });
  expect(await open.pod('a')).toBeUndefined();
  expect(open.world.annotations.get('imagepolicywebhook.image-policy.k8s.io/failed-open')).toBe('true');
});

test('a configuration that makes no sense is refused at start', async () => {
  await expect(start(() => 500, { kubeConfigFile: '' })).rejects.toThrow(/kubeConfigFile is needed/);
  await expect(start(() => 500, { allowTTL: 99_999 })).rejects.toThrow(/allowTTL must be between 1 and 1800/);
});
