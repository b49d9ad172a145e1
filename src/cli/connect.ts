/** Flags that every command with a server to talk to has, and the connection that they lead to. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Connection, configPaths, connectionOf, loadConfig } from '../client/config.ts';
import { Transport } from '../client/transport.ts';
import { dataFiles } from '../flags.ts';
import { bool, duration, type FlagValues, file, flag } from '../lib/flags.ts';
import { productVersion } from '../version.ts';
import type { IO } from './command.ts';

const name = (help: string, value: string, short?: string) =>
  flag<string | undefined>(undefined, help, value, (text) => text, short === undefined ? {} : { short });

export const connectFlags = {
  kubeconfig: file('Client configuration; else PLATCONFIG, KUBECONFIG, .plat/admin.conf, ~/.plat/config, ~/.kube/config.'),
  context: name('Context of the configuration to use.', 'NAME'),
  cluster: name('Cluster of the configuration to use.', 'NAME'),
  user: name('User of the configuration to use.', 'NAME'),
  server: name('Address of the server.', 'URL', 's'),
  token: name('Bearer token.', 'TOKEN'),
  'certificate-authority': file('CA that signed the certificate of the server.'),
  'insecure-skip-tls-verify': bool(false, 'Trust any server. Whoever sits in between can read and change everything.'),
  'request-timeout': duration('0s', 'Time to wait for an answer; 0 waits for ever.', { defaultText: '0s' }),
};
export type ConnectOptions = FlagValues<{ connecting: typeof connectFlags }>;

export interface Session {
  readonly transport: Transport;
  readonly connection: Connection;
  /** Milliseconds for requests that are not watches. */
  readonly timeout: { readonly timeout?: number };
}

export async function connect(options: ConnectOptions, namespace: string | undefined, io: IO): Promise<Session> {
  const local = join(io.cwd, '.plat', dataFiles.adminConfig);
  const usual = [...(belongsToUs(local) ? [local] : []), join(io.home, '.plat', 'config'), join(io.home, '.kube', 'config')];
  const config = await loadConfig(configPaths(options.kubeconfig, io.env, usual));
  const connection = await connectionOf(config, {
    context: options.context,
    cluster: options.cluster,
    user: options.user,
    server: options.server,
    token: options.token,
    certificateAuthority: options.certificateAuthority,
    namespace,
    ...(options.insecureSkipTlsVerify && { insecure: true }),
  });
  const transport = new Transport(connection, `plat/${productVersion} (${process.platform}/${process.arch})`);
  return { transport, connection, timeout: options.requestTimeout === 0 ? {} : { timeout: options.requestTimeout } };
}

/** A file that someone else may have put into this directory is not trusted to name our server and credentials. */
function belongsToUs(path: string): boolean {
  try {
    const { uid, mode } = statSync(path);
    return uid === process.getuid?.() && (mode & 0o022) === 0;
  } catch {
    return false;
  }
}
