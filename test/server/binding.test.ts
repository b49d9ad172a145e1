import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes' });
});
afterAll(() => server.close());

/** A pod in a namespace of its own; answers the path of the namespace. */
async function pod(name = 'p'): Promise<string> {
  const at = `/api/v1/namespaces/${await server.namespace()}`;
  const spec = { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'app:1' }] };
  await server.admin.ok('POST', `${at}/pods`, { metadata: { name }, spec });
  return at;
}
const binding = (name: string, target: object, metadata: object = {}) => ({ metadata: { name, ...metadata }, target });

test('a binding puts the pod on a node, once', async () => {
  const at = await pod();
  const made = await server.admin.post(`${at}/pods/p/binding`, binding('p', { kind: 'Node', name: 'n1' }, { annotations: { by: 'hand' } }));
  expect(made.status).toBe(201);
  expect(made.json).toMatchObject({ kind: 'Status', status: 'Success', code: 201 });
  const { json: body } = await server.admin.get(`${at}/pods/p`);
  expect(body.spec.nodeName).toBe('n1');
  expect(body.metadata.annotations).toEqual({ by: 'hand' });
  expect(body.status.conditions).toMatchObject([{ type: 'PodScheduled', status: 'True', lastProbeTime: null }]);
  const again = await server.admin.post(`${at}/pods/p/binding`, binding('p', { name: 'n2' }));
  expect(again.status).toBe(409);
  expect(again.json.message).toBe('Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"');
});

test('the collection of bindings binds as well', async () => {
  const at = await pod();
  expect((await server.admin.post(`${at}/bindings`, binding('p', { name: 'n1' }))).status).toBe(201);
  expect((await server.admin.get(`${at}/pods/p`)).json.spec.nodeName).toBe('n1');
});

test('what is no binding is refused', async () => {
  const at = await pod();
  const refused = async (body: object, path = `${at}/pods/p/binding`) => {
    const answer = await server.admin.post(path, body);
    return [answer.status, answer.json.message];
  };
  expect(await refused(binding('p', {}))).toEqual([422, 'Binding "p" is invalid: target.name: Required value']);
  expect(await refused(binding('p', { kind: 'Rack', name: 'r' }))).toEqual([
    422,
    'Binding "p" is invalid: target.kind: Unsupported value: "Rack": supported values: "Node", "<empty>"',
  ]);
  expect(await refused(binding('q', { name: 'n' }))).toEqual([400, 'name in URL does not match name in Binding object']);
  expect((await refused(binding('p', { name: 'n' }, { uid: 'other' })))[0]).toBe(409);
  expect(await refused(binding('none', { name: 'n' }), `${at}/pods/none/binding`)).toEqual([404, 'pods "none" not found']);
});

test('a dry run binds nothing', async () => {
  const at = await pod();
  expect((await server.admin.post(`${at}/pods/p/binding?dryRun=All`, binding('p', { name: 'n1' }))).status).toBe(201);
  expect((await server.admin.get(`${at}/pods/p`)).json.spec.nodeName).toBeUndefined();
});

test('of many bindings at once one wins', async () => {
  const at = await pod();
  const answers = await Promise.all([1, 2, 3, 4, 5].map((i) => server.admin.post(`${at}/pods/p/binding`, binding('p', { name: `n${i}` }))));
  expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409, 409, 409, 409]);
});
