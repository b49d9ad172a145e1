import { openMemoryEngine } from '@plat-dev/storage/engines/memory';

const engine = openMemoryEngine();
await engine.commit([{ type: 'put', key: 'a', value: Buffer.from('1') }]);
await engine.commit([{ type: 'put', key: 'a', value: Buffer.from('2'), expect: 1 }]);
const now = await engine.get('a');
const before = await engine.get('a', 1);
console.log(now?.value.toString(), before?.value.toString());

const conflict = await engine.commit([{ type: 'delete', key: 'a', expect: 1 }]).catch((error: Error) => error.name);
console.log(conflict);
await engine.close();
