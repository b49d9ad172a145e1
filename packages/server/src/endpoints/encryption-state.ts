/**
 * `GET /store/encryption`: the keys that objects of encrypted resources are encrypted with, to see when an old key may be removed.
 *
 *   { "collections": [{ "resource": "secrets", "current": 40, "outdated": 2, "unreadable": 0, "forms": [{ "provider": "aescbc", "name": "key1", "objects": 2 }, …] }] }
 *
 * It names providers and keys, and contains no secrets. `plat store reencrypt` uses it.
 */
import type { Identity } from '@plat-dev/meta/identity';
import type { EncryptedEngine } from '@plat-dev/storage/encryption/encrypted';
import { encryptionState } from '@plat-dev/storage/encryption/state';
import { send } from '../response/respond.ts';
import { type Endpoint, readOnly } from './endpoint.ts';

export function encryptionStateEndpoint(engine: EncryptedEngine, identity: Identity): Endpoint {
  return readOnly(async (ctx) => {
    const collections = await encryptionState(engine, identity);
    send(ctx, 200, 'application/json', `${JSON.stringify({ collections })}\n`);
  });
}
