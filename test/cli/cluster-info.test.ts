import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { domainName } from '../../packages/meta/src/identity.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

describe.each(['plat', 'kubernetes'])('cluster-info with identity %s', (identity) => {
  let server: TestServer;
  let plat: Plat;
  let ns: string;
  beforeAll(async () => {
    server = await startTestServer({ identity, controllers: [] });
    plat = platFor(server);
    ns = await server.namespace();
    const { system } = server.identity.namespaces;
    const labels = { [domainName(server.identity, 'cluster-service')]: 'true', [domainName(server.identity, 'name')]: 'CoreDNS' };
    await server.admin.ok('POST', `/api/v1/namespaces/${system}/services`, {
      metadata: { name: 'dns', labels },
      spec: { ports: [{ name: 'web', port: 53 }] },
    });
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/serviceaccounts`, { metadata: { name: 'default' } });
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/pods`, {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
  });
  afterAll(() => server.close());

  test('where the server and the services of the system are', async () => {
    const { system } = server.identity.namespaces;
    expect(await plat.ok(['cluster-info'])).toBe(
      `The control plane is running at ${server.address}\n` +
        `CoreDNS is running at ${server.address}/api/v1/namespaces/${system}/services/dns:web/proxy\n` +
        "\nTo further debug and diagnose cluster problems, use 'plat cluster-info dump'.\n",
    );
    expect(await plat.run(['cluster-info', 'dmp'])).toMatchObject({ code: 2 });
  });

  test('a dump, as one text or as files; a log that cannot be read is reported there', async () => {
    const text = await plat.ok(['cluster-info', 'dump', '--namespaces', ns]);
    expect(text).toContain('"kind": "PodList"');
    expect(text).toMatch(new RegExp(`START logs for container c of pod ${ns}/p ====\n[^=]*====`));
    expect(await plat.ok(['cluster-info', 'dump', '-A', '-o', 'yaml', '--output-directory', 'out'])).toBe('Cluster info dumped to out\n');
    expect(readFileSync(join(plat.cwd, 'out', ns, 'pods.yaml'), 'utf8')).toContain('kind: PodList');
    expect(existsSync(join(plat.cwd, 'out', ns, 'p', 'logs.txt'))).toBe(true);
    expect(existsSync(join(plat.cwd, 'out', 'nodes.yaml'))).toBe(true);
  });
});
