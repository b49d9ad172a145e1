import { FakeStore } from '@plat-dev/kinds/live-view.testing';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { anonymous } from './authn/anonymous.ts';
import { authentication } from './authn/index.ts';
import { staticTokens } from './authn/static-tokens.ts';
import { authorization } from './authz/index.ts';
import type { Attributes, User } from './types.ts';

const asked = (user: User): Attributes => ({
  user,
  verb: 'get',
  group: '',
  version: 'v1',
  resource: 'nodes',
  subresource: '',
  name: 'n',
  namespace: '',
  path: '',
  resourceRequest: true,
});
const node: User = { name: 'system:node:n', groups: ['system:nodes'] };
const root: User = { name: 'root', groups: ['system:masters'] };

test('modes are asked in their order, members of system:masters never', () => {
  const { live } = new FakeStore();
  const by = (...modes: string[]) =>
    authorization({ chain: modes.map((type) => ({ type })), live, identity: kubernetes, choice: { release: '1.24', feature: () => false } })
      .authorizer;
  expect(by('Node', 'RBAC').authorize(asked(node))).toMatchObject({ decision: 'allow' });
  expect(by('RBAC').authorize(asked(node))).toMatchObject({ decision: 'none' });
  expect(by('AlwaysDeny').authorize(asked(root))).toMatchObject({ decision: 'allow' });
  expect(by().authorize(asked(node))).toMatchObject({ decision: 'none' });
  expect(() => by('ABAC')).toThrow('authorization mode ABAC is not one of Node, RBAC, Webhook, AlwaysAllow, AlwaysDeny');
  expect(() => by('constructor')).toThrow(/is not one of/);
  expect(() => by('Webhook')).toThrow(/authorization-webhook-config-file/);
});

test('methods that are switched off let nobody in', () => {
  const request = { headers: { authorization: 'Bearer t' }, rawHeaders: ['Authorization', 'Bearer t'] };
  const none = authentication({ anonymous, audiences: ['a'] }).authenticator;
  expect(() => none.authenticate(request)).toThrow('Unauthorized');
  expect(none.authenticate({ headers: {}, rawHeaders: [] })).toMatchObject({ name: 'system:anonymous' });
  const closed = authentication({ audiences: [], staticTokens: staticTokens('t,u,1\n') }).authenticator;
  expect(closed.authenticate(request)).toMatchObject({ name: 'u' });
  expect(closed.authenticate({ headers: {}, rawHeaders: [] })).toBeUndefined();
});
