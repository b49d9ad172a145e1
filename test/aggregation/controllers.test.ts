/** Controllers in this server's own process and groups that another server answers for. */
import { expect, test } from 'vitest';
import { eventually } from '../connect/support.ts';
import { eventuallyTrue, startWorld } from './support.ts';

test('a controller of this server reaches the other server as itself', async () => {
  const world = await startWorld({ controllers: ['namespace'] });
  const { admin } = world.server;
  const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'watch'];
  const far = await world.extend({ resources: [{ name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs }] });
  far.answer = (_req, res) => {
    res.setHeader('Content-Type', 'application/json');
    res.end(JSON.stringify({ kind: 'ThingList', apiVersion: `${far.group}/v1`, metadata: { resourceVersion: '1' }, items: [] }));
  };
  const ns = await world.server.namespace();
  await admin.ok('DELETE', `/api/v1/namespaces/${ns}`);
  await eventually(() =>
    far.seen().some(({ method, url }) => method === 'DELETE' && url.startsWith(`${far.base}/namespaces/${ns}/things`)),
  );
  const call = far.seen().find(({ method }) => method === 'DELETE');
  expect(call?.headers['x-remote-user']).toBe('system:serviceaccount:kube-system:namespace-controller');
  expect(call?.headers.accept).toContain('application/json');
  await eventuallyTrue(async () => (await admin.get(`/api/v1/namespaces/${ns}`)).status === 404);
  await world.close();
});
