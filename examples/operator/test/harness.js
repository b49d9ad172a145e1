/** What the tests of all three runners share. */
const { join } = require('node:path');
const { API, startOperator } = require('../operator.js');

/** Once for all tests: the kind is installed, and every test gets a copy of that server, with a port for the operator. */
const serverOptions = {
  identity: 'kubernetes',
  listen: true,
  clock: '2026-01-01T00:00:00Z',
  crds: join(__dirname, '..', 'crd.yaml'),
  eventuallyTimeout: 50_000,
};

/** Runs the operator on a server while a test runs. */
const withOperator = (k8s, test) => async (server) => {
  const kubeConfig = new k8s.KubeConfig();
  kubeConfig.loadFromString(server.kubeconfigText('operator', ['system:masters']));
  const closeConnections = shareConnections(kubeConfig);
  const operator = await startOperator({ k8s, kubeConfig, clock: server.clock });
  try {
    await test(server);
  } finally {
    await operator.stop();
    closeConnections();
  }
};

/** The library makes an agent for every request, and with it a connection: most of the time of a test. Here all requests share one. */
function shareConnections(kubeConfig) {
  const { createAgent } = kubeConfig;
  let agent;
  kubeConfig.createAgent = (cluster, options) => {
    agent ??= createAgent.call(kubeConfig, cluster, { ...options, keepAlive: true });
    return agent;
  };
  return () => agent?.destroy();
}

const sites = '/apis/example.dev/v1/namespaces/default/websites';
const website = (spec = {}) => ({
  apiVersion: API,
  kind: 'Website',
  metadata: { name: 'home' },
  spec: { html: '<h1>Hello</h1>', ...spec },
});
const createWebsite = (server, spec) => send(server, 'POST', sites, website(spec));

/** Sends a request as the administrator, and answers the object. */
async function send(server, method, path, body, contentType = 'application/json') {
  const answer = await server.request(method, path, { body, headers: { 'content-type': contentType } });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
  return answer.body;
}
const merge = (server, path, body) => send(server, 'PATCH', path, body, 'application/merge-patch+json');

/** The objects of a site, by their names. */
const named = (apiVersion, kind, name = 'home') => ({ apiVersion, kind, name, namespace: 'default' });
const refs = {
  site: named(API, 'Website'),
  page: named('v1', 'ConfigMap'),
  deployment: named('apps/v1', 'Deployment'),
  service: named('v1', 'Service'),
  directory: named('v1', 'ConfigMap', 'websites'),
};
const paths = {
  site: `${sites}/home`,
  page: '/api/v1/namespaces/default/configmaps/home',
  deployment: '/apis/apps/v1/namespaces/default/deployments/home',
  service: '/api/v1/namespaces/default/services/home',
};

module.exports = { createWebsite, merge, paths, refs, send, serverOptions, withOperator };
