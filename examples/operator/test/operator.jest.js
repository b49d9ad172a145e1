const { withServer } = require('@plat-dev/plat/testing/jest');
const { createWebsite, merge, paths, refs, send, serverOptions, withOperator } = require('./harness.js');

const onServer = withServer(serverOptions);
const onOperator = (body) => onServer(withOperator(globalThis.k8s, body));

test(
  'creates what a site needs, and owns it',
  onOperator(async (server) => {
    const site = await createWebsite(server, { replicas: 2 });
    await expect(server).toEventuallyHave(refs.site, { status: { conditions: [{ type: 'Ready', status: 'False', reason: 'Starting' }] } });
    const deployment = await send(server, 'GET', paths.deployment);
    expect(deployment.spec.replicas).toBe(2);
    expect(deployment).toBeOwnedBy(site);
    expect(await send(server, 'GET', paths.page)).toBeOwnedBy({ kind: 'Website', name: 'home', controller: true });
    expect(await send(server, 'GET', paths.service)).toBeOwnedBy(site);
    expect(server).toHaveSeen({ user: 'operator', verb: 'patch', resource: 'deployments', name: 'home', code: 201 });
  }),
);

test(
  'reports when the site is served',
  onOperator(async (server) => {
    await createWebsite(server);
    await expect(server).toEventuallyHave(refs.deployment, { spec: { replicas: 1 } });
    await merge(server, `${paths.deployment}/status`, { status: { replicas: 1, readyReplicas: 1 } });
    await expect(server).toEventuallyHave(refs.site, { status: { conditions: [{ type: 'Ready', status: 'True' }] } });
    expect(await send(server, 'GET', paths.site)).toHaveCondition('Ready', 'True', 'Serving');
  }),
);

test(
  'repairs what others change or delete',
  onOperator(async (server) => {
    await createWebsite(server);
    await expect(server).toEventuallyHave(refs.site, { status: {} });
    await merge(server, paths.page, { data: { 'index.html': 'defaced' } });
    await expect(server).toEventuallyHave(refs.page, { data: { 'index.html': '<h1>Hello</h1>' } });
    const service = await send(server, 'GET', paths.service);
    await send(server, 'DELETE', paths.service);
    await expect(server).toEventuallyHave(refs.service, (found) => found !== undefined && found.metadata.uid !== service.metadata.uid);
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
    await expect(server).toEventuallyHave(refs.directory, { data: { other: 'http://other', home: 'http://home.default.svc' } });
    expect(storm.count).toBe(3);
    expect(server).toHaveSeenTimes({ verb: 'update', resource: 'configmaps', name: 'websites', code: 409 }, 3);
  }),
);

test(
  'removes a site from the directory before it goes',
  onOperator(async (server) => {
    await createWebsite(server);
    await expect(server).toEventuallyHave(refs.site, { metadata: { finalizers: ['example.dev/directory'] }, status: {} });
    await expect(server).toEventuallyHave(refs.directory, { data: { home: 'http://home.default.svc' } });
    await send(server, 'DELETE', paths.site);
    await expect(server).toEventuallyBeGone(refs.site);
    await expect(server).toEventuallyHave(refs.directory, ({ data = {} }) => !('home' in data));
  }),
);

test(
  'deletes a site whose time is over',
  onOperator(async (server) => {
    await createWebsite(server, { ttlSeconds: 3600 });
    await expect(server).toEventuallyHave(refs.site, { status: {} });
    await server.clock.advance('59m');
    expect(server).not.toHaveSeen({ user: 'operator', verb: 'delete', resource: 'websites' });
    await server.clock.advance('1m');
    await expect(server).toEventuallyBeGone(refs.site);
  }),
);
