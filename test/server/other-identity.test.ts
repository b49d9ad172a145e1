/** Manifests and clients of the other family of names: the server says which names it has, and how to start one with theirs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groupName, kubernetes, plat } from '../../packages/meta/src/identity.ts';
import { kubectlFor, kubectlMissing } from '../support/kubectl.ts';
import { platFor } from '../support/plat.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

describe.each(['plat', 'kubernetes'])('as %s', (name) => {
  const [own, other] = name === 'plat' ? [plat, kubernetes] : [kubernetes, plat];
  const [ownRbac, otherRbac] = [groupName(own, 'rbac.authorization'), groupName(other, 'rbac.authorization')];
  const hint = `this server has the names of identity ${own.name}, where ${otherRbac} is ${ownRbac}; for manifests with ${other.groupSuffix} names start one with --identity ${other.name}`;
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ identity: name });
  });
  afterAll(() => server.close());
  const role = (apiVersion: string) => ({ apiVersion, kind: 'ClusterRole', metadata: { name: 'r' }, rules: [] });

  test.each([
    ['GET', `/apis/${otherRbac}`],
    ['GET', `/apis/${otherRbac}/v1`],
    ['GET', `/apis/${otherRbac}/v1/clusterroles`],
    ['GET', `/apis/${otherRbac}/v1/clusterroles/admin`],
    ['POST', `/apis/${otherRbac}/v1/clusterroles`],
    ['GET', `/apis/${otherRbac}/v1/namespaces/default/roles?watch=true`],
  ])('%s %s', async (method, path) => {
    const answer = await server.admin.send(method, path, method === 'POST' ? { body: role(`${otherRbac}/v1`) } : {});
    expect({ status: answer.status, body: answer.json }).toMatchObject({
      status: 404,
      body: { kind: 'Status', reason: 'NotFound', code: 404, message: `the server could not find the requested resource: ${hint}` },
    });
  });

  test('a body of the other family on a path of this one', async () => {
    const answer = await server.admin.post(`/apis/${ownRbac}/v1/clusterroles`, role(`${otherRbac}/v1`));
    expect(answer.status).toBe(400);
    expect(answer.json.message).toContain(`send ClusterRole of version ${ownRbac}/v1 (${hint})`);
  });

  test.each([
    `gateway.networking.${other.groupSuffix}`,
    `gateway.networking.${own.groupSuffix}`,
    `nothing.${other.groupSuffix}`,
    `.${other.groupSuffix}`,
    `apps.${other.groupSuffix}`,
    other.groupSuffix,
    'example.com',
  ])('%s is unknown, as any group is', async (group) => {
    for (const path of [`/apis/${group}`, `/apis/${group}/v1`, `/apis/${group}/v1/things`]) {
      const answer = await server.admin.send('GET', path);
      expect({ path, status: answer.status, text: answer.text }).toEqual({ path, status: 404, text: '404 page not found\n' });
    }
  });

  test('plat apply', async () => {
    const { code, stderr } = await platFor(server).run(['apply', '-f', '-'], role(`${otherRbac}/v1`));
    expect(code).toBe(1);
    expect(stderr).toContain(`the server has no kind "ClusterRole" in ${otherRbac}/v1: ${hint}`);
    const unknown = await platFor(server).run(['apply', '-f', '-'], role('example.com/v1'));
    expect(unknown.stderr).not.toContain('identity');
  });

  test.skipIf(kubectlMissing !== undefined)('kubectl', async () => {
    const { code, stderr } = await kubectlFor(server).run(['get', '--raw', `/apis/${otherRbac}/v1/clusterroles`]);
    expect(code).toBe(1);
    expect(stderr).toContain(hint);
  });
});
