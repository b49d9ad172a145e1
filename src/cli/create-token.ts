/** `plat create token`: a token of a service account. */

import { pathOf } from '../client/dynamic.ts';
import { choice, duration, FlagError, type FlagValues, list, text } from '../lib/flags.ts';
import { joinApiVersion } from '../meta/api-version.ts';
import type { JsonValue } from '../schema/types.ts';
import { fullGroup } from './api-groups.ts';
import { command } from './command.ts';
import { connectFlags } from './connect.ts';
import { namespaceFlag } from './object-flags.ts';
import { type Work, withServer } from './work.ts';

const table = {
  Token: {
    namespace: namespaceFlag,
    audience: list([], 'Whom the token is for; may be repeated.', { defaultText: 'the server' }),
    duration: duration('0s', 'How long it is to be good; the server may decide on less or more.', { defaultText: 'as the server has it' }),
    'bound-object-kind': text('', 'Kind of an object that the token ends with: Pod or Secret.', { value: 'KIND' }),
    'bound-object-name': text('', 'Name of that object.', { value: 'NAME' }),
    'bound-object-uid': text('', 'UID of that object; else that of the object there is.', { value: 'UID' }),
  },
  Printing: {
    output: choice('token', ['token', 'json', 'yaml'], 'Form of the output: the token alone, or all that the server tells.', {
      short: 'o',
    }),
  },
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

export const createToken = command({
  usage: 'SERVICE-ACCOUNT [flags]',
  summary: 'Make a token of a service account: plat create token builder -n team --duration 1h',
  flags: table,
  async run({ options, words }, io) {
    const [name, more] = words;
    if (name === undefined) throw new FlagError('of which service account? For example: plat create token builder');
    if (more !== undefined) throw new FlagError(`one service account at a time: ${JSON.stringify(more)} is one too many`);
    if (options.duration % 1000 !== 0) throw new FlagError('--duration: tokens are good for whole seconds');
    if ((options.boundObjectKind === '') !== (options.boundObjectName === '')) {
      throw new FlagError('--bound-object-kind and --bound-object-name belong together');
    }
    if (options.boundObjectUid !== '' && options.boundObjectKind === '')
      throw new FlagError('--bound-object-uid needs --bound-object-kind');
    return withServer(options, io, async (work) => {
      const made = await make(work, name, options);
      if (options.output === 'json') io.out(`${JSON.stringify(made, undefined, 4)}\n`);
      else if (options.output === 'yaml') io.out((await import('../schema/yaml.ts')).stringifyYaml(made as unknown as JsonValue));
      else io.out(`${made.status?.token ?? ''}\n`);
      return 0;
    });
  },
});

interface TokenRequest {
  readonly status?: { readonly token?: string };
}
async function make(work: Work, name: string, options: Options): Promise<TokenRequest> {
  const { boundObjectKind: kind, boundObjectName, boundObjectUid } = options;
  const bound = { apiVersion: 'v1', kind, name: boundObjectName, ...(boundObjectUid !== '' && { uid: boundObjectUid }) };
  const body = {
    kind: 'TokenRequest',
    apiVersion: joinApiVersion(await fullGroup(work, 'authentication'), 'v1'),
    spec: {
      ...(options.audience.length > 0 && { audiences: options.audience }),
      ...(options.duration > 0 && { expirationSeconds: options.duration / 1000 }),
      ...(kind !== '' && { boundObjectRef: bound }),
    },
  };
  const accounts = { group: '', version: 'v1', name: 'serviceaccounts', namespaced: true };
  return work.session.transport.json<TokenRequest>({
    method: 'POST',
    path: pathOf(accounts, work.namespace, name, 'token'),
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: work.signal,
    ...work.session.timeout,
  });
}
