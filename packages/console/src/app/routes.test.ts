import { describe, expect, test } from 'vitest';
import { objectHref, pageHref, parseRoute, tableHref } from './routes.ts';

const core = (resource: string) => ({ group: '', version: 'v1', resource });
const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };

describe('paths of the page', () => {
  test.each([
    ['/console', { page: 'overview', namespace: undefined }],
    ['/console/', { page: 'overview', namespace: undefined }],
    ['/console/ns/default', { page: 'overview', namespace: 'default' }],
    ['/console/ns/default/graph', { page: 'graph', namespace: 'default' }],
    ['/console/nodes', { page: 'nodes', namespace: undefined }],
    ['/console/v1/nodes', { page: 'table', namespace: undefined, kind: core('nodes') }],
    ['/console/v1/nodes/one', { page: 'object', namespace: undefined, kind: core('nodes'), name: 'one' }],
    ['/console/pods', { page: 'table', namespace: undefined, kind: core('pods') }],
    ['/console/ns/default/pods/web', { page: 'object', namespace: 'default', kind: core('pods'), name: 'web' }],
    ['/console/ns/default/configmaps/v1', { page: 'object', namespace: 'default', kind: core('configmaps'), name: 'v1' }],
    ['/console/apps/v1/deployments', { page: 'table', namespace: undefined, kind: deployments }],
    ['/console/ns/a/apps/v1/deployments/web', { page: 'object', namespace: 'a', kind: deployments, name: 'web' }],
    ['/console/ns/ns/pods', { page: 'table', namespace: 'ns', kind: core('pods') }],
    ['/console/clusterroles/a%2Fb', { page: 'object', namespace: undefined, kind: core('clusterroles'), name: 'a/b' }],
    ['/console/pods/a/b/c', { page: 'unknown', namespace: undefined }],
    ['/console/pods/%E0%A4%A', { page: 'unknown', namespace: undefined }],
    ['/consoles/pods', { page: 'unknown', namespace: undefined }],
  ])('%s', (path, route) => {
    expect(parseRoute(path, '')).toEqual({ ...route, query: new URLSearchParams() });
  });

  test.each([
    pageHref('overview'),
    pageHref('graph', 'default'),
    tableHref(core('pods'), 'default', { sort: '-Age', labels: 'app in (a, b)' }),
    tableHref(core('nodes')),
    objectHref(core('nodes'), undefined, 'one', { tab: 'yaml' }),
    objectHref(deployments, 'ns', 'web'),
    objectHref({ group: 'rbac.example.com', version: 'v1beta1', resource: 'roles' }, undefined, 'system:a/b?c#d'),
  ])('%s leads back to itself', (href) => {
    const { pathname, search } = new URL(href, 'https://server');
    const route = parseRoute(pathname, search);
    const query = Object.fromEntries(route.query);
    if (route.page === 'table') expect(tableHref(route.kind, route.namespace, query)).toBe(href);
    else if (route.page === 'object') expect(objectHref(route.kind, route.namespace, route.name, query)).toBe(href);
    else if (route.page !== 'unknown') expect(pageHref(route.page, route.namespace, query)).toBe(href);
    expect(route.page).not.toBe('unknown');
  });
});
