import { expect, test } from 'vitest';
import { kubernetes, plat } from '../identity.ts';
import type { MessageType } from '../schema/types.ts';
import { builtinKinds } from './index.ts';
import { listOf } from './lists.ts';
import { schemaOf } from './schemas.ts';

test('a kind is found by base group, version and name', () => {
  expect(schemaOf('', 'v1', 'Pod')?.name).toBe('core.v1.Pod');
  expect(schemaOf('rbac.authorization', 'v1', 'Role')?.name).toBe('rbac.v1.Role');
  expect(schemaOf('autoscaling', 'v2beta1', 'HorizontalPodAutoscaler')?.name).toBe('autoscaling.v2beta1.HorizontalPodAutoscaler');
  expect(schemaOf('', 'v1', 'Nothing')).toBeUndefined();
  expect(schemaOf('apps', 'v2', 'Deployment')).toBeUndefined();
});

test('a list kind holds items of its kind', () => {
  const schema = schemaOf('apps', 'v1', 'DeploymentList');
  expect(schema?.name).toBe('apps.v1.DeploymentList');
  expect(schema?.ordered.map((field) => field.name)).toEqual(['kind', 'apiVersion', 'metadata', 'items']);
  const deployments = builtinKinds(plat).find((kind) => kind.plural === 'deployments');
  expect(deployments && listOf(deployments, 'v1')).toBe(schema);
});

test('answers and options are known in every group version', () => {
  for (const kind of ['Status', 'WatchEvent', 'DeleteOptions', 'Table', 'PartialObjectMetadataList']) {
    expect(schemaOf('apps', 'v1', kind)?.name).toBe(`meta.v1.${kind}`);
    expect(schemaOf('meta', 'v1', kind)?.name).toBe(`meta.v1.${kind}`);
  }
});

test('a version that only renames keeps messages of other versions as they are', () => {
  const spec = schemaOf('batch', 'v1beta1', 'CronJob')?.ordered.find((field) => field.name === 'spec')?.type as MessageType;
  expect(spec.name).toBe('batch.v1beta1.CronJobSpec');
  const template = spec.ordered.find((field) => field.name === 'jobTemplate')?.type as MessageType;
  expect(template.name).toBe('batch.v1beta1.JobTemplateSpec');
  expect(template.ordered.map((field) => (field.type as MessageType).name)).toEqual(['meta.v1.ObjectMeta', 'batch.v1.JobSpec']);
});

test('schema extensions are named after the identity', () => {
  const names = (identity: typeof plat): string =>
    JSON.stringify(schemaOf('apiextensions', 'v1', 'CustomResourceDefinition', identity), show);
  expect(names(plat)).toContain('"x-plat.dev-list-type"');
  expect(names(kubernetes)).toContain('"x-kubernetes-list-type"');
});

/** Recursive schemas are looked through once. */
const seen = new WeakSet<object>();
function show(_key: string, value: unknown): unknown {
  if (typeof value !== 'function') return value;
  const target = value();
  if (seen.has(target)) return undefined;
  seen.add(target);
  return target;
}
