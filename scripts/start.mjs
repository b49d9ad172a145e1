/** `npm start`: builds, and runs the server with the flags that are given. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = new URL('../dist/plat.js', import.meta.url);
execFileSync(process.execPath, [fileURLToPath(new URL('build.mjs', import.meta.url))], { stdio: 'inherit' });

// npm runs this in a shell, and a signal to npm may end that shell alone.
const shell = process.ppid;
setInterval(() => process.ppid === shell || process.kill(process.pid, 'SIGTERM'), 250).unref();

process.argv.splice(1, 1, fileURLToPath(program), 'server');
await import(program.href);
