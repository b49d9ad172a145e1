import { requestInfo } from '@plat-dev/server/request/request-info';

const info = requestInfo('GET', '/apis/apps/v1/namespaces/shop/deployments/web/status', () => undefined);
console.log(info.verb, info.group, info.resource, info.namespace, info.name, info.subresource);

const watch = requestInfo('GET', '/api/v1/pods', (name) => (name === 'watch' ? 'true' : undefined));
console.log(watch.verb, watch.resource);
