import { jsonText } from '@plat-dev/lib/json-text';
import { kubernetes, plat } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { readAuthenticationConfig } from './authentication-config.ts';
import { readAuthorizationConfig } from './authorization-config.ts';
import { userOfClaims } from './claim-rules.ts';

const surroundings = (release = '1.36', on = true) => ({ identity: kubernetes, release, feature: () => on });
const authentication = (fields: object, version = 'v1beta1') =>
  jsonText({ apiVersion: `apiserver.config.k8s.io/${version}`, kind: 'AuthenticationConfiguration', ...fields });
const authorization = (authorizers: unknown, version = 'v1') =>
  jsonText({ apiVersion: `apiserver.config.k8s.io/${version}`, kind: 'AuthorizationConfiguration', authorizers });
const issuer = { url: 'https://issuer.example.com', audiences: ['plat'] };
const username = { claim: 'sub', prefix: '' };

/** What is said of one provider, its issuer or its mappings being otherwise. */
function faultsOf(jwt: object, more: object = {}): string {
  try {
    readAuthenticationConfig(authentication({ jwt: [{ issuer, claimMappings: { username }, ...jwt }], ...more }), surroundings(), [
      'https://own',
    ]);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}
const mapped = (mappings: object) => faultsOf({ claimMappings: { username, ...mappings } });

test('versions of the file are those of the release, under the names of stock servers too', () => {
  const read = (version: string, release: string) => {
    try {
      return readAuthenticationConfig(authentication({}, version), surroundings(release), []).jwt.length;
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(read('v1alpha1', '1.29')).toBe(0);
  expect(read('v1beta1', '1.29')).toContain(
    'must have kind: AuthenticationConfiguration and apiVersion: apiserver.config.k8s.io/v1alpha1;',
  );
  expect(read('v1', '1.33')).toContain('it has kind: AuthenticationConfiguration and apiVersion: apiserver.config.k8s.io/v1');
  expect(read('v1', '1.34')).toBe(0);
  const underPlat = { ...surroundings(), identity: plat };
  expect(readAuthenticationConfig(authentication({}), underPlat, []).jwt).toEqual([]);
  expect(readAuthenticationConfig(authentication({}).replace('k8s.io', 'plat.dev'), underPlat, []).jwt).toEqual([]);
  expect(() => readAuthenticationConfig('a: [', surroundings(), [])).toThrow('neither YAML nor JSON');
  expect(() => readAuthenticationConfig(`# ${'x'.repeat(1 << 20)}`, surroundings(), [])).toThrow('more than 1048576 bytes');
});

test.each([
  [{ issuer: { ...issuer, url: '' } }, 'jwt[0].issuer.url: Required value: URL is required'],
  [{ issuer: { ...issuer, url: 'http://x' } }, 'URL scheme must be https'],
  [{ issuer: { ...issuer, url: 'https://me:secret@x' } }, 'Invalid value: "https://x": URL must not contain a username or password'],
  [{ issuer: { ...issuer, url: 'https://own' } }, 'URL must not overlap with disallowed issuers: [https://own]'],
  [{ issuer: { ...issuer, discoveryURL: 'https://issuer.example.com/' } }, 'discoveryURL must be different from URL'],
  [{ issuer: { ...issuer, audiences: [] } }, 'at least one jwt[0].issuer.audiences is required'],
  [{ issuer: { ...issuer, audiences: ['a', 'b'] } }, 'audienceMatchPolicy must be set to MatchAny for multiple audiences'],
  [{ issuer: { ...issuer, audiences: ['a', 'a'], audienceMatchPolicy: 'MatchAny' } }, 'jwt[0].issuer.audiences[1]: Duplicate value: "a"'],
  [{ issuer: { ...issuer, certificateAuthority: 'secret text' } }, 'Invalid value: "<omitted>": must be certificates in PEM'],
  [{ issuer: 'x' }, 'jwt[0].issuer: Invalid value: must be an object'],
  [{ claimValidationRules: [{}] }, 'jwt[0].claimValidationRules[0]: Required value: claim or expression is required'],
  [{ claimValidationRules: [{ expression: '1 +' }] }, 'compilation failed'],
  [{ claimValidationRules: [{ claim: 'a', expression: 'true' }] }, "claim and expression can't both be set"],
  [{ claimValidationRules: [{ claim: 'a', message: 'm' }] }, "message can't be set when claim is set"],
  [{ userValidationRules: [{ expression: 'user.name == ""' }] }, "undefined field 'name'"],
  [{ userValidationRules: [{ expression: 'true' }, { expression: 'true' }] }, 'jwt[0].userValidationRules[1].expression: Duplicate value'],
  [{ more: 1 }, 'jwt[0].more: Forbidden: unknown field'],
])('%j is refused', (jwt, fault) => {
  expect(faultsOf(jwt)).toContain(fault);
});

test('mappings are checked', () => {
  expect(mapped({ username: {} })).toContain('jwt[0].claimMappings.username: Required value: claim or expression is required');
  expect(mapped({ username: { claim: 'sub' } })).toContain('jwt[0].claimMappings.username.prefix: Required value: prefix is required');
  expect(mapped({ groups: { expression: 'claims.g', prefix: 'x' } })).toContain("prefix can't be set when expression is set");
  expect(mapped({ username: { expression: '1' } })).toContain('must return string, not int');
  expect(mapped({ username: { expression: 'claims.email' } })).toContain('claims.email_verified must be used');
  expect(mapped({ username: { expression: 'claims.email + string(claims.email_verified)' } })).toBe('');
  expect(mapped({ username: { expression: 'claims["email"]' } })).toContain('claims.email_verified must be used');
  expect(mapped({ username: { expression: 'claims.email_domain' } })).toBe('');
  const extra = (key: string) => mapped({ extra: [{ key, valueExpression: '"x"' }] });
  expect(extra('example.com/team')).toBe('');
  expect(extra('team')).toContain('jwt[0].claimMappings.extra[0].key: Invalid value: "team"');
  expect(extra('authentication.kubernetes.io/pod-name')).toContain('are reserved');
  expect(extra('example.com/Team')).toContain('key must be lowercase');
});

test('issuers are few and different, and anonymous paths are for those who may be anonymous', () => {
  const provider = { issuer, claimMappings: { username } };
  const read =
    (fields: object, on = true) =>
    () =>
      readAuthenticationConfig(authentication(fields), surroundings('1.36', on), []);
  expect(read({ jwt: [provider, provider] })).toThrow('jwt[1].issuer.url: Duplicate value');
  expect(read({ jwt: Array.from({ length: 65 }, () => provider) })).toThrow('jwt: Too many: 65: must have at most 64 items');
  expect(read({ anonymous: { enabled: false, conditions: [{ path: '/x' }] } })).toThrow(
    'enabled should be set to true when conditions are defined',
  );
  expect(read({ anonymous: { enabled: true, conditions: [{}] } })).toThrow('anonymous.conditions[0].path: Required value');
  expect(read({ anonymous: { enabled: true } }, false)).toThrow('AnonymousAuthConfigurableEndpoints');
  expect(read({ anonymous: { enabled: true, conditions: [{ path: '/x' }] } })().anonymous).toEqual({ enabled: true, paths: ['/x'] });
});

test('claims become users, or the reason why not', () => {
  const settings = (mappings: object, more: object = {}) =>
    readAuthenticationConfig(authentication({ jwt: [{ issuer, claimMappings: { username, ...mappings }, ...more }] }), surroundings(), [])
      .jwt[0];
  const user = (claims: object, mappings: object, more: object = {}) => {
    try {
      return userOfClaims((settings(mappings, more) as NonNullable<ReturnType<typeof settings>>).rules, claims as never);
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(user({ sub: 'a', roles: 'dev', id: 'u1' }, { groups: { claim: 'roles', prefix: 'x:' }, uid: { claim: 'id' } })).toEqual({
    name: 'a',
    uid: 'u1',
    groups: ['x:dev'],
  });
  expect(user({ sub: 'a', roles: ['p', '', 'q'] }, { groups: { expression: 'claims.roles.map(r, "g-" + r)' } })).toMatchObject({
    groups: ['g-p', 'g-', 'g-q'],
  });
  expect(user({ sub: 'a', n: 1 }, { groups: { expression: 'claims.n' } })).toBe('oidc: the groups is neither a text nor a list of texts');
  expect(user({ sub: '' }, {})).toBe('oidc: the user name is empty');
  expect(user({ sub: 'a' }, { username: { expression: 'claims.missing' } })).toMatch(
    /^oidc: expression "claims.missing" failed: no such key/,
  );
  expect(user({ sub: 'a' }, {}, { claimValidationRules: [{ claim: 'hd', requiredValue: '' }] })).toBe(
    'oidc: required claim hd not present',
  );
  expect(user({ sub: 'a' }, {}, { claimValidationRules: [{ expression: 'false' }] })).toBe('oidc: validation expression "false" failed');
  const people = [{ expression: '!user.username.startsWith("system:")', message: 'no system users' }];
  expect(user({ sub: 'system:admin' }, {}, { userValidationRules: people })).toBe('oidc: no system users');
  expect(user({ sub: 'a', toString: 'b' }, { username: { claim: 'constructor', prefix: '' } })).toBe(
    'oidc: claim constructor is not a text',
  );
});

const webhook = {
  timeout: '3s',
  subjectAccessReviewVersion: 'v1',
  failurePolicy: 'NoOpinion',
  connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: '/x' },
};
function authorizationFaults(authorizers: unknown): string {
  try {
    readAuthorizationConfig(authorization(authorizers), surroundings());
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}
const guard = (more: object) => authorizationFaults([{ type: 'Webhook', name: 'guard', webhook: { ...webhook, ...more } }]);

test('authorizers are read, with what they have by default', () => {
  const chain = readAuthorizationConfig(
    authorization([
      { type: 'Webhook', name: 'guard', webhook: { ...webhook, cacheUnauthorizedRequests: false } },
      { type: 'RBAC', name: 'rbac' },
    ]),
    surroundings(),
  );
  expect(chain).toEqual([
    {
      type: 'Webhook',
      name: 'guard',
      webhook: {
        allowedMillis: 300_000,
        refusedMillis: 0,
        timeoutMillis: 3000,
        version: 'v1',
        onFailure: 'none',
        kubeConfigFile: '/x',
        conditions: [],
      },
    },
    { type: 'RBAC', name: 'rbac' },
  ]);
});

test('authorizers are checked', () => {
  expect(authorizationFaults([])).toContain('authorizers: Required value: at least one authorization mode must be defined');
  expect(authorizationFaults([{ type: 'ABAC', name: 'a' }])).toContain('authorizers[0].type: Unsupported value: "ABAC"');
  const twice = [
    { type: 'RBAC', name: 'a' },
    { type: 'RBAC', name: 'a' },
  ];
  expect(authorizationFaults(twice)).toContain('authorizers[1].type: Duplicate value: "RBAC"; authorizers[1].name: Duplicate value: "a"');
  expect(authorizationFaults([{ type: 'RBAC', name: 'A b' }])).toContain('authorizers[0].name: Invalid value: "A b"');
  expect(authorizationFaults([{ type: 'RBAC', name: 'a', webhook }])).toContain('may only be specified when type=Webhook');
  expect(authorizationFaults([{ type: 'Webhook', name: 'a' }])).toContain(
    'authorizers[0].webhook: Required value: required when type=Webhook',
  );
  expect(guard({ timeout: null })).toContain('authorizers[0].webhook.timeout: Required value');
  expect(guard({ failurePolicy: 'Allow' })).toContain('Unsupported value: "Allow": supported values: "NoOpinion", "Deny"');
  expect(guard({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: 'x' } })).toContain('must be an absolute path');
  expect(guard({ connectionInfo: { type: 'InClusterConfig' } })).toContain('this server runs in no pod');
  expect(guard({ authorizedTTL: '0s' })).toContain('must be greater than zero');
  const conditions = { matchConditionSubjectAccessReviewVersion: 'v1' };
  expect(guard({ matchConditions: [{ expression: 'true' }] })).toContain('required if match conditions are specified');
  expect(guard({ ...conditions, matchConditions: [{ expression: 'request.user' }] })).toContain('must return bool, not string');
  expect(guard({ ...conditions, matchConditions: [{ expression: 'request.verb == ""' }] })).toContain("undefined field 'verb'");
  expect(guard({ ...conditions, matchConditions: [{ expression: ' ' }] })).toContain('matchConditions[0].expression: Required value');
});
