/** The first module of the program. It loads the others once Node is known to be new enough, and compiled code is kept for the next run. */
import nodeModule from 'node:module';
import { join } from 'node:path';
import { homeDirectory, userCache } from './home.ts';

const [major = 0, minor = 0, patch = 0] = process.versions.node.split('.').map(Number);
/** As package.json says it to npm. */
const isNewEnough = major > 22 || (major === 22 && minor >= 9) || (major === 20 && (minor > 18 || (minor === 18 && patch >= 1)));
if (!isNewEnough) {
  console.error(`plat: Node 20.18.1, 22.9 or newer is needed; this is ${process.versions.node}`);
  process.exitCode = 1;
} else {
  // Not in a directory that all users share, as Node would by itself: the engine runs what it reads there.
  keepCompiledCode(join(userCache({ env: process.env, home: homeDirectory() }), 'compiled'));
  void import('./plat.ts');
}

/** Node 20 does not have it; where the directory cannot be written, everything is compiled at each start. */
function keepCompiledCode(directory: string): void {
  (nodeModule as { enableCompileCache?: (directory: string) => unknown }).enableCompileCache?.(directory);
}
