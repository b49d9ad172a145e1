/** Plug-ins that look at pods and need few words each. */

import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import { expect, test } from 'vitest';
import type { MakePlugin } from '../plugin.ts';
import { podOf, refusalOf, World } from '../testing.ts';
import { mergeTolerations } from '../tolerations.ts';
import { alwaysPullImages } from './pods/always-pull-images.ts';
import { limitPodHardAntiAffinityTopology } from './pods/anti-affinity-topology.ts';
import { defaultTolerationSeconds } from './pods/default-toleration-seconds.ts';
import { extendedResourceToleration } from './pods/extended-resource-toleration.ts';
import { podNodeSelector } from './pods/pod-node-selector.ts';
import { podTolerationRestriction } from './pods/pod-toleration-restriction.ts';
import { priority } from './pods/priority.ts';
import { runtimeClass } from './pods/runtime-class.ts';
import { securityContextDeny } from './pods/security-context-deny.ts';

/** The pod as the plug-in leaves it, or the refusal. */
async function after(make: MakePlugin, world: World, spec: object, more: { old?: object; configuration?: object } = {}) {
  const plugin = await world.plugin(make, more.configuration as never);
  const request = world.request('pods', podOf(spec), more.old === undefined ? {} : { old: podOf(more.old) });
  const refused = await refusalOf(plugin, request);
  return { refused, spec: (request.object as unknown as Pod).spec };
}

// ---- AlwaysPullImages --------------------------------------------------------------------------------------------

test('images are always pulled, in containers of every sort', async () => {
  const { spec } = await after(alwaysPullImages, new World(), {
    containers: [{ name: 'c', image: 'a', imagePullPolicy: 'Never' }],
    initContainers: [{ name: 'i', image: 'b:1' }],
  });
  expect([spec.containers?.[0]?.imagePullPolicy, spec.initContainers?.[0]?.imagePullPolicy]).toEqual(['Always', 'Always']);
});

test('a pod from before the plug-in stays changeable as long as it gets no new image', async () => {
  const old = { containers: [{ name: 'c', image: 'a:1', imagePullPolicy: 'Never' }] };
  expect((await after(alwaysPullImages, new World(), old, { old })).spec.containers?.[0]?.imagePullPolicy).toBe('Never');
  const newer = { containers: [{ name: 'c', image: 'a:2', imagePullPolicy: 'Never' }] };
  expect((await after(alwaysPullImages, new World(), newer, { old })).spec.containers?.[0]?.imagePullPolicy).toBe('Always');
});

// ---- SecurityContextDeny, LimitPodHardAntiAffinityTopology -------------------------------------------------------

test.each([
  [{ securityContext: { runAsUser: 5 } }, 'pod.Spec.SecurityContext.RunAsUser'],
  [{ securityContext: { fsGroup: 5 } }, 'pod.Spec.SecurityContext.FSGroup'],
  [{ securityContext: { supplementalGroups: [1] } }, 'pod.Spec.SecurityContext.SupplementalGroups'],
  [{ initContainers: [{ name: 'i', securityContext: { seLinuxOptions: { level: 's0' } } }] }, 'SecurityContext.SELinuxOptions'],
])('%j is denied', async (spec, field) => {
  expect((await after(securityContextDeny, new World(), spec)).refused).toBe(`pods "p" is forbidden: ${field} is forbidden`);
  expect((await after(securityContextDeny, new World(), { securityContext: { runAsNonRoot: true } })).refused).toBeUndefined();
});

test('hard anti-affinity is for host names only', async () => {
  const away = (topologyKey: string) => ({
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey }] } },
  });
  expect((await after(limitPodHardAntiAffinityTopology, new World(), away('zone'))).refused).toMatch(
    /only key kubernetes.io\/hostname is allowed/,
  );
  expect((await after(limitPodHardAntiAffinityTopology, new World(), away('kubernetes.io/hostname'))).refused).toBeUndefined();
});

// ---- DefaultTolerationSeconds ------------------------------------------------------------------------------------

test.each([
  [undefined, ['not-ready 300', 'unreachable 300']],
  [
    [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }],
    ['not-ready 5', 'unreachable 300'],
  ],
  [[{ operator: 'Exists' }], ['undefined undefined']],
  [[{ key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' }], ['unreachable undefined', 'not-ready 300', 'unreachable 300']],
])('a pod that tolerates %j tolerates troubles of its node for a while', async (tolerations, expected) => {
  const { spec } = await after(defaultTolerationSeconds, new World(), tolerations === undefined ? {} : { tolerations });
  expect(spec.tolerations?.map(({ key, tolerationSeconds }) => `${key?.split('/')[1]} ${tolerationSeconds}`)).toEqual(expected);
});

// ---- ExtendedResourceToleration, PodTolerationRestriction --------------------------------------------------------

test('a pod that asks for a device tolerates the taint of its name', async () => {
  const { spec } = await after(extendedResourceToleration, new World(), {
    containers: [{ name: 'c', resources: { limits: { 'example.test/gpu': '1', cpu: '1' } } }],
    initContainers: [{ name: 'i', resources: { limits: { 'example.test/disk': '1' } } }],
    tolerations: [{ key: 'example.test/gpu', operator: 'Exists', effect: 'NoSchedule' }],
  });
  expect(spec.tolerations?.map(({ key }) => key)).toEqual(['example.test/gpu', 'example.test/disk']);
});

test('of tolerations that cover each other the widest stays, of equal ones the first', () => {
  const wide = { key: 'a', operator: 'Exists' };
  const narrow = { key: 'a', operator: 'Equal', value: 'x', effect: 'NoSchedule' };
  expect(mergeTolerations([narrow], [wide])).toEqual([wide]);
  expect(mergeTolerations([wide], [narrow])).toEqual([wide]);
  expect(mergeTolerations([narrow], [{ ...narrow }])).toEqual([narrow]);
  const brief = { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 };
  expect(mergeTolerations([brief], [{ ...brief, tolerationSeconds: 9 }])).toEqual([{ ...brief, tolerationSeconds: 9 }]);
});

const annotated = (annotations: Record<string, string>) => new World().with('namespaces', { metadata: { name: 'ns', annotations } });
const S = 'scheduler.alpha.kubernetes.io/';

test('tolerations of a namespace are merged into its pods, and memory pressure into those that asked for something', async () => {
  const world = annotated({ [`${S}defaultTolerations`]: '[{"key":"team","operator":"Equal","value":"red"}]' });
  const { spec } = await after(podTolerationRestriction, world, { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] });
  expect(spec.tolerations?.map(({ key }) => key)).toEqual(['team', 'node.kubernetes.io/memory-pressure']);
});

test('what is not on the list of a namespace, or of the cluster, is refused', async () => {
  const tolerations = [{ key: 'other', operator: 'Exists' }];
  const world = annotated({ [`${S}tolerationsWhitelist`]: '[{"key":"team","operator":"Exists"}]' });
  expect((await after(podTolerationRestriction, world, { tolerations })).refused).toMatch(/conflict with its namespace whitelist/);
  expect(
    (await after(podTolerationRestriction, world, { tolerations: [{ key: 'team', operator: 'Equal', value: 'x' }] })).refused,
  ).toBeUndefined();
  const configuration = {
    apiVersion: 'podtolerationrestriction.admission.k8s.io/v1alpha1',
    kind: 'Configuration',
    whitelist: [{ key: 'team', operator: 'Exists' }],
  };
  expect((await after(podTolerationRestriction, annotated({}), { tolerations }, { configuration })).refused).toMatch(
    /its cluster whitelist/,
  );
  expect((await after(podTolerationRestriction, annotated({ [`${S}tolerationsWhitelist`]: '[' }), { tolerations })).refused).toBeDefined();
});

// ---- PodNodeSelector ---------------------------------------------------------------------------------------------

test('pods run on the nodes of their namespace, or of the cluster where it names none', async () => {
  const configuration = { podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'zone=default', ns: 'zone=default,disk=ssd' } };
  const run = (world: World, nodeSelector: object) => after(podNodeSelector, world, { nodeSelector }, { configuration });
  expect((await run(annotated({}), {})).spec.nodeSelector).toEqual({ zone: 'default' });
  expect((await run(annotated({}), { zone: 'other' })).refused).toMatch(/conflicts with its namespace node label selector/);
  expect((await run(annotated({}), { more: 'x' })).refused).toMatch(/conflict with its namespace whitelist/);
  expect((await run(annotated({ [`${S}node-selector`]: 'disk=ssd' }), {})).spec.nodeSelector).toEqual({ disk: 'ssd' });
  expect((await run(annotated({ [`${S}node-selector`]: 'not a selector!' }), {})).refused).toMatch(
    /node-selector of namespace ns is not a selector: invalid selector: \[not a selector!\]$/,
  );
});

test('a label of nodes may have a name that objects inherit', async () => {
  const world = annotated({ [`${S}node-selector`]: 'constructor=x' });
  expect((await after(podNodeSelector, world, { nodeSelector: { disk: 'ssd' } })).spec.nodeSelector).toEqual({
    disk: 'ssd',
    constructor: 'x',
  });
  const inClass = new World().with('node/runtimeclasses', {
    metadata: { name: 'micro' },
    handler: 'h',
    scheduling: { nodeSelector: { toString: 'micro' } },
  });
  const { spec } = await after(runtimeClass, inClass, { runtimeClassName: 'micro', nodeSelector: { disk: 'ssd' } });
  expect(spec.nodeSelector).toEqual({ disk: 'ssd', toString: 'micro' });
});

// ---- Priority ----------------------------------------------------------------------------------------------------

const classes = () =>
  new World().with(
    'scheduling/priorityclasses',
    { metadata: { name: 'high' }, value: 1000, preemptionPolicy: 'Never' },
    { metadata: { name: 'low' }, value: 1 },
  );

test('the number behind a class goes into the pod', async () => {
  expect((await after(priority, classes(), { priorityClassName: 'high' })).spec).toMatchObject({
    priority: 1000,
    preemptionPolicy: 'Never',
  });
  expect((await after(priority, classes(), {})).spec).toMatchObject({ priority: 0, preemptionPolicy: 'PreemptLowerPriority' });
  expect((await after(priority, classes(), { priorityClassName: 'none' })).refused).toMatch(/no PriorityClass with name none was found/);
  expect((await after(priority, classes(), { priorityClassName: 'high', priority: 7 })).refused).toMatch(/computed 1000/);
  expect((await after(priority, classes(), { priority: 5 })).refused).toMatch(/computed 0/);
});

test('a default class is used where none is named, and there is one at most', async () => {
  const world = classes().with('scheduling/priorityclasses', { metadata: { name: 'usual' }, value: 77, globalDefault: true });
  expect((await after(priority, world, {})).spec).toMatchObject({ priority: 77, priorityClassName: 'usual' });
  const plugin = await world.plugin(priority);
  const another = { metadata: { name: 'another' }, value: 5, globalDefault: true };
  expect(await refusalOf(plugin, world.request('scheduling/priorityclasses', another))).toMatch(/usual is already marked as default/);
  const itself = { metadata: { name: 'usual' }, value: 77, globalDefault: true, description: 'd' };
  expect(await refusalOf(plugin, world.request('scheduling/priorityclasses', itself, { old: itself }))).toBeUndefined();
});

test('an update by a client that knows nothing of priorities loses none', async () => {
  const { spec } = await after(priority, classes(), {}, { old: { priority: 9, preemptionPolicy: 'Never' } });
  expect(spec).toMatchObject({ priority: 9, preemptionPolicy: 'Never' });
});

// ---- RuntimeClass ------------------------------------------------------------------------------------------------

const runtime = () =>
  new World().with('node/runtimeclasses', {
    metadata: { name: 'micro' },
    handler: 'h',
    overhead: { podFixed: { cpu: '100m' } },
    scheduling: { nodeSelector: { kind: 'micro' }, tolerations: [{ key: 'micro', operator: 'Exists' }] },
  });

test('overhead and scheduling go from the class into the pod', async () => {
  const { spec } = await after(runtimeClass, runtime(), { runtimeClassName: 'micro', nodeSelector: { disk: 'ssd' } });
  expect(spec).toMatchObject({ overhead: { cpu: '100m' }, nodeSelector: { disk: 'ssd', kind: 'micro' }, tolerations: [{ key: 'micro' }] });
});

test.each([
  [{ runtimeClassName: 'none' }, /RuntimeClass "none" not found/],
  [{ runtimeClassName: 'micro', overhead: { cpu: '1' } }, /Overhead doesn't match/],
  [{ runtimeClassName: 'micro', nodeSelector: { kind: 'macro' } }, /conflict: runtimeClass.scheduling.nodeSelector\[kind\] = micro/],
  [{ overhead: { cpu: '1' } }, /Overhead set without corresponding RuntimeClass/],
])('%j is refused', async (spec, why) => {
  expect((await after(runtimeClass, runtime(), spec)).refused).toMatch(why);
});
