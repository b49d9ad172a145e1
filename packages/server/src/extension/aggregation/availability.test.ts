import type { APIService } from '@plat-dev/kinds/apiregistration/schema/v1';
import type { Endpoints, Service } from '@plat-dev/kinds/core/schema/service';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { FakeStore } from '@plat-dev/kinds/live-view.testing';
import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { Availability } from './availability.ts';
import type { Backends } from './backends.ts';

const NAME = 'v1.g';

/** One APIService, and the server behind it, which answers what a test says. */
function setup() {
  const store = new FakeStore();
  const clock = new FakeClock();
  const server = {
    asked: 0,
    status: async (): Promise<number> => 200,
    address: () => ({ host: '10.0.0.1', port: 443 }),
    get: async () => {
      server.asked++;
      return { status: await server.status(), body: Buffer.alloc(0) };
    },
  };
  const service = { namespace: 'n', name: 's', port: 443 };
  const put = (spec: object) => {
    const old = store.view('apiregistration', 'apiservices').get('', NAME) as APIService | undefined;
    const metadata = { name: NAME, uid: 'u' };
    store.put('apiregistration', 'apiservices', {
      metadata,
      spec: { group: 'g', version: 'v1', ...spec },
      status: old?.status ?? {},
    } as never);
  };
  const current = () => store.view('apiregistration', 'apiservices').get('', NAME) as APIService;
  let serviceChanged: (key: string) => void = () => {};
  const errors: unknown[] = [];
  const availability = new Availability({
    apiServices: store.live<APIService>('apiregistration', 'apiservices'),
    services: store.live<Service>('', 'services'),
    endpoints: store.live<Endpoints>('', 'endpoints'),
    backends: { isRemote: ({ spec }: APIService) => spec.service !== undefined, find: () => ({ server }) } as unknown as Backends,
    onServiceChange: (listener) => {
      serviceChanged = listener;
      return () => {};
    },
    changeStatus: async (_name, change) => {
      const object = structuredClone(current());
      change(object as ApiObject);
      store.put('apiregistration', 'apiservices', object as ApiObject);
    },
    clock,
    observed: () => {},
    report: (error) => errors.push(error),
  });
  store.put('', 'services', { metadata: { namespace: 'n', name: 's' }, spec: { type: 'ExternalName' } } as never);
  put({ service });
  const condition = () => current().status.conditions?.[0];
  return { store, clock, server, availability, put, service, condition, errors, serviceChanged: (key: string) => serviceChanged(key) };
}

test('a server that went away without a sign is noticed within half a minute', async () => {
  const { clock, server, availability, condition } = setup();
  availability.start();
  await clock.advance(0);
  expect(condition()).toMatchObject({ status: 'True', reason: 'Passed' });
  expect(server.asked).toBe(1);
  server.status = async () => 503;
  await clock.advance(29_000);
  expect(condition()?.status).toBe('True');
  await clock.advance(1000);
  expect(condition()).toMatchObject({ status: 'False', reason: 'FailedDiscoveryCheck' });
});

test('after a failure it is asked again soon, then more and more seldom', async () => {
  const { clock, server, availability, condition } = setup();
  server.status = async () => 500;
  availability.start();
  await clock.advance(0);
  expect(server.asked).toBe(5);
  await clock.advance(50);
  expect(server.asked).toBe(10);
  await clock.advance(100);
  expect(server.asked).toBe(15);
  await clock.advance(10 * 60_000);
  const before = server.asked;
  await clock.advance(60_000);
  expect(server.asked - before).toBeLessThanOrEqual(20);
  server.status = async () => 200;
  await clock.advance(30_000);
  expect(condition()?.status).toBe('True');
});

test('a change of its service has it asked at once; changes of others do not', async () => {
  const { clock, server, availability, serviceChanged } = setup();
  availability.start();
  await clock.advance(0);
  serviceChanged('n/other');
  await clock.advance(0);
  expect(server.asked).toBe(1);
  serviceChanged('n/s');
  await clock.advance(0);
  expect(server.asked).toBe(2);
});

test('the time of a condition is that of its status, not of its reason', async () => {
  const { store, clock, availability, condition, server, serviceChanged } = setup();
  server.status = async () => 500;
  availability.start();
  await clock.advance(0);
  const { lastTransitionTime } = condition() ?? {};
  await clock.advance(5000);
  store.remove('', 'services', 'n', 's');
  serviceChanged('n/s');
  await clock.advance(0);
  expect(condition()).toMatchObject({ status: 'False', reason: 'ServiceNotFound', lastTransitionTime });
});

test('findings about an object that has changed meanwhile are not reported', async () => {
  const { clock, server, availability, put, condition, errors } = setup();
  let answer: (status: number) => void = () => {};
  server.status = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  availability.start();
  await clock.advance(0);
  put({});
  answer(200);
  await clock.advance(0);
  expect(condition()).toMatchObject({ status: 'True', reason: 'Local' });
  expect(server.asked).toBe(1);
  expect(errors).toEqual([]);
});

test('a condition that somebody else writes is put right', async () => {
  const { store, clock, availability, condition, service } = setup();
  availability.start();
  await clock.advance(0);
  const conditions = [{ type: 'Available', status: 'False', reason: 'Mine', lastTransitionTime: '' }];
  const spec = { group: 'g', version: 'v1', service };
  store.put('apiregistration', 'apiservices', { metadata: { name: NAME, uid: 'u' }, spec, status: { conditions } } as never);
  await clock.advance(0);
  expect(condition()).toMatchObject({ status: 'True', reason: 'Passed' });
});
