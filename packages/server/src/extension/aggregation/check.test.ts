import type { APIService } from '@plat-dev/kinds/apiregistration/schema/v1';
import type { Endpoints, Service } from '@plat-dev/kinds/core/schema/service';
import { FakeStore } from '@plat-dev/kinds/live-view.testing';
import { expect, test } from 'vitest';
import { CallTimeout } from '../../http-client/errors.ts';
import { check } from './check.ts';
import type { RemoteServer } from './remote.ts';

const service = { metadata: { name: 'v1.g' }, spec: { group: 'g', version: 'v1', service: { namespace: 'n', name: 's', port: 443 } } };

/** `answers`: what the server says to one question after the other, a status or an error. */
function setup(type: string | undefined, answers: (number | Error)[] = [200]) {
  const store = new FakeStore();
  const asked: string[] = [];
  const server = {
    address: () => ({ host: 'fd00::1', port: 8443 }),
    get: async (path: string, { name }: { name: string }) => {
      asked.push(`${name} ${path}`);
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (typeof answer === 'number') return { status: answer, body: Buffer.alloc(0) };
      throw new Error(answer?.message, { cause: answer });
    },
  } as unknown as RemoteServer;
  store.put('', 'services', { metadata: { namespace: 'n', name: 's' }, spec: { type, ports: [{ name: 'web', port: 443 }] } } as never);
  const deps = { services: store.live<Service>('', 'services'), endpoints: store.live<Endpoints>('', 'endpoints') };
  return { store, asked, judge: () => check(deps, service as unknown as APIService, { server }) };
}
const endpoints = (subset: object) => ({ metadata: { namespace: 'n', name: 's' }, subsets: [subset] }) as never;
const url = 'https://[fd00::1]:8443/apis/g/v1';

test('a service in the cluster must be there, with the port, and with ready endpoints of that port', async () => {
  const { store, asked, judge } = setup('ClusterIP');
  const reason = async () => (await judge()).reason;
  expect(await reason()).toBe('EndpointsNotFound');
  store.put('', 'endpoints', endpoints({ notReadyAddresses: [{ ip: '10.0.0.1' }], ports: [{ name: 'web', port: 1 }] }));
  expect(await reason()).toBe('MissingEndpoints');
  store.put('', 'endpoints', endpoints({ addresses: [{ ip: '10.0.0.1' }], ports: [{ name: 'other', port: 1 }] }));
  expect(await reason()).toBe('MissingEndpoints');
  expect(asked).toEqual([]);
  store.put('', 'endpoints', endpoints({ addresses: [{ ip: '10.0.0.1' }], ports: [{ name: 'web', port: 1 }] }));
  expect(await judge()).toEqual({ status: 'True', reason: 'Passed', message: 'all checks passed' });
  store.remove('', 'services', 'n', 's');
  expect(await judge()).toEqual({ status: 'False', reason: 'ServiceNotFound', message: 'service/s in "n" is not present' });
});

test('services of other types are asked as they are', async () => {
  const { asked, judge } = setup('ExternalName');
  expect((await judge()).reason).toBe('Passed');
  expect(asked).toEqual(['system:kube-aggregator /apis/g/v1']);
});

test('one good answer of five is enough', async () => {
  const { asked, judge } = setup('ExternalName', [500, 404, 500, 200, 500]);
  expect((await judge()).status).toBe('True');
  expect(asked.length).toBe(5);
});

test('failures are reported', async () => {
  const failure = async (answer: number | Error) => (await setup('ExternalName', [answer]).judge()).message;
  expect(await failure(301)).toBe(`failing or missing response from ${url}: bad status from ${url}: 301`);
  expect(await failure(new Error('no route'))).toBe(`failing or missing response from ${url}: Get "${url}": no route`);
  expect(await failure(new CallTimeout())).toContain('context deadline exceeded');
});
