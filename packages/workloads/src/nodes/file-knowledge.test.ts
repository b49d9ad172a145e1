import type { Loose } from '@plat-dev/controllers/testing';
import { expect, test } from 'vitest';
import { knowledgeOf } from './file-knowledge.ts';

const volumes = [
  { name: 'own', emptyDir: {} },
  { name: 'shared', emptyDir: {} },
  { name: 'config', configMap: { name: 'c' } },
  { name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
  { name: 'claim', persistentVolumeClaim: { claimName: 'c' } },
  { name: 'host', hostPath: { path: '/x' } },
];
const mounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}/` }));

/** Whether a file of the main container is known to be missing. */
function isKnown(path: string, image = 'example.com/app', volumeMounts: Loose[] = mounts): boolean {
  const containers = [
    { name: 'main', image, volumeMounts },
    { name: 'other', image: 'x', volumeMounts: [{ name: 'shared', mountPath: '/s' }] },
  ];
  return knowledgeOf({ metadata: {}, spec: { volumes, containers } } as Loose, containers[0] as Loose)(path);
}

test('volumes are known where nobody else can have written to them', () => {
  expect(['/own/a', '/config/a', '/own'].map((path) => isKnown(path))).toEqual([true, true, true]);
  expect(['/shared/a', '/token/a', '/claim/a', '/host/a', '/owner/a'].map((path) => isKnown(path))).toEqual([
    false,
    false,
    false,
    false,
    false,
  ]);
  const inner = [...mounts, { name: 'claim', mountPath: '/own/inner' }];
  expect([isKnown('/own/inner/a', 'app', inner), isKnown('/own/a', 'app', inner)]).toEqual([false, true]);
});

test('images are not known, but for what every image has, and for what is not part of a bare system', () => {
  expect(['/app/a', '/etc/a', '/tmp/a', '/dev/termination-log'].map((path) => isKnown(path))).toEqual([false, false, true, true]);
  expect(['/app/a', '/etc/a', '/usr/bin/a', '/libs/a'].map((path) => isKnown(path, 'busybox:1.36'))).toEqual([true, false, false, true]);
  expect(['/usr/share/nginx/html/a', '/etc/nginx/a'].map((path) => isKnown(path, 'docker.io/library/nginx:1.25'))).toEqual([true, false]);
});

test('nothing is known of a container with more mounts, or longer ones, than are looked at', () => {
  const many = Array.from({ length: 65 }, (_, i) => ({ name: 'own', mountPath: `/m${i}` }));
  expect([isKnown('/tmp/a', 'app', many), isKnown('/tmp/a', 'app', many.slice(1))]).toEqual([false, true]);
  expect(isKnown('/tmp/a', 'app', [{ name: 'own', mountPath: `/${'m'.repeat(5000)}` }])).toBe(false);
});
