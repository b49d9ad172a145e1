/**
 * NamespaceLifecycle: denies creates in a namespace that does not exist or is terminating, and deletion of the namespaces
 * that the server itself needs.
 */
import { forbidden, notFound } from '@plat-dev/meta/errors';
import type { MakePlugin } from '../../plugin.ts';
import type { AdmissionRequest } from '../../types.ts';

export const namespaceLifecycle: MakePlugin = ({ identity, live, catchUp }) => {
  const namespaces = live('', 'namespaces');
  const permanentNamespaces = new Set(['default', identity.namespaces.system, identity.namespaces.public]);
  const check = ({ served, operation, namespace, name, namespaceToBeMade }: AdmissionRequest): void => {
    const namespaceObject = namespaces.get('', namespace);
    if (namespaceObject === undefined && namespaceToBeMade) return;
    if (namespaceObject === undefined) throw notFound({ group: '', resource: 'namespaces' }, namespace);
    if (operation === 'CREATE' && namespaceObject.metadata.deletionTimestamp !== undefined) {
      const error = forbidden(
        served.resource,
        name,
        `unable to create new content in namespace ${namespace} because it is being terminated`,
      );
      throw withCause(error, namespace);
    }
  };
  return {
    name: 'NamespaceLifecycle',
    concerns: ({ kind }) => kind.namespaced || (kind.group === '' && kind.plural === 'namespaces'),
    handles: (operation) => operation === 'CREATE' || operation === 'DELETE' || operation === 'UPDATE',
    admit(request) {
      const { served, operation, namespace, name } = request;
      const isNamespace = served.kind.group === '' && served.kind.plural === 'namespaces';
      if (isNamespace) {
        if (operation === 'DELETE' && permanentNamespaces.has(name))
          throw forbidden(served.resource, name, 'this namespace may not be deleted');
        return;
      }
      if (!served.kind.namespaced || operation === 'DELETE') return;
      // Access reviews are allowed in namespaces that do not exist, too.
      if (served.kind.group === 'authorization') return;
      // Another server may have created it a moment ago.
      const mayBeNew = catchUp !== undefined && !request.namespaceToBeMade && namespaces.get('', namespace) === undefined;
      return mayBeNew ? catchUp().then(() => check(request)) : check(request);
    },
  };
};

function withCause(error: ReturnType<typeof forbidden>, namespace: string): typeof error {
  const details = error.details as { causes?: object[] };
  details.causes = [{ reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' }];
  return error;
}
