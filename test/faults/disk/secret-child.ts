/** Writes a secret file and ends at once. */
import { writeSecretFile } from '../../../packages/pki/src/files.ts';

await writeSecretFile(process.argv[2] as string, 'content');
process.kill(process.pid, 'SIGKILL');
