import { builtinKinds } from '@plat-dev/kinds';
import { kubernetes, plat } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { checkRuntimeConfig } from './check-runtime-config.ts';
import { readRuntimeConfig } from './runtime-config.ts';

const check = (identity: typeof plat, ...items: string[]) => checkRuntimeConfig(readRuntimeConfig(items), identity, builtinKinds(identity));

test.each([
  ['no.such/v1=true', 'batch/v1'],
  ['batch/v1/nosuch=false', 'batch/v1/jobs'],
  ['extensions/v1beta1', 'events.k8s.io/v1beta1'],
  ['aps/v1', 'apps/v1'],
  ['apps/v1/deployment', 'apps/v1/deployments'],
  ['batch/v3', 'batch/v1'],
  ['v2', 'v1'],
])('%s names nothing, and the nearest key is %s', (item, nearest) => {
  const [key] = item.split('=') as [string];
  expect(() => check(kubernetes, item)).toThrow(`--runtime-config: "${key}" names nothing that this server has; the nearest is ${nearest}`);
  expect(() => check(kubernetes, 'api/all=true', 'apps/v1', item)).toThrow(key);
});

test('keys that name something are taken, in the names of the identity', () => {
  check(
    kubernetes,
    'api/all=false',
    'api/beta',
    'api/v1',
    'v1',
    'v1/pods',
    'apps/v1',
    'batch/v1beta1/cronjobs',
    'imagepolicy.k8s.io/v1alpha1',
  );
  check(plat, 'networking.plat.dev/v1/ingresses=false', 'imagepolicy.plat.dev/v1alpha1');
  expect(() => check(plat, 'networking.k8s.io/v1')).toThrow('the nearest is networking.plat.dev/v1');
});
