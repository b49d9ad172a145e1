/**
 * The command line of the drop-in for kube-apiserver, as options of a server. Every flag of a stock v1.24 server is accepted:
 *
 *   --secure-port, --client-ca-file, …    as `plat server` has them
 *   --cert-dir, --logging-format          read here
 *   --etcd-servers, --watch-cache, …      without effect: reported together in one log line
 */

import { flagsWithoutEffect } from '@plat-dev/compose/config/flag-checks';
import { featureGateNames, serverFlags } from '@plat-dev/compose/config/flags';
import { parseServerFlags, type ServerOptions } from '@plat-dev/compose/config/server-options';
import { choice, FlagError, type FlagTable, optionalBool, parseFlags, rawFlags, readChoice, splitList, text } from '@plat-dev/lib/flags';
import { kubernetes } from '@plat-dev/meta/identity';
import { stockFlags } from './stock-flags.ts';

export interface EnvtestOptions {
  readonly server: ServerOptions;
  /** Where certificates are read from, and written to where there are none. */
  readonly certDir: string | undefined;
  /** Flags that were given and have no effect here. */
  readonly ignored: readonly string[];
}

/** Controllers to run in envtest mode, as `--controllers` has them; none when it is not set. */
const CONTROLLERS_VARIABLE = 'PLAT_CONTROLLERS';
/** Release of the API in envtest mode, as `--api-release` has it. */
export const RELEASE_VARIABLE = 'PLAT_API_RELEASE';

const ownFlags = {
  'cert-dir': text('', 'Directory of apiserver.crt and apiserver.key, which are made where they are missing.', { value: 'DIRECTORY' }),
  'logging-format': choice('text', ['text', 'json'], 'Format of log lines.'),
  version: optionalBool('Print the version and exit.'),
};

/** All flags of this mode, in groups for help. */
export const envtestFlags = {
  ...Object.fromEntries(
    Object.entries(serverFlags).map(([group, flags]) => [
      group,
      Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, { ...flag, planned: false }])),
    ]),
  ),
  Envtest: ownFlags,
  'Accepted without effect': stockFlags,
} as unknown as FlagTable;

const planned: ReadonlySet<string> = new Set(
  Object.values(serverFlags).flatMap((group) =>
    Object.entries(group)
      .filter(([, flag]) => flag.planned)
      .map(([name]) => name),
  ),
);
/** The log of this server has no higher verbosity; a stock server takes any. */
const MOST_VERBOSE = 10;

/** Throws FlagError for flags that a stock server does not have, either. */
export function parseEnvtestFlags(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): EnvtestOptions | 'help' | 'version' {
  const { raw, args: rest, help } = rawFlags(envtestFlags, args.map(withDashes));
  if (help) return 'help';
  if (rest.length > 0) throw new FlagError(`unexpected argument ${JSON.stringify(rest[0])}: the server takes no arguments`);
  if (raw.has('version') && raw.get('version')?.at(-1) !== 'false') return 'version';
  // Values of flags without effect are checked, too: a stock server refuses the same ones.
  parseFlags(envtestFlags, toArgs(new Map([...raw].filter(([name]) => Object.hasOwn(stockFlags, name)))));

  const ignored = new Set([...raw.keys()].filter((name) => Object.hasOwn(stockFlags, name) || planned.has(name)));
  const certDir = raw.get('cert-dir')?.at(-1);
  const loggingFormat = raw.get('logging-format')?.at(-1);
  if (loggingFormat !== undefined && !raw.has('log-format')) raw.set('log-format', [readChoice(loggingFormat, ['text', 'json'])]);
  const own = new Map([...raw].filter(([name]) => !ignored.has(name) && !Object.hasOwn(ownFlags, name)));
  adapt(own, ignored, env);
  return {
    server: parseServerFlags(toArgs(effective(own, ignored))) as ServerOptions,
    certDir: certDir || undefined,
    ignored: [...ignored].sort(),
  };
}

/** Stock servers read `--cert_dir` as `--cert-dir`. */
const withDashes = (arg: string): string => arg.replace(/^--[^=]+/, (name) => name.replaceAll('_', '-'));

const toArgs = (raw: ReadonlyMap<string, readonly string[]>): string[] =>
  [...raw].flatMap(([name, values]) => values.map((value) => `--${name}=${value}`));

/** Defaults of this mode, and values that stock servers spell differently. */
function adapt(raw: Map<string, readonly string[]>, ignored: Set<string>, env: Readonly<Record<string, string | undefined>>): void {
  const byDefault = (name: string, value: string): void => {
    if (!raw.has(name)) raw.set(name, [value]);
  };
  byDefault('identity', kubernetes.name);
  byDefault('store', 'memory');
  byDefault('controllers', env[CONTROLLERS_VARIABLE] || '-*');
  const release = env[RELEASE_VARIABLE];
  if (release) byDefault('api-release', release);
  byDefault('authorization-mode', 'AlwaysAllow');
  // Clients of the port without TLS have no credentials.
  if (Number(raw.get('insecure-port')?.at(-1) ?? 0) !== 0) byDefault('anonymous-auth', 'true');
  const verbosity = raw.get('v')?.at(-1);
  if (verbosity !== undefined && Number(verbosity) > MOST_VERBOSE) raw.set('v', [String(MOST_VERBOSE)]);
  // `GROUP/v1` is `v1` here.
  const auditVersion = raw.get('audit-webhook-version')?.at(-1);
  if (auditVersion !== undefined) raw.set('audit-webhook-version', [auditVersion.slice(auditVersion.lastIndexOf('/') + 1)]);
  adaptGates(raw, ignored);
}

/** Settings of known gates that the server refuses, such as a GA gate that is off, are left out. */
function adaptGates(raw: Map<string, readonly string[]>, ignored: Set<string>): void {
  const gateFlags = raw.get('feature-gates');
  if (gateFlags === undefined) return;
  const knownGates = splitList(gateFlags).filter((setting) => {
    const [name = ''] = setting.split('=');
    if (!featureGateNames.has(name) || isEffective(setting)) return true;
    ignored.add(`feature-gates=${setting}`);
    return false;
  });
  if (knownGates.length > 0) raw.set('feature-gates', [knownGates.join(',')]);
  else raw.delete('feature-gates');
}
function isEffective(setting: string): boolean {
  try {
    parseServerFlags([`--identity=${kubernetes.name}`, `--feature-gates=${setting}`]);
    return true;
  } catch {
    return false;
  }
}

/** Leaves out flags that configure a part which no other flag enables: `--etcd-prefix` with a store in memory. */
function effective(raw: Map<string, readonly string[]>, ignored: Set<string>): Map<string, readonly string[]> {
  for (;;) {
    const { options, givenFlags } = parseFlags(serverFlags, toArgs(raw));
    const names = flagsWithoutEffect(options, givenFlags);
    if (names.length === 0) return raw;
    for (const { name } of names) {
      raw.delete(name);
      ignored.add(name);
    }
  }
}
