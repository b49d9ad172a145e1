/** A server in a process with few file descriptors, which are taken away before it starts and while it runs. */
import { closeSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { serverOptions } from '../../packages/compose/src/config/server-options.ts';
import { startServer } from '../../packages/compose/src/server.ts';
import { silentLog } from '../../packages/lib/src/log.ts';

let held: number[] = [];
function takeAll(): void {
  for (;;) {
    try {
      held.push(openSync('/dev/null', 'r'));
    } catch {
      return;
    }
  }
}
const release = (): void => {
  for (const descriptor of held) closeSync(descriptor);
  held = [];
};

const commands = createInterface({ input: process.stdin });
commands.on('line', (line) => {
  if (line === 'take') takeAll();
  if (line === 'release') release();
  console.log(`done ${line}`);
});
takeAll();
// Some stay free: enough for the directory and its lock, too few for the modules of the database library.
for (const descriptor of held.splice(0, Number(process.argv[3]))) closeSync(descriptor);
const log = { ...silentLog, warn: (message: string) => console.log(message) };
const options = serverOptions({ dataDir: process.argv[2] as string, store: 'lmdb', securePort: 0 });
const server = await startServer(options, { log });
console.log(`ready ${server.address}`);
