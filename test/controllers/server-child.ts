/** A whole server in a process of its own, to be killed. Its options are the one argument, as JSON. It prints `ready <port>`. */
import { writeSync } from 'node:fs';
import { startServer } from '../../src/compose/server.ts';
import { serverOptions } from '../../src/config/server-options.ts';
import { silentLog } from '../../src/lib/log.ts';

const server = await startServer(serverOptions(JSON.parse(process.argv[2] as string)), { log: silentLog });
writeSync(1, `ready ${server.port}\n`);
