/** `plat create token`: a token of a service account. */

import type { ApiResource } from '@plat-dev/client/discovery';
import { pathOf } from '@plat-dev/client/dynamic';
import { duration, FlagError, type FlagValues, repeated, text } from '@plat-dev/lib/flags';
import { joinApiVersion, splitApiVersion } from '@plat-dev/meta/api-version';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { fullGroup } from '../discovery/api-groups.ts';
import { namespaceFlag, resultFlags } from '../objects/object-flags.ts';
import { choosesForm } from '../output/print-forms.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { Results } from '../output/results.ts';
import { isStock } from '../program.ts';
import { type Work, withServer } from '../work.ts';

const table = {
  Token: {
    namespace: namespaceFlag,
    audience: repeated<readonly string[]>([], 'Audience of the token; may be repeated.', 'NAME', (values) => values, {
      defaultText: 'the server',
    }),
    duration: duration('0s', 'Lifetime of the token; the server may choose another.', { defaultText: 'the default of the server' }),
    'bound-object-kind': text('', 'Kind of the object that the token is bound to: Pod or Secret.', { value: 'KIND' }),
    'bound-object-name': text('', 'Name of that object.', { value: 'NAME' }),
    'bound-object-uid': text('', 'UID of that object; default is that of the current object.', { value: 'UID' }),
  },
  Printing: resultFlags,
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

export const createToken = command({
  usage: 'SERVICE-ACCOUNT [flags]',
  summary: 'Create a token of a service account.',
  flags: table,
  more: `
Examples:
  plat create token builder -n team
  plat create token builder --duration 1h --audience https://example.com
  plat create token builder --bound-object-kind Pod --bound-object-name web -o yaml

Without -o the token alone is printed, with it the whole TokenRequest.
`,
  async run({ options, args }, io) {
    const [name, more] = args;
    if (name === undefined) throw new FlagError('service account missing. For example: plat create token builder');
    if (more !== undefined) throw new FlagError(`too many arguments: ${JSON.stringify(more)}`);
    if (options.duration % 1000 !== 0) throw new FlagError('--duration must be whole seconds');
    if (options.audience.includes('')) throw new FlagError('--audience must not be empty');
    if ((options.boundObjectKind === '') !== (options.boundObjectName === '')) {
      throw new FlagError('--bound-object-kind and --bound-object-name belong together');
    }
    if (options.boundObjectUid !== '' && options.boundObjectKind === '')
      throw new FlagError('--bound-object-uid needs --bound-object-kind');
    return withServer(options, io, async (work) => {
      const tokenRequest = await make(work, name, options);
      if (choosesForm(options)) {
        const results = new Results(io, { ...options, dryRun: 'none' });
        results.done({ resource: resourceOf(tokenRequest), name: tokenRequest.metadata?.name ?? name }, 'created', tokenRequest);
        return results.end();
      }
      // The stock client ends the line on a terminal alone.
      io.out(`${tokenRequest.status?.token ?? ''}${isStock(io) && io.terminal.size() === undefined ? '' : '\n'}`);
      return 0;
    });
  },
});

/** For -o name. */
const resourceOf = ({ apiVersion = '' }: ApiItem): ApiResource => ({
  ...splitApiVersion(apiVersion),
  name: 'tokenrequests',
  singularName: 'tokenrequest',
  kind: 'TokenRequest',
  namespaced: true,
  verbs: [],
  shortNames: [],
  categories: [],
});

interface TokenRequest extends ApiItem {
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
  await work.session.announce();
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
