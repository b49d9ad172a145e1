/** Programs that `.ci/run` puts beside the system: they would take the place of another version, or are too much for a checkout. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const testPrograms: string = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'plat-tests');
/** Debian's, which is of 1.20. */
export const oldKubectl: string = process.env.OLD_KUBECTL ?? join(testPrograms, 'kubernetes-client/usr/bin/kubectl');

/** Debian's own, which knows its packages, unlike another that comes first on the PATH. */
export const python: string = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';
