/** Objects that are deleted and stay. */
import type { Loose } from '../../support/server.ts';
import { pod, type Question, type World } from '../world.ts';

export const hold = 'example.com/hold';

export async function deletedConfigMap(world: World, metadata: object): Promise<Question> {
  await world.put('configmaps', { metadata: { name: 'settings', ...metadata } });
  await world.remove('configmaps', 'settings');
  return { resource: 'configmaps', namespace: world.ns, name: 'settings' };
}
/** A pod on a node, deleted. */
export async function deletedPod(world: World, nodeName: string, metadata: object = {}, options: object = {}): Promise<Question> {
  await world.put('pods', pod('web', { nodeName }, metadata));
  await world.remove('pods', 'web', options);
  return { resource: 'pods', namespace: world.ns, name: 'web' };
}
export async function terminatingNamespace(world: World): Promise<Question> {
  await world.remove('namespaces', world.ns);
  return { resource: 'namespaces', name: world.ns };
}
export async function foreground(world: World, plural: string, name: string): Promise<void> {
  await world.remove(plural, name, { propagationPolicy: 'Foreground' });
}

export const webhook = (name: string, operations: string[], more: object = {}): Loose => ({
  metadata: { name },
  webhooks: [
    {
      name: 'guard.example.com',
      clientConfig: { service: { namespace: 'default', name: 'guard' } },
      rules: [{ operations, apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      ...more,
    },
  ],
});
