/** Two programs that apply the same objects at the same time: neither fails, and every object is as one of them wanted it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { platFor } from '../support/plat.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes' });
});
afterAll(() => server.close());

const names = ['a', 'b', 'c', 'd'];
const objects = (value: string) => ({
  apiVersion: 'v1',
  kind: 'List',
  items: names.map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { x: value, y: value } })),
});

test.each([
  ['plat', []],
  ['plat', ['--server-side=false']],
  ['kubectl', []],
  ['kubectl', ['--server-side']],
] as const)('%s apply %j', async (program, flags) => {
  const ns = await server.namespace();
  const values = ['1', '2', '3', '4'];
  // The first round creates, the second one changes.
  for (let round = 0; round < 2; round++) {
    const runs = values.map((value) =>
      platFor(server, {}, undefined, program).run(['apply', '-n', ns, '-f', '-', ...flags], objects(`${round}-${value}`)),
    );
    for (const { code, stderr, stdout } of await Promise.all(runs)) expect({ code, stdout }, stderr).toMatchObject({ code: 0 });
    const { items } = await server.admin.ok('GET', `/api/v1/namespaces/${ns}/configmaps`);
    const made = (items as { metadata: { name: string }; data: { x: string; y: string } }[]).filter(({ metadata }) =>
      names.includes(metadata.name),
    );
    expect(made).toHaveLength(names.length);
    for (const { data } of made) {
      expect(data.y).toBe(data.x);
      expect(values.map((value) => `${round}-${value}`)).toContain(data.x);
    }
  }
});
