/** `plat config`: clusters and users, listed, set and removed. */

import { resolve } from 'node:path';
import { ConfigError } from '@plat-dev/client/config';
import { bool, choice, FlagError, type FlagValues, file, flag, optionalBool, repeated } from '@plat-dev/lib/flags';
import { setOwn } from '@plat-dev/lib/own';
import { type Command, command, type IO } from '../command.ts';
import { isStock } from '../program.ts';
import { type Body, ConfigFiles, fieldOf, fileFlag, type ListName, noArguments, oneArgument } from './files.ts';
import { embed } from './view.ts';

const value = (help: string, placeholder = 'TEXT') => flag<string | undefined>(undefined, help, placeholder, (t) => t);
const several = (help: string, placeholder: string) => repeated<readonly string[]>([], help, placeholder, (values) => values);

const plain = { File: fileFlag };
export function lister(list: ListName): Command {
  return command({
    usage: '[flags]',
    summary: `List the names of ${list}.`,
    flags: plain,
    more: `
Examples:
  plat config get-${list}
  plat config get-${list} --kubeconfig other.conf
  plat config get-${list} | grep dev
`,
    async run({ options, args }, io) {
      if (!isStock(io)) noArguments(args);
      const names = (await ConfigFiles.read(options.kubeconfig, io)).names(list);
      io.out(['NAME', ...names].map((one) => `${one}\n`).join(''));
      return 0;
    },
  });
}
export function remover(list: ListName): Command {
  const what = fieldOf[list];
  return command({
    usage: 'NAME [flags]',
    summary: `Remove a ${what}.`,
    flags: plain,
    more: `
Examples:
  plat config delete-${what} old
  plat config delete-${what} old --kubeconfig other.conf
  plat config delete-${what} "$OLD"
`,
    async run({ options, args }, io) {
      const name = oneArgument(args, what, `config delete-${what} old`);
      const files = await ConfigFiles.read(options.kubeconfig, io);
      const path = files.fileOf(list, name);
      files.need(list, name, `cannot delete ${what} ${name}, not in ${path}`);
      await files.remove(list, name);
      if (list === 'contexts' && files.currentContext === name) io.err(`${currentDeleted(io)}\n`);
      io.out(`deleted ${what} ${name} from ${path}\n`);
      return 0;
    },
  });
}

const currentDeleted = (io: IO): string =>
  isStock(io)
    ? 'warning: this removed your active context, use "kubectl config use-context" to select a different one'
    : 'plat: this was the current context: choose another with `plat config use-context`';

const embedFlag = bool(false, 'Embed the contents of the files instead of their paths.');

const clusterTable = {
  Cluster: {
    server: value('Address of the server.', 'URL'),
    'certificate-authority': file('CA that signed the certificate of the server.'),
    'embed-certs': embedFlag,
    'insecure-skip-tls-verify': optionalBool('Do not verify the server certificate. This makes man-in-the-middle attacks possible.'),
    'tls-server-name': value('Name that the certificate of the server must have.', 'NAME'),
    'proxy-url': value('Proxy that leads to the server.', 'URL'),
  },
  File: fileFlag,
};
export const setCluster = command({
  usage: 'NAME [flags]',
  summary: 'Create or update a cluster.',
  flags: clusterTable,
  more: `
Examples:
  plat config set-cluster dev --server=https://127.0.0.1:6443
  plat config set-cluster dev --certificate-authority=ca.crt --embed-certs
  plat config set-cluster dev --proxy-url=socks5://127.0.0.1:1080
`,
  async run({ options, args }, io) {
    const name = oneArgument(args, 'cluster', 'config set-cluster dev --server https://127.0.0.1:6443');
    if (options.insecureSkipTlsVerify && options.certificateAuthority !== undefined) {
      throw new FlagError('--certificate-authority and --insecure-skip-tls-verify exclude each other');
    }
    if (options.embedCerts && options.certificateAuthority === undefined) {
      throw new FlagError('you must specify a --certificate-authority to embed');
    }
    const changes: Body = {};
    put(changes, 'server', options.server);
    put(changes, 'tls-server-name', options.tlsServerName);
    put(changes, 'proxy-url', options.proxyUrl);
    const drop: string[] = [];
    if (options.certificateAuthority !== undefined) {
      await putFile(changes, 'certificate-authority', options.certificateAuthority, options.embedCerts, io);
      drop.push('insecure-skip-tls-verify', ...other('certificate-authority', options.embedCerts));
    }
    if (options.insecureSkipTlsVerify !== undefined) {
      changes['insecure-skip-tls-verify'] = options.insecureSkipTlsVerify;
      if (options.insecureSkipTlsVerify) drop.push('certificate-authority', 'certificate-authority-data');
    }
    const files = await ConfigFiles.read(options.kubeconfig, io);
    await files.edit('clusters', name, (body) => ({ server: '', ...without(body, drop), ...changes }));
    io.out(`Cluster ${JSON.stringify(name)} set.\n`);
    return 0;
  },
});

const userTable = {
  Certificate: {
    'client-certificate': file('Certificate of the user.'),
    'client-key': file('Key of that certificate.'),
    'embed-certs': embedFlag,
  },
  Token: {
    token: value('Bearer token.', 'TOKEN'),
    username: value('Name for basic authentication.', 'NAME'),
    password: value('Password for basic authentication.', 'PASSWORD'),
  },
  'Credential plug-in': {
    'exec-command': value('Program that prints the credential.', 'COMMAND'),
    'exec-api-version': value('Version of the contract with it: client.authentication.…/v1.', 'VERSION'),
    'exec-arg': several('Argument for it; may be repeated.', 'TEXT'),
    'exec-env': several('Variable for its environment; NAME- removes one. May be repeated.', 'NAME=VALUE'),
    'exec-interactive-mode': choice('', ['', 'Never', 'IfAvailable', 'Always'], 'Whether the plug-in may prompt on the terminal.', {
      value: 'Never|IfAvailable|Always',
    }),
    'exec-provide-cluster-info': optionalBool('Pass the cluster to the plug-in.'),
    'exec-install-hint': value('Hint to print when the plug-in is not installed.'),
  },
  'Auth provider': {
    'auth-provider': value('Name of the provider: oidc.', 'NAME'),
    'auth-provider-arg': several('Setting of the provider; KEY- removes one. May be repeated.', 'KEY=VALUE'),
  },
  File: fileFlag,
};
type UserOptions = FlagValues<typeof userTable>;

export const setCredentials = command({
  usage: 'NAME [flags]',
  summary: 'Create or update a user.',
  flags: userTable,
  more: `
Examples:
  plat config set-credentials me --client-certificate=me.crt --client-key=me.key --embed-certs
  plat config set-credentials me --token="$TOKEN"
  plat config set-credentials me --exec-command=get-token --exec-arg=--dev --exec-api-version=client.authentication.…/v1
`,
  async run({ options, args }, io) {
    const name = oneArgument(args, 'user', 'config set-credentials me --token …');
    const changes = await userChanges(options, io);
    const files = await ConfigFiles.read(options.kubeconfig, io);
    await files.edit('users', name, (body) => changeUser(body, changes, options));
    io.out(`User ${JSON.stringify(name)} set.\n`);
    return 0;
  },
});

async function userChanges(options: UserOptions, io: IO): Promise<Body> {
  const changes: Body = {};
  if (options.clientCertificate !== undefined)
    await putFile(changes, 'client-certificate', options.clientCertificate, options.embedCerts, io);
  if (options.clientKey !== undefined) await putFile(changes, 'client-key', options.clientKey, options.embedCerts, io);
  put(changes, 'token', options.token);
  put(changes, 'username', options.username);
  put(changes, 'password', options.password);
  return changes;
}

/** Credentials that exclude each other: the one that is set replaces the others. */
const ways: Readonly<Record<string, readonly string[]>> = {
  token: ['token', 'tokenFile'],
  basic: ['username', 'password'],
  exec: ['exec'],
  provider: ['auth-provider'],
};
function changeUser(body: Body, changes: Body, options: UserOptions): Body {
  const execGiven = execChanges(options);
  const provider = options.authProvider !== undefined || options.authProviderArg.length > 0;
  const authMethods = [
    ...(changes.token !== undefined ? ['token'] : []),
    ...(changes.username !== undefined || changes.password !== undefined ? ['basic'] : []),
    ...(execGiven ? ['exec'] : []),
    ...(provider ? ['provider'] : []),
  ];
  if (authMethods.length > 1) throw new FlagError('a token, a name with password, a plug-in and an auth provider exclude each other');
  const drop = authMethods.length === 0 ? [] : Object.entries(ways).flatMap(([way, fields]) => (way === authMethods[0] ? [] : fields));
  if (changes.token !== undefined) drop.push('tokenFile');
  for (const field of ['client-certificate', 'client-key'])
    if (Object.hasOwn(changes, `${field}-data`) || Object.hasOwn(changes, field)) drop.push(field, `${field}-data`);
  const result = { ...without(body, drop), ...changes };
  if (execGiven) result.exec = changeExec((body.exec ?? {}) as Body, options);
  if (provider) result['auth-provider'] = changeProvider((body['auth-provider'] ?? {}) as Body, options);
  return result;
}
const execChanges = (o: UserOptions): boolean =>
  o.execCommand !== undefined ||
  o.execApiVersion !== undefined ||
  o.execArg.length > 0 ||
  o.execEnv.length > 0 ||
  o.execInteractiveMode !== '' ||
  o.execProvideClusterInfo !== undefined ||
  o.execInstallHint !== undefined;

function changeExec(exec: Body, options: UserOptions): Body {
  const changed: Body = { ...exec };
  put(changed, 'command', options.execCommand);
  put(changed, 'apiVersion', options.execApiVersion);
  put(changed, 'installHint', options.execInstallHint);
  put(changed, 'provideClusterInfo', options.execProvideClusterInfo);
  if (options.execInteractiveMode !== '') changed.interactiveMode = options.execInteractiveMode;
  if (options.execArg.length > 0) changed.args = options.execArg;
  if (options.execEnv.length > 0) {
    const previousEnv = ((exec.env ?? []) as { name: string; value: string }[]).map((one) => [one.name, one.value] as const);
    changed.env = [...changePairs(new Map(previousEnv), options.execEnv, '--exec-env')].map(([name, text]) => ({ name, value: text }));
  }
  if (!changed.command) throw new ConfigError('a credential plug-in needs --exec-command');
  if (!changed.apiVersion) throw new ConfigError('a credential plug-in needs --exec-api-version');
  if (!changed.interactiveMode) changed.interactiveMode = 'IfAvailable';
  return changed;
}
function changeProvider(provider: Body, options: UserOptions): Body {
  const changed: Body = { ...(options.authProvider === undefined || options.authProvider === provider.name ? provider : {}) };
  put(changed, 'name', options.authProvider);
  if (!changed.name) throw new ConfigError('--auth-provider-arg needs --auth-provider');
  const settings = new Map(Object.entries((changed.config ?? {}) as Record<string, string>));
  changed.config = Object.fromEntries(changePairs(settings, options.authProviderArg, '--auth-provider-arg'));
  return changed;
}
/** `KEY=VALUE` sets, `KEY-` removes. */
function changePairs(pairs: Map<string, string>, changes: readonly string[], name: string): Map<string, string> {
  for (const change of changes) {
    const at = change.indexOf('=');
    if (at > 0) pairs.set(change.slice(0, at), change.slice(at + 1));
    else if (change.endsWith('-') && change.length > 1) pairs.delete(change.slice(0, -1));
    else throw new FlagError(`${name}: ${JSON.stringify(change)} is neither KEY=VALUE nor KEY-`);
  }
  return pairs;
}

function put(body: Body, field: string, value: unknown): void {
  if (value !== undefined) setOwn(body, field, value);
}
async function putFile(body: Body, field: string, path: string, embedded: boolean, io: IO): Promise<void> {
  setOwn(body, field, resolve(io.cwd, path));
  if (embedded) await embed(body, field);
}
const other = (field: string, embedded: boolean): string[] => [embedded ? field : `${field}-data`];
const without = (body: Body, fields: readonly string[]): Body =>
  Object.fromEntries(Object.entries(body).filter(([field]) => !fields.includes(field)));
