import type { ApiRelease } from '@plat-dev/lib/version';
import { expect, test } from 'vitest';
import { podOf, refusalOf, World } from '../../testing.ts';
import { podSecurity } from './pod-security.ts';

const P = 'pod-security.kubernetes.io/';
const good = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};
const sc = (securityContext: object) => ({ containers: [{ name: 'c', securityContext }] });

async function start(labels: Record<string, string>, configuration?: object, release?: ApiRelease) {
  const world = new World(release === undefined ? {} : { release }).with('namespaces', { metadata: { name: 'ns', labels } });
  const plugin = await world.plugin(podSecurity, configuration as never);
  const pod = (spec: object, metadata: object = {}) => {
    const request = world.request('pods', podOf(spec, metadata));
    // Fields that came after 1.24 are not in objects that the world makes.
    if (release !== undefined) request.object = podOf(spec, metadata) as never;
    return refusalOf(plugin, request);
  };
  return { world, plugin, pod };
}

test.each([
  [{ hostNetwork: true, hostIPC: true }, 'host namespaces (hostNetwork=true, hostIPC=true)'],
  [sc({ privileged: true }), 'privileged (container "c" must not set securityContext.privileged=true)'],
  [{ volumes: [{ name: 'h', hostPath: { path: '/' } }] }, 'hostPath volumes (volume "h")'],
  [{ containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort: 80 }] }] }, 'hostPort (container "c" uses hostPort 80)'],
  [
    sc({ capabilities: { add: ['SYS_TIME'] } }),
    'non-default capabilities (container "c" must not include "SYS_TIME" in securityContext.capabilities.add)',
  ],
  [{ securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }, 'forbidden sysctls (kernel.msgmax)'],
  [sc({ procMount: 'Unmasked' }), 'procMount (container "c" must not set securityContext.procMount to "Unmasked")'],
  [
    { securityContext: { seLinuxOptions: { type: 'odd_t', user: 'u' } } },
    'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "odd_t"; user may not be set)',
  ],
  [
    sc({ seccompProfile: { type: 'Unconfined' } }),
    'seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
  ],
  [
    { securityContext: { windowsOptions: { hostProcess: true } } },
    'hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)',
  ],
])('baseline refuses %j', async (spec, why) => {
  const { pod } = await start({ [`${P}enforce`]: 'baseline' });
  expect(await pod(spec)).toBe(`pods "p" is forbidden: violates PodSecurity "baseline:latest": ${why}`);
  expect(await pod({})).toBeUndefined();
});

test('baseline refuses AppArmor profiles that confine nothing', async () => {
  const { pod } = await start({ [`${P}enforce`]: 'baseline' });
  const key = 'container.apparmor.security.beta.kubernetes.io/c';
  expect(await pod({}, { annotations: { [key]: 'unconfined' } })).toMatch(/forbidden AppArmor profile \(.*="unconfined"\)/);
  expect(await pod({}, { annotations: { [key]: 'runtime/default' } })).toBeUndefined();
});

test.each([
  [sc({ ...good, allowPrivilegeEscalation: undefined }), /allowPrivilegeEscalation != false/],
  [sc({ ...good, capabilities: {} }), /unrestricted capabilities \(container "c" must set securityContext.capabilities.drop=\["ALL"\]\)/],
  [sc({ ...good, capabilities: { drop: ['ALL'], add: ['CHOWN'] } }), /must not include "CHOWN"/],
  [{ ...sc(good), volumes: [{ name: 'n', nfs: { server: 's', path: '/' } }] }, /volume "n" uses restricted volume type "nfs"/],
  [
    { ...sc(good), volumes: [{ name: 'h', hostPath: { path: '/' } }] },
    /^[^(]*restricted volume types \(volume "h" uses restricted volume type "hostPath"\)$/,
  ],
  [sc({ ...good, runAsNonRoot: undefined }), /pod or container "c" must set securityContext.runAsNonRoot=true/],
  [sc({ ...good, runAsNonRoot: false }), /container "c" must not set securityContext.runAsNonRoot=false/],
  [sc({ ...good, runAsUser: 0 }), /runAsUser=0 \(container "c" must not set runAsUser=0\)/],
  [sc({ ...good, seccompProfile: undefined }), /pod or container "c" must set securityContext.seccompProfile.type/],
])('restricted refuses %j', async (spec, why) => {
  const { pod } = await start({ [`${P}enforce`]: 'restricted' });
  expect(await pod(spec)).toMatch(why);
  expect(await pod(sc(good))).toBeUndefined();
});

test.each([
  ['v1.7', /restricted:v1.7": runAsNonRoot != true \(.*\)$/],
  ['v1.8', /allowPrivilegeEscalation/],
  ['v1.19', /seccompProfile/],
  ['v1.22', /unrestricted capabilities/],
  ['v1.99', /unrestricted capabilities/],
])('the rules are those of the release %s', async (version, why) => {
  const { pod } = await start({ [`${P}enforce`]: 'restricted', [`${P}enforce-version`]: version });
  expect(await pod({})).toMatch(why);
});

test('before seccomp had a field, annotations counted', async () => {
  const { pod } = await start({ [`${P}enforce`]: 'baseline', [`${P}enforce-version`]: 'v1.18' });
  expect(await pod(sc({ seccompProfile: { type: 'Unconfined' } }))).toBeUndefined();
});

test('what would be refused is warned of or written to the audit log', async () => {
  const { world, pod } = await start({ [`${P}warn`]: 'baseline', [`${P}audit`]: 'baseline' });
  expect(await pod({ hostPID: true })).toBeUndefined();
  expect(world.warnings).toEqual(['would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)']);
  expect(world.annotations.get(`${P}audit-violations`)).toMatch(/would violate PodSecurity "baseline:latest"/);
  expect(world.annotations.get(`${P}enforce-policy`)).toBe('privileged:latest');
});

test('templates are warned of and never refused', async () => {
  const { world, plugin } = await start({ [`${P}enforce`]: 'baseline', [`${P}warn`]: 'baseline' });
  const template = { spec: { hostPID: true, containers: [{ name: 'c' }] } };
  const deployment = { metadata: { name: 'd', namespace: 'ns' }, spec: { selector: {}, template } };
  expect(await refusalOf(plugin, world.request('apps/deployments', deployment))).toBeUndefined();
  const cron = { metadata: { name: 'c', namespace: 'ns' }, spec: { schedule: '* * * * *', jobTemplate: { spec: { template } } } };
  expect(await refusalOf(plugin, world.request('batch/cronjobs', cron))).toBeUndefined();
  expect(world.warnings).toHaveLength(2);
});

test('a pod that is too free may still be labelled, but runs no new image', async () => {
  const { world, plugin } = await start({ [`${P}enforce`]: 'baseline' });
  const old = podOf({ hostPID: true });
  const labelled = world.request('pods', podOf({ hostPID: true }, { labels: { a: 'b' } }), { old });
  expect(await refusalOf(plugin, labelled)).toBeUndefined();
  const newImage = world.request('pods', podOf({ hostPID: true, containers: [{ name: 'c', image: 'other' }] }), { old });
  expect(await refusalOf(plugin, newImage)).toMatch(/hostPID=true/);
  expect(await refusalOf(plugin, world.request('pods', podOf({ hostPID: true }), { old, subresource: 'status' }))).toBeUndefined();
});

test('labels of a namespace must make sense, unless the nonsense was there before', async () => {
  const { world, plugin } = await start({});
  const ns = (labels: Record<string, string>) => ({ metadata: { name: 'n', labels } });
  const nonsense = { [`${P}enforce`]: 'strict', [`${P}warn-version`]: '1.24' };
  expect(await refusalOf(plugin, world.request('namespaces', ns(nonsense)))).toBe(
    `Namespace "n" is invalid: [metadata.labels[${P}enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted, metadata.labels[${P}warn-version]: Invalid value: "1.24": must be "latest" or "v1.x"]`,
  );
  expect(await refusalOf(plugin, world.request('namespaces', ns({ ...nonsense, other: 'x' }), { old: ns(nonsense) }))).toBeUndefined();
});

test('nonsense that is there counts as the strictest level', async () => {
  const { pod } = await start({ [`${P}enforce`]: 'strict' });
  expect(await pod({})).toMatch(/violates PodSecurity "restricted:latest"/);
});

test('whoever raises the level gets warnings about the pods that violate it', async () => {
  const { world, plugin } = await start({});
  const named = (name: string, spec: object) => podOf(spec, { name });
  world.with(
    'pods',
    named('a', { hostPID: true }),
    named('b', { hostPID: true }),
    named('c', { hostIPC: true, ...sc({ privileged: true }) }),
    named('d', {}),
  );
  const ns = (labels: object) => ({ metadata: { name: 'ns', labels } });
  await refusalOf(plugin, world.request('namespaces', ns({ [`${P}enforce`]: 'baseline' }), { old: ns({}) }));
  expect(world.warnings).toEqual([
    'existing pods in namespace "ns" violate the new PodSecurity enforce level "baseline:latest"',
    'a (and 1 other pod): host namespaces',
    'c: host namespaces, privileged',
  ]);
  world.warnings.length = 0;
  await refusalOf(plugin, world.request('namespaces', ns({}), { old: ns({ [`${P}enforce`]: 'baseline' }) }));
  expect(world.warnings).toEqual([]);
});

test('defaults and exemptions come from the configuration', async () => {
  const configuration = {
    apiVersion: 'pod-security.admission.config.k8s.io/v1beta1',
    kind: 'PodSecurityConfiguration',
    defaults: { enforce: 'baseline' },
    exemptions: { usernames: ['root'], namespaces: ['kube-system'], runtimeClasses: ['gvisor'] },
  };
  const { world, plugin, pod } = await start({}, configuration);
  expect(await pod({ hostPID: true })).toMatch(/baseline:latest/);
  expect(await pod({ hostPID: true, runtimeClassName: 'gvisor' })).toBeUndefined();
  expect(await refusalOf(plugin, world.request('pods', podOf({ hostPID: true }), { user: { name: 'root' } }))).toBeUndefined();
  expect(await refusalOf(plugin, world.request('pods', podOf({ hostPID: true }), { namespace: 'kube-system' }))).toBeUndefined();
  expect(world.annotations.get(`${P}exempt`)).toBeDefined();
  await expect(start({}, { ...configuration, defaults: { enforce: 'odd' } })).rejects.toThrow(/defaults.enforce must be one of/);
  await expect(start({}, { ...configuration, defaults: { enforc: 'baseline' } })).rejects.toThrow(/did you mean enforce/);
});

test.each([
  ['1.26', '1.27', 'baseline', { securityContext: { sysctls: [{ name: 'net.ipv4.ip_local_reserved_ports', value: '1' }] } }, 'sysctls'],
  ['1.28', '1.29', 'baseline', { securityContext: { sysctls: [{ name: 'net.ipv4.tcp_fin_timeout', value: '1' }] } }, 'sysctls'],
  ['1.31', '1.32', 'baseline', { securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem', value: '1' }] } }, 'sysctls'],
  ['1.30', '1.31', 'baseline', { securityContext: { seLinuxOptions: { type: 'container_engine_t' } } }, 'seLinuxOptions'],
  ['1.34', '1.35', 'baseline', { hostUsers: false, ...sc({ procMount: 'Unmasked' }) }, 'procMount'],
  ['1.24', '1.25', 'restricted', { os: { name: 'windows' }, ...sc({ runAsNonRoot: true }) }, 'unrestricted capabilities'],
  ['1.34', '1.35', 'restricted', { hostUsers: false, ...sc({ ...good, runAsUser: 0, runAsNonRoot: undefined }) }, 'runAsUser=0'],
] as const)('release %s refuses what %s allows at %s: %j', async (before, since, level, spec, why) => {
  const refusal = async (release: ApiRelease) => (await start({ [`${P}enforce`]: level }, undefined, release)).pod(spec);
  expect(await refusal(before)).toContain(why);
  expect(await refusal(since)).toBeUndefined();
});

test('hosts of probes are refused since 1.34, and user namespaces do not free restricted pods of other mounts of /proc', async () => {
  const probe = { httpGet: { port: 80, host: '10.0.0.1' } };
  const spec = { containers: [{ name: 'c', livenessProbe: probe, lifecycle: { preStop: { tcpSocket: { port: 1, host: 'b' } } } }] };
  const baseline = async (release: ApiRelease) => (await start({ [`${P}enforce`]: 'baseline' }, undefined, release)).pod(spec);
  expect(await baseline('1.33')).toBeUndefined();
  expect(await baseline('1.34')).toContain('probe or lifecycle host (container "c" uses probe or lifecycle hosts "10.0.0.1", "b")');
  const { pod } = await start({ [`${P}enforce`]: 'restricted' }, undefined, '1.35');
  expect(await pod({ hostUsers: false, ...sc({ ...good, procMount: 'Unmasked' }) })).toContain('procMount');
});

test('the checks of a release are those that a namespace names, and no newer ones than those of the server', async () => {
  const spec = { securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem', value: '1' }] } };
  const refusal = async (version: string, release: ApiRelease) =>
    (await start({ [`${P}enforce`]: 'baseline', [`${P}enforce-version`]: version }, undefined, release)).pod(spec);
  expect(await refusal('v1.31', '1.36')).toContain('baseline:v1.31');
  expect(await refusal('v1.32', '1.36')).toBeUndefined();
  expect(await refusal('v1.32', '1.30')).toContain('sysctls');
});

test('AppArmor fields count since 1.30', async () => {
  const spec = {
    securityContext: { appArmorProfile: { type: 'Unconfined' } },
    ...sc({ appArmorProfile: { type: 'Localhost', localhostProfile: 'x' } }),
  };
  const { pod } = await start({ [`${P}enforce`]: 'baseline' }, undefined, '1.30');
  expect(await pod(spec, { annotations: { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' } })).toContain(
    'forbidden AppArmor profiles (pod and annotation must not set AppArmor profile type to "Unconfined", ',
  );
  expect(await pod(sc({ appArmorProfile: { type: 'RuntimeDefault' } }))).toBeUndefined();
});
