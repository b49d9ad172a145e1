/** Flags that name a store: a directory that no server uses, a prefix in etcd, or else the running server of the client configuration. */
import { resolve } from 'node:path';
import type { Place } from '@plat-dev/compose/store/store-tools';
import { choice, FlagError, file, list, text } from '@plat-dev/lib/flags';
import type { IO } from '../command.ts';

export const placeFlags = {
  'data-dir': text('', 'Data directory of a stopped server.', { value: 'DIRECTORY' }),
  'etcd-servers': list([], 'Addresses of etcd.', { value: 'URL,…' }),
  'etcd-prefix': text('/registry/plat', 'Prefix of all keys in etcd.', { value: 'PREFIX' }),
  'etcd-cafile': file('CA that signed the certificate of etcd.'),
  'etcd-certfile': file('Certificate to show to etcd.'),
  'etcd-keyfile': file('Key of --etcd-certfile.'),
  'etcd-username': text('', 'User of etcd to log in as.', { value: 'NAME' }),
  'etcd-password-file': file('File with the password of --etcd-username.'),
};
export const outputFlag = { output: choice('text', ['text', 'json'], 'Output format.', { short: 'o' }) };

export interface PlaceOptions {
  readonly dataDir: string;
  readonly etcdServers: readonly string[];
  readonly etcdPrefix: string;
  readonly etcdCafile: string | undefined;
  readonly etcdCertfile: string | undefined;
  readonly etcdKeyfile: string | undefined;
  readonly etcdUsername: string;
  readonly etcdPasswordFile: string | undefined;
}

/** The store that the flags name; undefined where they name none. Throws FlagError where they name two. */
export function placeOf(options: PlaceOptions, givenFlags: ReadonlySet<string>, io: IO): Place | undefined {
  const etcd = [...givenFlags].find((name) => name.startsWith('etcd-'));
  if (options.dataDir !== '' && etcd !== undefined) throw new FlagError(`--data-dir and --${etcd} name two stores: leave one out`);
  if (options.dataDir !== '') return { type: 'directory', dataDir: resolve(io.cwd, options.dataDir) };
  if (etcd === undefined) return undefined;
  if (options.etcdServers.length === 0) throw new FlagError(`--${etcd} has no effect without --etcd-servers`);
  const { etcdServers: servers, etcdPrefix: prefix, etcdCafile: caFile, etcdCertfile: certFile, etcdKeyfile: keyFile } = options;
  const { etcdUsername: username, etcdPasswordFile: passwordFile } = options;
  if ((username === '') !== (passwordFile === undefined))
    throw new FlagError('--etcd-username and --etcd-password-file are needed together');
  return { type: 'etcd', etcd: { servers, prefix, caFile, certFile, keyFile, username, passwordFile } };
}

/** The same for commands that have no other way. */
export function demandPlace(options: PlaceOptions, givenFlags: ReadonlySet<string>, io: IO): Place {
  const place = placeOf(options, givenFlags, io);
  if (place === undefined) throw new FlagError('which store? Name it with --data-dir or --etcd-servers');
  return place;
}

export function noArguments(args: readonly string[]): void {
  if (args.length > 0) throw new FlagError(`unexpected argument ${JSON.stringify(args[0])}: the command takes no arguments`);
}

/** A path that must be given. */
export function demandPath(value: string | undefined, name: string, io: IO): string {
  if (value === undefined) throw new FlagError(`--${name} is missing: --${name} FILE`);
  return resolve(io.cwd, value);
}

export const exitCodes = (three?: string): string => `
Exit codes:
  0   everything was done
  1   it failed, and nothing was changed
  2   the command line is wrong
${three === undefined ? '' : `  3   ${three}\n`}`;
