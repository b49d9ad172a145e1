/**
 * The table of flags of the server: group, default, stage and help. Names are those of the specification and of stock
 * servers. A flag marked `planned` has no effect yet, and using it is refused.
 */
import { orderedPlugins } from '../admission/plugin-names.ts';
import { bool, choice, duration, file, files, flag, int, list, optionalBool, pairs, port, repeated, text } from '../lib/flags.ts';
import { cipherSuiteNames, type TlsVersion, tlsVersions } from '../lib/tls.ts';
import { type ApiRelease, apiRelease, apiReleases } from '../lib/version.ts';
import { identities } from '../meta/identity.ts';
import { gates } from './feature-gates.ts';
import {
  type AuthorizationMode,
  authorizationModes,
  type PortRange,
  readAddress,
  readModes,
  readPlugins,
  readPortRange,
  readServiceRanges,
  readSniFiles,
  readSuites,
  type SniFiles,
} from './flag-values.ts';
import { gateLines } from './gate-report.ts';

const planned = true;

/** Names of `--feature-gates`. */
export const featureGateNames: ReadonlySet<string> = new Set(Object.keys(gates));

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
  'tls-min-version': choice<TlsVersion>('VersionTLS12', Object.keys(tlsVersions) as TlsVersion[], 'Minimum version of TLS.'),
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
  'min-request-timeout': int(1800, 'Minimum seconds of a watch without timeoutSeconds.'),
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
  identity: text('plat', `Identity of the server: ${Object.keys(identities).join(', ')}, or a JSON file with its own.`, {
    value: 'NAME|FILE',
  }),
  'api-release': choice<ApiRelease>(
    apiRelease,
    apiReleases,
    'Release of the API whose groups, versions and resources are served, with its deprecation warnings; all else is as in 1.24.',
  ),
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
  'feature-gates': pairs(
    'Features to switch. AllAlpha and AllBeta are for all of a stage that are not named themselves. docs/feature-gates.md says what each does.',
    { value: 'NAME=true|false,…', lines: gateLines() },
  ),
  'identity-lease-duration-seconds': int(3600, 'Seconds after which the lease of a server that does not renew it has expired.', { min: 1 }),
  'identity-lease-renew-interval-seconds': int(10, 'Seconds between renewals of the lease of this server.', { min: 1 }),
  'runtime-config': list(
    [],
    'Versions and resources to serve besides those of --api-release: api/all, api/ga, api/beta, api/alpha, group/version or group/version/resource, =false for off.',
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
  'log-format': choice('text', ['text', 'json'], 'Format of log lines.'),
  'tracing-config-file': file('Which requests are reported as traces, and to which collector.', { stage: 'alpha' }),
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
