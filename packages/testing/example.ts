import { startTestServer } from '@plat-dev/testing';

const server = await startTestServer({ identity: 'kubernetes' });
const maps = server.client().core.v1.configmaps('default');
await maps.create({ metadata: { name: 'settings' }, data: { color: 'red' } });
console.log((await maps.get('settings')).data);
console.log(server.requests.filter({ resource: 'configmaps' }).map(({ verb }) => verb));
await server.close();
