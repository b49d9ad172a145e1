import { apiReleases, isAtLeast, minorOf } from '@plat-dev/lib/version';
import { kubernetes, plat } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { alphaKinds } from './alpha-kinds.ts';
import { builtinKinds } from './index.ts';
import { withOlderVersions } from './older-kinds.ts';
import { groupVersionsOf, resourceSpans } from './release-facts.testing.ts';
import { deprecationOf, whyBodyNotServed, whyNotServed, whyVersionNotServed } from './release-texts.ts';
import { allLifetimes, existsIn, lifetimeOf, replacementIn, servedByDefault } from './releases.ts';

/** `group/version/plural` → its parts. */
function parts(key: string): { group: string; version: string; plural: string } {
  const [plural = '', version = '', group = ''] = key.split('/').reverse();
  return { group, version, plural };
}
const lifetime = (key: string) => {
  const { group, version, plural } = parts(key);
  return lifetimeOf(group, version, plural);
};
/** Every version of every kind that this server has. */
const kinds = withOlderVersions([...builtinKinds(kubernetes), ...alphaKinds], kubernetes);
const everything = new Set([
  ...[...allLifetimes()].map(([key]) => key),
  ...kinds.flatMap(({ group, versions, plural }) =>
    Object.keys(versions).map((version) => `${group === '' ? '' : `${group}/`}${version}/${plural}`),
  ),
]);
const servedIn = (release: string): string[] => [...everything].filter((key) => servedByDefault(lifetime(key), release));
const versionOf = (key: string): string => key.slice(0, key.lastIndexOf('/'));

test.each(apiReleases)('release %s serves the group versions of its default configuration', (release) => {
  expect([...new Set(servedIn(release).map(versionOf))].sort()).toEqual(groupVersionsOf(release));
});

test.each(resourceSpans)('%s is served from %s to %s', (key, from, to) => {
  const served = apiReleases.filter((release) => servedIn(release).includes(key));
  expect([served[0], served.at(-1)]).toEqual([from, to]);
  expect(served).toHaveLength(minorOf(to) - minorOf(from) + 1);
});

test('every version of the table up to 1.24 is one that this server has, but for one that no release served by default', () => {
  const known = new Set(
    kinds.flatMap(({ group, versions, plural, kind }) => Object.keys(versions).map((one) => `${group}/${one}/${plural} ${kind}`)),
  );
  const unknown = [...allLifetimes()]
    .filter(([, { introduced }]) => introduced === undefined || isAtLeast('1.24', introduced))
    .filter(([key, { kind }]) => !known.has(`${key.replace(/^(?=[^/]+\/[^/]+$)/, '/')} ${kind}`))
    .map(([key]) => key);
  expect(unknown).toEqual(['settings/v1alpha1/podpresets']);
});

test('versions that are loaded only when they are asked for are not served by default in 1.24', () => {
  const usual = new Map(builtinKinds(kubernetes).map((kind) => [`${kind.group}/${kind.plural}`, kind]));
  for (const { group, plural, versions } of kinds)
    for (const version of Object.keys(versions))
      expect(servedByDefault(lifetimeOf(group, version, plural), '1.24'), `${group}/${version}/${plural}`).toBe(
        usual.get(`${group}/${plural}`)?.versions[version] !== undefined,
      );
});

test('what is removed has a replacement that is served then, as long as it is not off by default as well, or advice', () => {
  for (const [key, one] of allLifetimes()) {
    const { removed, advice, off } = one;
    if (removed === undefined || !apiReleases.includes(removed as never) || advice !== undefined) continue;
    const replacement = `${replacementIn(one, parts(key).plural, removed)}/${parts(key).plural}`;
    if (off !== true) expect(servedIn(removed), key).toContain(replacement);
    else expect(existsIn(lifetime(replacement), removed), key).toBe(true);
  }
});

// The rules 3 and 4a of the specification's chapter on versions.
test('no beta version was removed within three releases of its deprecation, and none for a less stable one', () => {
  const level = (version: string): number => (version.includes('alpha') ? 0 : version.includes('beta') ? 1 : 2);
  for (const [key, { deprecated, removed, replacement }] of allLifetimes()) {
    const { version } = parts(key);
    if (replacement !== undefined) expect(level(parts(`${replacement}/x`).version), key).toBeGreaterThanOrEqual(level(version));
    if (level(version) === 2) expect(removed, key).toBeUndefined();
    if (level(version) === 1 && removed !== undefined)
      expect(minorOf(removed) - minorOf(deprecated as string), key).toBeGreaterThanOrEqual(3);
  }
});

const warning = (key: string, release: string, identity = kubernetes) => deprecationOf(parts(key), identity, release)?.warning;

test.each([
  ['policy/v1beta1/poddisruptionbudgets', '1.20', undefined],
  [
    'policy/v1beta1/poddisruptionbudgets',
    '1.21',
    'policy/v1beta1 PodDisruptionBudget is deprecated in v1.21+, unavailable in v1.25+; use policy/v1 PodDisruptionBudget',
  ],
  ['policy/v1beta1/podsecuritypolicies', '1.24', 'policy/v1beta1 PodSecurityPolicy is deprecated in v1.21+, unavailable in v1.25+'],
  [
    'extensions/v1beta1/deployments',
    '1.15',
    'extensions/v1beta1 Deployment is deprecated in v1.8+, unavailable in v1.16+; use apps/v1 Deployment',
  ],
  [
    'extensions/v1beta1/ingresses',
    '1.19',
    'extensions/v1beta1 Ingress is deprecated in v1.14+, unavailable in v1.22+; use networking.k8s.io/v1 Ingress',
  ],
  [
    'rbac.authorization/v1beta1/roles',
    '1.19',
    'rbac.authorization.k8s.io/v1beta1 Role is deprecated in v1.17+, unavailable in v1.22+; use rbac.authorization.k8s.io/v1 Role',
  ],
  ['autoscaling/v2beta1/horizontalpodautoscalers', '1.21', undefined],
  [
    'autoscaling/v2beta1/horizontalpodautoscalers',
    '1.23',
    'autoscaling/v2beta1 HorizontalPodAutoscaler is deprecated in v1.22+, unavailable in v1.25+; use autoscaling/v2beta2 HorizontalPodAutoscaler',
  ],
  [
    'autoscaling/v2beta1/horizontalpodautoscalers',
    '1.24',
    'autoscaling/v2beta1 HorizontalPodAutoscaler is deprecated in v1.22+, unavailable in v1.25+; use autoscaling/v2 HorizontalPodAutoscaler',
  ],
  [
    'autoscaling/v2beta2/horizontalpodautoscalers',
    '1.23',
    'autoscaling/v2beta2 HorizontalPodAutoscaler is deprecated in v1.23+, unavailable in v1.26+',
  ],
  [
    'flowcontrol.apiserver/v1beta1/flowschemas',
    '1.23',
    'flowcontrol.apiserver.k8s.io/v1beta1 FlowSchema is deprecated in v1.23+, unavailable in v1.26+',
  ],
  [
    'flowcontrol.apiserver/v1beta2/flowschemas',
    '1.26',
    'flowcontrol.apiserver.k8s.io/v1beta2 FlowSchema is deprecated in v1.26+, unavailable in v1.29+; use flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema',
  ],
  ['flowcontrol.apiserver/v1beta2/flowschemas', '1.25', undefined],
  ['node/v1beta1/runtimeclasses', '1.24', 'node.k8s.io/v1beta1 RuntimeClass is deprecated in v1.22+, unavailable in v1.25+'],
  ['v1/componentstatuses', '1.24', 'v1 ComponentStatus is deprecated in v1.19+'],
  ['apps/v1/deployments', '1.36', undefined],
  ['v1/endpoints', '1.32', undefined],
  ['v1/endpoints', '1.33', 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice'],
  [
    'flowcontrol.apiserver/v1beta3/flowschemas',
    '1.29',
    'flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema is deprecated in v1.29+, unavailable in v1.32+; use flowcontrol.apiserver.k8s.io/v1 FlowSchema',
  ],
  ['networking/v1alpha1/ipaddresses', '1.30', 'networking.k8s.io/v1alpha1 IPAddress is deprecated in v1.30+, unavailable in v1.33+'],
])('the warning of %s in %s', (key, release, text) => {
  expect(warning(key, release)).toBe(text);
});

test('warnings have the names of the identity', () => {
  expect(warning('networking/v1beta1/ingresses', '1.20', plat)).toBe(
    'networking.plat.dev/v1beta1 Ingress is deprecated in v1.19+, unavailable in v1.22+; use networking.plat.dev/v1 Ingress',
  );
});

test.each([
  [
    'extensions/v1beta1/deployments',
    '1.24',
    'extensions/v1beta1 Deployment is not served by this server (API of release 1.24): it was removed in 1.16; use apps/v1, and `plat convert` to convert manifests',
  ],
  [
    'extensions/v1beta1/podsecuritypolicies',
    '1.24',
    'extensions/v1beta1 PodSecurityPolicy is not served by this server (API of release 1.24): it was removed in 1.16; use policy/v1beta1, and `plat convert` to convert manifests',
  ],
  [
    'extensions/v1beta1/podsecuritypolicies',
    '1.25',
    'extensions/v1beta1 PodSecurityPolicy is not served by this server (API of release 1.25): it was removed in 1.16; use pod security admission (labels of namespaces) or an admission webhook',
  ],
  [
    'policy/v1beta1/podsecuritypolicies',
    '1.25',
    'policy/v1beta1 PodSecurityPolicy is not served by this server (API of release 1.25): it was removed in 1.25; use pod security admission (labels of namespaces) or an admission webhook',
  ],
  [
    'flowcontrol.apiserver/v1beta1/flowschemas',
    '1.27',
    'flowcontrol.apiserver.k8s.io/v1beta1 FlowSchema is not served by this server (API of release 1.27): it was removed in 1.26; use flowcontrol.apiserver.k8s.io/v1beta3, and `plat convert` to convert manifests',
  ],
  [
    'networking/v1/ingresses',
    '1.18',
    'networking.k8s.io/v1 Ingress is not served by this server (API of release 1.18): it was added in 1.19; use networking.k8s.io/v1beta1, and `plat convert` to convert manifests',
  ],
  [
    'discovery/v1/endpointslices',
    '1.16',
    'discovery.k8s.io/v1 EndpointSlice is not served by this server (API of release 1.16): it was added in 1.21',
  ],
  [
    'batch/v1beta1/cronjobs',
    '1.24',
    'batch/v1beta1 CronJob is not served by this server (API of release 1.24): it is switched off (--runtime-config); use batch/v1, and `plat convert` to convert manifests',
  ],
  [
    'rbac.authorization/v1alpha1/roles',
    '1.20',
    'rbac.authorization.k8s.io/v1alpha1 Role is not served by this server (API of release 1.20): it is off by default (--runtime-config); use rbac.authorization.k8s.io/v1, and `plat convert` to convert manifests',
  ],
  ['apps/v1/widgets', '1.24', undefined],
])('why %s is not served in %s', (key, release, text) => {
  expect(whyNotServed(parts(key), kubernetes, release)).toBe(text);
});

test('why a version of a group is not served', () => {
  expect(whyVersionNotServed('extensions', 'v1beta1', plat, '1.24')).toBe(
    'extensions/v1beta1 is not served by this server (API of release 1.24): it was removed in 1.22; use apps/v1 or networking.plat.dev/v1 or policy/v1beta1, and `plat convert` to convert manifests',
  );
  expect(whyVersionNotServed('policy', 'v1', kubernetes, '1.18')).toBe(
    'policy/v1 is not served by this server (API of release 1.18): it was added in 1.21; use policy/v1beta1, and `plat convert` to convert manifests',
  );
  expect(whyVersionNotServed('apps', 'v9', kubernetes, '1.24')).toBeUndefined();
});

test('what a body says it is has the same reason, unless its version is served', () => {
  const why = (apiVersion: string, kind: string, release: string) => whyBodyNotServed(apiVersion, kind, kubernetes, release);
  expect(why('networking.k8s.io/v1beta1', 'Ingress', '1.22')).toContain('it was removed in 1.22; use networking.k8s.io/v1');
  expect(why('networking.k8s.io/v1beta1', 'Ingress', '1.21')).toBeUndefined();
  expect(why('example.com/v1', 'Ingress', '1.22')).toBeUndefined();
});

test('alpha versions exist for their time, and are off', () => {
  const alpha = lifetimeOf('storage', 'v1alpha1', 'csistoragecapacities');
  const existing = apiReleases.filter((release) => existsIn(alpha, release));
  expect(existing).toEqual(['1.19', '1.20', '1.21', '1.22', '1.23']);
  expect(apiReleases.filter((release) => servedByDefault(alpha, release))).toEqual([]);
});
