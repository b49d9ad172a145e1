/**
 * Signs the ConfigMap `cluster-info`, by which new nodes begin to trust the server, once with every token that
 * may sign. A signature is a detached JWS (RFC 7515, appendix F): its middle part, the text itself, is omitted.
 */

import { createHmac } from 'node:crypto';
import { bootstrapTokenExpiry, bootstrapTokenType, type TokenSecret } from '@plat-dev/kinds/core/bootstrap-token';
import type { ConfigMap } from '@plat-dev/kinds/core/schema/config';
import { own, setOwn } from '@plat-dev/lib/own';
import { type Controller, refs } from '../runtime/controller.ts';
import { type SigningToken, signingToken } from './token.ts';

const NAME = 'cluster-info';
const TEXT = 'kubeconfig';
const PREFIX = 'jws-kubeconfig-';

/** `key` is the shared secret: the whole token, or only its secret part, by which stock clients verify. */
export function detachedSignature(text: string, id: string, key: string): string {
  const header = Buffer.from(JSON.stringify({ alg: 'HS256', kid: id })).toString('base64url');
  const payload = Buffer.from(text).toString('base64url');
  return `${header}..${createHmac('sha256', key).update(`${header}.${payload}`).digest('base64url')}`;
}

/** The data with the signatures of exactly these tokens. Undefined if it has them already. */
export function signedData(
  data: Readonly<Record<string, string>>,
  tokens: readonly SigningToken[],
  keyOf: (token: SigningToken) => string,
): Record<string, string> | undefined {
  const text = data[TEXT];
  const signatures = new Map(
    text === undefined ? [] : tokens.map((token) => [`${PREFIX}${token.id}`, detachedSignature(text, token.id, keyOf(token))]),
  );
  const next: Record<string, string> = {};
  let changed = false;
  for (const [name, value] of Object.entries(data)) {
    if (!name.startsWith(PREFIX)) setOwn(next, name, value);
    else if (!signatures.has(name)) changed = true;
  }
  for (const [name, value] of signatures) {
    changed ||= own(data, name) !== value;
    setOwn(next, name, value);
  }
  return changed ? next : undefined;
}

export const bootstrapSigner: Controller = {
  name: 'bootstrapsigner',
  account: 'bootstrap-signer',
  start({ informers, queue, client, identity, clock }) {
    const { system, public: publicNamespace } = identity.namespaces;
    const secrets = informers.of<TokenSecret>(refs.secrets, { namespace: system, fieldSelector: `type=${bootstrapTokenType(identity)}` });
    const maps = informers.of<ConfigMap>(refs.configMaps, { namespace: publicNamespace, fieldSelector: `metadata.name=${NAME}` });
    const keyOf = (token: SigningToken): string => (identity.clusterInfoKey === 'secret' ? token.secret : `${token.id}.${token.secret}`);
    const work = queue(
      async () => {
        const map = maps.get(publicNamespace, NAME);
        if (map === undefined) return;
        const now = clock.now();
        const tokens = [...secrets.list()].flatMap((secret) => signingToken(secret, now) ?? []);
        const data = signedData(map.data ?? {}, tokens, keyOf);
        if (data !== undefined) await client.update(refs.configMaps, { ...map, data } as ConfigMap);
        // An expired token stops signing, even before it is removed.
        const next = Math.min(...[...secrets.list()].map(bootstrapTokenExpiry).filter((at) => at > now));
        return Number.isFinite(next) ? next - now : undefined;
      },
      { after: [secrets.synced, maps.synced], workers: 1 },
    );
    secrets.onChange(() => work.add(NAME));
    maps.onChange(() => work.add(NAME));
  },
};
