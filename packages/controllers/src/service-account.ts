/** Creates the ServiceAccount `default`, of pods without one of their own, in every active namespace. */
import { isConflict } from '@plat-dev/client/http';
import { type Controller, refs } from './runtime/controller.ts';
import { isTerminating } from './runtime/manager.ts';

const NAME = 'default';

export const serviceAccountController: Controller = {
  name: 'serviceaccount',
  account: 'service-account-controller',
  start({ informers, queue, client }) {
    const namespaces = informers.of(refs.namespaces);
    const accounts = informers.of(refs.serviceAccounts, { fieldSelector: `metadata.name=${NAME}`, metadataOnly: true });
    const work = queue(
      async (namespace) => {
        const namespaceObject = namespaces.get('', namespace);
        if (namespaceObject === undefined || namespaceObject.metadata.deletionTimestamp !== undefined) return;
        if (accounts.get(namespace, NAME) !== undefined) return;
        try {
          await client.create(refs.serviceAccounts, namespace, {
            kind: 'ServiceAccount',
            apiVersion: 'v1',
            metadata: { name: NAME, namespace },
          });
        } catch (error) {
          // It exists already, or is no longer needed.
          if (!isConflict(error) && !isTerminating(error)) throw error;
        }
      },
      { after: [namespaces.synced, accounts.synced] },
    );
    namespaces.onChange(({ type, object }) => {
      if (type !== 'deleted') work.add(object.metadata.name ?? '');
    });
    accounts.onChange(({ type, object }) => {
      if (type === 'deleted') work.add(object.metadata.namespace ?? '');
    });
  },
};
