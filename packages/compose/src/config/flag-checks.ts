/** Checks of flags against each other: those that need another one, and those that exclude each other. */
import { FlagError, type FlagValues } from '@plat-dev/lib/flags';
import { isNewSuite } from '@plat-dev/server/connections/tls';
import type { serverFlags } from './flags.ts';

/** Values of all flags, as they were given. */
export type FlagOptions = FlagValues<typeof serverFlags>;

interface Dependence {
  /** A name, or the beginning of names that ends with a dash. */
  readonly flags: readonly string[];
  /** The flag that is missing, as it would be given. */
  readonly needs: string;
  present(options: FlagOptions): boolean;
}

/** Whether an alpha feature is switched on; what is wrong with the values is said where they are read. */
const isSwitchedOn = ({ featureGates }: FlagOptions, gate: string): boolean =>
  /^(true|t|1)$/i.test(featureGates.get(gate) ?? featureGates.get('AllAlpha') ?? '');

/** Flags that say how something is done that another flag switches on: alone they would be accepted without effect. */
const dependences: readonly Dependence[] = [
  {
    flags: ['simulated-nodes', 'simulated-nodes-forward-local', 'load-balancer-range'],
    needs: '--workloads=nodes',
    present: (o) => o.workloads.includes('nodes'),
  },
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
  {
    flags: ['identity-lease-'],
    needs: '--feature-gates=APIServerIdentity=true',
    present: (o) => isSwitchedOn(o, 'APIServerIdentity'),
  },
  {
    flags: ['tracing-config-file'],
    needs: '--feature-gates=APIServerTracing=true',
    present: (o) => isSwitchedOn(o, 'APIServerTracing'),
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
export function flagsWithoutEffect(
  options: FlagOptions,
  givenFlags: ReadonlySet<string>,
): { readonly name: string; readonly needs: string }[] {
  return dependences
    .filter(({ present }) => !present(options))
    .flatMap(({ flags, needs }) =>
      [...givenFlags]
        .filter((name) => flags.some((flagName) => name === flagName || (/(-|max)$/.test(flagName) && name.startsWith(flagName))))
        .map((name) => ({ name, needs })),
    );
}
function checkDependences(options: FlagOptions, givenFlags: ReadonlySet<string>): void {
  const [first] = flagsWithoutEffect(options, givenFlags);
  if (first !== undefined) throw new FlagError(`--${first.name} has no effect without ${first.needs}`);
}

/** Files, and the flags that say the same: a name, or the beginning of names that ends with a dash. */
const replacedFlags: readonly (readonly [file: string, flags: readonly string[]])[] = [
  ['authentication-config', ['oidc-']],
  ['authorization-config', ['authorization-mode', 'authorization-webhook-']],
];
function checkReplacedFlags(givenFlags: ReadonlySet<string>): void {
  for (const [file, flags] of replacedFlags) {
    if (!givenFlags.has(file)) continue;
    const other = [...givenFlags].find((name) => flags.some((flag) => (flag.endsWith('-') ? name.startsWith(flag) : name === flag)));
    if (other !== undefined) throw new FlagError(`--${file} and --${other} exclude each other: the file says what the flag would`);
  }
}

/** Flags that need each other. */
export function checkTogether(options: FlagOptions, givenFlags: ReadonlySet<string>): void {
  const both = (a: string, b: string, firstValue: unknown, secondValue: unknown): void => {
    if ((firstValue === undefined) !== (secondValue === undefined)) throw new FlagError(`--${a} and --${b} are needed together`);
  };
  both('tls-cert-file', 'tls-private-key-file', options.tlsCertFile, options.tlsPrivateKeyFile);
  if (options.tlsMinVersion === 'VersionTLS13' && options.tlsCipherSuites.length > 0 && !options.tlsCipherSuites.some(isNewSuite))
    throw new FlagError('--tls-cipher-suites names no suite of TLS 1.3, which --tls-min-version VersionTLS13 requires');
  both('proxy-client-cert-file', 'proxy-client-key-file', options.proxyClientCertFile, options.proxyClientKeyFile);
  both('etcd-certfile', 'etcd-keyfile', options.etcdCertfile, options.etcdKeyfile);
  both('etcd-username', 'etcd-password-file', options.etcdUsername || undefined, options.etcdPasswordFile);
  for (const signer of ['', 'kube-apiserver-client-', 'kubelet-client-', 'kubelet-serving-', 'legacy-unknown-']) {
    const [certificate, key] = [`cluster-signing-${signer}cert-file`, `cluster-signing-${signer}key-file`];
    both(certificate, key, givenFlags.has(certificate) || undefined, givenFlags.has(key) || undefined);
  }
  both('kubelet-client-certificate', 'kubelet-client-key', options.kubeletClientCertificate, options.kubeletClientKey);
  checkDependences(options, givenFlags);
  checkReplacedFlags(givenFlags);
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
