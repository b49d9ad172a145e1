/** Global flags of commands that connect to a server, and the connection that they describe. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { configPaths, loadConfig } from '../client/config.ts';
import { type Connection, connectionOf } from '../client/connection.ts';
import type { CredentialEnvironment } from '../client/credentials.ts';
import { Transport } from '../client/transport.ts';
import { dataFiles } from '../config/server-options.ts';
import { bool, duration, FlagError, type FlagValues, file, flag, repeated } from '../lib/flags.ts';
import { productVersion } from '../lib/version.ts';
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
  username: name('Name for basic authentication.', 'NAME'),
  password: name('Password for basic authentication.', 'PASSWORD'),
  'client-certificate': file('Certificate to show to the server.'),
  'client-key': file('Key of that certificate.'),
  as: name('User to act as.', 'USER'),
  'as-group': repeated<readonly string[]>([], 'Group to act with; may be repeated.', 'GROUP', (values) => values),
  'as-uid': name('UID to act with.', 'UID'),
  'certificate-authority': file('CA that signed the certificate of the server.'),
  'tls-server-name': name('Name that the certificate of the server must have.', 'NAME'),
  'insecure-skip-tls-verify': bool(false, 'Do not verify the server certificate. This makes man-in-the-middle attacks possible.'),
  'request-timeout': duration('0s', 'Timeout of requests; 0 is none.', { defaultText: '0s' }),
};
export type ConnectOptions = FlagValues<{ connecting: typeof connectFlags }>;

export interface Session {
  readonly transport: Transport;
  readonly connection: Connection;
  /** Milliseconds for requests that are not watches. */
  readonly timeout: { readonly timeout?: number };
}

/** The files that the client configuration is read from, the first of them before the others. */
export function configFiles(explicit: string | undefined, io: IO): readonly string[] {
  const local = join(io.cwd, '.plat', dataFiles.adminConfig);
  const usual = [...(belongsToUs(local) ? [local] : []), join(io.home, '.plat', 'config'), join(io.home, '.kube', 'config')];
  return configPaths(explicit, io.env, usual);
}

export async function connect(options: ConnectOptions, namespace: string | undefined, io: IO): Promise<Session> {
  if (options.kubeconfig !== undefined && !existsSync(options.kubeconfig)) {
    throw new FlagError(`--kubeconfig ${options.kubeconfig}: there is no such file`);
  }
  const config = await loadConfig(configFiles(options.kubeconfig, io));
  const choice = {
    context: options.context,
    cluster: options.cluster,
    user: options.user,
    server: options.server,
    token: options.token,
    username: options.username,
    password: options.password,
    clientCertificate: options.clientCertificate,
    clientKey: options.clientKey,
    certificateAuthority: options.certificateAuthority,
    tlsServerName: options.tlsServerName,
    as: options.as,
    asGroups: options.asGroup,
    asUid: options.asUid,
    namespace,
    ...(options.insecureSkipTlsVerify && { insecure: true }),
  };
  const connection = await connectionOf(config, choice, credentialEnvironment(io));
  const transport = new Transport(connection, `plat/${productVersion} (${process.platform}/${process.arch})`, io.clock);
  return { transport, connection, timeout: options.requestTimeout === 0 ? {} : { timeout: options.requestTimeout } };
}

const credentialEnvironment = ({ env, clock, terminal, err }: IO): CredentialEnvironment => ({
  env,
  clock,
  interactive: terminal.interactive,
  show: (text) => err(text),
});

/** A file that someone else may have put into this directory is not trusted to name our server and credentials. */
function belongsToUs(path: string): boolean {
  try {
    const { uid, mode } = statSync(path);
    return uid === process.getuid?.() && (mode & 0o022) === 0;
  } catch {
    return false;
  }
}
