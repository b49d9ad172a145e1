/**
 * The programs of an envtest directory: small shell scripts that need Node and this package alone, or the executable. The scripts
 * contain their help text, because envtest runs `--help` before each start.
 */
import { isAbsolute } from 'node:path';
import type { OwnProgram } from '../own-program.ts';

/** Stands in each script, so that `kubectl` does not take another directory's script for the stock program. */
const MARK = 'Made by plat envtest.';

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
const words = (list: readonly string[]): string => list.map(quoted).join(' ');

function helpCase(text: string): string {
  return `for arg do
  case $arg in
  --help | -h)
    cat <<'END_OF_HELP'
${text.trimEnd()}
END_OF_HELP
    exit 0
    ;;
  esac
done`;
}

/** Ends the script where what it runs is no longer where it was when the script was made. */
const presence = (command: readonly string[]): string =>
  command
    .filter((word) => isAbsolute(word))
    .map(
      (path) => `if [ ! -e ${quoted(path)} ]; then
  printf '%s\\n' ${quoted(`plat envtest: ${path} is no longer there: run plat envtest again`)} >&2
  exit 1
fi`,
    )
    .join('\n');

const head = (about: string): string => `#!/bin/sh\n# ${MARK} ${about}`;

export function apiserverScript({ plat }: OwnProgram, help: string): string {
  return `${head('A server in memory that takes the flags of kube-apiserver.')}
${helpCase(help)}
${presence(plat)}
exec ${words([...plat, '__kube-apiserver'])} "$@"
`;
}

const etcdHelp = `etcd [flags]

Answers health questions; the state is in the memory of kube-apiserver. Flags of etcd are accepted.

Flags:
  --listen-client-urls URLS
        Addresses to answer on. (default http://localhost:2379)

Accepted without effect:
  --advertise-client-urls URLS
  --data-dir DIRECTORY
  --listen-peer-urls URLS
  --unsafe-no-fsync
`;
export function etcdScript({ etcd }: OwnProgram): string {
  return `${head('Answers the health checks of envtest.')}
${helpCase(etcdHelp)}
${presence(etcd)}
exec ${words(etcd)} "$@"
`;
}

/** The stock program where there is one on the PATH, else the commands of plat. */
export function kubectlScript({ plat }: OwnProgram): string {
  return `${head('Runs the stock kubectl of the PATH, or the commands of plat.')}
set -f
IFS=:
for directory in $PATH; do
  found=\${directory:-.}/kubectl
  [ -f "$found" ] && [ -x "$found" ] || continue
  dd if="$found" bs=256 count=1 2>/dev/null | grep -q '${MARK}' && continue
  exec "$found" "$@"
done
${presence(plat)}
exec ${words(plat)} "$@"
`;
}
