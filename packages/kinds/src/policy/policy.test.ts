import { kubernetes, plat } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { fromHubNow, serve, toHubNow } from '../served-kind.ts';
import { create, type Loose, testEnv, update, withFeatures } from '../validation/kinds.testing.ts';
import { PodDisruptionBudgetKind } from './pod-disruption-budget.ts';
import { PodSecurityPolicyKind } from './pod-security-policy.ts';

const like = (texts: string[]): Loose[] => texts.map((text) => expect.stringContaining(text));
const budget = (spec: Loose): Loose => ({ metadata: { name: 'b' }, spec });

test.each<[string, Loose, string[]]>([
  ['both bounds', { minAvailable: 1, maxUnavailable: 1 }, ['spec | Invalid']],
  ['less than nothing', { minAvailable: -1 }, ['spec.minAvailable | Invalid | Invalid value: -1']],
  ['more than all', { maxUnavailable: '101%' }, ['spec.maxUnavailable | Invalid']],
  ['words', { minAvailable: 'some' }, ['spec.minAvailable | Invalid']],
  [
    'selectors',
    { selector: { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] } },
    ['spec.selector.matchExpressions[0].operator | Invalid'],
  ],
  ['nothing at all is fine', {}, []],
])('a disruption budget: %s', (_name, spec, texts) => {
  expect(create(PodDisruptionBudgetKind, budget(spec)).errors).toEqual(like(texts));
});

test('the status of a budget is checked where it is written', () => {
  const { object } = create(PodDisruptionBudgetKind, { ...budget({ minAvailable: 1 }), status: { disruptionsAllowed: 4 } });
  expect(object.status.disruptionsAllowed).toBe(0);
  const status = {
    disruptionsAllowed: -1,
    currentHealthy: 0,
    desiredHealthy: 0,
    expectedPods: 0,
    conditions: [{ type: 'a b', status: 'Perhaps', reason: '1' }],
  };
  expect(update(PodDisruptionBudgetKind, object, (o) => Object.assign(o, { status }), 'status').errors).toEqual(
    like([
      'conditions[0].type | Invalid',
      'conditions[0].status | NotSupported',
      'lastTransitionTime | Required',
      'reason | Invalid',
      'status.disruptionsAllowed | Invalid',
    ]),
  );
});

test.each([kubernetes, plat])('an empty selector differs from none in both versions ($name)', (identity) => {
  const [, old] = serve(PodDisruptionBudgetKind, identity);
  if (old === undefined) throw new Error('no second version');
  const inOld = (selector: Loose) => (fromHubNow(old, budget({ selector })) as Loose).spec.selector;
  const inNew = (selector: Loose) => (toHubNow(old, budget({ selector })) as Loose).spec.selector;
  const key = `pdb.${identity.domain}/deprecated-v1beta1-empty-selector-match`;
  expect(inOld({})).toEqual({ matchExpressions: [{ key, operator: 'DoesNotExist' }] });
  expect(inNew({})).toEqual({ matchExpressions: [{ key, operator: 'Exists' }] });
  for (const selector of [{}, { matchLabels: { a: 'b' } }, undefined]) expect(inOld(inNew(structuredClone(selector)))).toEqual(selector);
  for (const selector of [{}, { matchLabels: { a: 'b' } }, { matchExpressions: [{ key, operator: 'Exists' }] }, undefined]) {
    expect(inNew(inOld(structuredClone(selector)))).toEqual(selector);
  }
});

const any = { rule: 'RunAsAny' };
const security = (spec: Loose = {}, annotations: Loose = {}): Loose => ({
  metadata: { name: 'p', annotations },
  spec: { seLinux: any, runAsUser: any, supplementalGroups: any, fsGroup: any, ...spec },
});

test('pods may gain privileges unless a policy says otherwise', () => {
  expect(create(PodSecurityPolicyKind, security()).object.spec.allowPrivilegeEscalation).toBe(true);
  expect(PodSecurityPolicyKind.cells?.(create(PodSecurityPolicyKind, security({ volumes: ['a', '*'] })).object as never, testEnv)).toEqual([
    ...['p', 'false', '', 'RunAsAny', 'RunAsAny', 'RunAsAny', 'RunAsAny', false, 'a,*'],
  ]);
});

test.each<[string, Loose, string[]]>([
  ['rules', { seLinux: {}, fsGroup: { rule: 'x' } }, ['spec.seLinux.rule | NotSupported', 'spec.fsGroup.rule | NotSupported']],
  [
    'ranges',
    {
      runAsUser: {
        rule: 'MustRunAs',
        ranges: [
          { min: 9, max: 1 },
          { min: -1, max: -2 },
        ],
      },
    },
    ['ranges[0].min', 'ranges[1].min', 'ranges[1].max', 'ranges[1].min'],
  ],
  [
    'groups without a range',
    { runAsGroup: { rule: 'MustRunAs' } },
    ['spec.runAsGroup.ranges | Invalid | Invalid value: []policy.IDRange(nil)'],
  ],
  [
    'groups with one too many',
    { runAsGroup: { rule: 'RunAsAny', ranges: [{ min: 1, max: 2 }] } },
    ['[]policy.IDRange{policy.IDRange{Min:1, Max:2}}: Ranges must be empty'],
  ],
  ['volumes', { volumes: ['floppy'] }, ['spec.volumes | NotSupported']],
  [
    'capabilities',
    { requiredDropCapabilities: ['K'], allowedCapabilities: ['*', 'K'] },
    ['requiredDropCapabilities | Invalid', 'allowedCapabilities | Invalid'],
  ],
  [
    'privileges',
    { defaultAllowPrivilegeEscalation: true, allowPrivilegeEscalation: false },
    ['spec.defaultAllowPrivilegeEscalation | Invalid'],
  ],
  [
    'paths',
    { allowedHostPaths: [{ pathPrefix: '/a/../b' }, {}] },
    ['spec.allowedHostPaths[0] | Invalid | Invalid value: "/a/../b": must not contain \'..\'', 'allowedHostPaths[1] | Required'],
  ],
  [
    'drivers',
    { allowedFlexVolumes: [{}], allowedCSIDrivers: [{ name: 'Bad Name' }] },
    ['spec.allowedFlexVolumes.allowedFlexVolumes[0].driver | Required', 'spec.allowedCSIDrivers.allowedCSIDriver[0].name | Invalid'],
  ],
  [
    'sysctls that overlap',
    { allowedUnsafeSysctls: ['kernel.*', 'net.a'], forbiddenSysctls: ['kernel.x', 'net.*'] },
    ['spec.forbiddenSysctls[0] | Invalid', 'spec.allowedUnsafeSysctls[1] | Invalid'],
  ],
  [
    'sysctls besides all',
    { forbiddenSysctls: ['*', 'a', ''] },
    ['spec.forbiddenSysctls[2] | Invalid', 'spec.forbiddenSysctls.items | Forbidden'],
  ],
  [
    'classes',
    { runtimeClass: { allowedRuntimeClassNames: ['a', 'a'], defaultRuntimeClassName: 'b' } },
    ['allowedRuntimeClassNames[1] | Duplicate', 'allowedRuntimeClassNames | Required'],
  ],
  ['mounts', { allowedProcMountTypes: ['Odd'] }, ['allowedProcMountTypes[0] | NotSupported']],
])('a pod security policy refuses %s', (_name, spec, texts) => {
  expect(create(PodSecurityPolicyKind, security(spec), withFeatures('ProcMountType')).errors).toEqual(like(texts));
});

test('profiles in annotations of a pod security policy', () => {
  const annotations = {
    'apparmor.security.beta.kubernetes.io/defaultProfileName': 'odd',
    'seccomp.security.alpha.kubernetes.io/defaultProfileName': 'localhost/../x',
    'seccomp.security.alpha.kubernetes.io/allowedProfileNames': 'unconfined,*,what',
  };
  expect(create(PodSecurityPolicyKind, security({}, annotations)).errors).toEqual(
    like(['invalid AppArmor profile name: "odd"', "must not contain '..'", 'must be a valid seccomp profile']),
  );
});
