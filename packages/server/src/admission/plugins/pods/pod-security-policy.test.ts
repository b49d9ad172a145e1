import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import { expect, test } from 'vitest';
import { podOf, refusalOf, World } from '../../testing.ts';
import { podSecurityPolicy } from './pod-security-policy.ts';

const any = { rule: 'RunAsAny' };
const policy = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { seLinux: any, runAsUser: any, supplementalGroups: any, fsGroup: any, volumes: ['*'], ...spec },
});

async function start(...policies: object[]) {
  const world = new World().with('policy/podsecuritypolicies', ...policies);
  world.may = (_user, { verb, resource }) => verb === 'use' && resource === 'podsecuritypolicies';
  const plugin = await world.plugin(podSecurityPolicy);
  const run = async (spec: object) => {
    const request = world.request('pods', podOf(spec));
    const refused = await refusalOf(plugin, request);
    return { refused, pod: request.object as unknown as Pod };
  };
  return { world, run };
}
const used = (pod: Pod): string | undefined => pod.metadata.annotations?.['kubernetes.io/psp'];

test('without a policy that may be used there are no pods', async () => {
  const { world, run } = await start(policy('free'));
  expect(used((await run({})).pod)).toBe('free');
  world.may = () => false;
  expect((await run({})).refused).toMatch(/PodSecurityPolicy: unable to admit pod: \[\]/);
  world.may = (user) => user.name === 'system:serviceaccount:ns:worker';
  expect((await run({ serviceAccountName: 'worker' })).refused).toBeUndefined();
});

test('a policy that leaves the pod as it is comes before those that fill something in', async () => {
  const { run } = await start(policy('a', { runAsUser: { rule: 'MustRunAs', ranges: [{ min: 7, max: 9 }] } }), policy('b'));
  expect(used((await run({})).pod)).toBe('b');
  const { run: only } = await start(policy('a', { runAsUser: { rule: 'MustRunAs', ranges: [{ min: 7, max: 9 }] } }));
  const { pod } = await only({});
  expect(pod.spec.containers?.[0]?.securityContext?.runAsUser).toBe(7);
});

test('what is left open is filled in', async () => {
  const { run } = await start(
    policy('p', {
      runAsUser: { rule: 'MustRunAsNonRoot' },
      fsGroup: { rule: 'MustRunAs', ranges: [{ min: 5, max: 6 }] },
      supplementalGroups: { rule: 'MustRunAs', ranges: [{ min: 3, max: 4 }] },
      requiredDropCapabilities: ['KILL'],
      defaultAddCapabilities: ['CHOWN'],
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
    }),
  );
  const { refused, pod } = await run({});
  expect(refused).toBeUndefined();
  expect(pod.spec.securityContext).toMatchObject({ fsGroup: 5, supplementalGroups: [3] });
  expect(pod.spec.containers?.[0]?.securityContext).toEqual({
    runAsNonRoot: true,
    capabilities: { add: ['CHOWN'], drop: ['KILL'] },
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
  });
});

test.each([
  [{}, { hostNetwork: true }, /Host network is not allowed/],
  [{}, { containers: [{ name: 'c', securityContext: { privileged: true } }] }, /Privileged containers are not allowed/],
  [{}, { containers: [{ name: 'c', ports: [{ containerPort: 1, hostPort: 80 }] }] }, /Host port 80 is not allowed/],
  [{ volumes: ['secret'] }, { volumes: [{ name: 'e', emptyDir: {} }] }, /emptyDir volumes are not allowed/],
  [{ allowedHostPaths: [{ pathPrefix: '/foo' }] }, { volumes: [{ name: 'h', hostPath: { path: '/food' } }] }, /is not allowed to be used/],
  [{}, { containers: [{ name: 'c', securityContext: { capabilities: { add: ['SYS_TIME'] } } }] }, /capability may not be added/],
  [{ runAsUser: { rule: 'MustRunAsNonRoot' } }, { securityContext: { runAsUser: 0 } }, /running with the root UID is forbidden/],
  [{ runAsUser: { rule: 'MustRunAs', ranges: [{ min: 1, max: 2 }] } }, { securityContext: { runAsUser: 5 } }, /must be in the ranges/],
  [
    { allowPrivilegeEscalation: false },
    { containers: [{ name: 'c', securityContext: { allowPrivilegeEscalation: true } }] },
    /privilege escalation/,
  ],
  [
    { forbiddenSysctls: ['kernel.*'] },
    { securityContext: { sysctls: [{ name: 'kernel.shm_rmid_forced', value: '1' }] } },
    /is not allowed/,
  ],
  [{}, { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }, /unsafe sysctl "kernel.msgmax"/],
  [{ runtimeClass: { allowedRuntimeClassNames: ['a'] } }, { runtimeClassName: 'b' }, /Unsupported value: "b"/],
])('a policy with %j refuses %j', async (given, spec, why) => {
  const { run } = await start(policy('p', given));
  expect((await run(spec)).refused).toMatch(why);
});
