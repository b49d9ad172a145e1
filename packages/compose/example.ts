import { startServer } from '@plat-dev/compose';

const server = await startServer({ store: 'memory', securePort: 0 });
console.log(server.address.startsWith('https://127.0.0.1:'), server.adminConfig.includes(server.address));
await server.close();
