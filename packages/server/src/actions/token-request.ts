/** serviceaccounts/token: a token for an account, bound to the object that the request names. */

import { TokenRequest } from '@plat-dev/kinds/authentication/schema/v1';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { LiveView } from '@plat-dev/kinds/live-view';
import { badRequest, invalid } from '@plat-dev/meta/errors';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import { domainName, groupName, type Identity } from '@plat-dev/meta/identity';
import { formatTime } from '@plat-dev/meta/time';
import type { MessageType } from '@plat-dev/schema/types';
import { issueToken, type RequestedToken, type TokenIssuer } from '../auth/service-account/token-request.ts';
import type { Action } from '../services.ts';
import type { ActionAdmissionOptions } from './action-admission.ts';

/** The created object, as admission sees it. `accounts`: those whose uid a request has, where the release says so. */
export const tokenRequestAdmission = (accounts?: LiveView): ActionAdmissionOptions => ({
  objectKind: { group: 'authentication', version: 'v1', kind: 'TokenRequest', schema: TokenRequest as MessageType },
  async complete({ write, body }, now) {
    const { metadata } = body as ApiObject;
    metadata.name ??= write.name;
    metadata.namespace ??= write.namespace;
    metadata.creationTimestamp = formatTime(now);
    if (accounts === undefined || metadata.uid !== undefined) return;
    await accounts.look(write.namespace, write.name);
    const uid = accounts.get(write.namespace, write.name)?.metadata.uid;
    if (uid !== undefined) metadata.uid = uid;
  },
});

export function tokenRequest(identity: Identity, issuer: () => Promise<TokenIssuer>): Action {
  return async ({ ctx, write, body }) => {
    const request = body as ApiObject & { spec?: RequestedToken };
    const { name, namespace } = request.metadata;
    if (name !== undefined && name !== write.name) {
      const errors = new FieldErrors();
      errors.invalid(Path.of('metadata', 'name'), name, 'must match the service account name if specified');
      throw invalid({ group: groupName(identity, 'authentication'), resource: 'TokenRequest' }, write.name, errors.list);
    }
    if (namespace !== undefined && namespace !== write.namespace)
      throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
    const by = await issuer();
    const { uid } = request.metadata;
    const issued = await issueToken(by, { namespace: write.namespace, name: write.name, uid }, request.spec ?? {});
    if (issued.id !== undefined) ctx.annotate(domainName(identity, 'issued-credential-id', 'authentication'), `JTI=${issued.id}`);
    const object = {
      ...request,
      metadata: { ...request.metadata, name: write.name, namespace: write.namespace },
      spec: { ...request.spec, audiences: [...issued.audiences], expirationSeconds: issued.expirationSeconds },
      status: { token: issued.token, expirationTimestamp: issued.expirationTimestamp },
    };
    return { status: 201, object, schema: TokenRequest as MessageType };
  };
}
