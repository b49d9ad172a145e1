import { notFound } from '@plat-dev/meta/errors';
import { parseLabelSelector } from '@plat-dev/meta/labels';
import { dns1123Label } from '@plat-dev/meta/names';

const selector = parseLabelSelector('app in (web, api), tier!=test');
console.log(selector.matches({ app: 'web' }), selector.matches({ app: 'web', tier: 'test' }));

console.log(dns1123Label('my-name').length, dns1123Label('My name').length);

const error = notFound({ group: 'apps', resource: 'deployments' }, 'web');
console.log(error.code, error.message);
