/** A whole server in a process of its own, to be killed. Its options are the one argument, as JSON. It prints `ready <port>`. */
import { writeSync } from 'node:fs';
import { serverOptions } from '../../src/flags.ts';
import { silentLog } from '../../src/lib/log.ts';
import { startServer } from '../../src/main.ts';

const server = await startServer(serverOptions(JSON.parse(process.argv[2] as string)), silentLog);
writeSync(1, `ready ${server.port}\n`);
