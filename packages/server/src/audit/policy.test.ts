import { kubernetes, plat } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { type AuditedRequest, levels, PolicyError, readPolicy } from './policy.ts';

const policy = (rules: object[], more: object = {}) =>
  readPolicy({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules, ...more } as never, kubernetes);
const asked = (changes: Partial<AuditedRequest> = {}): AuditedRequest => ({
  user: { name: 'alice', groups: ['dev', 'system:authenticated'] },
  verb: 'get',
  resourceRequest: true,
  path: '',
  group: '',
  resource: 'pods',
  subresource: '',
  namespace: 'shop',
  name: 'web',
  ...changes,
});
const levelOf = (rule: object, changes: Partial<AuditedRequest> = {}): string =>
  levels[policy([{ level: 'Request', ...rule }]).decide(asked(changes)).level] as string;

const path = { resourceRequest: false, group: '', resource: '', namespace: '', name: '' };

test.each<[what: string, rule: object, request: Partial<AuditedRequest>, fits: boolean]>([
  ['a rule without conditions', {}, {}, true],
  ['a user', { users: ['bob', 'alice'] }, {}, true],
  ['another user', { users: ['bob'] }, {}, false],
  ['nobody known', { users: ['alice'] }, { user: undefined }, false],
  ['nobody known, of any group', { userGroups: ['dev'] }, { user: undefined }, false],
  ['nobody known, a rule for all', {}, { user: undefined }, true],
  ['a group', { userGroups: ['ops', 'dev'] }, {}, true],
  ['another group', { userGroups: ['ops'] }, {}, false],
  ['a verb', { verbs: ['list', 'get'] }, {}, true],
  ['another verb', { verbs: ['list'] }, {}, false],
  ['all conditions together', { users: ['alice'], verbs: ['list'] }, {}, false],
  ['a namespace', { namespaces: ['shop'] }, {}, true],
  ['another namespace', { namespaces: ['bank'] }, {}, false],
  ['no namespace', { namespaces: [''] }, { namespace: '' }, true],
  ['a namespace does not fit a path', { namespaces: ['', 'shop'] }, path, false],
  ['all of a group', { resources: [{ group: '' }] }, {}, true],
  ['all of another group', { resources: [{ group: 'apps' }] }, {}, false],
  ['a resource', { resources: [{ resources: ['pods'] }] }, {}, true],
  ['a resource is not its subresources', { resources: [{ resources: ['pods'] }] }, { subresource: 'log' }, false],
  ['a subresource', { resources: [{ resources: ['pods/log'] }] }, { subresource: 'log' }, true],
  ['another subresource', { resources: [{ resources: ['pods/log'] }] }, { subresource: 'exec' }, false],
  ['all subresources', { resources: [{ resources: ['pods/*'] }] }, { subresource: 'exec' }, true],
  ['all subresources of another', { resources: [{ resources: ['nodes/*'] }] }, { subresource: 'exec' }, false],
  ['a subresource of all', { resources: [{ resources: ['*/exec'] }] }, { subresource: 'exec' }, true],
  ['a subresource of all is not the resource', { resources: [{ resources: ['*/exec'] }] }, {}, false],
  ['everything of a group', { resources: [{ resources: ['*'] }] }, { subresource: 'exec' }, true],
  ['a name', { resources: [{ resources: ['pods'], resourceNames: ['web'] }] }, {}, true],
  ['another name', { resources: [{ resources: ['pods'], resourceNames: ['db'] }] }, {}, false],
  ['one of several groups', { resources: [{ group: 'apps' }, { group: '', resources: ['pods'] }] }, {}, true],
  ['a path', { nonResourceURLs: ['/healthz'] }, { ...path, path: '/healthz' }, true],
  ['another path', { nonResourceURLs: ['/healthz'] }, { ...path, path: '/healthz/ping' }, false],
  ['all below a path', { nonResourceURLs: ['/healthz*'] }, { ...path, path: '/healthz/ping' }, true],
  ['all paths', { nonResourceURLs: ['*'] }, { ...path, path: '/x' }, true],
  ['a path does not fit a resource', { nonResourceURLs: ['*'] }, { path: '/api/v1/pods' }, false],
])('%s', (_, rule, request, fits) => {
  expect(levelOf(rule, request)).toBe(fits ? 'Request' : 'None');
});

test('the first rule that fits decides, and none is no record', () => {
  const { decide } = policy([
    { level: 'None', users: ['alice'] },
    { level: 'RequestResponse', verbs: ['get'] },
  ]);
  expect(decide(asked()).level).toBe(0);
  expect(decide(asked({ user: { name: 'bob', groups: [] } })).level).toBe(3);
  expect(decide(asked({ user: { name: 'bob', groups: [] }, verb: 'list' })).level).toBe(0);
});

test('stages are left out by the policy and by the rule; a rule has the last word on managed fields', () => {
  const { decide } = policy(
    [{ level: 'Metadata', verbs: ['get'], omitStages: ['Panic'], omitManagedFields: false }, { level: 'Metadata' }],
    { omitStages: ['RequestReceived'], omitManagedFields: true },
  );
  expect(decide(asked())).toMatchObject({ omitStages: new Set(['RequestReceived', 'Panic']), omitManagedFields: false });
  expect(decide(asked({ verb: 'list' }))).toMatchObject({ omitStages: new Set(['RequestReceived']), omitManagedFields: true });
});

test.each<[string, unknown, string]>([
  ['another kind', { apiVersion: 'audit.k8s.io/v1', kind: 'Event' }, 'must be of kind Policy'],
  ['another version', { apiVersion: 'audit.k8s.io/v1beta1', kind: 'Policy', rules: [{ level: 'None' }] }, 'audit.k8s.io/v1'],
  ['nothing', null, 'must be of kind Policy'],
  ['no rules', { rules: [] }, 'rules: Required value'],
  ['an unknown field', { rules: [{ level: 'None', user: ['a'] }] }, 'unknown field "rules[0].user"'],
  ['a wrong type', { rules: [{ level: 'None', users: 'a' }] }, 'rules'],
  ['an unknown level', { rules: [{ level: 'All' }] }, 'rules[0].level: Unsupported value: "All"'],
  ['no level', { rules: [{}] }, 'rules[0].level'],
  ['an unknown stage', { rules: [{ level: 'None', omitStages: ['End'] }] }, 'rules[0].omitStages[0]: Unsupported value: "End"'],
  ['names without resources', { rules: [{ level: 'None', resources: [{ resourceNames: ['a'] }] }] }, 'requires at least one resource'],
  ['paths and resources', { rules: [{ level: 'None', nonResourceURLs: ['/a'], resources: [{ group: '' }] }] }, 'cannot apply to both'],
  ['a relative path', { rules: [{ level: 'None', nonResourceURLs: ['a'] }] }, "must begin with a '/'"],
  ['a star in the middle', { rules: [{ level: 'None', nonResourceURLs: ['/a*b'] }] }, 'must be the final character'],
])('refused: %s', (_, value, problem) => {
  const whole =
    typeof value === 'object' && value !== null && 'rules' in value ? { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', ...value } : value;
  expect(() => readPolicy(whole as never, kubernetes)).toThrow(PolicyError);
  expect(() => readPolicy(whole as never, kubernetes)).toThrow(problem);
});

test('a policy of a stock server serves under every identity', () => {
  const rules = [{ level: 'Metadata' }];
  for (const apiVersion of ['audit.plat.dev/v1', 'audit.k8s.io/v1'])
    expect(readPolicy({ apiVersion, kind: 'Policy', rules }, plat).decide(asked()).level).toBe(1);
});
