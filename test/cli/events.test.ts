import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Plat, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

describe.each(['plat', 'kubernetes'])('events with identity %s', (identity) => {
  let server: TestServer;
  let plat: Plat;
  let ns: string;
  const minutesAgo = (minutes: number): string => `${new Date(Date.now() - minutes * 60_000).toISOString().slice(0, 19)}Z`;
  const event = (name: string, more: object): Promise<unknown> =>
    server.admin.ok('POST', `/api/v1/namespaces/${ns}/events`, {
      metadata: { name },
      involvedObject: { kind: 'Pod', name: 'web', namespace: ns, apiVersion: 'v1' },
      type: 'Normal',
      reason: 'Happened',
      message: `${name} happened`,
      firstTimestamp: minutesAgo(30),
      lastTimestamp: minutesAgo(20),
      ...more,
    });
  beforeAll(async () => {
    server = await startTestServer({ identity, controllers: [] });
    plat = platFor(server);
    ns = await server.namespace();
    await event('new', { lastTimestamp: minutesAgo(11), count: 7 });
    await event('old', { type: 'Warning' });
    await event('other', { involvedObject: { kind: 'Deployment', name: 'web', namespace: ns, apiVersion: 'apps/v1' } });
  });
  afterAll(() => server.close());

  test('the newest last, with how often', async () => {
    const lines = (await plat.ok(['events', '-n', ns])).split('\n');
    expect(lines[0]).toMatch(/^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE$/);
    expect(lines[1]).toMatch(/^20m +Warning +Happened +Pod\/web +old happened$/);
    expect(lines[3]).toMatch(/^11m \(x7 over 30m\) +Normal +Happened +Pod\/web +new happened$/);
    expect((await plat.ok(['events', '-A', '--no-headers'])).split('\n')[0]).toMatch(new RegExp(`^${ns} `));
  });

  test('of one object, of one type', async () => {
    const names = async (...args: string[]) =>
      (await plat.ok(['events', '-n', ns, '-o', 'name', ...args])).split('\n').filter(Boolean).sort();
    expect(await names('--for', 'pod/web')).toEqual(['event/new', 'event/old']);
    expect(await names('--for', 'deploy/web')).toEqual(['event/other']);
    expect(await names('--types', 'Warning')).toEqual(['event/old']);
    expect(await names('--types', 'Warning,Normal')).toHaveLength(3);
    expect((await plat.json(['events', '-n', ns])).items).toHaveLength(3);
    expect(await plat.run(['events', '-n', ns, '--for', 'pod/none'])).toEqual({
      code: 0,
      stdout: '',
      stderr: `No events of pod/none found in namespace ${ns}.\n`,
    });
  });

  test('as they happen', async () => {
    const { io, code } = plat.start(['events', '-n', ns, '-w']);
    await io.said('new happened');
    await event('late', {});
    await io.said('late happened');
    io.send('SIGINT');
    expect(await code).toBe(130);
  });

  test('mistakes', async () => {
    expect(await plat.run(['events', 'web'])).toMatchObject({ code: 2 });
    expect(await plat.run(['events', '--for', 'web'])).toMatchObject({ code: 2 });
    expect((await plat.run(['events', '--types', 'warning'])).stderr).toContain('(did you mean Warning?)');
  });
});
