import { kubernetes, plat } from '@plat-dev/meta/identity';
import { type MessageType, resolve, type Type } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
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
  const cronJob = schemaOf('batch', 'v1beta1', 'CronJob') as MessageType;
  expect(walk(cronJob, 'spec').name).toBe('batch.v1beta1.CronJobSpec');
  expect(walk(cronJob, 'spec', 'jobTemplate').name).toBe('batch.v1beta1.JobTemplateSpec');
  expect(walk(cronJob, 'spec', 'jobTemplate', 'spec').name).toBe('batch.v1.JobSpec');
});

test('schema extensions are named after the identity', () => {
  for (const identity of [plat, kubernetes]) {
    const definition = schemaOf('apiextensions', 'v1', 'CustomResourceDefinition', identity) as MessageType;
    const names = walk(definition, 'spec', 'versions', 'schema', 'openAPIV3Schema').ordered.map((field) => field.name);
    expect(names).toContain(`${identity.schemaExtensionPrefix}list-type`);
  }
});

/** The message that a path of fields leads to, through lists. */
function walk(from: MessageType, ...path: string[]): MessageType {
  let message = from;
  for (const name of path) {
    let type = resolve(message.ordered.find((field) => field.name === name)?.type as Type);
    if (type.node === 'list') type = resolve(type.item);
    message = type as MessageType;
  }
  return message;
}
