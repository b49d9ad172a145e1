/** `plat envtest`: a directory of programs that Go's envtest takes in place of a stock server. */
import { createHash } from 'node:crypto';
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeDirectory } from '@plat-dev/lib/files/directories';
import { file } from '@plat-dev/lib/flags';
import { productVersion } from '@plat-dev/lib/version';
import { command, type IO } from '../command.ts';
import { noArguments } from '../config/files.ts';
import { userCache } from '../home.ts';
import { type OwnProgram, ownProgram } from '../own-program.ts';
import { apiserverHelp } from './apiserver.ts';
import { apiserverScript, etcdScript, kubectlScript } from './launchers.ts';

const flags = {
  Directory: {
    dir: file('Directory to write the programs to.', { value: 'DIRECTORY', defaultText: '~/.cache/plat/envtest-VERSION-PACKAGE' }),
  },
};

export const envtest = command({
  usage: '[--dir DIRECTORY]',
  summary: "Print a directory with kube-apiserver, etcd and kubectl for Go's envtest.",
  flags,
  more: `Examples:
  KUBEBUILDER_ASSETS=$(plat envtest) go test ./...
  KUBEBUILDER_ASSETS=$(plat envtest) PLAT_API_RELEASE=1.36 go test ./...
  KUBEBUILDER_ASSETS=$(plat envtest --dir ./bin) && export KUBEBUILDER_ASSETS

Servers have stock names, keep their state in memory and run no controllers; PLAT_CONTROLLERS='*' runs them.
PLAT_API_RELEASE=1.36 makes it a server of another release, from 1.15 to 1.36, or the latest.
`,
  async run({ options, args }, io) {
    noArguments(args);
    if (io.platform === 'win32') throw new Error('the programs for envtest are scripts of sh, which Windows does not run: use WSL');
    const own = ownProgram();
    const directory = resolve(io.cwd, options.dir ?? cacheDirectory(io, own));
    await writeLaunchers(directory, own);
    io.out(`${directory}\n`);
    return 0;
  },
});

/** The scripts lead to one package or executable by its path: two of them on one machine have directories of their own. */
export function cacheDirectory(io: Pick<IO, 'env' | 'home'>, { plat }: Pick<OwnProgram, 'plat'>): string {
  const place = createHash('sha256')
    .update(plat.at(-1) as string)
    .digest('hex')
    .slice(0, 12);
  return join(userCache(io), `envtest-${productVersion}-${place}`);
}

export async function writeLaunchers(directory: string, program: OwnProgram): Promise<void> {
  const scripts = {
    'kube-apiserver': apiserverScript(program, apiserverHelp()),
    etcd: etcdScript(program),
    kubectl: kubectlScript(program),
  };
  makeDirectory(directory);
  for (const [name, text] of Object.entries(scripts)) await writeProgram(join(directory, name), text);
}

/** Replaced as a whole: other test runs may be starting it. */
async function writeProgram(path: string, text: string): Promise<void> {
  if ((await readFile(path, 'utf8').catch(() => '')) === text) return;
  const temporary = `${path}.${process.pid}.new`;
  await writeFile(temporary, text, { mode: 0o755 });
  await chmod(temporary, 0o755);
  await rename(temporary, path);
}
