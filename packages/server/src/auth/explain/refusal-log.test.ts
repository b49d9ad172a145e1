import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { Attributes } from '../types.ts';
import { MOST_BYTES, MOST_REFUSALS, MOST_USERS, RefusalLog } from './refusal-log.ts';

const attributes = (user: string, name = 'a'): Attributes => ({
  user: { name: user, groups: [] },
  verb: 'get',
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  name,
  namespace: 'team',
  path: '',
  resourceRequest: true,
});

test('of one user the newest refusals are kept, newest first, and one is found by its audit id', () => {
  const log = new RefusalLog();
  for (let i = 0; i < MOST_REFUSALS + 5; i++) log.note({ auditID: `id-${i}`, time: i, attributes: attributes('alice') });
  const ids = log.of('alice').map(({ auditID }) => auditID);
  expect([ids.length, ids[0], ids.at(-1)]).toEqual([MOST_REFUSALS, `id-${MOST_REFUSALS + 4}`, 'id-5']);
  expect(log.of('alice', 'id-7').map(({ time }) => time)).toEqual([7]);
  expect(log.of('alice', 'id-1')).toEqual([]);
  expect(log.of('bob')).toEqual([]);
});

test('beyond the number of users, the one whose last refusal is oldest is forgotten', () => {
  const log = new RefusalLog();
  for (let i = 0; i < MOST_USERS; i++) log.note({ auditID: '', time: i, attributes: attributes(`user-${i}`) });
  log.note({ auditID: '', time: 0, attributes: attributes('user-0') });
  log.note({ auditID: '', time: 0, attributes: attributes('one-more') });
  expect([log.of('user-0').length, log.of('user-1').length, log.of('one-more').length]).toEqual([2, 0, 1]);
});

test('bytes are bounded, and a request with endless names is not kept', () => {
  const log = new RefusalLog();
  const name = 'x'.repeat(3000);
  for (let i = 0; i < 500; i++) log.note({ auditID: '', time: i, attributes: attributes(`user-${i}`, name) });
  const users = Array.from({ length: 500 }, (_, i) => log.of(`user-${i}`)).filter((refusals) => refusals.length > 0);
  expect(users.length * name.length).toBeLessThanOrEqual(MOST_BYTES);
  expect(users.length).toBeGreaterThan(200);
  log.note({ auditID: '', time: 0, attributes: attributes('alice', 'x'.repeat(5000)) });
  expect(log.of('alice')).toEqual([]);
});

test('what is kept of a request holds no more of it in memory: neither its headers nor the groups of its user', () => {
  const log = new RefusalLog();
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const heldBytes = (): number => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const note = (i: number): void => {
    // Parts of a long text, as the path of a request and the names in it are.
    const head = `/api/v1/namespaces/team-with-a-long-name-${i}/pods/web-with-a-long-name-${i}?${'x'.repeat(60_000)}`;
    const [path = ''] = head.split('?');
    const [, , , , namespace = '', , name = ''] = path.split('/');
    const groups = Array.from({ length: 2000 }, (_, at) => `group-${i}-${at}`);
    log.note({
      auditID: '',
      time: i,
      attributes: { ...attributes(`user-${i % 500}`), user: { name: `user-${i % 500}`, groups }, path, namespace, name },
    });
  };
  const before = heldBytes();
  for (let i = 0; i < 1000; i++) note(i);
  expect(log.of('user-7')).toHaveLength(2);
  expect((heldBytes() - before) / MOST_BYTES).toBeLessThan(8);
});

test('strangers have no memory in common', () => {
  const log = new RefusalLog();
  log.note({ auditID: '', time: 0, attributes: attributes('system:anonymous') });
  expect(log.of('system:anonymous')).toEqual([]);
});
