import { objectHref, parseRoute } from '@plat-dev/console/routes';

const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };
console.log(objectHref(deployments, 'default', 'web', { tab: 'yaml' }));

const { page, namespace } = parseRoute('/console/ns/default/pods', '');
console.log(page, namespace);
