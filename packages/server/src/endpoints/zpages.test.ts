import type { ApiRelease } from '@plat-dev/lib/version';
import { ApiError } from '@plat-dev/meta/errors';
import { expect, test } from 'vitest';
import { ask, testServices } from './testing.ts';
import { zpages } from './zpages.ts';

async function setup(release: ApiRelease = '1.36', gates: readonly string[] = ['ComponentStatusz', 'ComponentFlagz']) {
  const { services } = await testServices(undefined, (name) => gates.includes(name), release);
  const pages = zpages(services, {
    release,
    startedAt: Date.parse('2026-06-01T00:00:00Z'),
    now: () => Date.parse('2026-06-01T01:02:03Z'),
    flags: () => ({ 'authorization-mode': '[Node,RBAC]' }),
    paths: () => ['/healthz', '/statusz'],
  });
  const get = async (path: string, accept?: string) => {
    try {
      const page = pages.get(path);
      if (page === undefined) return [404, '', ''] as const;
      const { status, headers, text } = await ask(page, path, accept === undefined ? {} : { accept });
      return [status, headers['content-type'], text] as const;
    } catch (error) {
      return error instanceof ApiError ? ([error.code, '', error.message] as const) : Promise.reject(error);
    }
  };
  return get;
}
const form = (kind: string, v = 'v1beta1', media = 'application/json') => `${media};v=${v};g=config.k8s.io;as=${kind}`;

test('text for people', async () => {
  const get = await setup();
  for (const accept of [undefined, '*/*', 'text/plain']) {
    const [status, type, text] = await get('/statusz', accept);
    expect([status, type]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(text).toMatch(/^\napiserver statusz\nWarning: .*\n\nStarted: 2026-06-01T00:00:00Z\nUp: 1 hr 2 min 3 sec\n/);
  }
  expect((await get('/flagz'))[2]).toMatch(/^\napiserver flagz\nWarning: .*\n\nauthorization-mode=\[Node,RBAC\]\n$/);
});

test('kinds for programs', async () => {
  const get = await setup();
  const [status, type, text] = await get('/statusz', form('Statusz'));
  expect([status, type]).toEqual([200, 'application/json;g=config.k8s.io;v=v1beta1;as=Statusz']);
  expect(JSON.parse(text)).toMatchObject({
    kind: 'Statusz',
    apiVersion: 'config.k8s.io/v1beta1',
    metadata: { name: 'apiserver' },
    startTime: '2026-06-01T00:00:00Z',
    uptimeSeconds: 3723,
    emulationVersion: '1.36',
    paths: ['/healthz', '/statusz'],
  });
  expect(JSON.parse((await get('/flagz', form('Flagz')))[2]).flags).toEqual({ 'authorization-mode': '[Node,RBAC]' });
  expect((await get('/flagz', form('Flagz', 'v1beta1', 'application/yaml')))[2]).toContain('kind: Flagz');
});

test('other forms are refused with those that there are', async () => {
  const message = 'only the following media types are accepted: application/json, application/yaml, text/plain';
  const get = await setup();
  for (const accept of ['application/json', form('Flagz'), form('Statusz', 'v1'), 'text/html'])
    expect((await get('/statusz', accept)).slice(0, 3)).toEqual([406, '', message]);
});

test.each<[ApiRelease, string[], number, number]>([
  ['1.24', [], 404, 404],
  ['1.32', ['ComponentStatusz'], 200, 406],
  ['1.35', ['ComponentStatusz'], 200, 406],
  ['1.36', ['ComponentStatusz'], 200, 200],
])('release %s with gates %o', async (release, gates, text, kind) => {
  const get = await setup(release, gates);
  expect([(await get('/statusz'))[0], (await get('/statusz', form('Statusz')))[0], (await get('/flagz'))[0]]).toEqual([
    text,
    gates.length === 0 ? 404 : kind,
    404,
  ]);
});
