/** Removes expired bootstrap tokens. */
import { unlessGoneOrReplaced } from '@plat-dev/client/http';
import { keyOf, splitKey } from '@plat-dev/client/informer';
import { bootstrapTokenExpiry, bootstrapTokenType, type TokenSecret } from '@plat-dev/kinds/core/bootstrap-token';
import { type Controller, refs } from '../runtime/controller.ts';

export const tokenCleaner: Controller = {
  name: 'tokencleaner',
  account: 'token-cleaner',
  onByDefault: false,
  start({ informers, queue, client, identity, clock }) {
    const namespace = identity.namespaces.system;
    const secrets = informers.of<TokenSecret>(refs.secrets, { namespace, fieldSelector: `type=${bootstrapTokenType(identity)}` });
    const work = queue(
      async (key) => {
        const { name } = splitKey(key);
        const secret = secrets.get(namespace, name);
        if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return;
        const remainingMs = bootstrapTokenExpiry(secret) - clock.now();
        if (remainingMs > 0) return Number.isFinite(remainingMs) ? remainingMs : undefined;
        const { uid = '' } = secret.metadata;
        await client.delete(refs.secrets, namespace, name, { preconditions: { uid } }).catch(unlessGoneOrReplaced);
      },
      { after: [secrets.synced] },
    );
    secrets.onChange(({ type, object }) => {
      if (type !== 'deleted') work.add(keyOf(object));
    });
  },
};
