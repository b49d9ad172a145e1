/**
 * Where the effect of each flag is shown. A new flag needs a test of its effect and an entry here; one that is taken away
 * takes its entry along. The title must be in the file, and the file must use the flag, by its name or as an option.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serverFlags } from '../../packages/compose/src/config/flags.ts';
import { gates } from '../../packages/kinds/src/feature-gates.ts';
import { camelCase } from '../../packages/lib/src/flags.ts';
import { rows } from '../kinds/gated-rows.ts';
import { readSource, sourceFiles } from '../support/sources.ts';

interface Shown {
  readonly file: string;
  /** The title of the test. */
  readonly test: string;
  readonly flags: readonly string[];
}

const effects: readonly Shown[] = [
  {
    file: 'test/server/command-line.test.ts',
    test: 'the ready line says where, who and what next; plat get works with it',
    flags: ['secure-port', 'data-dir'],
  },
  { file: 'test/server/options.test.ts', test: '--bind-address: IPv6 loopback', flags: ['bind-address'] },
  { file: 'test/server/services.test.ts', test: 'the service of the server follows its port', flags: ['advertise-address'] },
  { file: 'test/server/connections.test.ts', test: 'plain HTTP on loopback asks for credentials all the same', flags: ['insecure-port'] },
  {
    file: 'test/server/tls.test.ts',
    test: 'a certificate that is replaced is served from then on; one that does not fit its key is not',
    flags: ['tls-cert-file', 'tls-private-key-file'],
  },
  { file: 'test/server/tls.test.ts', test: 'a client gets the certificate of the name it asks for', flags: ['tls-sni-cert-key'] },
  { file: 'test/server/tls.test.ts', test: 'the oldest version of TLS is 1.2 unless another is named', flags: ['tls-min-version'] },
  { file: 'test/server/tls.test.ts', test: 'only the named cipher suites are offered, and openssl agrees', flags: ['tls-cipher-suites'] },
  { file: 'test/server/flag-effects.test.ts', test: '--max-connections: one more is closed as it comes', flags: ['max-connections'] },
  {
    file: 'test/server/fairness.test.ts',
    test: 'more connections from an address than allowed are closed as they come, and counted',
    flags: ['max-connections-per-address'],
  },
  {
    file: 'test/server/limits.test.ts',
    test: 'a request that takes longer than --request-timeout is 504; a watch is not',
    flags: ['request-timeout'],
  },
  {
    file: 'test/server/flag-effects.test.ts',
    test: '--min-request-timeout: a watch without a time of its own ends by itself',
    flags: ['min-request-timeout'],
  },
  {
    file: 'test/server/fairness.test.ts',
    test: '--enable-priority-and-fairness=false: no headers, no debug pages',
    flags: ['enable-priority-and-fairness'],
  },
  {
    file: 'test/server/limits.test.ts',
    test: 'beyond the limit of reading: 429 and when to come back; watches and super-users are exempt',
    flags: ['max-requests-inflight'],
  },
  { file: 'test/server/limits.test.ts', test: 'changing requests have a limit of their own', flags: ['max-mutating-requests-inflight'] },
  { file: 'test/server/sizes.test.ts', test: 'is read, made smaller and deleted, but not made larger', flags: ['max-object-bytes'] },
  {
    file: 'test/server/flag-effects.test.ts',
    test: '--livez-grace-period: /livez forgives a check that fails, /readyz does not',
    flags: ['livez-grace-period'],
  },
  {
    file: 'test/server/shutdown.test.ts',
    test: 'readiness fails first, watches end cleanly, requests under way finish, the store is closed',
    flags: ['shutdown-delay-duration'],
  },
  {
    file: 'test/server/store-identity.test.ts',
    test: 'every server that joins a store in etcd is of the identity of the first (needs etcd)',
    flags: ['store', 'etcd-servers', 'etcd-prefix'],
  },
  { file: 'test/server/expiry.test.ts', test: 'versions are kept that long, and no longer', flags: ['history-retention'] },
  {
    file: 'test/server/history-rules.test.ts',
    test: '--history-rules: a kind is kept in one namespace and not in another',
    flags: ['history-rules'],
  },
  {
    file: 'test/cli/why-slow.test.ts',
    test: 'each request has the time of its steps, which add up to its own',
    flags: ['slow-request-threshold'],
  },
  { file: 'test/server/history-rules.test.ts', test: '--history-bytes: the oldest versions go first', flags: ['history-bytes'] },
  {
    file: 'test/server/flag-effects.test.ts',
    test: '--etcd-cafile, --etcd-certfile, --etcd-keyfile: etcd is reached with them, and not without',
    flags: ['etcd-cafile', 'etcd-certfile', 'etcd-keyfile'],
  },
  {
    file: 'test/store/etcd-cluster.test.ts',
    test: 'what etcd refuses is said in its words',
    flags: ['etcd-username', 'etcd-password-file'],
  },
  { file: 'test/server/core-kinds.test.ts', test: 'expire after --event-ttl, and their watchers are notified', flags: ['event-ttl'] },
  {
    file: 'test/encryption/stores.test.ts',
    test: 'a secret is stored under the first key, and read, listed, watched, updated and deleted as it was given',
    flags: ['encryption-provider-config'],
  },
  {
    file: 'test/server/flag-effects-files.test.ts',
    test: '--encryption-provider-config-automatic-reload: whether a changed file is used without a restart',
    flags: ['encryption-provider-config-automatic-reload'],
  },
  {
    file: 'test/store/online.test.ts',
    test: 'objects are there, revisions have grown, old watches must list again',
    flags: ['restore-from'],
  },
  { file: 'test/server/options.test.ts', test: 'names of one’s own, from a file', flags: ['identity'] },
  {
    file: 'test/server/api-release.test.ts',
    test: 'release %s: discovery, OpenAPI and /version are of that release',
    flags: ['api-release'],
  },
  {
    file: 'test/server/services.test.ts',
    test: 'a range that is used up is reported, and released addresses are allocated again',
    flags: ['service-cluster-ip-range'],
  },
  { file: 'test/server/services.test.ts', test: 'node ports likewise', flags: ['service-node-port-range'] },
  { file: 'test/server/flag-effects.test.ts', test: '--allow-privileged: %s', flags: ['allow-privileged'] },
  {
    file: 'test/server/flag-effects.test.ts',
    test: '--feature-gates: requests are not classed where APIPriorityAndFairness is off',
    flags: ['feature-gates'],
  },
  {
    file: 'test/server/feature-gates.test.ts',
    test: '--identity-lease-duration-seconds, --identity-lease-renew-interval-seconds: a lease is renewed, and those that expired go',
    flags: ['identity-lease-duration-seconds', 'identity-lease-renew-interval-seconds'],
  },
  {
    file: 'test/server/options.test.ts',
    test: 'versions and resources can be switched off; what is stored stays readable through the others',
    flags: ['runtime-config'],
  },
  { file: 'test/server/connections.test.ts', test: '--anonymous-auth=false: 401', flags: ['anonymous-auth'] },
  {
    file: 'test/server/tls.test.ts',
    test: 'revoked certificates are refused, by serial number and authority',
    flags: ['revoked-certificates-file'],
  },
  {
    file: 'test/server/tls.test.ts',
    test: 'a changed file of CAs counts on open connections, HTTP/2: %s',
    flags: ['client-ca-file'],
  },
  {
    file: 'test/server/flag-effects-files.test.ts',
    test: '--token-auth-file: whose tokens count, and who they are',
    flags: ['token-auth-file'],
  },
  {
    file: 'test/server/cluster-info.test.ts',
    test: 'as %s: anyone reads it, and finds and trusts the server by it',
    flags: ['enable-bootstrap-token-auth'],
  },
  {
    file: 'test/server/flag-effects.test.ts',
    test: '--api-audiences, --service-account-max-token-expiration: what a service account token is for, and how long',
    flags: ['api-audiences', 'service-account-max-token-expiration'],
  },
  {
    file: 'test/server/tls.test.ts',
    test: 'keys that verify service account tokens are read again',
    flags: ['service-account-issuer', 'service-account-key-file', 'service-account-signing-key-file'],
  },
  {
    file: 'test/server/flag-effects.test.ts',
    test: '--service-account-extend-token-expiration=%s: tokens that are injected into pods',
    flags: ['service-account-extend-token-expiration'],
  },
  {
    file: 'test/server/flag-effects.test.ts',
    test: '--oidc-*: users and groups by claims and prefixes, of one issuer, client, authority, and by allowed algorithms',
    flags: [
      'oidc-issuer-url',
      'oidc-client-id',
      'oidc-username-claim',
      'oidc-username-prefix',
      'oidc-groups-claim',
      'oidc-groups-prefix',
      'oidc-required-claim',
      'oidc-signing-algs',
      'oidc-ca-file',
    ],
  },
  {
    file: 'test/server/flag-effects.test.ts',
    test: '--authentication-token-webhook-*: TokenReview %s, decisions kept for %i ms, %i calls',
    flags: ['authentication-token-webhook-config-file', 'authentication-token-webhook-cache-ttl', 'authentication-token-webhook-version'],
  },
  {
    file: 'test/rights/credentials-attacked.test.ts',
    test: 'name the user where the proxy is one, so that the tests below can fail',
    flags: ['requestheader-username-headers', 'requestheader-group-headers', 'requestheader-extra-headers-prefix'],
  },
  {
    file: 'test/rights/credentials-attacked.test.ts',
    test: 'say nothing without a certificate, or with that of a client',
    flags: ['requestheader-client-ca-file'],
  },
  { file: 'test/rights/credentials-attacked.test.ts', test: 'say nothing with %s', flags: ['requestheader-allowed-names'] },
  { file: 'test/server/connections.test.ts', test: 'modes: always, never', flags: ['authorization-mode'] },
  {
    file: 'test/server/access-configuration.test.ts',
    test: 'providers, rules about claims and users, and paths for everybody',
    flags: ['authentication-config'],
  },
  {
    file: 'test/server/access-configuration.test.ts',
    test: 'a chain of authorizers with conditions, failures and a change',
    flags: ['authorization-config'],
  },
  {
    file: 'test/server/flag-effects.test.ts',
    test: '--authorization-webhook-*: SubjectAccessReview %s, grants kept %i ms, refusals %i ms, %i calls',
    flags: [
      'authorization-webhook-config-file',
      'authorization-webhook-version',
      'authorization-webhook-cache-authorized-ttl',
      'authorization-webhook-cache-unauthorized-ttl',
    ],
  },
  {
    file: 'test/server/admission.test.ts',
    test: 'plug-ins are switched by flags, and a configuration that makes no sense keeps the server from starting',
    flags: ['enable-admission-plugins', 'disable-admission-plugins'],
  },
  { file: 'test/parity/parity.test.ts', test: 'admission plug-ins that are off by default', flags: ['admission-control-config-file'] },
  {
    file: 'test/server/flag-effects.test.ts',
    test: '--default-not-ready-toleration-seconds, --default-unreachable-toleration-seconds: what pods get',
    flags: ['default-not-ready-toleration-seconds', 'default-unreachable-toleration-seconds'],
  },
  { file: 'test/audit/audit.test.ts', test: 'levels decide what of the bodies is kept', flags: ['audit-policy-file'] },
  {
    file: 'test/server/flag-effects.test.ts',
    test: '--audit-log-maxsize, -maxbackup, -maxage, -compress: when a new file is begun, and which old ones stay',
    flags: ['audit-log-path', 'audit-log-maxage', 'audit-log-maxbackup', 'audit-log-maxsize', 'audit-log-compress'],
  },
  { file: 'test/audit/audit.test.ts', test: 'the old format', flags: ['audit-log-format'] },
  {
    file: 'test/audit/audit.test.ts',
    test: 'a webhook over TLS takes batches; what does not fit is counted',
    flags: ['audit-webhook-config-file', 'audit-webhook-batch-buffer-size', 'audit-webhook-batch-max-size', 'audit-webhook-batch-max-wait'],
  },
  {
    file: 'test/server/flag-effects.test.ts',
    test: '--audit-webhook-version: the one version that is sent alone can be named',
    flags: ['audit-webhook-version'],
  },
  {
    file: 'test/audit/audit.test.ts',
    test: 'strict: a request that cannot be recorded is refused',
    flags: ['audit-webhook-mode', 'audit-webhook-initial-backoff'],
  },
  {
    file: 'test/aggregation/flags.test.ts',
    test: 'a certificate of the administrator is shown and its authority published; none is made',
    flags: ['proxy-client-cert-file', 'proxy-client-key-file'],
  },
  {
    file: 'test/aggregation/flags.test.ts',
    test: 'a service is reached by its endpoints, or by its own address where that is asked for',
    flags: ['enable-aggregator-routing'],
  },
  {
    file: 'test/aggregation/flags.test.ts',
    test: 'redirects pass where they are allowed',
    flags: ['aggregator-reject-forwarding-redirect'],
  },
  { file: 'test/rights/outbound.test.ts', test: 'is not at %s', flags: ['kubelet-preferred-address-types'] },
  {
    file: 'test/server/flag-effects-files.test.ts',
    test: '--kubelet-certificate-authority: whose agents are believed',
    flags: ['kubelet-certificate-authority'],
  },
  {
    file: 'test/server/flag-effects-files.test.ts',
    test: '--kubelet-client-certificate, --kubelet-client-key: as whom the server asks agents',
    flags: ['kubelet-client-certificate', 'kubelet-client-key'],
  },
  {
    file: 'test/server/flag-effects.test.ts',
    test: '--kubelet-insecure-tls=%s: an agent whose certificate nobody knows',
    flags: ['kubelet-insecure-tls'],
  },
  {
    file: 'test/connect/proxy.test.ts',
    test: 'by default nobody is led to the loopback of the server',
    flags: ['proxy-to-local-addresses'],
  },
  {
    file: 'test/controllers/beside.test.ts',
    test: 'they lead, act as their own accounts, fill secrets, and empty namespaces',
    flags: ['controllers', 'leader-elect'],
  },
  { file: 'test/workloads/kit.test.ts', test: 'parts of it can be left out: a pod is scheduled and does not start', flags: ['workloads'] },
  { file: 'test/console-gateway/session.test.ts', test: '--console=false removes it', flags: ['console'] },
  {
    file: 'test/console-gateway/session.test.ts',
    test: '--console-address: the link and the origin of the console are those of the address',
    flags: ['console-address'],
  },
  {
    file: 'test/console-gateway/openid.test.ts',
    test: '--console-oidc-client-secret-file: a user logs in at the provider, and has the rights of that user',
    flags: ['console-oidc-client-secret-file'],
  },
  { file: 'test/workloads/flags.test.ts', test: '--simulated-nodes: so many nodes are ready', flags: ['simulated-nodes'] },
  {
    file: 'test/workloads/flags.test.ts',
    test: '--load-balancer-range, %s: a service has an address of it until it is deleted',
    flags: ['load-balancer-range'],
  },
  {
    file: 'test/workloads/simulated-nodes.test.ts',
    test: 'port-forward echoes, or leads to an address of this machine that an annotation names',
    flags: ['simulated-nodes-forward-local'],
  },
  {
    file: 'test/workloads/flags.test.ts',
    test: '--time-factor: objects and their controllers live faster than requests',
    flags: ['time-factor'],
  },
  {
    file: 'test/controllers/shared-store.test.ts',
    test: 'one leads, a killed leader is replaced, no work is done twice',
    flags: ['leader-elect-lease-duration', 'leader-elect-renew-deadline', 'leader-elect-retry-period'],
  },
  {
    file: 'test/server/flag-effects.test.ts',
    test: '--cluster-signing-duration: the longest life of what is signed',
    flags: ['cluster-signing-duration'],
  },
  {
    file: 'test/server/flag-effects.test.ts',
    test: '--cluster-signing-*-cert-file and -key-file: each signer has its own authority, and the general one signs for the rest',
    flags: [
      'cluster-signing-cert-file',
      'cluster-signing-key-file',
      'cluster-signing-kube-apiserver-client-cert-file',
      'cluster-signing-kube-apiserver-client-key-file',
      'cluster-signing-kubelet-client-cert-file',
      'cluster-signing-kubelet-client-key-file',
      'cluster-signing-kubelet-serving-cert-file',
      'cluster-signing-kubelet-serving-key-file',
      'cluster-signing-legacy-unknown-cert-file',
      'cluster-signing-legacy-unknown-key-file',
    ],
  },
  {
    file: 'test/server/tracing.test.ts',
    test: '--tracing-config-file: requests are reported to the collector',
    flags: ['tracing-config-file'],
  },
  { file: 'test/server/request-log.test.ts', test: '6: one line for each, with method, path, user, code, time and audit id', flags: ['v'] },
  {
    file: 'test/server/flag-effects-files.test.ts',
    test: '--log-format=%s: the form of the lines that the program writes',
    flags: ['log-format'],
  },
  {
    file: 'test/server/flag-effects.test.ts',
    test: '--show-hidden-metrics-for-version: the release before this one alone can be named',
    flags: ['show-hidden-metrics-for-version'],
  },
];

const root = join(import.meta.dirname, '../..');
const flags = Object.values(serverFlags).flatMap((group) => Object.entries(group));

test('flags without a test of their effect: 0', () => {
  const listed = effects.flatMap((one) => one.flags);
  expect(new Set(listed).size, 'each flag is listed once').toBe(listed.length);
  expect(flags.filter(([name, { planned }]) => !planned && !listed.includes(name)).map(([name]) => name)).toEqual([]);
  expect(listed.filter((name) => !flags.some(([known, { planned }]) => known === name && !planned))).toEqual([]);
});

test.each(effects)('$file has a test $test', ({ file, test: title, flags: names }) => {
  const text = readFileSync(join(root, file), 'utf8');
  expect(text.includes(title), `${file}: ${title}`).toBe(true);
  for (const name of names)
    expect(
      [camelCase(name), `--${name}`].some((word) => text.includes(word)),
      `${file} uses --${name}`,
    ).toBe(true);
});

test('feature gates that can be switched and that no code uses: 0', () => {
  const source = sourceFiles.filter((name) => !/\.test(ing)?\.ts$/.test(name) && name !== 'kinds/feature-gates.ts').map(readSource);
  const switched = Object.entries(gates).filter(([, { concerns, stage }]) => concerns === 'server' && stage !== 'GA');
  expect(switched.length).toBeGreaterThan(0);
  expect(switched.map(([name]) => name).filter((name) => !source.some((text) => text.includes(`'${name}'`)))).toEqual([]);
});

/** Where both states of a gate are shown through the API, if not as a row of test/kinds/gated-rows.ts or a test that is named for it. */
const gateTests: Readonly<Record<string, string>> = {
  APIServerTracing: 'test/server/tracing.test.ts',
  CustomResourceValidationExpressions: 'test/server/custom-rules.test.ts',
  ServerSideFieldValidation: 'test/server/field-validation.test.ts',
};
test('feature gates of this server without a test of both states: 0', () => {
  const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');
  const named = [textOf('test/server/feature-gates.test.ts'), textOf('test/kinds/feature-gates.test.ts')];
  const isRow = (name: string): boolean => rows.some(({ gate }) => gate === name);
  const isNamed = (name: string): boolean => named.some((text) => text.includes(`test('${name}: `) || text.includes(`describe('${name}'`));
  const untested = Object.entries(gates)
    .filter(([, { concerns, stage }]) => concerns === 'server' && stage !== 'GA')
    .map(([name]) => name)
    .filter((name) => !isRow(name) && !isNamed(name) && !textOf(gateTests[name] ?? 'README.md').includes(`'${name}'`));
  expect(untested).toEqual([]);
});
