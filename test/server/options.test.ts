/** Options that change what a server serves, and the names it goes by. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseServerFlags, type ServerOptions } from '../../packages/compose/src/config/server-options.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { plat } from '../../packages/meta/src/identity.ts';
import { issueServing, newAuthority, readAuthority } from '../../packages/pki/src/index.ts';
import { type Client, type Loose, startTestServer } from '../support/server.ts';

const directory = temporaryDirectory('plat-options');
const file = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
};
const flags = (...args: string[]) => {
  const { runtimeConfig, features } = parseServerFlags(args) as ServerOptions;
  return { runtimeConfig, features };
};

describe('--runtime-config', () => {
  const versions = async (client: Client): Promise<string[]> =>
    (await client.ok('GET', '/apis')).groups.flatMap((group: Loose) => group.versions.map((version: Loose) => version.groupVersion));

  test('versions and resources can be switched off; what is stored stays readable through the others', async () => {
    const off = '--runtime-config=batch/v1beta1=false,policy/v1beta1/podsecuritypolicies=false,flowcontrol.apiserver.k8s.io/v1beta1=false';
    const server = await startTestServer({ identity: 'kubernetes', ...flags(off) });
    expect(await versions(server.admin)).toEqual(expect.arrayContaining(['batch/v1', 'policy/v1beta1']));
    expect(await versions(server.admin)).not.toContain('batch/v1beta1');
    expect((await server.admin.get('/apis/batch/v1beta1/cronjobs')).status).toBe(404);
    expect((await server.admin.get('/apis/batch/v1/cronjobs')).status).toBe(200);
    expect((await server.admin.get('/apis/policy/v1beta1/podsecuritypolicies')).status).toBe(404);
    expect((await server.admin.get('/apis/policy/v1beta1/poddisruptionbudgets')).status).toBe(200);
    await server.close();
  });

  test('everything beta off', async () => {
    const server = await startTestServer({ identity: 'kubernetes', ...flags('--runtime-config=api/beta=false') });
    const served = await versions(server.admin);
    expect(served.filter((version) => version.includes('beta'))).toEqual([]);
    expect(served).toContain('apps/v1');
    expect((await server.admin.get('/readyz')).status).toBe(200);
    const ns = await server.namespace();
    expect((await server.admin.get(`/api/v1/namespaces/${ns}`)).status).toBe(200);
    await server.close();
    expect(server.errors).toEqual([]);
  });
});

describe('--identity', () => {
  test.each(['plat', 'kubernetes'])('dryRun without a value, as %s: no dry run, or refused as by a stock server', async (identity) => {
    const server = await startTestServer({ identity, store: 'memory', direct: true });
    const maps = `/api/v1/namespaces/${await server.namespace()}/configmaps`;
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    const status = async (method: string, path: string, body?: unknown, type?: string): Promise<number> =>
      (await server.admin.send(method, path, { ...(body !== undefined && { body }), ...(type && { headers: { 'content-type': type } }) }))
        .status;
    const refused = identity === 'kubernetes' ? 422 : undefined;
    const merge = 'application/merge-patch+json';
    for (const query of ['dryRun', 'dryRun=', 'dryRun=&dryRun=']) {
      expect(await status('POST', `${maps}?${query}`, map)).toBe(refused ?? 201);
      if (refused !== undefined) await server.admin.ok('POST', maps, map);
      expect(await status('PUT', `${maps}/a?${query}`, { ...map, data: { a: query } })).toBe(refused ?? 200);
      expect(await status('PATCH', `${maps}/a?${query}`, { data: { b: query } }, merge)).toBe(refused ?? 200);
      expect(
        await status(
          'PATCH',
          `${maps}/a?${query}&fieldManager=m&force=true`,
          { ...map, data: { c: query } },
          'application/apply-patch+yaml',
        ),
      ).toBe(refused ?? 200);
      const { data } = await server.admin.ok('GET', `${maps}/a`);
      expect(data).toEqual(refused === undefined ? { a: query, b: query, c: query } : undefined);
      expect(await status('DELETE', `${maps}/a?${query}`, { gracePeriodSeconds: 0 })).toBe(refused ?? 200);
      if (refused === undefined) await server.admin.ok('POST', maps, map);
      expect(await status('DELETE', `${maps}/a?${query}`)).toBe(refused ?? 200);
      if (refused === undefined) await server.admin.ok('POST', maps, map);
      expect(await status('DELETE', `${maps}?fieldSelector=metadata.name%3Da&${query}`)).toBe(refused ?? 200);
      expect((await server.admin.get(`${maps}/a`)).status).toBe(refused === undefined ? 404 : 200);
      if (refused !== undefined) await server.admin.ok('DELETE', `${maps}/a`);
    }
    // What has a value must have the right one.
    expect(await status('POST', `${maps}?dryRun=&dryRun=Some`, map)).toBe(422);
    await server.close();
  });

  const acme = {
    ...JSON.parse(JSON.stringify(plat).replaceAll('plat.dev', 'acme.test').replaceAll('vnd.plat', 'vnd.acme').replaceAll('plat-', 'acme-')),
    name: 'acme',
    word: 'acme',
    serviceName: 'acme',
  };

  test('names of one’s own, from a file', async () => {
    const server = await startTestServer({ identity: file('acme.json', jsonText(acme)) });
    const names = (await server.admin.ok('GET', '/api/v1/namespaces')).items.map((item: Loose) => item.metadata.name);
    expect(names).toEqual(['acme-node-lease', 'acme-public', 'acme-system', 'default']);
    expect((await server.admin.get('/apis/rbac.authorization.acme.test/v1/clusterroles/view')).status).toBe(200);
    expect((await server.admin.get('/api/v1/namespaces/default/services/acme')).status).toBe(200);
    const table = await server.admin.get('/api/v1/namespaces', { accept: 'application/json;as=Table;g=meta.acme.test;v=v1' });
    expect(table.json).toMatchObject({ kind: 'Table', apiVersion: 'meta.acme.test/v1' });
    const binary = await server.admin.get('/api/v1/namespaces', { accept: 'application/vnd.acme.protobuf' });
    expect(binary.headers['content-type']).toBe('application/vnd.acme.protobuf');
    const text = (await server.admin.get('/openapi/v2')).text;
    expect(text).not.toMatch(/plat\.dev/);
    await server.close();
    expect(server.errors).toEqual([]);
  });

  test.each([
    ['nothing.json', '{}', /--identity .*nothing\.json: "name" is missing/],
    ['broken.json', '{', /--identity .*broken\.json: .*JSON/],
    ['typo.json', jsonText({ ...acme, domian: 'x' }), /--identity .*typo\.json: "domian" is not known/],
    [
      'type.json',
      jsonText({ ...acme, namespaces: { ...acme.namespaces, public: 1 } }),
      /--identity .*type\.json: "namespaces\.public" is not a text/,
    ],
    ['empty.json', jsonText({ ...acme, groupSuffix: '' }), /--identity .*empty\.json: "groupSuffix" is empty/],
  ])('%s is refused', async (name, text, problem) => {
    await expect(startTestServer({ identity: file(name, text) })).rejects.toThrow(problem);
  });
});

test('--tls-cert-file: a certificate of one’s own', async () => {
  const authority = newAuthority('authority', Date.now());
  const serving = issueServing(readAuthority(authority), { commonName: 'own', addresses: ['127.0.0.1'], dns: ['own.test'] }, Date.now());
  const server = await startTestServer({
    tlsCertFile: file('own.crt', serving.certificate),
    tlsPrivateKeyFile: file('own.key', serving.key),
  });
  const { connect } = await import('node:tls');
  const subject = await new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: server.port, ca: authority.certificate, servername: 'own.test' }, () => {
      resolve(socket.getPeerCertificate().subject.CN);
      socket.destroy();
    });
    socket.on('error', reject);
  });
  expect(subject).toBe('own');
  await server.close();
});

test('--bind-address: IPv6 loopback', async () => {
  const server = await startTestServer({ bindAddress: '::1' }).catch((error: NodeJS.ErrnoException) => error);
  if (server instanceof Error) {
    expect(server.message).toMatch(/EADDRNOTAVAIL|EAFNOSUPPORT/);
    return;
  }
  expect(server.address).toMatch(/^https:\/\/\[::1\]:\d+$/);
  expect((await server.admin.get('/readyz')).status).toBe(200);
  await server.close();
});
