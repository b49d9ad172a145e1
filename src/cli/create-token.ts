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
    audience: list([], 'Audience of the token; may be repeated.', { defaultText: 'the server' }),
    duration: duration('0s', 'Lifetime of the token; the server may choose another.', { defaultText: 'the default of the server' }),
    'bound-object-kind': text('', 'Kind of the object that the token is bound to: Pod or Secret.', { value: 'KIND' }),
    'bound-object-name': text('', 'Name of that object.', { value: 'NAME' }),
    'bound-object-uid': text('', 'UID of that object; default is that of the current object.', { value: 'UID' }),
  },
  Printing: {
    output: choice('token', ['token', 'json', 'yaml'], 'Output format: the token alone, or the whole TokenRequest.', {
      short: 'o',
    }),
  },
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

export const createToken = command({
  usage: 'SERVICE-ACCOUNT [flags]',
  summary: 'Create a token of a service account: plat create token builder -n team --duration 1h',
  flags: table,
  async run({ options, args }, io) {
    const [name, more] = args;
    if (name === undefined) throw new FlagError('service account missing. For example: plat create token builder');
    if (more !== undefined) throw new FlagError(`too many arguments: ${JSON.stringify(more)}`);
    if (options.duration % 1000 !== 0) throw new FlagError('--duration must be whole seconds');
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
