import { recordedText } from '@plat-dev/lib/testing/recordings.testing';
import type { ApiRelease } from '@plat-dev/lib/version';
import type { AggregationPart } from '@plat-dev/server/extension/aggregation/aggregation';
import { expect, test } from 'vitest';
import { type StartPart, startChecks } from './health-checks.ts';

const parts: readonly StartPart[] = [
  'admission',
  'definitions',
  'namespaces',
  'service-ranges',
  'roles',
  'priority-classes',
  'flows',
  'trust',
  'api-services',
];

/** Checks whose running parts name problems as the test says. */
function setup(problems: Readonly<Record<string, string>> = {}, fair = true, release: ApiRelease = '1.24') {
  const problem = (part: string) => () => problems[part];
  const made = startChecks(
    {
      views: problem('views'),
      fairness: fair ? { configuration: problem('configuration'), seats: problem('seats') } : undefined,
      aggregation: (part: AggregationPart) => problems[`aggregated ${part}`],
    },
    release,
  );
  const failing = (): string[] =>
    made.checks.flatMap(({ name, check }) => {
      try {
        check();
        return [];
      } catch {
        return [name.replace('poststarthook/', '')];
      }
    });
  return { ...made, failing };
}
const started = (problems: Readonly<Record<string, string>>, but?: StartPart) => {
  const made = setup(problems);
  for (const part of parts) if (part !== but) made.started(part);
  return made;
};

test.each<[StartPart, string[]]>([
  ['admission', ['start-kube-apiserver-admission-initializer']],
  ['definitions', ['start-apiextensions-informers', 'start-apiextensions-controllers', 'crd-informer-synced']],
  ['namespaces', ['bootstrap-controller']],
  ['roles', ['rbac/bootstrap-roles']],
  ['priority-classes', ['scheduling/bootstrap-system-priority-classes']],
  ['flows', ['priority-and-fairness-config-producer']],
  ['trust', ['start-cluster-authentication-info-controller']],
  ['api-services', ['kube-apiserver-autoregistration', 'autoregister-completion']],
])('until %s is done its checks fail, and no others', (part, names) => {
  const { failing, started: done } = started({}, part);
  expect(failing()).toEqual(names);
  done(part);
  expect(failing()).toEqual([]);
});

test.each<[string, string[]]>([
  ['views', ['generic-apiserver-start-informers']],
  ['configuration', ['priority-and-fairness-config-consumer']],
  ['seats', ['priority-and-fairness-filter']],
  ['aggregated views', ['start-kube-aggregator-informers']],
  ['aggregated registrations', ['apiservice-registration-controller']],
  ['aggregated availability', ['apiservice-status-available-controller']],
  ['aggregated specs', ['apiservice-openapi-controller', 'apiservice-openapiv3-controller']],
])('a problem with %s fails its checks, and no others', (part, names) => {
  expect(started({ [part]: 'broken' }).failing()).toEqual(names);
});

test('without fairness nothing is checked of it', () => {
  const names = setup({}, false).checks.map(({ name }) => name);
  expect(names).toHaveLength(setup().checks.length - 2);
  expect(names.filter((name) => /fairness-(config-consumer|filter)/.test(name))).toEqual([]);
});

test('names and order are those of a stock server', () => {
  const recorded = [...recordedText('api-facts', 'health-checks.txt').matchAll(/^\[\+\](\S+) ok$/gm)].map(([, name]) => name as string);
  expect(setup().checks.map(({ name }) => name)).toEqual(recorded.filter((name) => /^poststarthook\/|^autoregister/.test(name)));
});

test.each<[ApiRelease, readonly string[], readonly string[]]>([
  ['1.25', ['storage-object-count-tracker-hook'], ['apiservice-discovery-controller']],
  ['1.27', ['start-system-namespaces-controller', 'apiservice-discovery-controller'], ['start-service-ip-repair-controllers']],
  [
    '1.30',
    ['start-service-ip-repair-controllers', 'start-apiserver-admission-initializer'],
    ['start-kube-apiserver-admission-initializer'],
  ],
  ['1.31', ['storage-readiness', 'apiservice-status-remote-available-controller'], ['apiservice-status-available-controller']],
  ['1.33', ['start-kubernetes-service-cidr-controller'], ['start-kube-apiserver-admission-initializer']],
])('release %s has the names of its parts', (release, present, absent) => {
  const names = setup({}, true, release).checks.map(({ name }) => name.replace('poststarthook/', ''));
  expect(names).toEqual(expect.arrayContaining([...present]));
  expect(names.filter((name) => absent.includes(name))).toEqual([]);
});
