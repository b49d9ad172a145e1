/** Which requests are those of browsers, and what the console costs all others. */
import { readFileSync } from 'node:fs';
import type { Incoming, Outgoing } from '@plat-dev/server/exchange';
import { expect, test } from 'vitest';
import { forBrowsers } from './console.ts';

const response = {} as Outgoing;
const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

function wayOf(url: string, headers: Incoming['headers'] = {}, method = 'GET'): string {
  let way = '';
  const handle = forBrowsers(
    () => {
      way = 'api';
    },
    () => {
      way = 'console';
    },
  );
  handle({ url, headers, method, socket: {} } as Incoming, response);
  return way;
}

test('of requests of the API nothing is read but the beginning of the path', () => {
  for (const url of ['/api/v1/pods?watch=true', '/apis/apps/v1/deployments', '/api']) {
    const request = new Proxy({ url } as Incoming, {
      get(target, name) {
        if (name !== 'url') throw new Error(`${String(name)} was read`);
        return target.url;
      },
    });
    let isApi = false;
    forBrowsers(
      (req) => {
        isApi = req === request;
      },
      () => {},
    )(request, response);
    expect(isApi, url).toBe(true);
  }
});
test('the console has its own paths, and / for browsers without credentials', () => {
  for (const url of ['/console', '/console/', '/console?code=1', '/console/session', '/console/api/api/v1/pods'])
    expect(wayOf(url), url).toBe('console');
  for (const url of ['/consoles', '/console.html', '/healthz', '/version', '/', '/?a=/console/']) expect(wayOf(url), url).toBe('api');
  expect([wayOf('/', html), wayOf('/?x=1', html)]).toEqual(['console', 'console']);
  expect([
    wayOf('/', { ...html, authorization: 'Bearer x' }),
    wayOf('/', { accept: 'application/json, text/html' }),
    wayOf('/', html, 'POST'),
    wayOf('/healthz', html),
  ]).toEqual(['api', 'api', 'api', 'api']);
});
test('a start loads nothing of the gateway but what makes the code', () => {
  const text = readFileSync(new URL('console.ts', import.meta.url), 'utf8');
  const loaded = [...text.matchAll(/^import (?!type )[^;]*from '([^']+)'/gm)].map(([, name]) => name);
  expect(loaded.filter((name) => name?.includes('gateway'))).toEqual(['@plat-dev/console-gateway/code']);
  const code = readFileSync(new URL('../../../console-gateway/src/code.ts', import.meta.url), 'utf8');
  expect([...code.matchAll(/^import (?!type )/gm)]).toEqual([]);
});
