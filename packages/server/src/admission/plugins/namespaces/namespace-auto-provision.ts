/** NamespaceAutoProvision: creates the missing namespace of a new object. */
import { ApiError } from '@plat-dev/meta/errors';
import type { MakePlugin } from '../../plugin.ts';
import { refusal } from '../../refusal.ts';

export const namespaceAutoProvision: MakePlugin = ({ live, ensureNamespace }) => {
  const namespaces = live('', 'namespaces');
  return {
    name: 'NamespaceAutoProvision',
    handles: (operation) => operation === 'CREATE',
    concerns: ({ kind }) => kind.namespaced,
    async admit(request) {
      if (namespaces.get('', request.namespace) !== undefined) return;
      if (request.dryRun) {
        request.namespaceToBeMade = true;
        return;
      }
      try {
        await ensureNamespace(request.namespace);
      } catch (error) {
        if (error instanceof ApiError) throw refusal(request, error.message);
        throw error;
      }
    },
  };
};
