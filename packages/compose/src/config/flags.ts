/**
 * The table of flags of the server: group, default, stage and help. Names are those of the specification and of stock
 * servers. A flag marked `planned` has no effect yet, and using it is refused.
 */

import { gates } from '@plat-dev/kinds/feature-gates';
import {
  bool,
  choice,
  duration,
  file,
  files,
  flag,
  int,
  list,
  optionalBool,
  pairs,
  port,
  readRelease,
  repeated,
  text,
} from '@plat-dev/lib/flags';
import { type ApiRelease, apiRelease, apiReleases, latestRelease } from '@plat-dev/lib/version';
import { identities } from '@plat-dev/meta/identity';
import { orderedPlugins } from '@plat-dev/server/admission/plugin-names';
import { cipherSuiteNames, type TlsVersion, tlsVersions } from '@plat-dev/server/connections/tls';
import { readBytes, readHistoryRules, readSpan } from '@plat-dev/server/history/policy';
import {
  type AuthorizationMode,
  authorizationModes,
  type PortRange,
  readAddress,
  readBalancerRanges,
  readHost,
  readModes,
  readPlugins,
  readPortRange,
  readServiceRanges,
  readSniFiles,
  readSuites,
  readTimeFactor,
  readWorkloads,
  type SniFiles,
  type WorkloadPart,
  workloadLines,
} from './flag-values.ts';
import { gateLines } from './gate-report.ts';

const planned = true;

/** Names of `--feature-gates`. */
export const featureGateNames: ReadonlySet<string> = new Set(Object.keys(gates));

const serving = {
  'secure-port': port(6443, 'Port to serve HTTPS on; 0 for any free port.'),
  'bind-address': flag('127.0.0.1', 'Address to serve HTTPS on; 0.0.0.0 or :: for all addresses.', 'ADDRESS', readAddress),
  'advertise-address': flag<string | undefined>(
    undefined,
    'Address of this server in the endpoints of the API service.',
    'ADDRESS',
    readAddress,
    { defaultText: 'the bind address, or an address of the machine' },
  ),
  'insecure-port': port(0, 'Port to serve plain HTTP on, on loopback only and without client certificates; 0 for none.', {
    defaultText: '0',
  }),
  'tls-cert-file': file('Certificate (PEM) to serve HTTPS with, followed by its intermediates. Generated on first start if not set.'),
  'tls-private-key-file': file('Private key of --tls-cert-file.'),
  'tls-sni-cert-key': repeated<readonly SniFiles[]>(
    [],
    'Certificate and key for these SNI host names; without names, for the names in the certificate. Can be repeated.',
    'CERT,KEY[:NAME,…]',
    readSniFiles,
  ),
  'tls-min-version': choice<TlsVersion>('VersionTLS12', Object.keys(tlsVersions) as TlsVersion[], 'Minimum version of TLS.'),
  'tls-cipher-suites': repeated<readonly string[]>(
    [],
    `Cipher suites to offer, most preferred first: ${cipherSuiteNames.join(', ')}. Defaults to those of Node.`,
    'NAME,…',
    readSuites,
  ),
  'max-connections': int(20_000, 'Maximum number of open connections; further ones are closed on arrival. 0 for no limit.'),
  'max-connections-per-address': int(
    12_000,
    'Maximum number of open connections from one address; further ones are closed on arrival. 0 for no limit, for servers behind a proxy.',
  ),
  'request-timeout': duration('1m', 'Timeout of requests other than watches.'),
  'slow-request-threshold': duration('500ms', 'Requests that take this long are remembered for `plat why slow`.'),
  'min-request-timeout': int(1800, 'Minimum duration in seconds of a watch without timeoutSeconds.'),
  'enable-priority-and-fairness': bool(
    true,
    'Queue requests by FlowSchemas and PriorityLevelConfigurations; if false, only limit the number in flight.',
  ),
  'max-requests-inflight': int(
    400,
    'With --max-mutating-requests-inflight: seats shared by all priority levels. Without priority and fairness: maximum read requests in flight, 0 for no limit.',
  ),
  'max-mutating-requests-inflight': int(
    200,
    'With --max-requests-inflight: seats shared by all priority levels. Without priority and fairness: maximum mutating requests in flight, 0 for no limit.',
  ),
  'max-object-bytes': int(
    1_572_864,
    'Maximum size of a stored object, in bytes of its JSON text. Writes that exceed it are refused; objects that are larger already can be read, shrunk and deleted.',
    { min: 64 * 1024, max: 64 * 1024 * 1024 },
  ),
  console: bool(true, 'Serve the console, for browsers, under /console/.'),
  'console-address': flag(
    '',
    'Host and port by which browsers reach the server. With it the link with the one-time code works from other machines, too.',
    'HOST[:PORT]',
    readHost,
    { defaultText: 'that of the server, on this machine alone' },
  ),
  'livez-grace-period': duration('0s', 'Time after start during which /livez ignores checks that have not passed yet.'),
  'shutdown-delay-duration': duration('0s', 'How long to keep serving requests at shutdown after /readyz starts to fail.'),
  'cors-allowed-origins': list([], 'Patterns of origins whose scripts may use the API.', { planned }),
  profiling: bool(false, 'Serve profiles of the process under /debug/pprof.', { planned }),
};

const store = {
  store: choice('lmdb', ['lmdb', 'memory', 'etcd'], 'Where to store objects: in an embedded database (lmdb), in memory only, or in etcd.'),
  'data-dir': text('.plat', 'Directory of the embedded store, the keys, and the kubeconfig of the administrator.', { value: 'DIRECTORY' }),
  'history-retention': flag<number | undefined>(
    undefined,
    'How long to keep earlier versions of objects, such as 12h or 30d. Watches resume and paginated lists go on for up to 5 minutes of it.',
    'DURATION',
    readSpan,
    { defaultText: '24h' },
  ),
  'history-rules': repeated<readonly string[]>(
    [],
    'Kinds and namespaces whose versions to keep longer, shorter or never; Secrets with values. Can be repeated; the most specific rule counts. See docs/history.md.',
    'KIND[.GROUP][@NAMESPACE]=DURATION|never|values|novalues|SIZE,…',
    readHistoryRules,
  ),
  'history-bytes': flag<number | undefined>(
    undefined,
    'Maximum size of all earlier versions together; the oldest go first.',
    'BYTES',
    readBytes,
    { defaultText: '256Mi, or 64Mi with --store memory' },
  ),
  'etcd-servers': list(['http://127.0.0.1:2379'], 'URLs of the etcd members, with --store etcd.'),
  'etcd-prefix': text('/registry/plat', 'Prefix of all keys in etcd.', { value: 'PREFIX' }),
  'etcd-cafile': file('CA that signed the certificate of etcd.'),
  'etcd-certfile': file('Client certificate for etcd.'),
  'etcd-keyfile': file('Private key of --etcd-certfile.'),
  'etcd-username': text('', 'User of etcd to log in as.', { value: 'NAME' }),
  'etcd-password-file': file('File with the password of --etcd-username.'),
  'event-ttl': duration('1h', 'How long to keep events.'),
  'encryption-provider-config': file('EncryptionConfiguration: which resources to encrypt in the store, with which providers and keys.'),
  'encryption-provider-config-automatic-reload': bool(true, 'Reload --encryption-provider-config when it changes, without a restart.'),
  'restore-from': file('Backup to restore before serving; the store must be empty. See `plat store backup`.'),
};

const api = {
  identity: text('plat', `Identity of the server: ${Object.keys(identities).join(', ')}, or a JSON file that defines another.`, {
    value: 'NAME|FILE',
  }),
  'api-release': flag<ApiRelease>(
    apiRelease,
    'Release of the API to be: its kinds, fields, defaults, rules and feature gates; before 1.24 only what is served differs. `latest` is the newest.',
    `${apiReleases[0]}…${latestRelease}|latest`,
    readRelease,
  ),
  'service-cluster-ip-range': repeated<readonly string[]>(
    ['10.0.0.0/24'],
    'Address range of services; for dual stack one of IPv4 and one of IPv6.',
    'CIDR,…',
    readServiceRanges,
  ),
  'service-node-port-range': flag<PortRange>(
    { first: 30000, last: 32767 },
    'Range of node ports for services.',
    'FIRST-LAST',
    readPortRange,
    {
      defaultText: '30000-32767',
    },
  ),
  'allow-privileged': bool(false, 'Allow privileged containers.'),
  'feature-gates': pairs(
    'Features to turn on or off. AllAlpha and AllBeta set all features of that stage that are not named themselves. See docs/feature-gates.md.',
    { value: 'NAME=true|false,…', lines: gateLines() },
  ),
  'identity-lease-duration-seconds': int(3600, 'Duration in seconds of the lease of this server; it expires unless renewed.', { min: 1 }),
  'identity-lease-renew-interval-seconds': int(10, 'Seconds between renewals of the lease of this server.', { min: 1 }),
  'runtime-config': list(
    [],
    'Versions and resources to serve in addition to those of --api-release: api/all, api/ga, api/beta, api/alpha, group/version or group/version/resource; =false turns one off.',
    {
      value: 'KEY=true|false,…',
    },
  ),
};

const authentication = {
  'authentication-config': file(
    'AuthenticationConfiguration: providers of tokens (JWT) and who may be anonymous; followed while the server runs. In place of --oidc-* and --anonymous-auth. For --api-release 1.29 or newer.',
  ),
  'anonymous-auth': optionalBool('Accept requests without credentials, as the user system:anonymous.', {
    defaultText: 'true unless AlwaysAllow is a mode',
  }),
  'revoked-certificates-file': file(
    'Serial numbers of revoked client certificates, one hexadecimal number per line; followed by the common name of a CA it applies to that CA only.',
  ),
  'client-ca-file': file('CAs whose client certificates name users (common name) and groups (organizations).'),
  'token-auth-file': file('Lines of token,user,uid,"group1,group2".'),
  'enable-bootstrap-token-auth': bool(false, 'Accept bootstrap tokens.'),
  'api-audiences': list([], 'Accepted audiences of tokens.'),
  'service-account-issuer': list([], 'Accepted issuers of service account tokens; new tokens name the first.'),
  'service-account-key-file': files('Public or private keys (PEM) to verify service account tokens with.'),
  'service-account-signing-key-file': file('Private key to sign service account tokens with.'),
  'service-account-lookup': bool(true, 'Check that the account of a token still exists.', { planned }),
  'service-account-max-token-expiration': duration('0s', 'Maximum lifetime of a service account token; 0 for no limit.'),
  'service-account-extend-token-expiration': bool(true, 'Extend injected tokens to a year, for clients that do not reload them.', {}),
  'service-account-jwks-uri': text('', 'URL of the key set in the discovery document.', { planned, value: 'URL' }),
  'oidc-issuer-url': text('', 'OpenID Connect: URL of the issuer, https only.', { value: 'URL' }),
  'oidc-client-id': text('', 'OpenID Connect: client ID that tokens must be issued for.', { value: 'ID' }),
  'oidc-username-claim': text('sub', 'OpenID Connect: the claim that names the user.', { value: 'CLAIM' }),
  'oidc-username-prefix': text('', 'OpenID Connect: prefix of user names; - for none.', { value: 'PREFIX' }),
  'oidc-groups-claim': text('', 'OpenID Connect: the claim that names groups.', { value: 'CLAIM' }),
  'oidc-groups-prefix': text('', 'OpenID Connect: prefix of group names.', { value: 'PREFIX' }),
  'oidc-required-claim': pairs('OpenID Connect: claims that a token must have.'),
  'oidc-signing-algs': list(['RS256'], 'OpenID Connect: accepted signature algorithms.'),
  'oidc-ca-file': file('OpenID Connect: CA of the provider.'),
  'console-oidc-client-secret-file': file(
    'OpenID Connect: file with the client secret, for log-in to the console; only for clients that have one.',
  ),
  'authentication-token-webhook-config-file': file('Kubeconfig of the webhook that authenticates tokens.'),
  'authentication-token-webhook-cache-ttl': duration('2m', 'How long to cache answers of the token webhook.'),
  'authentication-token-webhook-version': choice('v1beta1', ['v1', 'v1beta1'], 'Version of TokenReview to send.'),
  'requestheader-username-headers': list([], 'Headers that carry the user name from an authenticating proxy.'),
  'requestheader-group-headers': list([], 'Headers that carry the groups from an authenticating proxy.'),
  'requestheader-extra-headers-prefix': list([], 'Prefixes of headers that carry extra fields from an authenticating proxy.'),
  'requestheader-client-ca-file': file('CA that signs the client certificate of the proxy.'),
  'requestheader-allowed-names': list([], 'Allowed common names of the client certificate of the proxy.'),
};

const authorization = {
  'authorization-mode': repeated<readonly AuthorizationMode[]>(
    ['Node', 'RBAC'],
    `Authorization modes, consulted in the order given: ${authorizationModes.join(', ')}.`,
    'MODE,…',
    readModes,
  ),
  'authorization-config': file(
    'AuthorizationConfiguration: authorizers in their order, any number of webhooks among them; followed while the server runs. In place of --authorization-mode and --authorization-webhook-*. For --api-release 1.29 or newer.',
  ),
  'authorization-webhook-config-file': file('Kubeconfig of the authorization webhook.'),
  'authorization-webhook-version': choice('v1beta1', ['v1', 'v1beta1'], 'Version of SubjectAccessReview to send.'),
  'authorization-webhook-cache-authorized-ttl': duration(
    '5m',
    'How long to cache answers of the authorization webhook that allow a request.',
  ),
  'authorization-webhook-cache-unauthorized-ttl': duration(
    '30s',
    'How long to cache answers of the authorization webhook that do not allow it.',
  ),
};

const plugins = (byDefault: boolean): string =>
  orderedPlugins
    .filter((one) => one.default === byDefault)
    .map(({ name }) => name)
    .join(', ');

const admission = {
  'enable-admission-plugins': repeated<readonly string[]>(
    [],
    `Admission plug-ins to run in addition to the default ones, in any order: ${plugins(false)}. On by default: ${plugins(true)}.`,
    'NAME,…',
    readPlugins,
  ),
  'disable-admission-plugins': repeated<readonly string[]>([], 'Admission plug-ins not to run.', 'NAME,…', readPlugins),
  'admission-control-config-file': file('Configuration of admission plug-ins.'),
  'default-not-ready-toleration-seconds': int(300, 'Seconds that pods without a toleration of their own stay on a node that is not ready.'),
  'default-unreachable-toleration-seconds': int(
    300,
    'Seconds that pods without a toleration of their own stay on a node that is unreachable.',
  ),
};

const audit = {
  'audit-policy-file': file('Audit policy: which requests to record, and how much of each. Without it nothing is recorded.'),
  'audit-log-path': text('', 'File of the audit log; - for standard output.', { value: 'FILE' }),
  'audit-log-format': choice('json', ['json', 'legacy'], 'Format of the audit log.'),
  'audit-log-maxage': int(0, 'Days to keep rotated audit logs; 0 for no limit.'),
  'audit-log-maxbackup': int(0, 'Maximum number of rotated audit logs; 0 for no limit.'),
  'audit-log-maxsize': int(100, 'Size in megabytes at which the audit log is rotated; 0 for never.'),
  'audit-log-compress': bool(false, 'Compress rotated audit logs with gzip.'),
  'audit-webhook-config-file': file('Kubeconfig of the audit webhook.'),
  'audit-webhook-version': choice('v1', ['v1'], 'Version of audit events to send.'),
  'audit-webhook-mode': choice(
    'batch',
    ['batch', 'blocking', 'blocking-strict'],
    'How to send audit events: in batches, or blocking the request until its arrival is recorded; with blocking-strict the request fails if that fails.',
  ),
  'audit-webhook-initial-backoff': duration('10s', 'Delay before the first retry of the audit webhook.'),
  'audit-webhook-batch-buffer-size': int(10000, 'Maximum number of buffered events; further ones are dropped.', { min: 1 }),
  'audit-webhook-batch-max-size': int(400, 'Maximum number of events in a batch.', { min: 1 }),
  'audit-webhook-batch-max-wait': duration('30s', 'Maximum delay before a batch that is not full is sent.'),
};

const aggregation = {
  'proxy-client-cert-file': file(
    'Client certificate for aggregated API servers, which trust its user headers. Generated if neither it nor --requestheader-client-ca-file is set.',
  ),
  'proxy-client-key-file': file('Private key of --proxy-client-cert-file.'),
  'enable-aggregator-routing': optionalBool(
    'Route to aggregated API servers by endpoint addresses; if false, by the cluster IP of the service.',
    {
      defaultText: 'by endpoints if there are any',
    },
  ),
  'aggregator-reject-forwarding-redirect': bool(true, 'Do not forward redirects of aggregated API servers.'),
};

const nodes = {
  'kubelet-preferred-address-types': list(
    ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
    'Node address types to reach node agents by (logs, exec, proxy), most preferred first.',
    { value: 'TYPE,…' },
  ),
  'kubelet-certificate-authority': file('CAs that sign the serving certificates of node agents. Defaults to the CA of this server.'),
  'kubelet-client-certificate': file('Client certificate for node agents.'),
  'kubelet-client-key': file('Private key of --kubelet-client-certificate.'),
  'kubelet-insecure-tls': bool(false, 'Do not verify the serving certificates of node agents.'),
  'proxy-to-local-addresses': bool(
    false,
    'Allow pods/proxy, services/proxy and nodes/proxy to connect to loopback and link-local addresses of this machine.',
    { stage: 'alpha' },
  ),
};

export const controllerFlags = {
  controllers: list(['*'], 'Controllers to run: * for all that are on by default, NAME to enable one, -NAME to disable one.'),
  'leader-elect': optionalBool('Run controllers only while this server is the leader.', { defaultText: 'true with --store etcd' }),
  'leader-elect-lease-duration': duration('15s', 'Duration of the leader lease.'),
  'leader-elect-renew-deadline': duration('10s', 'How long the leader retries to renew its lease before it gives up.'),
  'leader-elect-retry-period': duration('2s', 'Time between tries to acquire or renew the lease.'),
  'cluster-signing-duration': duration('8760h', 'Maximum lifetime of certificates signed for CertificateSigningRequests.'),
  'cluster-signing-cert-file': file('Certificate of the CA that signs requests.'),
  'cluster-signing-key-file': file('Private key of --cluster-signing-cert-file.'),
  'cluster-signing-kube-apiserver-client-cert-file': file('Certificate of the CA for clients of this server.'),
  'cluster-signing-kube-apiserver-client-key-file': file('Private key of --cluster-signing-kube-apiserver-client-cert-file.'),
  'cluster-signing-kubelet-client-cert-file': file('Certificate of the CA for node agents as clients.'),
  'cluster-signing-kubelet-client-key-file': file('Private key of --cluster-signing-kubelet-client-cert-file.'),
  'cluster-signing-kubelet-serving-cert-file': file('Certificate of the CA for node agents as servers.'),
  'cluster-signing-kubelet-serving-key-file': file('Private key of --cluster-signing-kubelet-serving-cert-file.'),
  'cluster-signing-legacy-unknown-cert-file': file('Certificate of the CA for the legacy signer.'),
  'cluster-signing-legacy-unknown-key-file': file('Private key of --cluster-signing-legacy-unknown-cert-file.'),
};

const workloads = {
  workloads: {
    ...repeated<readonly WorkloadPart[]>(
      [],
      'Run workloads in this process: the workload controllers, a scheduler and simulated nodes, on which pods live without containers. Alone: all of them.',
      'PART,…',
      readWorkloads,
      { defaultText: 'none', lines: workloadLines },
    ),
    isSwitch: true,
  },
  'simulated-nodes': int(3, 'Number of simulated nodes.', { max: 5000 }),
  'simulated-nodes-forward-local': bool(
    false,
    'Allow annotations of pods on simulated nodes to lead forwarded ports to loopback addresses of this machine.',
  ),
  'load-balancer-range': repeated<readonly string[]>(
    ['198.18.0.0/16', '2001:2::/112'],
    'Address range of load balancers, which services of type LoadBalancer get their addresses from; one of IPv4, one of IPv6, or both. none: they get no address.',
    'CIDR,…|none',
    readBalancerRanges,
  ),
  'time-factor': flag(
    1,
    'How much faster time passes for objects and controllers than for the machine: 60 makes a minute of a second.',
    'NUMBER',
    readTimeFactor,
  ),
};

const observing = {
  v: int(
    0,
    'Log verbosity, 0 to 10: notable events from 2, details from 4, requests from 6, requests of the controllers from 7, outlines of bodies from 8. Secrets are never logged.',
    { max: 10 },
  ),
  'log-format': choice('text', ['text', 'json'], 'Format of log lines.'),
  'tracing-config-file': file('TracingConfiguration: collector of traces and sampling rate.', { stage: 'alpha' }),
  'show-hidden-metrics-for-version': text('', 'Previous release whose metrics, hidden since, are shown.', { value: 'VERSION' }),
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
  Workloads: workloads,
  Observing: observing,
};
