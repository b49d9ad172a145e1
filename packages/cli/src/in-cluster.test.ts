import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { identities } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { inClusterConfig } from './in-cluster.ts';

test.each(Object.values(identities))('a pod of a cluster with identity $name', ({ serviceName, domain }) => {
  const root = temporaryDirectory('plat-pod');
  const variable = serviceName.toUpperCase();
  const env = { [`${variable}_SERVICE_HOST`]: '10.96.0.1', [`${variable}_SERVICE_PORT`]: '443' };
  expect(inClusterConfig(env, root)).toBeUndefined();
  const directory = join(root, 'var/run/secrets', domain, 'serviceaccount');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'token'), 't');
  expect(inClusterConfig({}, root)).toBeUndefined();
  const config = inClusterConfig(env, root);
  expect(config?.clusters.get('in-cluster')).toEqual({
    server: 'https://10.96.0.1:443',
    'certificate-authority': join(directory, 'ca.crt'),
  });
  expect(config?.users.get('in-cluster')).toEqual({ tokenFile: join(directory, 'token') });
  expect(config?.contexts.get('in-cluster')?.namespace).toBe('default');
  writeFileSync(join(directory, 'namespace'), 'team\n');
  expect(inClusterConfig({ ...env, [`${variable}_SERVICE_HOST`]: '::1' }, root)?.clusters.get('in-cluster')?.server).toBe(
    'https://[::1]:443',
  );
  expect(inClusterConfig(env, root)?.contexts.get('in-cluster')?.namespace).toBe('team');
});
