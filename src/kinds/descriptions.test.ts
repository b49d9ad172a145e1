import { expect, test } from 'vitest';
import { kubernetes, plat } from '../identity.ts';
import { type MessageType, resolve, type Type } from '../schema/types.ts';
import { descriptionOf } from './descriptions.ts';
import { builtinKinds } from './index.ts';
import { listOf } from './lists.ts';
import { schemaOf } from './schemas.ts';

/** All messages that can be reached from the kinds of an identity. */
function reachable(roots: Type[]): MessageType[] {
  const found = new Map<string, MessageType>();
  const visit = (type: Type): void => {
    const t = resolve(type);
    if (t.node === 'list') visit(t.item);
    else if (t.node === 'map') visit(t.value);
    else if (t.node === 'union') [t.object.type, t.other.type].forEach(visit);
    else if (t.node === 'message' && !found.has(t.name)) {
      found.set(t.name, t);
      for (const field of t.ordered) visit(field.type);
    }
  };
  roots.forEach(visit);
  return [...found.values()];
}
const roots = (identity: typeof plat): Type[] =>
  builtinKinds(identity).flatMap((kind) =>
    Object.entries(kind.versions).flatMap(([version, { schema }]) => [schema, listOf(kind, version)]),
  );
const answers = ['Status', 'WatchEvent', 'DeleteOptions', 'Table', 'APIGroupList', 'APIResourceList', 'APIVersions'];
const messages = reachable([...roots(plat), ...answers.map((kind) => schemaOf('', 'v1', kind) as Type)]);

test('every kind and every message inside one is described', () => {
  expect(messages.length).toBeGreaterThan(400);
  expect(messages.map(({ name }) => name).filter((name) => descriptionOf(name) === undefined)).toEqual([]);
});

test('every field is described', () => {
  const missing = messages.flatMap(({ name, ordered }) =>
    ordered.filter((field) => descriptionOf(name, field.name) === undefined).map((field) => `${name} ${field.name}`),
  );
  expect(missing).toEqual([]);
});

test('a description is one plain sentence', () => {
  const texts = messages.flatMap(({ name, ordered }) => [descriptionOf(name), ...ordered.map((field) => descriptionOf(name, field.name))]);
  expect(texts.filter((text) => !/^[A-Z/*].*[^.]\.$/.test(text ?? '') || (text ?? '').length > 160)).toEqual([]);
});

test('versions share descriptions, and a field may have a meaning of its own', () => {
  expect(descriptionOf('batch.v1beta1.CronJobSpec', 'schedule')).toBe(descriptionOf('batch.v1.CronJobSpec', 'schedule'));
  expect(descriptionOf('rbac.v1.RoleRef', 'kind')).toBe('Role or ClusterRole.');
  expect(descriptionOf('core.v1.Pod', 'kind')).toBe('The kind of the object.');
  expect(descriptionOf('core.v1.PodList')).toBe('A list of Pod objects.');
});

test('schema extensions are described under every prefix', () => {
  for (const { schemaExtensionPrefix } of [plat, kubernetes]) {
    expect(descriptionOf('apiextensions.v1.JSONSchemaProps', `${schemaExtensionPrefix}list-type`)).toMatch(/^How a list is merged/);
  }
});

test('what is not known is not described', () => {
  expect(descriptionOf('core.v1.Nothing')).toBeUndefined();
  expect(descriptionOf('core.v1.Pod', 'constructor')).toBeUndefined();
});
