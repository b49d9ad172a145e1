/** The documents in the hands of a stock client: it decodes the binary form and understands the schema, or refuses both. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { defaultFeatures } from '@plat-dev/kinds/feature-gates';
import { builtFrom } from '@plat-dev/lib/build-info';
import { FakeClock } from '@plat-dev/lib/clock';
import { jsonText } from '@plat-dev/lib/json-text';
import { Metrics } from '@plat-dev/lib/metrics';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kubectlBefore, kubectlMissing, kubectlProgram } from '../../../../../test/support/kubectl.ts';
import { Context } from '../../context.ts';
import { requestInfo } from '../../request/request-info.ts';
import { sendError } from '../../response/respond.ts';
import { endpoints } from '../index.ts';
import { testServices } from '../testing.ts';

/** Explain reads the third release of OpenAPI by default since 1.27, and the second only before. */
const readsThird = !kubectlBefore(27);
const bySecond = readsThird ? ['--output', 'plaintext-openapiv2'] : [];

const directory = temporaryDirectory('plat-kubectl');
let server: http.Server;

beforeAll(async () => {
  const { services } = await testServices(undefined, (name) => name === 'ServerSideFieldValidation' || defaultFeatures.isOn(name));
  const surface = endpoints(services, {
    build: { version: '0.0.0', release: '1.24', from: builtFrom },
    address: () => '127.0.0.1',
    checks: [],
    livezGraceMs: 0,
    clock: new FakeClock(),
    metrics: new Metrics({ version: '1.24' }),
    beforeScrape: async () => {},
    flags: () => ({}),
  });
  server = http.createServer(async (req, res) => {
    const ctx = new Context(req, res, 0);
    ctx.info = requestInfo(ctx.method, ctx.path, (name) => ctx.param(name));
    try {
      await surface.serve(ctx);
    } catch (error) {
      sendError(ctx, error, () => {});
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
});
afterAll(() => void server.close());

/** What the client says, on either stream. */
function kubectl(...args: string[]): Promise<string> {
  const { port } = server.address() as AddressInfo;
  const config = join(directory, 'empty-config');
  writeFileSync(config, '');
  const all = ['--server', `http://127.0.0.1:${port}`, '--cache-dir', join(directory, 'cache'), ...args];
  return new Promise((resolve) => {
    execFile(kubectlProgram, all, { env: { ...process.env, KUBECONFIG: config } }, (_, out, err) => resolve(out + err));
  });
}
function manifest(object: object): string {
  const path = join(directory, 'object.json');
  writeFileSync(path, jsonText(object));
  return path;
}

test.skipIf(kubectlMissing !== undefined)('explain reads both releases', async () => {
  const newest = await kubectl('explain', 'deployment.spec.strategy.rollingUpdate');
  if (readsThird) expect(newest).toMatch(/KIND: +Deployment\nVERSION: +v1\n.*maxSurge\t<IntOrString>/s);
  else expect(newest).toMatch(/KIND: +Deployment\nVERSION: +apps\/v1\n.*maxSurge\t<string>/s);
  const second = await kubectl('explain', 'pod', ...bySecond);
  expect(second).toMatch(/KIND: +Pod\nVERSION: +v1\n.*spec\t<Object>\n +[A-Z]/s);
});

test.skipIf(kubectlMissing !== undefined)('explain describes a field, and every field of a kind', async () => {
  const image = await kubectl('explain', 'pod.spec.containers.image');
  expect(image).toMatch(/FIELD: +image <string>.*DESCRIPTION:\n +\S.*image/s);
  const deployment = await kubectl('explain', 'deployment', '--recursive');
  expect(deployment).toMatch(/terminationGracePeriodSeconds\t<integer>/);
  for (const text of [image, deployment]) expect(text).not.toMatch(/<empty>|<none>/);
  // The older form prints the description of every field of one level.
  const spec = await kubectl('explain', 'pod.spec', ...bySecond);
  expect(spec).not.toMatch(/<empty>|<none>/);
  expect(spec.match(/^ {3}\w+\t</gm)?.length).toBe(36);
  expect(spec.match(/^ {3}\w+\t<.*>( -required-)?\n {5}\S/gm)?.length).toBe(36);
});

test.skipIf(kubectlMissing !== undefined || kubectlBefore(25))(
  'the documents say that the server validates fields: clients leave it to it',
  async () => {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { containers: [{ name: 'c', imagine: 'x' }] } };
    // Nothing is sent. Older clients check by the schema: test/clients/old-kubectl.test.ts.
    expect(await kubectl('create', '--dry-run=client', '--validate=strict', '-o', 'name', '-f', manifest(pod))).toBe('pod/a\n');
  },
);

test.skipIf(kubectlMissing !== undefined)('resources and the version are found', async () => {
  expect(await kubectl('api-resources', '--api-group=apps', '-o', 'name')).toContain('deployments.apps\n');
  expect(await kubectl('version')).toContain('v1.24.17+plat.0.0.0');
});
