import { kubernetes, plat } from '@plat-dev/meta/identity';
import { wholeSchema } from '@plat-dev/schema/releases';
import { type MessageType, resolve, type Type } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { readSource, sourceFiles } from '../../../test/support/sources.ts';
import { alphaKinds } from './alpha-kinds.ts';
import * as podOptions from './core/schema/pods/pod-options.ts';
import { descriptionOf, descriptions } from './descriptions.ts';
import { ObjectHistory } from './explain/schema/v1alpha1.ts';
import { explainKinds } from './explain-kinds.ts';
import { builtinKinds } from './index.ts';
import { listSchema } from './lists.ts';
import { newerKinds } from './newer-kinds.ts';
import { olderDescriptions } from './older.descriptions.ts';
import { withOlderVersions } from './older-kinds.ts';
import { scalars } from './scalars.descriptions.ts';
import { schemaOf } from './schemas.ts';

/** All messages that can be reached from these types. */
function reachable(roots: Type[]): MessageType[] {
  const found = new Map<string, MessageType>();
  const visit = (type: Type): void => {
    const t = resolve(type);
    if (t.node === 'list') visit(t.item);
    else if (t.node === 'map') visit(t.value);
    else if (t.node === 'union') [t.object.type, t.other.type].forEach(visit);
    else if (t.node === 'message' && !found.has(t.name)) {
      found.set(t.name, t);
      for (const { type, from = {} } of t.ordered) {
        visit(type);
        for (const change of Object.values(from)) if (change.type !== undefined) visit(change.type);
      }
    }
  };
  roots.forEach(visit);
  return [...found.values()];
}
const kinds = [...withOlderVersions(builtinKinds(plat, 'all'), plat), ...alphaKinds, ...newerKinds, ...explainKinds].flatMap(
  (kind): Type[] => [
    ...Object.values(kind.versions).flatMap(({ schema }) => [schema, listSchema(schema)]),
    ...[kind, ...Object.values(kind.versions).flatMap(({ own }) => own ?? [])].flatMap(({ subresources = {} }) =>
      Object.values(subresources).flatMap((sub) => (sub.type !== 'object' && sub.schema !== undefined ? [sub.schema] : [])),
    ),
  ],
);
const answers = ['Status', 'WatchEvent', 'DeleteOptions', 'APIGroupList', 'APIResourceList', 'APIVersions', 'PartialObjectMetadataList'];
const messages = reachable([...kinds, ObjectHistory, ...answers.map((kind) => wholeSchema(schemaOf('', 'v1', kind) as MessageType))]);
const options = Object.values(podOptions) as MessageType[];

test('every message is described', () => {
  expect(messages.length).toBeGreaterThan(400);
  expect(messages.map(({ name }) => name).filter((name) => descriptionOf(name) === undefined)).toEqual([]);
});

test('every field is described', () => {
  const missing = [...messages, ...options].flatMap(({ name, ordered }) =>
    ordered.filter((field) => descriptionOf(name, field.name) === undefined).map((field) => `${name} ${field.name}`),
  );
  expect(missing).toEqual([]);
});

test('every description is of a message and a field that there are', () => {
  const withoutVersion = (name: string): string => name.replace(/\.v\d[a-z0-9]*\./, '.');
  const known = new Set(Object.entries(scalars).flatMap(([name, texts]) => Object.keys(texts).map((field) => `${name} ${field}`)));
  for (const { name, ordered } of [...messages, ...options]) {
    known.add(`${withoutVersion(name)} $`);
    for (const field of ordered) known.add(`${withoutVersion(name)} ${field.name.replace(plat.schemaExtensionPrefix, 'x-')}`);
  }
  const written = [...Object.entries(descriptions), ...Object.entries(olderDescriptions)].flatMap(([name, texts]) =>
    Object.keys(texts).map((field) => `${name} ${field}`),
  );
  expect(written.filter((place) => !known.has(place))).toEqual([]);
});

/** All that is written, with the places where it stands. */
function places(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  // Kinds of extensions have the texts of those that they became.
  for (const { name, ordered } of messages.filter((message) => !message.name.startsWith('extensions.'))) {
    for (const field of [undefined, ...ordered.map((one) => one.name)]) {
      const text = descriptionOf(name, field) ?? '';
      found.set(text, [...(found.get(text) ?? []), `${name} ${field ?? '$'}`]);
    }
  }
  return found;
}

test('a description is one to three plain sentences of at most 260 characters', () => {
  const wrong = [...places().keys()].filter(
    (text) => !/^[A-Z*].*[^.\s]\.$/.test(text) || text.length > 260 || text.split(/[.!?] (?=[A-Z])/).length > 3,
  );
  expect(wrong).toEqual([]);
});

test('a sentence of few words is not repeated: it says nothing of the particular field', () => {
  const repeated = [...places()].filter(([text, where]) => {
    const fields = new Set(where.map((place) => place.split(' ')[1]));
    const owners = new Set(where.map((place) => place.replace(/ .*/, '').replace(/\.v\d\w*\./, '.')));
    return text.length < 40 && (fields.size > 1 || owners.size > 5);
  });
  expect(repeated).toEqual([]);
});

test('nothing but the OpenAPI endpoints imports descriptions, and they do when a document is asked for', () => {
  const files = sourceFiles.filter((file) => !/\.test(ing)?\.ts$|descriptions\.ts$/.test(file));
  const users = files.flatMap((file) => {
    const found = readSource(file).match(/(?:from |import\()'[^']*descriptions(\.ts)?'/g) ?? [];
    return found.map((how) => `${file}: ${how.split("'")[0]}`);
  });
  expect(users).toEqual(['server/endpoints/openapi/index.ts: import(']);
});

test('versions share descriptions, and a field may have a meaning of its own', () => {
  expect(descriptionOf('batch.v1beta1.CronJobSpec', 'schedule')).toBe(descriptionOf('batch.v1.CronJobSpec', 'schedule'));
  expect(descriptionOf('rbac.v1.RoleRef', 'kind')).toBe('Role or ClusterRole.');
  expect(descriptionOf('core.v1.Pod', 'kind')).toMatch(/^Kind is a string value /);
  expect(descriptionOf('core.v1.Pod', 'apiVersion')).toMatch(/^APIVersion defines /);
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
