/**
 * The ConfigMap `cluster-info`: what somebody who holds nothing but a bootstrap token needs to find this server and to trust
 * it. Anyone may read it; the tokens sign it, so that whoever has one can tell it from a forgery.
 */
import { autoupdateAnnotation } from '../../auth/bootstrap/objects.ts';
import { wellKnown } from '../../auth/types.ts';
import { groupName, type Identity } from '../../meta/identity.ts';
import type { NewObject, SystemWriter } from '../system.ts';
import { settleBinding, settleRole } from './policy.ts';

export const clusterInfoName = 'cluster-info';
export const clusterInfoRole = 'system:cluster-info-reader';

export interface ClusterInfo {
  /** `https://192.0.2.1:6443` */
  readonly server: string;
  /** PEM of the authorities that vouch for it. */
  readonly certificates: string;
}

/** A client configuration that knows where the server is, and no user. */
export function clusterInfoText({ server, certificates }: ClusterInfo): string {
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
 * Makes it, or brings it up to date: its text is this server's, its signatures are left to those who sign. One with the
 * annotation that keeps roles from being updated is left alone.
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
