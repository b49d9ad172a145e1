import assert from 'node:assert/strict';
import test from 'node:test';
import * as k8s from '@kubernetes/client-node';
import {
  assertCondition,
  assertEventually,
  assertEventuallyGone,
  assertOwnedBy,
  assertSeen,
  assertSeenTimes,
  withServer,
} from '@plat-dev/plat/testing/node';
import { createWebsite, merge, paths, refs, send, serverOptions, withOperator } from './harness.js';

const onServer = withServer(serverOptions);
const onOperator = (body) => onServer(withOperator(k8s, body));

test(
  'creates what a site needs, and owns it',
  onOperator(async (server) => {
    const site = await createWebsite(server, { replicas: 2 });
    await assertEventually(server, refs.site, { status: { conditions: [{ type: 'Ready', status: 'False', reason: 'Starting' }] } });
    const deployment = await send(server, 'GET', paths.deployment);
    assert.equal(deployment.spec.replicas, 2);
    assertOwnedBy(deployment, site);
    assertOwnedBy(await send(server, 'GET', paths.page), { kind: 'Website', name: 'home', controller: true });
    assertOwnedBy(await send(server, 'GET', paths.service), site);
    assertSeen(server, { user: 'operator', verb: 'patch', resource: 'deployments', name: 'home', code: 201 });
  }),
);

test(
  'reports when the site is served',
  onOperator(async (server) => {
    await createWebsite(server);
    await assertEventually(server, refs.deployment, { spec: { replicas: 1 } });
    await merge(server, `${paths.deployment}/status`, { status: { replicas: 1, readyReplicas: 1 } });
    await assertEventually(server, refs.site, { status: { conditions: [{ type: 'Ready', status: 'True' }] } });
    assertCondition(await send(server, 'GET', paths.site), 'Ready', 'True', 'Serving');
  }),
);

test(
  'repairs what others change or delete',
  onOperator(async (server) => {
    await createWebsite(server);
    await assertEventually(server, refs.site, { status: {} });
    await merge(server, paths.page, { data: { 'index.html': 'defaced' } });
    await assertEventually(server, refs.page, { data: { 'index.html': '<h1>Hello</h1>' } });
    const service = await send(server, 'GET', paths.service);
    await send(server, 'DELETE', paths.service);
    await assertEventually(server, refs.service, (found) => found !== undefined && found.metadata.uid !== service.metadata.uid);
  }),
);

test(
  'goes on through conflicts',
  onOperator(async (server) => {
    await send(server, 'POST', '/api/v1/namespaces/default/configmaps', {
      metadata: { name: 'websites' },
      data: { other: 'http://other' },
    });
    const storm = server.faults.conflict({ verb: 'update', resource: 'configmaps', name: 'websites' }, 3);
    await createWebsite(server);
    await assertEventually(server, refs.directory, { data: { other: 'http://other', home: 'http://home.default.svc' } });
    assert.equal(storm.count, 3);
    assertSeenTimes(server, { verb: 'update', resource: 'configmaps', name: 'websites', code: 409 }, 3);
  }),
);

test(
  'removes a site from the directory before it goes',
  onOperator(async (server) => {
    await createWebsite(server);
    await assertEventually(server, refs.site, { metadata: { finalizers: ['example.dev/directory'] }, status: {} });
    await assertEventually(server, refs.directory, { data: { home: 'http://home.default.svc' } });
    await send(server, 'DELETE', paths.site);
    await assertEventuallyGone(server, refs.site);
    await assertEventually(server, refs.directory, ({ data = {} }) => !('home' in data));
  }),
);

test(
  'deletes a site whose time is over',
  onOperator(async (server) => {
    await createWebsite(server, { ttlSeconds: 3600 });
    await assertEventually(server, refs.site, { status: {} });
    await server.clock.advance('59m');
    assertSeenTimes(server, { user: 'operator', verb: 'delete', resource: 'websites' }, 0);
    await server.clock.advance('1m');
    await assertEventuallyGone(server, refs.site);
  }),
);
