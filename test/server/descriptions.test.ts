/** Descriptions are loaded with the first OpenAPI document: neither a start nor any other request needs them. */
import { cpSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { clientOf, finished, programDirectory, programMissing, startPlat } from '../support/program.ts';

test.skipIf(programMissing !== undefined)('a server whose descriptions are missing serves everything but the documents', async () => {
  const directory = temporaryDirectory('plat-descriptions');
  cpSync(programDirectory, directory, { recursive: true });
  const chunks = join(directory, 'chunks');
  const name = readdirSync(chunks).find((file) => /^descriptions-.*\.cjs$/.test(file)) as string;
  const [file, aside] = [join(chunks, name), join(chunks, 'aside.cjs')];
  renameSync(file, aside);
  const tokens = join(directory, 'tokens.csv');
  writeFileSync(tokens, 'admin-token,admin,1,"system:masters"\n');

  const server = await startPlat(['--store', 'memory', '--token-auth-file', tokens], undefined, directory);
  const client = clientOf(server, 'admin-token');
  const status = async (path: string): Promise<number> => (await client.get(path)).status;
  for (const path of ['/readyz', '/version', '/api', '/apis', '/api/v1', '/api/v1/namespaces', '/metrics']) {
    expect([path, await status(path)]).toEqual([path, 200]);
  }
  expect((await client.post('/api/v1/namespaces', { metadata: { name: 'one' } })).status).toBe(201);
  expect(await status('/openapi/v2')).toBe(500);

  // A failure is not kept: the next request for a document loads them.
  renameSync(aside, file);
  const { status: code, json } = await client.get('/openapi/v2');
  const image = Object.entries<{ properties?: Record<string, { description: string }> }>(json.definitions).find(([name]) =>
    name.endsWith('.core.v1.Container'),
  )?.[1].properties?.image;
  expect([code, image?.description]).toEqual([200, expect.stringMatching(/^Container image to run/)]);
  server.child.process.kill('SIGTERM');
  expect(await finished(server.child)).toMatchObject({ code: 0 });
});
