/** Commits one after the other and says so after each. */
import { writeSync } from 'node:fs';
import { openLmdbEngine } from '../../packages/storage/src/engines/lmdb.ts';

const [dataDir] = process.argv.slice(2) as [string];
const engine = await openLmdbEngine({ dataDir });
for (let index = 0; index < 20; index++) {
  writeSync(1, `begin ${index}\n`);
  await engine.commit([{ type: 'put', key: `k${index}`, value: Buffer.alloc(600, index) }]);
  writeSync(1, `answered ${index}\n`);
}
await engine.close();
