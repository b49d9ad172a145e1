/** NamespaceExists: denies writes in a namespace that does not exist. NamespaceLifecycle does this, too. */
import { notFound } from '@plat-dev/meta/errors';
import type { MakePlugin } from '../../plugin.ts';

export const namespaceExists: MakePlugin = ({ live, catchUp }) => {
  const namespaces = live('', 'namespaces');
  return {
    name: 'NamespaceExists',
    handles: (operation) => operation !== 'CONNECT',
    concerns: ({ kind }) => kind.namespaced,
    async validate({ namespace, namespaceToBeMade }) {
      if (namespaceToBeMade || namespaces.get('', namespace) !== undefined) return;
      // Another server may have created it a moment ago.
      await catchUp?.();
      if (namespaces.get('', namespace) === undefined) throw notFound({ group: '', resource: 'namespaces' }, namespace);
    },
  };
};
