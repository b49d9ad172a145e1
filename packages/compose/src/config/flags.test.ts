import { type GateName, gates, readFeatureGates } from '@plat-dev/kinds/feature-gates';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { serverFlags } from './flags.ts';
import { readRuntimeConfig } from './runtime-config.ts';
import { parseServerFlags, type ServerOptions, serverHelp, serverOptions } from './server-options.ts';

const parse = (...args: string[]): ServerOptions => parseServerFlags(args) as ServerOptions;

test('an empty command line gives a safe server on loopback', () => {
  expect(parse()).toMatchObject({
    securePort: 6443,
    bindAddress: '127.0.0.1',
    insecurePort: 0,
    store: 'lmdb',
    dataDir: '.plat',
    identity: 'plat',
    authorizationMode: ['Node', 'RBAC'],
    anonymousAuth: true,
    historyRetention: undefined,
    requestTimeout: 60_000,
    minRequestTimeout: 1800,
    maxRequestsInflight: 400,
    maxMutatingRequestsInflight: 200,
    maxObjectBytes: 1_572_864,
    serviceClusterIpRange: ['10.0.0.0/24'],
    serviceNodePortRange: { first: 30000, last: 32767 },
    v: 0,
    logFormat: 'text',
    warnings: [],
  });
  expectTypeOf<ServerOptions['store']>().toEqualTypeOf<'lmdb' | 'memory' | 'etcd'>();
  expectTypeOf<ServerOptions['tokenAuthFile']>().toEqualTypeOf<string | undefined>();
});

test('anonymous requests are off where everything is allowed, unless a flag allows them', () => {
  expect(parse('--authorization-mode=AlwaysAllow').anonymousAuth).toBe(false);
  expect(parse('--authorization-mode=AlwaysAllow', '--anonymous-auth').anonymousAuth).toBe(true);
  expect(parse('--anonymous-auth=false').anonymousAuth).toBe(false);
});

test('ranges', () => {
  expect(parse('--service-node-port-range=30000+10').serviceNodePortRange).toEqual({ first: 30000, last: 30010 });
  expect(parse('--service-cluster-ip-range=10.1.0.0/16,fd00::/108').serviceClusterIpRange).toEqual(['10.1.0.0/16', 'fd00::/108']);
});

test('options for a program are the defaults, with some changed', () => {
  expect(serverOptions({ store: 'memory', securePort: 0 })).toMatchObject({ store: 'memory', securePort: 0, bindAddress: '127.0.0.1' });
});

describe('refusals', () => {
  test.each([
    [['--secure-prot=1'], 'unknown flag --secure-prot (did you mean --secure-port?)'],
    [['now'], 'unexpected argument "now": the server takes no arguments'],
    [['--profiling'], '--profiling is planned, but has no effect in this release: leave it out'],
    [['--bind-address=localhost'], '--bind-address: "localhost" is not an IP address'],
    [['--authorization-mode=RBAC,ABAC'], '--authorization-mode: ABAC is not supported: use AlwaysAllow, AlwaysDeny, Node, RBAC, Webhook'],
    [['--authorization-mode=RBAC,RBAC'], '--authorization-mode: a mode is named twice'],
    [['--authorization-mode='], '--authorization-mode: at least one of AlwaysAllow, AlwaysDeny, Node, RBAC, Webhook is needed'],
    [
      ['--authorization-mode=rbac'],
      '--authorization-mode: "rbac" is not one of AlwaysAllow, AlwaysDeny, Node, RBAC, Webhook (did you mean RBAC?)',
    ],
    [['--authorization-mode=Webhook'], '--authorization-mode Webhook and --authorization-webhook-config-file are needed together'],
    [['--audit-log-path=-'], '--audit-log-path has no effect without --audit-policy-file'],
    [['--audit-policy-file=p'], '--audit-policy-file has no effect without --audit-log-path or --audit-webhook-config-file'],
    [['--kubelet-client-certificate=c'], '--kubelet-client-certificate and --kubelet-client-key are needed together'],
    [['--service-cluster-ip-range=10.0.0.0'], '--service-cluster-ip-range: "10.0.0.0" is not an IP range such as 10.0.0.0/24'],
    [['--service-cluster-ip-range=10.0.0.0/30'], '--service-cluster-ip-range: 10.0.0.0/30 holds fewer than 8 addresses'],
    [
      ['--service-cluster-ip-range=10.0.0.0/24,10.1.0.0/24'],
      '--service-cluster-ip-range: one range is needed, or one of IPv4 and one of IPv6',
    ],
    [['--service-node-port-range=5-4'], '--service-node-port-range: 4 is before 5'],
    [['--service-node-port-range=5'], '--service-node-port-range: "5" is not of the form 30000-32767'],
    [['--tls-cert-file=x'], '--tls-cert-file and --tls-private-key-file are needed together'],
    [['--tracing-config-file=x'], '--tracing-config-file has no effect without --feature-gates=APIServerTracing=true'],
    [
      ['--identity-lease-duration-seconds=9', '--feature-gates=APIServerIdentity=false,AllAlpha=true'],
      '--identity-lease-duration-seconds has no effect without --feature-gates=APIServerIdentity=true',
    ],
    [['--feature-gates=APIServerIdentity=maybe'], '--feature-gates: APIServerIdentity: "maybe" is neither true nor false'],
    [['--etcd-prefix=/x'], '--etcd-prefix has no effect without --store etcd'],
    ...(
      [
        ['--oidc-client-id=plat', '--oidc-issuer-url'],
        ['--oidc-groups-claim=groups', '--oidc-issuer-url'],
        ['--oidc-username-claim=email', '--oidc-issuer-url'],
        ['--oidc-username-prefix=-', '--oidc-issuer-url'],
        ['--oidc-groups-prefix=x', '--oidc-issuer-url'],
        ['--oidc-required-claim=a=b', '--oidc-issuer-url'],
        ['--oidc-signing-algs=ES256', '--oidc-issuer-url'],
        ['--oidc-ca-file=ca', '--oidc-issuer-url'],
        ['--oidc-issuer-url=https://x', '--oidc-client-id'],
        ['--oidc-issuer-url=https://x --oidc-client-id=c --oidc-groups-prefix=x', '--oidc-groups-claim'],
        ['--requestheader-username-headers=X-Remote-User', '--requestheader-client-ca-file'],
        ['--requestheader-group-headers=X-Remote-Group', '--requestheader-client-ca-file'],
        ['--requestheader-extra-headers-prefix=X-Remote-Extra-', '--requestheader-client-ca-file'],
        ['--requestheader-allowed-names=front', '--requestheader-client-ca-file'],
        ['--requestheader-client-ca-file=ca', '--requestheader-username-headers'],
        ['--requestheader-client-ca-file=ca --requestheader-allowed-names=front', '--requestheader-username-headers'],
        ['--authentication-token-webhook-cache-ttl=1s', '--authentication-token-webhook-config-file'],
        ['--authentication-token-webhook-version=v1', '--authentication-token-webhook-config-file'],
        ['--authorization-webhook-version=v1', '--authorization-webhook-config-file'],
        ['--authorization-webhook-cache-authorized-ttl=1s', '--authorization-webhook-config-file'],
        ['--authorization-webhook-cache-unauthorized-ttl=1s', '--authorization-webhook-config-file'],
        ['--audit-log-format=json', '--audit-log-path'],
        ['--audit-log-maxage=1', '--audit-log-path'],
        ['--audit-log-maxsize=1 --audit-log-path=- --audit-policy-file=p', '--audit-log-path with the name of a file'],
        ['--audit-log-compress --audit-log-path=- --audit-policy-file=p', '--audit-log-path with the name of a file'],
        ['--audit-webhook-mode=blocking', '--audit-webhook-config-file'],
        ['--audit-webhook-batch-max-size=1', '--audit-webhook-config-file'],
        ['--leader-elect-retry-period=1s', '--leader-elect'],
        ['--leader-elect-lease-duration=9s --leader-elect=false --store=etcd', '--leader-elect'],
        [
          '--default-not-ready-toleration-seconds=1 --disable-admission-plugins=DefaultTolerationSeconds',
          'the admission plug-in DefaultTolerationSeconds',
        ],
        ['--kubelet-certificate-authority=ca --kubelet-insecure-tls', '--kubelet-insecure-tls=false'],
        ['--etcd-cafile=ca', '--store etcd'],
        ['--encryption-provider-config-automatic-reload=false', '--encryption-provider-config'],
      ] as const
    ).map(([line, needs]) => [line.split(' '), `has no effect without ${needs}`] as [string[], string]),
    [['--history-retention=0s'], '--history-retention: 0 would end every watch that resumes'],
    [['--feature-gates=Nonsense=true'], '--feature-gates: unknown feature gate Nonsense'],
    [['--runtime-config=batch/v1beta1=yes'], '--runtime-config: batch/v1beta1: "yes" is neither true nor false'],
    [['--runtime-config=apps'], '--runtime-config: "apps" is not of the form group/version or group/version/resource'],
  ])('%j', (args, message) => {
    expect(() => parseServerFlags(args)).toThrow(message);
  });
});

test('flags that say how something is done are taken where it is done', () => {
  const oidc = ['--oidc-issuer-url=https://x', '--oidc-client-id=c', '--oidc-groups-claim=g', '--oidc-groups-prefix=p', '--oidc-ca-file=f'];
  expect(parse(...oidc).oidcGroupsPrefix).toBe('p');
  const proxy = ['--requestheader-client-ca-file=f', '--requestheader-username-headers=X-User', '--requestheader-allowed-names=front'];
  expect(parse(...proxy).requestheaderAllowedNames).toEqual(['front']);
  expect(parse('--store=etcd', '--etcd-prefix=/x', '--leader-elect-retry-period=1s').etcdPrefix).toBe('/x');
  expect(parse('--leader-elect', '--leader-elect-retry-period=1s').leaderElectRetryPeriod).toBe(1000);
});

test('help names every flag that has an effect, with its default', () => {
  const help = serverHelp();
  for (const [name, flag] of Object.values(serverFlags).flatMap((group) => Object.entries(group))) {
    expect(help).toContain(`--${name}`);
    expect(flag.help).toMatch(/\.$/);
  }
  expect(help).toContain('Serving:\n  --secure-port PORT\n        Port to serve HTTPS on; 0 for any free port. (default 6443)');
  expect(parseServerFlags(['--help'])).toBe('help');
});

describe('feature gates', () => {
  const read = (settings: Record<string, string>) => readFeatureGates(new Map(Object.entries(settings)));
  const on = (settings: Record<string, string>, name: GateName): boolean => read(settings).enabled(name);

  test('alpha is off, beta is as the table says, GA is on', () => {
    const features = read({});
    for (const [name, gate] of Object.entries(gates)) {
      expect(features.enabled(name as GateName)).toBe(gate.default);
      if (gate.stage === 'alpha') expect(gate.default).toBe(false);
      if (gate.stage === 'GA') expect(gate.default).toBe(true);
    }
    const later = (...args: string[]) => parse('--api-release=1.25', ...args).features;
    expect(later().enabled('CustomResourceValidationExpressions')).toBe(true);
    expect(later('--feature-gates=CustomResourceValidationExpressions=false').enabled('CustomResourceValidationExpressions')).toBe(false);
    expect(later().enabled('ServerSideFieldValidation')).toBe(true);
    expect(features.enabled('ServerSideFieldValidation')).toBe(false);
    expect(features.enabled('ServerSideApply')).toBe(true);
  });
  test('a beta gate can be switched', () => {
    expect(on({}, 'APIPriorityAndFairness')).toBe(true);
    expect(on({ APIPriorityAndFairness: 'false' }, 'APIPriorityAndFairness')).toBe(false);
    expect(on({ AllBeta: 'false' }, 'APIPriorityAndFairness')).toBe(false);
    expect(on({ APIPriorityAndFairness: 'true', AllBeta: 'false' }, 'APIPriorityAndFairness')).toBe(true);
  });
  test('a GA gate cannot be switched off, and switching it on warns', () => {
    expect(() => read({ ServerSideApply: 'false' })).toThrow('cannot set feature gate ServerSideApply to false, feature is locked to true');
    expect(read({ ServerSideApply: 'true' }).warnings).toEqual([
      'the feature gate ServerSideApply has no effect: it is GA since 1.22 and will be removed',
    ]);
    expect(parse('--feature-gates=ServerSideApply=true').warnings).toHaveLength(1);
    // Two of them can be switched off on a stock server.
    const open = Object.entries(gates).filter(([, gate]) => gate.stage === 'GA' && !gate.locked);
    expect(open.map(([name]) => name)).toEqual(['CSIMigrationAzureDisk', 'ExecProbeTimeout']);
    for (const [name, gate] of Object.entries(gates)) {
      if (gate.stage !== 'GA') continue;
      const flag = `--feature-gates=${name}=false`;
      expect(() => parse(flag)).toThrow(
        `cannot set feature gate ${name} to false, feature is locked to true: it is GA since ${gate.since}`,
      );
      if (gate.locked) expect(() => parse(flag, '--identity=kubernetes')).toThrow(`cannot set feature gate ${name} to false`);
      else expect(parse(flag, '--identity=kubernetes').features.isOn(name)).toBe(false);
    }
  });
  test('AllAlpha and AllBeta set every gate of their stage that is not set itself', () => {
    const every = (stage: string): GateName[] =>
      Object.entries(gates)
        .filter(([, gate]) => gate.stage === stage)
        .map(([name]) => name as GateName);
    for (const [group, stage] of [
      ['AllAlpha', 'alpha'],
      ['AllBeta', 'beta'],
    ] as const)
      for (const value of [true, false]) {
        const features = read({ [group]: String(value) });
        expect(every(stage).length).toBeGreaterThan(20);
        expect(every(stage).filter((name) => features.enabled(name) !== value)).toEqual([]);
        expect(features.warnings).toEqual([]);
        for (const [name, gate] of Object.entries(gates))
          if (gate.stage !== stage) expect(features.enabled(name as GateName), name).toBe(gate.default);
      }
    expect(on({ CronJobTimeZone: 'false', AllAlpha: 'true' }, 'CronJobTimeZone')).toBe(false);
  });
  test('a gate of another part of the cluster is accepted both ways, and one line says so', () => {
    expect(
      read({ NodeSwap: 'true', CPUManager: 'false', VolumeCapacityPriority: 'true', NodeOutOfServiceVolumeDetach: 'true' }).warnings,
    ).toEqual([
      'feature gates that concern node agents only have no effect in this server: NodeSwap, CPUManager',
      'feature gates that concern the scheduler only have no effect in this server: VolumeCapacityPriority',
      'feature gates that concern controllers outside this server only have no effect in this server: NodeOutOfServiceVolumeDetach',
    ]);
    expect(on({ NodeSwap: 'true' }, 'NodeSwap')).toBe(true);
  });
  test('a gate of a stock server that is GA and not locked can be switched off there and here', () => {
    const stock = readFeatureGates(new Map([['ExecProbeTimeout', 'false']]), { identity: 'kubernetes' });
    expect(stock.enabled('ExecProbeTimeout')).toBe(false);
  });
  test('a deprecated gate warns', () => {
    expect(read({ DynamicKubeletConfig: 'true' }).warnings).toEqual([
      'the feature gate DynamicKubeletConfig is deprecated since 1.22 and will be removed',
    ]);
  });
  test('every gate that is not locked takes the other value', () => {
    for (const [name, gate] of Object.entries(gates)) {
      const other = String(!gate.default);
      if (gate.stage === 'GA') expect(() => read({ [name]: other }), name).toThrow('feature is locked');
      else expect(on({ [name]: other }, name as GateName), name).toBe(!gate.default);
    }
  });
  test('unknown gates and values are refused', () => {
    expect(() => read({ APIListChunkin: 'false' })).toThrow('unknown feature gate APIListChunkin (did you mean APIListChunking?)');
    expect(() => read({ APIListChunking: 'no' })).toThrow('APIListChunking: "no" is neither true nor false');
    expect(() => read({ AllBeta: 'no' })).toThrow('AllBeta: "no" is neither true nor false');
    expect(() => read({ toString: 'true' })).toThrow('unknown feature gate toString');
  });
});

describe('runtime configuration', () => {
  test('by default all but alpha versions are served', () => {
    const config = readRuntimeConfig([]);
    expect(config.enabled('apps', 'v1')).toBe(true);
    expect(config.enabled('batch', 'v1beta1')).toBe(true);
    expect(config.enabled('x.example.com', 'v1alpha1')).toBe(false);
  });
  test('the more exact setting wins, whatever the order', () => {
    const config = readRuntimeConfig(['batch/v1beta1/cronjobs', 'batch/v1beta1=false', 'api/beta=true', 'api/all=false', 'v1']);
    expect(config.enabled('apps', 'v1')).toBe(false);
    expect(config.enabled('', 'v1', 'pods')).toBe(true);
    expect(config.enabled('policy', 'v1beta1')).toBe(true);
    expect(config.enabled('batch', 'v1beta1', 'jobs')).toBe(false);
    expect(config.enabled('batch', 'v1beta1', 'cronjobs')).toBe(true);
  });
  test('api/v1 names the core group, as v1 does', () => {
    const config = readRuntimeConfig(['api/all=false', 'api/v1', 'api/v1/pods=false']);
    expect(config.enabled('', 'v1', 'secrets')).toBe(true);
    expect(config.enabled('', 'v1', 'pods')).toBe(false);
    expect(config.enabled('apps', 'v1')).toBe(false);
    expect(config.unknown((group, version, resource) => group === '' && version === 'v1' && resource !== 'pots')).toEqual([]);
    expect(() => readRuntimeConfig(['api/v1/pods/x'])).toThrow();
  });
  test('keys that name nothing are found', () => {
    const config = readRuntimeConfig(['apps/v1', 'aps/v1=false', 'apps/v1/pots']);
    expect(config.unknown((group, _, resource) => group === 'apps' && resource === undefined)).toEqual(['aps/v1', 'apps/v1/pots']);
  });
  test.each(['apps', 'apps/one', '/v1', 'api/everything', 'apps/v1/a/b', 'v1/pods/x', 'apps/v1=maybe'])('%s is refused', (item) => {
    expect(() => readRuntimeConfig([item])).toThrow();
  });
});

test('workloads are named by their parts, and their flags need them', () => {
  const read = (...args: string[]): unknown => (parseServerFlags(args) as ServerOptions).workloads;
  expect([read(), read('--workloads'), read('--workloads=false')]).toEqual([[], ['controllers', 'scheduler', 'nodes'], []]);
  expect(read('--workloads=nodes,controllers')).toEqual(['controllers', 'nodes']);
  expect(() => read('--workloads=')).toThrow('no part of workloads is named; there are controllers, scheduler, nodes');
  expect(() => read('--workloads=node')).toThrow(
    '"node" is not a part of workloads (did you mean nodes?); there are controllers, scheduler, nodes',
  );
  expect(() => read('--simulated-nodes=5')).toThrow('--simulated-nodes');
  expect((parseServerFlags(['--workloads', '--simulated-nodes=5']) as ServerOptions).simulatedNodes).toBe(5);
  const balancers = (...args: string[]): unknown => (parseServerFlags(['--workloads', ...args]) as ServerOptions).loadBalancerRange;
  expect([balancers(), balancers('--load-balancer-range=192.0.2.0/24'), balancers('--load-balancer-range=none')]).toEqual([
    ['198.18.0.0/16', '2001:2::/112'],
    ['192.0.2.0/24'],
    [],
  ]);
  expect(() => balancers('--load-balancer-range=none,192.0.2.0/24')).toThrow('--load-balancer-range: "none" is not an IP range');
  expect(() => read('--load-balancer-range=none')).toThrow('--load-balancer-range has no effect without --workloads=nodes');
  expect((parseServerFlags(['--time-factor=0.5']) as ServerOptions).timeFactor).toBe(0.5);
  for (const wrong of ['0', '-1', 'fast', '', '86401', 'NaN'])
    expect(() => parseServerFlags([`--time-factor=${wrong}`])).toThrow('--time-factor');
});

test('files about access exclude the flags that say the same', () => {
  const refused =
    (...args: string[]) =>
    () =>
      parseServerFlags(args);
  expect(refused('--authentication-config=a', '--oidc-issuer-url=https://x', '--oidc-client-id=c')).toThrow(
    '--authentication-config and --oidc-issuer-url exclude each other: the file says what the flag would',
  );
  expect(refused('--authorization-config=a', '--authorization-mode=RBAC')).toThrow(
    '--authorization-config and --authorization-mode exclude',
  );
  expect(refused('--authorization-config=a', '--authorization-mode=Webhook', '--authorization-webhook-config-file=f')).toThrow(
    'exclude each other',
  );
  expect(parseServerFlags(['--authentication-config=a', '--authorization-config=b', '--anonymous-auth=false'])).toMatchObject({
    anonymousAuth: false,
  });
});
