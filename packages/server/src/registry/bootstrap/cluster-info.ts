/**
 * The ConfigMap `cluster-info`: what a client that has only a bootstrap token needs to find this server and to trust
 * it. Anyone may read it; it is signed with each token, so that the holder of a token can verify it.
 */

import { groupName, type Identity } from '@plat-dev/meta/identity';
import { autoupdateAnnotation } from '../../auth/bootstrap/objects.ts';
import { wellKnown } from '../../auth/types.ts';
import type { NewObject, SystemWriter } from '../system.ts';
import { settleBinding, settleRole } from './policy.ts';

const clusterInfoName = 'cluster-info';
const clusterInfoRole = 'system:cluster-info-reader';

export interface ClusterInfo {
  /** `https://192.0.2.1:6443` */
  readonly server: string;
  /** CA certificates (PEM) that sign its serving certificate. */
  readonly certificates: string;
}

/** A kubeconfig with the address of the server, and without a user. */
function clusterInfoText({ server, certificates }: ClusterInfo): string {
  return `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${Buffer.from(certificates).toString('base64')}
    server: ${server}
  name: ""
contexts: []
current-context: ""
kind: Config
preferences: {}
users: []
`;
}

/**
 * Creates or updates it: its text is that of this server, its signatures are left to the controller that signs. One with
 * the annotation that disables automatic updates is left unchanged.
 */
export async function publishClusterInfo(writer: SystemWriter, identity: Identity, info: ClusterInfo): Promise<void> {
  const namespace = identity.namespaces.public;
  const text = clusterInfoText(info);
  await Promise.all([
    settleRole(writer, identity, {
      metadata: { name: clusterInfoRole, namespace },
      rules: [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'], resourceNames: [clusterInfoName] }],
    } as NewObject),
    settleBinding(writer, identity, {
      metadata: { name: clusterInfoRole, namespace },
      roleRef: { apiGroup: groupName(identity, 'rbac.authorization'), kind: 'Role', name: clusterInfoRole },
      subjects: [wellKnown.unauthenticated, wellKnown.authenticated].map((name) => ({
        apiGroup: groupName(identity, 'rbac.authorization'),
        kind: 'Group',
        name,
      })),
    } as NewObject),
  ]);
  if (await writer.ensure('', 'configmaps', { metadata: { name: clusterInfoName, namespace }, data: { kubeconfig: text } } as NewObject))
    return;
  await writer.change('', 'configmaps', namespace, clusterInfoName, (object) => {
    const map = object as { metadata: { annotations?: Record<string, string> }; data?: Record<string, string> };
    if (map.metadata.annotations?.[autoupdateAnnotation(identity)] === 'false') return;
    map.data = { ...map.data, kubeconfig: text };
  });
}
