/** `plat version`: the versions of this program and of the server. */

import { isSea } from 'node:sea';
import { builtFrom } from '@plat-dev/lib/build-info';
import { bool, FlagError, flag, readChoice } from '@plat-dev/lib/flags';
import { platform } from '@plat-dev/lib/platform';
import { apiRelease, apiReleases, minorOf, productVersion, stockRelease } from '@plat-dev/lib/version';
import type { JsonObject } from '@plat-dev/schema/types';
import { command, type IO } from './command.ts';
import { type ConnectOptions, connectFlags } from './global-flags.ts';
import { errorLine, exitCodeOf, isStock } from './program.ts';

/** Version of a server or a client, as `/version` has it. */
interface VersionInfo {
  readonly major?: string;
  readonly minor?: string;
  readonly gitVersion?: string;
  readonly [field: string]: string | undefined;
}
/** Fields of the long form, in the order of the stock client. */
const fields = ['major', 'minor', 'gitVersion', 'gitCommit', 'gitTreeState', 'buildDate', 'goVersion', 'compiler', 'platform'] as const;
/** The release of kustomize whose behaviour `kustomize` has. */
const kustomizeVersion = 'v4.5.4';

const flags = {
  Showing: {
    client: bool(false, 'Show the version of this program only; no server is needed.'),
    short: bool(false, 'Show version numbers only.'),
    output: flag<'' | 'yaml' | 'json'>('', 'Output format.', 'yaml|json', (text) => readChoice(text, ['yaml', 'json']), { short: 'o' }),
  },
  Connecting: connectFlags,
};

export const version = command({
  usage: '[flags]',
  summary: 'Show the versions of this program and of the server.',
  flags,
  more: `
Examples:
  plat version
  plat version --client
  plat version -o json
`,
  async run({ options, givenFlags, args }, io) {
    if (args.length > 0) throw new FlagError(`version takes no arguments, but got ${JSON.stringify(args[0])}`);
    if (isStock(io) && givenFlags.has('short'))
      io.err('Flag --short has been deprecated, and will be removed in the future. The --short output will become the default.\n');
    const client = clientVersion();
    let server: VersionInfo | undefined;
    let failure: unknown;
    if (!options.client) {
      try {
        server = await serverVersion(options, io);
      } catch (error) {
        failure = error;
      }
    }
    if (options.output !== '') io.out(await printed(client, server, options.output));
    else io.out(options.short ? shortLines(client, server) : isStock(io) ? longLines(client, server) : ownLines(server));
    if (server !== undefined) io.err(skewWarning(client, server));
    if (failure === undefined) return 0;
    io.err(errorLine(failure, io));
    return exitCodeOf(failure, io);
  },
});

const clientVersion = (): VersionInfo => ({
  major: apiRelease.split('.')[0] as string,
  minor: String(minorOf(apiRelease)),
  gitVersion: `v${stockRelease}`,
  gitCommit: builtFrom.commit,
  gitTreeState: builtFrom.treeState,
  buildDate: builtFrom.date,
  goVersion: `node ${process.version}`,
  compiler: 'v8',
  platform,
});

/** Undefined if no server is known. Throws if the server does not answer. */
async function serverVersion(options: ConnectOptions, io: IO): Promise<VersionInfo | undefined> {
  const { connect } = await import('./connect.ts');
  const session = await connect(options, undefined, io).catch((error: Error) => {
    if (error.name === 'ConfigError' && error.message.startsWith('no server is known')) return undefined;
    throw error;
  });
  if (session === undefined) return undefined;
  try {
    return await session.transport.json<VersionInfo>({ path: '/version', ...session.timeout });
  } finally {
    session.transport.close();
  }
}

function ownLines(server: VersionInfo | undefined): string {
  const [first, last] = [apiReleases[0], apiReleases.at(-1)];
  const lines = `plat ${productVersion} (API v${apiRelease}, v${first} to v${last} with --api-release, ${isSea() ? 'executable with ' : ''}Node ${process.version})\n`;
  return server === undefined ? lines : `${lines}Server Version: ${server.gitVersion}\n`;
}
function shortLines(client: VersionInfo, server: VersionInfo | undefined): string {
  const lines = `Client Version: ${client.gitVersion}\nKustomize Version: ${kustomizeVersion}\n`;
  return server === undefined ? lines : `${lines}Server Version: ${server.gitVersion}\n`;
}
function longLines(client: VersionInfo, server: VersionInfo | undefined): string {
  const info = (version: VersionInfo): string =>
    `version.Info{${fields.map((name) => `${name[0]?.toUpperCase()}${name.slice(1)}:${JSON.stringify(version[name] ?? '')}`).join(', ')}}`;
  const lines = `Client Version: ${info(client)}\nKustomize Version: ${kustomizeVersion}\n`;
  return server === undefined ? lines : `${lines}Server Version: ${info(server)}\n`;
}
async function printed(client: VersionInfo, server: VersionInfo | undefined, output: 'yaml' | 'json'): Promise<string> {
  const ordered = (version: VersionInfo): VersionInfo => Object.fromEntries(fields.map((name) => [name, version[name] ?? '']));
  const all = {
    clientVersion: ordered(client),
    kustomizeVersion,
    ...(server !== undefined && { serverVersion: ordered(server) }),
  };
  if (output === 'json') return `${JSON.stringify(all, undefined, 2)}\n`;
  const sorted = (version: VersionInfo): Record<string, string> =>
    Object.fromEntries(fields.toSorted().map((name) => [name, version[name] ?? '']));
  const { stringifyYaml } = await import('@plat-dev/schema/yaml');
  const inOrder: JsonObject = { clientVersion: sorted(client), kustomizeVersion };
  if (server !== undefined) inOrder.serverVersion = sorted(server);
  return `${stringifyYaml(inOrder)}\n`;
}
/** Clients and servers may be one minor release apart. */
function skewWarning(client: VersionInfo, server: VersionInfo): string {
  const minor = ({ minor: text = '' }: VersionInfo): number => Number.parseInt(text, 10);
  if (!(Math.abs(minor(client) - minor(server)) > 1)) return '';
  return `WARNING: version difference between client (${client.major}.${client.minor}) and server (${server.major}.${server.minor}) exceeds the supported minor version skew of +/-1\n`;
}
