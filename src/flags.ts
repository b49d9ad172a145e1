/**
 * Every flag of the server with its group, default, stage and help, and the options that follow from a command line. Names
 * are those of the specification and of stock servers. What is marked `planned` has no effect yet, and using it is refused.
 */
import { orderedPlugins, pluginNames } from './admission/plugin-names.ts';
import { type FeatureGates, featureHelp, gates, readFeatureGates } from './features.ts';
import { identities } from './identity.ts';
import {
  bool,
  camelCase,
  choice,
  duration,
  type Flag,
  FlagError,
  type FlagValues,
  file,
  files,
  flag,
  flagHelp,
  int,
  list,
  optionalBool,
  pairs,
  parseFlags,
  port,
  readChoice,
  readInteger,
  repeated,
  splitList,
  text,
} from './lib/flags.ts';
import { didYouMean } from './lib/suggest.ts';
import { cipherSuiteNames, isNewSuite, type TlsVersion, tlsVersions } from './lib/tls.ts';
import { parseCIDR, parseIP } from './meta/ip.ts';
import { readRuntimeConfig } from './runtime-config.ts';

const planned = true;

/** Names of `--feature-gates`. */
export const featureGateNames: ReadonlySet<string> = new Set(Object.keys(gates));

export const authorizationModes = ['AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'] as const;
export type AuthorizationMode = (typeof authorizationModes)[number];

function readModes(values: readonly string[]): readonly AuthorizationMode[] {
  const modes = splitList(values).map((mode) => readChoice(mode, authorizationModes));
  if (modes.length === 0) throw new Error(`at least one of ${authorizationModes.join(', ')} is needed`);
  if (new Set(modes).size < modes.length) throw new Error('a mode is named twice');
  return modes;
}

function readPlugins(values: readonly string[]): readonly string[] {
  const names = splitList(values);
  for (const name of names)
    if (!(pluginNames as readonly string[]).includes(name)) throw new Error(`unknown plug-in ${name}${didYouMean(name, pluginNames)}`);
  return names;
}

export interface PortRange {
  readonly first: number;
  readonly last: number;
}
function readPortRange(value: string): PortRange {
  const match = /^(\d+)([-+])(\d+)$/.exec(value);
  if (match === null) throw new Error(`${JSON.stringify(value)} is not of the form 30000-32767`);
  const first = readInteger(match[1] as string, 1, 65535);
  const last = readInteger(match[2] === '+' ? String(first + Number(match[3])) : (match[3] as string), 1, 65535);
  if (last < first) throw new Error(`${last} is before ${first}`);
  return { first, last };
}
function readAddress(value: string): string {
  if (parseIP(value) === undefined) throw new Error(`${JSON.stringify(value)} is not an IP address`);
  return value;
}
function readServiceRanges(values: readonly string[]): readonly string[] {
  const ranges = splitList(values);
  const families = ranges.map((range) => {
    const cidr = parseCIDR(range);
    if (cidr === undefined) throw new Error(`${JSON.stringify(range)} is not an IP range such as 10.0.0.0/24`);
    if (cidr.bits > cidr.address.length * 8 - 3) throw new Error(`${range} holds fewer than 8 addresses`);
    return cidr.family;
  });
  if (ranges.length === 0 || ranges.length > 2 || (ranges.length === 2 && families[0] === families[1])) {
    throw new Error('one range is needed, or one of IPv4 and one of IPv6');
  }
  return ranges;
}

export interface SniFiles {
  readonly certificate: string;
  readonly key: string;
  readonly names: readonly string[];
}
/** `certificate,key` or `certificate,key:name,*.name`. */
function readSniFiles(values: readonly string[]): readonly SniFiles[] {
  return values.map((value) => {
    const colon = value.indexOf(':');
    const [certificate, key, ...rest] = (colon < 0 ? value : value.slice(0, colon)).split(',');
    const names = colon < 0 ? [] : value.slice(colon + 1).split(',');
    if (!certificate || !key || rest.length > 0) throw new Error(`${JSON.stringify(value)} is not of the form certificate,key[:name,…]`);
    const wrong = names.find((name) => !/^(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/.test(name));
    if (wrong !== undefined) throw new Error(`${JSON.stringify(wrong)} is neither a name nor a pattern such as *.example.com`);
    return { certificate, key, names };
  });
}
function readSuites(values: readonly string[]): readonly string[] {
  const names = splitList(values);
  for (const name of names)
    if (!cipherSuiteNames.includes(name)) throw new Error(`unknown cipher suite ${name}${didYouMean(name, cipherSuiteNames)}`);
  return names;
}

const serving = {
  'secure-port': port(6443, 'Port on which HTTPS is served; 0 takes a free one.'),
  'bind-address': flag('127.0.0.1', 'Address to serve HTTPS on; 0.0.0.0 or :: for all.', 'ADDRESS', readAddress),
  'advertise-address': flag<string | undefined>(
    undefined,
    'Address under which the endpoints of the API service name this server.',
    'ADDRESS',
    readAddress,
    { defaultText: 'the bind address, or one of the machine' },
  ),
  'insecure-port': port(0, 'Port on which plain HTTP is served, on loopback only and without authentication by certificate; 0 is none.', {
    defaultText: '0',
  }),
  'tls-cert-file': file('Certificate (PEM) to serve HTTPS with, followed by its intermediates. Made on first start when it is not given.'),
  'tls-private-key-file': file('Key of --tls-cert-file.'),
  'tls-sni-cert-key': repeated<readonly SniFiles[]>(
    [],
    'Certificate and key for clients that ask for certain names; without names: those of the certificate. May be given several times.',
    'CERT,KEY[:NAME,…]',
    readSniFiles,
  ),
  'tls-min-version': choice<TlsVersion>('VersionTLS12', Object.keys(tlsVersions) as TlsVersion[], 'Oldest version of TLS that is spoken.'),
  'tls-cipher-suites': repeated<readonly string[]>(
    [],
    `Cipher suites that are offered, best first: ${cipherSuiteNames.join(', ')}. By default those that Node prefers.`,
    'NAME,…',
    readSuites,
  ),
  'max-connections': int(20_000, 'Connections that are open at once; more are closed as they come. 0 is no limit.'),
  'max-connections-per-address': int(
    12_000,
    'Connections that are open at once from one address; more are closed as they come. 0 is no limit, for servers behind a proxy.',
  ),
  'request-timeout': duration('1m', 'Time after which a request that is not a watch is ended.'),
  'min-request-timeout': int(1800, 'Seconds that a watch lasts at least, unless the client says otherwise.'),
  'enable-priority-and-fairness': bool(
    true,
    'Queue requests by FlowSchemas and PriorityLevelConfigurations; false: only limit how many are handled at once.',
  ),
  'max-requests-inflight': int(
    400,
    'With --max-mutating-requests-inflight: seats that all priority levels share. Without priority and fairness: reading requests handled at once, 0 for no limit.',
  ),
  'max-mutating-requests-inflight': int(
    200,
    'With --max-requests-inflight: seats that all priority levels share. Without priority and fairness: changing requests handled at once, 0 for no limit.',
  ),
  'max-object-bytes': int(
    1_572_864,
    'Largest object that is stored, in bytes of its JSON text. A write that would make one larger is refused; one that is larger already can be read, made smaller and deleted.',
    { min: 64 * 1024, max: 64 * 1024 * 1024 },
  ),
  'livez-grace-period': duration('0s', 'Time after start during which /livez forgives checks that have not passed yet.'),
  'shutdown-delay-duration': duration('0s', 'Time for which requests are still served after /readyz began to fail.'),
  'cors-allowed-origins': list([], 'Patterns of origins whose scripts may use the API.', { planned }),
  profiling: bool(false, 'Serve profiles of the process under /debug/pprof.', { planned }),
};

const store = {
  store: choice('lmdb', ['lmdb', 'memory', 'etcd'], 'Where objects are kept: an embedded file, nowhere, or etcd.'),
  'data-dir': text('.plat', 'Directory of the embedded store, keys, and the configuration for the administrator.', { value: 'DIRECTORY' }),
  'history-retention': duration('5m', 'How long past versions are kept: for watches that resume and lists in pieces.'),
  'etcd-servers': list(['http://127.0.0.1:2379'], 'Addresses of etcd, with --store etcd.'),
  'etcd-prefix': text('/registry/plat', 'Prefix of all keys in etcd.', { value: 'PREFIX' }),
  'etcd-cafile': file('CA that signed the certificate of etcd.'),
  'etcd-certfile': file('Certificate to show to etcd.'),
  'etcd-keyfile': file('Key of --etcd-certfile.'),
  'event-ttl': duration('1h', 'How long events are kept.'),
  'encryption-provider-config': file('Which resources are encrypted in the store, and by which providers and keys.'),
  'encryption-provider-config-automatic-reload': bool(true, 'Use a changed --encryption-provider-config without a restart.'),
  'restore-from': file('Backup to restore before serving; the store must be empty. See `plat store backup`.'),
};

const api = {
  identity: text('plat', `Names the server goes by: ${Object.keys(identities).join(', ')}, or a JSON file with its own.`, {
    value: 'NAME|FILE',
  }),
  'service-cluster-ip-range': repeated<readonly string[]>(
    ['10.0.0.0/24'],
    'Range of addresses of services, or one of IPv4 and one of IPv6.',
    'CIDR,…',
    readServiceRanges,
  ),
  'service-node-port-range': flag<PortRange>(
    { first: 30000, last: 32767 },
    'Ports of nodes that services may use.',
    'FIRST-LAST',
    readPortRange,
    {
      defaultText: '30000-32767',
    },
  ),
  'allow-privileged': bool(false, 'Allow privileged containers.'),
  'feature-gates': pairs(`Features to switch: AllAlpha, AllBeta; ${featureHelp()}.`, { value: 'NAME=true|false,…' }),
  'runtime-config': list(
    [],
    'Versions and resources to serve: api/all, api/ga, api/beta, api/alpha, group/version or group/version/resource, =false for off.',
    {
      value: 'KEY=true|false,…',
    },
  ),
};

const authentication = {
  'anonymous-auth': optionalBool('Let requests without credentials in as system:anonymous.', {
    defaultText: 'true unless AlwaysAllow is a mode',
  }),
  'revoked-certificates-file': file(
    'Serial numbers of client certificates that are refused, one a line in hexadecimal digits, each with the common name of its authority behind it where it counts for that alone.',
  ),
  'client-ca-file': file('CAs whose client certificates name users (common name) and groups (organizations).'),
  'token-auth-file': file('Lines of token,user,uid,"group1,group2".'),
  'enable-bootstrap-token-auth': bool(false, 'Accept bootstrap tokens.'),
  'api-audiences': list([], 'Audiences that tokens must be meant for.'),
  'service-account-issuer': list([], 'Issuers of service account tokens; the first signs.'),
  'service-account-key-file': files('Keys (PEM) that verify service account tokens.'),
  'service-account-signing-key-file': file('Key that signs service account tokens.'),
  'service-account-lookup': bool(true, 'Check that the account of a token still exists.', { planned }),
  'service-account-max-token-expiration': duration('0s', 'Longest life of a service account token; 0 is no bound.'),
  'service-account-extend-token-expiration': bool(true, 'Let injected tokens live on for a year, so that old clients keep working.', {}),
  'service-account-jwks-uri': text('', 'Address of the keys in the discovery document.', { planned, value: 'URL' }),
  'oidc-issuer-url': text('', 'OpenID Connect: the issuer, https only.', { value: 'URL' }),
  'oidc-client-id': text('', 'OpenID Connect: the client id that tokens must be issued for.', { value: 'ID' }),
  'oidc-username-claim': text('sub', 'OpenID Connect: the claim that names the user.', { value: 'CLAIM' }),
  'oidc-username-prefix': text('', 'OpenID Connect: prefix of user names; - for none.', { value: 'PREFIX' }),
  'oidc-groups-claim': text('', 'OpenID Connect: the claim that names groups.', { value: 'CLAIM' }),
  'oidc-groups-prefix': text('', 'OpenID Connect: prefix of group names.', { value: 'PREFIX' }),
  'oidc-required-claim': pairs('OpenID Connect: claims that a token must have.'),
  'oidc-signing-algs': list(['RS256'], 'OpenID Connect: accepted signature algorithms.'),
  'oidc-ca-file': file('OpenID Connect: CA of the provider.'),
  'authentication-token-webhook-config-file': file('Configuration of the remote service that knows tokens.'),
  'authentication-token-webhook-cache-ttl': duration('2m', 'How long its decisions are kept.'),
  'authentication-token-webhook-version': choice('v1beta1', ['v1', 'v1beta1'], 'Version of TokenReview to send.'),
  'requestheader-username-headers': list([], 'Headers in which a proxy names the user.'),
  'requestheader-group-headers': list([], 'Headers in which a proxy names groups.'),
  'requestheader-extra-headers-prefix': list([], 'Prefixes of headers in which a proxy passes extra facts.'),
  'requestheader-client-ca-file': file('CA of the proxy.'),
  'requestheader-allowed-names': list([], 'Common names that the proxy may have.'),
};

const authorization = {
  'authorization-mode': repeated<readonly AuthorizationMode[]>(
    ['Node', 'RBAC'],
    `Modes asked in this order: ${authorizationModes.join(', ')}.`,
    'MODE,…',
    readModes,
  ),
  'authorization-webhook-config-file': file('Configuration of the remote service that decides.'),
  'authorization-webhook-version': choice('v1beta1', ['v1', 'v1beta1'], 'Version of SubjectAccessReview to send.'),
  'authorization-webhook-cache-authorized-ttl': duration('5m', 'How long its grants are kept.'),
  'authorization-webhook-cache-unauthorized-ttl': duration('30s', 'How long its refusals are kept.'),
};

const plugins = (byDefault: boolean): string =>
  orderedPlugins
    .filter((one) => one.default === byDefault)
    .map(({ name }) => name)
    .join(', ');

const admission = {
  'enable-admission-plugins': repeated<readonly string[]>(
    [],
    `Admission plug-ins to run besides the default ones, in any order: ${plugins(false)}. By default run: ${plugins(true)}.`,
    'NAME,…',
    readPlugins,
  ),
  'disable-admission-plugins': repeated<readonly string[]>([], 'Admission plug-ins not to run.', 'NAME,…', readPlugins),
  'admission-control-config-file': file('Configuration of admission plug-ins.'),
  'default-not-ready-toleration-seconds': int(300, 'How long pods that say nothing else stay on a node that is not ready.'),
  'default-unreachable-toleration-seconds': int(300, 'How long pods that say nothing else stay on a node that cannot be reached.'),
};

const audit = {
  'audit-policy-file': file('Which requests are recorded, and how much of them. Without it none is.'),
  'audit-log-path': text('', 'File of the audit log; - for standard output.', { value: 'FILE' }),
  'audit-log-format': choice('json', ['json', 'legacy'], 'Form of its lines.'),
  'audit-log-maxage': int(0, 'Days for which old audit logs are kept; 0 is no bound.'),
  'audit-log-maxbackup': int(0, 'Number of old audit logs kept; 0 is no bound.'),
  'audit-log-maxsize': int(100, 'Megabytes at which a new audit log is begun; 0 is never.'),
  'audit-log-compress': bool(false, 'Pack old audit logs.'),
  'audit-webhook-config-file': file('Configuration of the remote service that takes audit events.'),
  'audit-webhook-version': choice('v1', ['v1'], 'Version of audit events to send.'),
  'audit-webhook-mode': choice(
    'batch',
    ['batch', 'blocking', 'blocking-strict'],
    'Whether a request waits until its arrival is recorded there; strict: it is refused when that fails.',
  ),
  'audit-webhook-initial-backoff': duration('10s', 'Wait before the first retry.'),
  'audit-webhook-batch-buffer-size': int(10000, 'Events kept for it; more are dropped.', { min: 1 }),
  'audit-webhook-batch-max-size': int(400, 'Events of one batch.', { min: 1 }),
  'audit-webhook-batch-max-wait': duration('30s', 'Wait before a batch that is not full is sent.'),
};

const aggregation = {
  'proxy-client-cert-file': file(
    'Certificate to show to servers behind this one, which believe what it says of users. Made when neither it nor --requestheader-client-ca-file is given.',
  ),
  'proxy-client-key-file': file('Key of --proxy-client-cert-file.'),
  'enable-aggregator-routing': optionalBool('Reach servers behind this one by the addresses of endpoints; false: by that of the service.', {
    defaultText: 'by endpoints where there are any',
  }),
  'aggregator-reject-forwarding-redirect': bool(true, 'Refuse answers of servers behind this one that lead elsewhere.'),
};

const nodes = {
  'kubelet-preferred-address-types': list(
    ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
    'Kinds of addresses under which the agent of a node is looked for (logs, exec, proxy), best first.',
    { value: 'TYPE,…' },
  ),
  'kubelet-certificate-authority': file('CAs that sign the certificates of node agents. The own one of this server when it is not given.'),
  'kubelet-client-certificate': file('Certificate to show to node agents.'),
  'kubelet-client-key': file('Key of --kubelet-client-certificate.'),
  'kubelet-insecure-tls': bool(false, 'Believe whoever answers at the address of a node agent, without looking at its certificate.'),
  'proxy-to-local-addresses': bool(
    false,
    "Let pods/proxy, services/proxy and nodes/proxy lead to this machine's own loopback and link-local addresses.",
    { stage: 'alpha' },
  ),
};

export const controllerFlags = {
  controllers: list(['*'], 'Controllers to run: * for all that are on by default, NAME to add, -NAME to leave out.'),
  'leader-elect': optionalBool('Run controllers only while holding the lease.', { defaultText: 'true with --store etcd' }),
  'leader-elect-lease-duration': duration('15s', 'How long a lease holds.'),
  'leader-elect-renew-deadline': duration('10s', 'How long the leader tries to renew it.'),
  'leader-elect-retry-period': duration('2s', 'How often it is tried.'),
  'cluster-signing-duration': duration('8760h', 'Longest life of certificates signed for CertificateSigningRequests.'),
  'cluster-signing-cert-file': file('Certificate of the CA that signs requests.'),
  'cluster-signing-key-file': file('Its key.'),
  'cluster-signing-kube-apiserver-client-cert-file': file('Certificate of the CA for clients of this server.'),
  'cluster-signing-kube-apiserver-client-key-file': file('Its key.'),
  'cluster-signing-kubelet-client-cert-file': file('Certificate of the CA for node agents as clients.'),
  'cluster-signing-kubelet-client-key-file': file('Its key.'),
  'cluster-signing-kubelet-serving-cert-file': file('Certificate of the CA for node agents as servers.'),
  'cluster-signing-kubelet-serving-key-file': file('Its key.'),
  'cluster-signing-legacy-unknown-cert-file': file('Certificate of the CA for the legacy signer.'),
  'cluster-signing-legacy-unknown-key-file': file('Its key.'),
};

const observing = {
  v: int(
    0,
    'How much is logged, 0 to 10: notable events from 2, details from 4, requests from 6, those of the own controllers from 7, outlines of bodies from 8. Secrets never are.',
    { max: 10 },
  ),
  'log-format': choice('text', ['text', 'json'], 'Form of log lines.'),
  'show-hidden-metrics-for-version': text('', 'The release before this one, to show metrics that were hidden since.', { value: 'VERSION' }),
};

export const serverFlags = {
  Serving: serving,
  Store: store,
  API: api,
  Authentication: authentication,
  Authorization: authorization,
  Admission: admission,
  Audit: audit,
  Aggregation: aggregation,
  Nodes: nodes,
  Controllers: controllerFlags,
  Observing: observing,
};

type Parsed = FlagValues<typeof serverFlags>;
/** The options of a server: every flag under its name in camel case, those that others depend on resolved. */
export interface ServerOptions extends Omit<Parsed, 'featureGates' | 'runtimeConfig' | 'anonymousAuth'> {
  readonly anonymousAuth: boolean;
  readonly features: FeatureGates;
  readonly runtimeConfig: ReturnType<typeof readRuntimeConfig>;
  /** For the log, once it is open. */
  readonly warnings: readonly string[];
}

/** Names of files within the data directory that others than the server look for. */
export const dataFiles = { adminConfig: 'admin.conf' } as const;

/** Reads the command line of `plat server`. Returns `help` for --help; throws FlagError. */
export function parseServerFlags(args: readonly string[]): ServerOptions | 'help' {
  const { options, given, args: rest, warnings, help } = parseFlags(serverFlags, args);
  if (help) return 'help';
  if (rest.length > 0) throw new FlagError(`unexpected argument ${JSON.stringify(rest[0])}: the server takes no arguments`);
  checkTogether(options, given);
  const features = attempt('feature-gates', () => readFeatureGates(options.featureGates));
  const runtimeConfig = attempt('runtime-config', () => readRuntimeConfig(options.runtimeConfig));
  return {
    ...options,
    // A server that keeps its objects in memory keeps its keys there, too, unless it is given a directory.
    dataDir: options.store === 'memory' && !given.has('data-dir') ? '' : options.dataDir,
    anonymousAuth: options.anonymousAuth ?? !options.authorizationMode.includes('AlwaysAllow'),
    features,
    runtimeConfig,
    warnings: [...warnings, ...features.warnings],
  };
}

/**
 * Options for a server within a program or test: the defaults, with some of them changed; undefined leaves a default as it is.
 * Throws FlagError where one is unknown or of the wrong type.
 */
export function serverOptions(changes: Partial<ServerOptions> = {}): ServerOptions {
  const defaults = changes.store === 'memory' ? defaultsInMemory() : defaultsOnDisk();
  const options: Record<string, unknown> = { ...defaults };
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) continue;
    checkOption(name, value, options);
    options[name] = value;
  }
  return options as unknown as ServerOptions;
}

/** Programs that start many servers in one process do not have all flags read for each of them. */
const defaultsInMemory = once(() => parseServerFlags(['--store=memory']) as ServerOptions);
const defaultsOnDisk = once(() => parseServerFlags([]) as ServerOptions);
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const flagOf: ReadonlyMap<string, Flag<unknown>> = new Map(
  Object.values(serverFlags).flatMap((group) => Object.entries(group).map(([name, flag]) => [camelCase(name), flag as Flag<unknown>])),
);

/** Options are given as values, so that only their types and, of names to choose from, their spelling can be wrong. */
function checkOption(name: string, value: unknown, defaults: Readonly<Record<string, unknown>>): void {
  if (!Object.hasOwn(defaults, name) && !flagOf.has(name))
    throw new FlagError(`unknown option ${name}${didYouMean(name, [...flagOf.keys()])}`);
  const flag = flagOf.get(name);
  const usual = defaults[name] ?? flag?.default;
  if (usual === undefined) return;
  const [wanted, is] = [typeName(usual), typeName(value)];
  if (wanted !== is) throw new FlagError(`option ${name}: a ${wanted} is needed, not a ${is}`);
  if (typeof value === 'string' && flag !== undefined && typeof usual === 'string') attemptOption(name, () => flag.read([value]));
}
const typeName = (value: unknown): string => (Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value);

function attemptOption(name: string, read: () => unknown): void {
  try {
    read();
  } catch (error) {
    throw new FlagError(`option ${name}: ${(error as Error).message}`);
  }
}

export function serverHelp(width?: number): string {
  return flagHelp(serverFlags, width);
}

function attempt<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new FlagError(`--${name}: ${(error as Error).message}`);
  }
}

interface Dependence {
  /** A name, or the beginning of names that ends with a dash. */
  readonly flags: readonly string[];
  /** The flag that is missing, as it would be given. */
  readonly needs: string;
  present(options: Parsed): boolean;
}

/** Flags that say how something is done that another flag switches on: alone they would be accepted without effect. */
const dependences: readonly Dependence[] = [
  { flags: ['etcd-'], needs: '--store etcd', present: (o) => o.store === 'etcd' },
  {
    flags: ['encryption-provider-config-automatic-reload'],
    needs: '--encryption-provider-config',
    present: (o) => o.encryptionProviderConfig !== undefined,
  },
  { flags: ['oidc-'], needs: '--oidc-issuer-url', present: (o) => o.oidcIssuerUrl !== '' },
  { flags: ['oidc-issuer-url'], needs: '--oidc-client-id', present: (o) => o.oidcClientId !== '' },
  { flags: ['oidc-groups-prefix'], needs: '--oidc-groups-claim', present: (o) => o.oidcGroupsClaim !== '' },
  { flags: ['requestheader-'], needs: '--requestheader-client-ca-file', present: (o) => o.requestheaderClientCaFile !== undefined },
  {
    flags: ['requestheader-client-ca-file'],
    needs: '--requestheader-username-headers',
    present: (o) => o.requestheaderUsernameHeaders.length > 0,
  },
  {
    flags: ['authentication-token-webhook-'],
    needs: '--authentication-token-webhook-config-file',
    present: (o) => o.authenticationTokenWebhookConfigFile !== undefined,
  },
  {
    flags: ['authorization-webhook-version', 'authorization-webhook-cache-'],
    needs: '--authorization-webhook-config-file',
    present: (o) => o.authorizationWebhookConfigFile !== undefined,
  },
  { flags: ['audit-log-'], needs: '--audit-log-path', present: (o) => o.auditLogPath !== '' },
  {
    flags: ['audit-log-max', 'audit-log-compress'],
    needs: '--audit-log-path with the name of a file',
    present: (o) => o.auditLogPath !== '-',
  },
  { flags: ['audit-webhook-'], needs: '--audit-webhook-config-file', present: (o) => o.auditWebhookConfigFile !== undefined },
  {
    flags: ['audit-log-path', 'audit-webhook-config-file'],
    needs: '--audit-policy-file',
    present: (o) => o.auditPolicyFile !== undefined,
  },
  {
    flags: ['audit-policy-file'],
    needs: '--audit-log-path or --audit-webhook-config-file',
    present: (o) => o.auditLogPath !== '' || o.auditWebhookConfigFile !== undefined,
  },
  { flags: ['leader-elect-'], needs: '--leader-elect', present: (o) => o.leaderElect ?? o.store === 'etcd' },
  {
    flags: ['default-not-ready-toleration-seconds', 'default-unreachable-toleration-seconds'],
    needs: 'the admission plug-in DefaultTolerationSeconds',
    present: (o) => !o.disableAdmissionPlugins.includes('DefaultTolerationSeconds'),
  },
  {
    flags: ['kubelet-certificate-authority'],
    needs: '--kubelet-insecure-tls=false',
    present: (o) => !o.kubeletInsecureTls,
  },
];

/** Flags that were given without another one that they need. */
export function flagsWithoutEffect(options: Parsed, given: ReadonlySet<string>): { readonly name: string; readonly needs: string }[] {
  return dependences
    .filter(({ present }) => !present(options))
    .flatMap(({ flags, needs }) =>
      [...given]
        .filter((name) => flags.some((one) => name === one || (/(-|max)$/.test(one) && name.startsWith(one))))
        .map((name) => ({ name, needs })),
    );
}
function checkDependences(options: Parsed, given: ReadonlySet<string>): void {
  const [first] = flagsWithoutEffect(options, given);
  if (first !== undefined) throw new FlagError(`--${first.name} has no effect without ${first.needs}`);
}

/** Flags that need each other. */
function checkTogether(options: Parsed, given: ReadonlySet<string>): void {
  const both = (a: string, b: string, one: unknown, other: unknown): void => {
    if ((one === undefined) !== (other === undefined)) throw new FlagError(`--${a} and --${b} are needed together`);
  };
  both('tls-cert-file', 'tls-private-key-file', options.tlsCertFile, options.tlsPrivateKeyFile);
  if (options.tlsMinVersion === 'VersionTLS13' && options.tlsCipherSuites.length > 0 && !options.tlsCipherSuites.some(isNewSuite))
    throw new FlagError('--tls-cipher-suites names no suite of TLS 1.3, which alone is spoken with --tls-min-version VersionTLS13');
  both('proxy-client-cert-file', 'proxy-client-key-file', options.proxyClientCertFile, options.proxyClientKeyFile);
  both('etcd-certfile', 'etcd-keyfile', options.etcdCertfile, options.etcdKeyfile);
  for (const signer of ['', 'kube-apiserver-client-', 'kubelet-client-', 'kubelet-serving-', 'legacy-unknown-']) {
    const [certificate, key] = [`cluster-signing-${signer}cert-file`, `cluster-signing-${signer}key-file`];
    both(certificate, key, given.has(certificate) || undefined, given.has(key) || undefined);
  }
  both('kubelet-client-certificate', 'kubelet-client-key', options.kubeletClientCertificate, options.kubeletClientKey);
  checkDependences(options, given);
  if (options.authorizationMode.includes('Webhook') !== (options.authorizationWebhookConfigFile !== undefined))
    throw new FlagError('--authorization-mode Webhook and --authorization-webhook-config-file are needed together');
  for (const name of options.enableAdmissionPlugins)
    if (options.disableAdmissionPlugins.includes(name))
      throw new FlagError(`--enable-admission-plugins and --disable-admission-plugins both name ${name}`);
  if (options.enablePriorityAndFairness && options.maxRequestsInflight + options.maxMutatingRequestsInflight <= 0)
    throw new FlagError(
      '--max-requests-inflight and --max-mutating-requests-inflight must add up to more than 0, or --enable-priority-and-fairness=false be given',
    );
  if (options.historyRetention === 0) throw new FlagError('--history-retention: 0 would end every watch that resumes');
}
