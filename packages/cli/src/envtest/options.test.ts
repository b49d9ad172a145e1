import { serverFlags } from '@plat-dev/compose/config/flags';
import { describe, expect, test } from 'vitest';
import { type EnvtestOptions, parseEnvtestFlags } from './options.ts';
import { stockFlags } from './stock-flags.ts';

const parse = (...args: string[]): EnvtestOptions => parseEnvtestFlags(args, {}) as EnvtestOptions;

test('a server for tests: stock names, in memory, without controllers', () => {
  expect(parse().server).toMatchObject({
    identity: 'kubernetes',
    store: 'memory',
    dataDir: '',
    controllers: ['-*'],
    authorizationMode: ['AlwaysAllow'],
    anonymousAuth: false,
  });
  expect((parseEnvtestFlags([], { PLAT_CONTROLLERS: '*,-disruption' }) as EnvtestOptions).server.controllers).toEqual(['*', '-disruption']);
  expect((parseEnvtestFlags([], { PLAT_API_RELEASE: '1.27' }) as EnvtestOptions).server.apiRelease).toBe('1.27');
  expect(() => parseEnvtestFlags([], { PLAT_API_RELEASE: '1.3' })).toThrow('--api-release: "1.3" is not one of 1.15');
  expect(parse('--controllers=namespace').server.controllers).toEqual(['namespace']);
});

test('clients of the insecure port of old versions have every right', () => {
  expect(parse('--insecure-port=8080', '--insecure-bind-address=127.0.0.1').server).toMatchObject({
    insecurePort: 8080,
    authorizationMode: ['AlwaysAllow'],
    anonymousAuth: true,
  });
  expect(parse('--insecure-port=0').server.anonymousAuth).toBe(false);
});

test('what plat has is heeded, the rest is reported', () => {
  const { server, certDir, ignored } = parse(
    '--secure-port=7000',
    '--cert-dir=/certs',
    '--authorization-mode=RBAC',
    '--etcd-servers=http://127.0.0.1:2379',
    '--etcd_prefix=/x',
    '--watch-cache=false',
    '--profiling=false',
    '--audit-log-path=/tmp/a',
    '--audit-log-maxage=3',
    '--disable-admission-plugins=ServiceAccount',
    '--logging-format=json',
    '-v=99',
  );
  expect(server).toMatchObject({
    securePort: 7000,
    authorizationMode: ['RBAC'],
    disableAdmissionPlugins: ['ServiceAccount'],
    auditLogPath: '',
    logFormat: 'json',
    v: 10,
  });
  expect(certDir).toBe('/certs');
  expect(ignored).toEqual(['audit-log-maxage', 'audit-log-path', 'etcd-prefix', 'etcd-servers', 'profiling', 'watch-cache']);
});

test('with a policy the audit log is written', () => {
  const { server, ignored } = parse('--audit-log-path=/tmp/a', '--audit-policy-file=/tmp/p', '--audit-log-version=group/v1');
  expect(server).toMatchObject({ auditLogPath: '/tmp/a', auditPolicyFile: '/tmp/p' });
  expect(ignored).toEqual(['audit-log-version']);
});

test('gates of a stock server are accepted, those without effect here with a warning; unknown ones are refused', () => {
  const { server, ignored } = parse('--feature-gates=APIPriorityAndFairness=false,CSIMigration=false,NodeSwap=true');
  expect(server.features.enabled('APIPriorityAndFairness')).toBe(false);
  expect(server.features.enabled('CSIMigration')).toBe(false);
  expect(server.warnings).toEqual(['feature gates that concern node agents only have no effect in this server: NodeSwap']);
  expect(ignored).toEqual([]);
  expect(() => parse('--feature-gates=NodeSwop=true')).toThrow('--feature-gates: unknown feature gate NodeSwop');
});

describe('refusals', () => {
  test.each([
    [['--watch-cash'], 'unknown flag --watch-cash (did you mean --watch-cache?)'],
    [['now'], 'unexpected argument "now": the server takes no arguments'],
    [['--goaway-chance=often'], '--goaway-chance: "often" is not a number'],
    [['--watch-cache=maybe'], '--watch-cache: "maybe" is neither true nor false'],
    [['--secure-port=x'], '--secure-port: "x" is not a whole number'],
  ])('%j', (args, message) => {
    expect(() => parse(...args)).toThrow(message);
  });
});

test('help and version', () => {
  expect(parseEnvtestFlags(['--help', '--nonsense'], {})).toBe('help');
  expect(parseEnvtestFlags(['--version'], {})).toBe('version');
});

test('no flag of plat stands in the list of flags without effect', () => {
  const own = Object.values(serverFlags).flatMap((group) => Object.keys(group));
  expect(own.filter((name) => Object.hasOwn(stockFlags, name))).toEqual([]);
});

/** The flags of the public reference of kube-apiserver v1.24, by kind; `help` and `version` aside. */
const reference = {
  text: `
    admission-control-config-file advertise-address allow-metric-labels api-audiences audit-log-format audit-log-mode
    audit-log-path audit-log-version audit-policy-file audit-webhook-config-file audit-webhook-mode audit-webhook-version
    authentication-token-webhook-config-file authentication-token-webhook-version authorization-mode
    authorization-policy-file authorization-webhook-config-file authorization-webhook-version
    azure-container-registry-config bind-address cert-dir client-ca-file cloud-config cloud-provider
    cloud-provider-gce-l7lb-src-cidrs cors-allowed-origins disable-admission-plugins disabled-metrics
    egress-selector-config-file enable-admission-plugins encryption-provider-config endpoint-reconciler-type etcd-cafile
    etcd-certfile etcd-keyfile etcd-prefix etcd-servers etcd-servers-overrides external-hostname feature-gates
    kubelet-certificate-authority kubelet-client-certificate kubelet-client-key kubelet-preferred-address-types
    logging-format master-service-namespace oidc-ca-file oidc-client-id oidc-groups-claim oidc-groups-prefix oidc-issuer-url
    oidc-required-claim oidc-signing-algs oidc-username-claim oidc-username-prefix proxy-client-cert-file
    proxy-client-key-file requestheader-allowed-names requestheader-client-ca-file requestheader-extra-headers-prefix
    requestheader-group-headers requestheader-username-headers runtime-config service-account-issuer
    service-account-jwks-uri service-account-key-file service-account-signing-key-file service-cluster-ip-range
    service-node-port-range show-hidden-metrics-for-version storage-backend storage-media-type
    strict-transport-security-directives tls-cert-file tls-cipher-suites tls-min-version tls-private-key-file
    tls-sni-cert-key token-auth-file tracing-config-file vmodule watch-cache-sizes`,
  switch: `
    allow-privileged anonymous-auth audit-log-batch-throttle-enable audit-log-compress audit-log-truncate-enabled
    audit-webhook-batch-throttle-enable audit-webhook-truncate-enabled contention-profiling enable-aggregator-routing
    enable-bootstrap-token-auth enable-garbage-collector enable-priority-and-fairness permit-address-sharing
    permit-port-sharing profiling service-account-extend-token-expiration service-account-lookup shutdown-send-retry-after
    watch-cache`,
  int: `
    audit-log-batch-buffer-size audit-log-batch-max-size audit-log-batch-throttle-burst audit-log-maxage audit-log-maxbackup
    audit-log-maxsize audit-log-truncate-max-batch-size audit-log-truncate-max-event-size audit-webhook-batch-buffer-size
    audit-webhook-batch-max-size audit-webhook-batch-throttle-burst audit-webhook-truncate-max-batch-size
    audit-webhook-truncate-max-event-size default-not-ready-toleration-seconds default-unreachable-toleration-seconds
    default-watch-cache-size delete-collection-workers http2-max-streams-per-connection identity-lease-duration-seconds
    identity-lease-renew-interval-seconds kubernetes-service-node-port lease-reuse-duration-seconds
    max-connection-bytes-per-sec max-mutating-requests-inflight max-requests-inflight min-request-timeout secure-port v`,
  duration: `
    audit-log-batch-max-wait audit-webhook-batch-max-wait audit-webhook-initial-backoff
    authentication-token-webhook-cache-ttl authorization-webhook-cache-authorized-ttl
    authorization-webhook-cache-unauthorized-ttl etcd-compaction-interval etcd-count-metric-poll-period
    etcd-db-metric-poll-interval etcd-healthcheck-timeout event-ttl kubelet-timeout livez-grace-period log-flush-frequency
    request-timeout service-account-max-token-expiration shutdown-delay-duration`,
  float: `
    audit-log-batch-throttle-qps audit-webhook-batch-throttle-qps goaway-chance`,
};
/** Values for those whose text has a form. */
const texts: Readonly<Record<string, string>> = {
  'advertise-address': '127.0.0.1',
  'audit-log-format': 'json',
  'audit-webhook-mode': 'batch',
  'audit-webhook-version': 'group/v1',
  'authentication-token-webhook-version': 'v1',
  'authorization-mode': 'RBAC',
  'authorization-webhook-version': 'v1',
  'bind-address': '127.0.0.1',
  'disable-admission-plugins': 'ServiceAccount',
  'enable-admission-plugins': 'NodeRestriction',
  'feature-gates': 'AllBeta=true',
  'logging-format': 'json',
  'oidc-required-claim': 'a=b',
  'runtime-config': 'api/all=true',
  'service-cluster-ip-range': '10.1.0.0/16',
  'service-node-port-range': '30000-30010',
  'tls-cipher-suites': 'TLS_AES_128_GCM_SHA256',
  'tls-min-version': 'VersionTLS12',
  'tls-sni-cert-key': 'crt,key',
};
const sample = {
  switch: () => 'true',
  int: () => '1',
  float: () => '0.5',
  duration: () => '1m',
  text: (name: string) => texts[name] ?? 'x',
};
/** Files that are of use together only; a stock server refuses one without the other, too. */
const pairs: Readonly<Record<string, string>> = {
  'authorization-webhook-config-file': '--authorization-mode=Webhook',
  'kubelet-client-certificate': '--kubelet-client-key=x',
  'kubelet-client-key': '--kubelet-client-certificate=x',
  'proxy-client-cert-file': '--proxy-client-key-file=x',
  'proxy-client-key-file': '--proxy-client-cert-file=x',
  'tls-cert-file': '--tls-private-key-file=x',
  'tls-private-key-file': '--tls-cert-file=x',
};
test.each(Object.entries(reference))('every %s flag of a stock v1.24 server is accepted', (kind, names) => {
  for (const name of names.trim().split(/\s+/)) {
    const args = [`--${name}=${sample[kind as keyof typeof sample](name)}`, ...(pairs[name] === undefined ? [] : [pairs[name]])];
    expect(() => parse(...args), name).not.toThrow();
  }
});
