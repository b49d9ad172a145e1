/** Objects that are not deleted. */
import { expect } from 'vitest';
import { type Case, owner, pod } from '../world.ts';
import { deletedConfigMap, deletedPod, foreground, hold, webhook } from './deleted-objects.ts';
import { claim, node, usesClaim } from './objects.ts';

export const deletionCases: readonly Case[] = [
  {
    title: 'nobody has deleted it',
    make: async (world) => {
      await world.put('configmaps', { metadata: { name: 'settings' } });
      return { resource: 'configmaps', namespace: world.ns, name: 'settings' };
    },
    reason: 'NotDeleting',
    message: /^configmaps\/settings is not being deleted/,
    command: /^delete configmaps\/settings -n /,
  },
  {
    title: 'an unknown finalizer: its domain and who set it',
    make: (world) => deletedConfigMap(world, { finalizers: [hold] }),
    reason: 'Finalizer',
    message: /^It has the finalizer example.com\/hold. It was set by the field manager \S+; a controller of example.com has to remove it.$/,
    command:
      /^patch configmaps\/settings -n \S+ --type=json -p '\[\{"op":"test","path":"\/metadata\/finalizers\/0","value":"example.com\/hold"\},/,
  },
  {
    title: 'a finalizer of a known controller',
    make: (world) => deletedConfigMap(world, { finalizers: ['resources-finalizer.argocd.argoproj.io/x'] }),
    reason: 'Finalizer',
    message: /It is removed by the application controller of Argo CD.$/,
    command: /^patch /,
  },
  {
    title: 'an orphaning deletion waits for the garbage collector',
    make: async (world) => {
      await world.put('configmaps', { metadata: { name: 'settings' } });
      await world.remove('configmaps', 'settings', { propagationPolicy: 'Orphan' });
      return { resource: 'configmaps', namespace: world.ns, name: 'settings' };
    },
    reason: 'Finalizer',
    message: /finalizer orphan. It is removed by the garbage collector, when all dependents are released/,
    command: /^get configmaps\/settings -n \S+ --watch$/,
  },
  {
    title: 'foreground: a dependent that blocks',
    make: async (world) => {
      const parent = await world.put('configmaps', { metadata: { name: 'parent' } });
      const ownerReferences = [owner(parent, { blockOwnerDeletion: true })];
      await world.put('secrets', { metadata: { name: 'child', ownerReferences } });
      await foreground(world, 'configmaps', 'parent');
      return { resource: 'configmaps', namespace: world.ns, name: 'parent' };
    },
    reason: 'DependentBlocks',
    message: /^Its dependent secrets\/child blocks its deletion and is not being deleted yet.$/,
    command: /^why not deleted secrets\/child -n /,
  },
  {
    title: 'foreground: what keeps the dependent of a dependent',
    make: async (world) => {
      const parent = await world.put('configmaps', { metadata: { name: 'parent' } });
      const middle = await world.put('configmaps', {
        metadata: { name: 'middle', ownerReferences: [owner(parent, { blockOwnerDeletion: true })] },
      });
      const ownerReferences = [owner(middle, { blockOwnerDeletion: true })];
      await world.put('secrets', { metadata: { name: 'leaf', ownerReferences, finalizers: [hold] } });
      await foreground(world, 'configmaps', 'parent');
      await foreground(world, 'configmaps', 'middle');
      await world.remove('secrets', 'leaf');
      return { resource: 'configmaps', namespace: world.ns, name: 'parent' };
    },
    reason: 'Finalizer',
    message: /finalizer example.com\/hold/,
    command: /^patch secrets\/leaf /,
  },
  {
    title: 'foreground: dependents that do not block do not count',
    make: async (world) => {
      const parent = await world.put('configmaps', { metadata: { name: 'parent' } });
      await world.put('secrets', { metadata: { name: 'child', ownerReferences: [owner(parent)] } });
      await foreground(world, 'configmaps', 'parent');
      return { resource: 'configmaps', namespace: world.ns, name: 'parent' };
    },
    reason: 'Finalizer',
    message: /finalizer foregroundDeletion. It is removed by the garbage collector/,
    command: /./,
  },
  {
    title: 'a claim that a pod uses',
    make: async (world) => {
      await world.put('persistentvolumeclaims', claim({}, { finalizers: ['kubernetes.io/pvc-protection'] }));
      await world.put('pods', pod('db', { nodeName: 'n1', ...usesClaim }));
      await world.put('pods', pod('other', { nodeName: 'n1' }));
      await world.remove('persistentvolumeclaims', 'data');
      return { resource: 'persistentvolumeclaims', namespace: world.ns, name: 'data' };
    },
    reason: 'ClaimInUse',
    message: /^It is in use: the pod db uses the claim.$/,
    command: /^delete pods\/db -n /,
  },
  {
    title: 'a claim that nothing uses waits for its controller',
    make: async (world) => {
      await world.put('persistentvolumeclaims', claim({}, { finalizers: ['kubernetes.io/pvc-protection'] }));
      await world.remove('persistentvolumeclaims', 'data');
      return { resource: 'persistentvolumeclaims', namespace: world.ns, name: 'data' };
    },
    reason: 'Finalizer',
    message: /removed by the controller pvc-protection, when no pod uses the claim/,
    command: /./,
  },
  {
    title: 'a volume that is bound',
    make: async (world) => {
      const name = world.name('v');
      await world.put('persistentvolumes', {
        metadata: { name, finalizers: ['kubernetes.io/pv-protection'] },
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          hostPath: { path: '/x' },
          claimRef: { namespace: world.ns, name: 'data' },
        },
        status: { phase: 'Bound' },
      });
      await world.remove('persistentvolumes', name);
      return { resource: 'persistentvolumes', name };
    },
    reason: 'VolumeBound',
    message: /^It is bound to the claim \S+\/data.$/,
    command: /^delete persistentvolumeclaims\/data -n /,
  },
  {
    title: 'a pod whose grace period runs',
    make: async (world) => {
      await world.put('nodes', node('n-ready'));
      return deletedPod(world, 'n-ready', {}, { gracePeriodSeconds: 3600 });
    },
    reason: 'GracePeriodRunning',
    message: /^Its containers have time to end until /,
    command: /--watch$/,
  },
  {
    title: 'a pod whose node is gone',
    make: (world) => deletedPod(world, 'n-gone', { finalizers: [hold] }, { gracePeriodSeconds: 3600 }),
    reason: 'NodeGone',
    message: /^Its node n-gone does not exist any more/,
    command: /^delete pods\/web -n \S+ --force --grace-period=0$/,
  },
  {
    title: 'a pod whose node does not answer',
    make: async (world) => {
      const conditions = [{ type: 'Ready', status: 'Unknown', message: 'Kubelet stopped posting node status.' }];
      await world.put('nodes', node('n-silent', { conditions }));
      return deletedPod(world, 'n-silent');
    },
    reason: 'NodeNotReady',
    message: /^Its node n-silent is not ready .*: Kubelet stopped posting node status\.$/,
    command: /^why not ready nodes\/n-silent$/,
  },
  {
    title: 'a pod that its node has ended, with a finalizer',
    make: async (world) => {
      await world.put('pods', pod('web', {}, { finalizers: ['batch.kubernetes.io/job-tracking'] }));
      await world.remove('pods', 'web', { gracePeriodSeconds: 0 });
      return { resource: 'pods', namespace: world.ns, name: 'web' };
    },
    reason: 'Finalizer',
    message: /removed by the job controller/,
    command: /^patch pods\/web /,
  },
  {
    title: 'a pod that is only evicted, against its budget',
    make: async (world) => {
      await world.put('pods', pod('web', { nodeName: 'n1' }, { labels: { app: 'web' } }));
      await world.put('poddisruptionbudgets', {
        metadata: { name: 'web' },
        spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
      });
      return { resource: 'pods', namespace: world.ns, name: 'web' };
    },
    also: 'BudgetRefusesEviction',
    reason: 'NotDeleting',
    message: /./,
    command: /./,
  },
  {
    title: 'a webhook whose service is gone refuses the update that removes the finalizer',
    make: async (world) => {
      const question = await deletedConfigMap(world, { finalizers: [hold] });
      await world.put('validatingwebhookconfigurations', webhook('guard', ['UPDATE']));
      return question;
    },
    reason: 'WebhookUnreachable',
    message:
      /^The webhook guard.example.com of validatingwebhookconfigurations\/guard is asked before the update .* its service default\/guard does not exist.$/,
    command: /^get services -n default$/,
  },
  {
    title: 'a name that the shell of who types the command must not run',
    make: async (world) => {
      const question = await deletedConfigMap(world, { finalizers: [hold] });
      const clientConfig = { service: { namespace: '$(id)', name: 'guard' } };
      await world.put('validatingwebhookconfigurations', webhook('guard', ['UPDATE'], { clientConfig }));
      return question;
    },
    reason: 'WebhookUnreachable',
    message: /./,
    command: /^get services -n '\$\(id\)'$/,
  },
  {
    title: 'a webhook whose service has no endpoints',
    make: async (world) => {
      await world.put('services', { metadata: { name: 'guard' }, spec: { selector: { app: 'guard' }, ports: [{ port: 443 }] } });
      await world.put('configmaps', { metadata: { name: 'settings' } });
      const clientConfig = { service: { namespace: world.ns, name: 'guard' } };
      await world.put('validatingwebhookconfigurations', webhook('guard', ['DELETE'], { clientConfig }));
      return { resource: 'configmaps', namespace: world.ns, name: 'settings' };
    },
    also: 'NotDeleting',
    reason: 'WebhookUnreachable',
    message: /is asked before the deletion, and its service \S+\/guard has no ready endpoints.$/,
    command: /^why not ready services\/guard -n /,
  },
  {
    title: 'a webhook that can be called comes after what is known',
    make: async (world) => {
      const question = await deletedConfigMap(world, { finalizers: [hold] });
      const clientConfig = { url: 'https://guard.example.com/' };
      await world.put('validatingwebhookconfigurations', webhook('guard', ['UPDATE'], { clientConfig }));
      return question;
    },
    also: 'WebhookMayRefuse',
    reason: 'Finalizer',
    message: /./,
    command: /./,
  },
  {
    title: 'a webhook of other namespaces does not matter',
    make: async (world) => {
      const question = await deletedConfigMap(world, { finalizers: [hold] });
      const namespaceSelector = { matchLabels: { guarded: 'yes' } };
      await world.put('mutatingwebhookconfigurations', webhook('guard', ['UPDATE', 'DELETE'], { namespaceSelector }));
      return question;
    },
    reason: 'Finalizer',
    message: /./,
    command: /./,
  },
  {
    title: 'a pod whose grace period is over, on a node that is ready',
    make: async (world) => {
      await world.put('nodes', node('n-ready'));
      const question = await deletedPod(world, 'n-ready', {}, { gracePeriodSeconds: 1 });
      const { deletionTimestamp } = (await world.server.admin.ok('GET', world.path('pods', 'web'))).metadata;
      await expect.poll(() => Date.now(), { timeout: 20_000 }).toBeGreaterThan(Date.parse(deletionTimestamp));
      return question;
    },
    reason: 'NodeSilent',
    message: /^Its grace period ended at \S+, and its node n-ready has not confirmed that its containers have ended.$/,
    command: /^describe pods\/web -n /,
  },
];
