/**
 * `plat auth whoami`: the caller's user name and groups. A v1.24 server has no request for that, so the answer is collected
 * from other requests: a newer server answers a SelfSubjectReview; a caller who may review tokens reviews its own; a
 * Forbidden error names the user; and a client certificate names its owner.
 */

import { X509Certificate } from 'node:crypto';
import { choice, FlagError } from '@plat-dev/lib/flags';
import { jsonText } from '@plat-dev/lib/json-text';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { ApiError } from '@plat-dev/meta/errors';
import type { JsonValue } from '@plat-dev/schema/types';
import { command } from '../command.ts';
import { columns } from '../config/contexts.ts';
import { connectFlags } from '../connect.ts';
import { fullGroup } from '../discovery/api-groups.ts';
import { printable } from '../output/print-table.ts';
import { type Work, withServer } from '../work.ts';

const table = {
  Printing: { output: choice('table', ['table', 'json', 'yaml'], 'Output format.', { short: 'o' }) },
  Connecting: connectFlags,
};

export const whoami = command({
  usage: '[flags]',
  summary: 'Show your user name, groups and extra fields.',
  flags: table,
  more: `
With a v1.24 server all of this needs the right to review tokens, or a client certificate; other callers see their name only.

Examples:
  plat auth whoami
  plat auth whoami -o yaml
  plat auth whoami --as=alice

Exit codes:
  0   you are authenticated
  1   you are not, or the request failed
  2   the command line is wrong
`,
  async run({ options, args }, io) {
    if (args.length > 0) throw new FlagError(`whoami takes no arguments, but got ${JSON.stringify(args[0])}`);
    return withServer(options, io, async (work) => {
      const group = await fullGroup(work, 'authentication');
      const user = await userOf(work, group);
      if (options.output === 'table') io.out(userText(user));
      else {
        const object = { apiVersion: joinApiVersion(group, 'v1'), kind: 'SelfSubjectReview', status: { userInfo: user } };
        if (options.output === 'json') io.out(`${JSON.stringify(object, undefined, 4)}\n`);
        else io.out((await import('@plat-dev/schema/yaml')).stringifyYaml(object as unknown as JsonValue));
      }
      return 0;
    });
  },
});

export interface UserInfo {
  readonly username: string;
  readonly uid?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

function userText(user: UserInfo): string {
  const list = (items: readonly string[]): string => `[${items.join(' ')}]`;
  const rows = [
    ['Username', user.username],
    ...(user.uid ? [['UID', user.uid]] : []),
    ...(user.groups && user.groups.length > 0 ? [['Groups', list(user.groups)]] : []),
    ...Object.entries(user.extra ?? {}).map(([key, values]) => [`Extra: ${key}`, list(values)]),
  ];
  return columns([['ATTRIBUTE', 'VALUE'], ...rows.map((row) => row.map(printable))]);
}

/** Throws where no answer of the server names the caller. */
export async function userOf(work: Work, group: string): Promise<UserInfo> {
  const { impersonation } = work.session.connection;
  const self = await selfReview(work, group);
  if (self !== undefined) return self;
  const credential = (await work.session.connection.credentials?.current()) ?? work.session.connection;
  const token = /^Bearer (.*)$/.exec(credential.authorization ?? '')?.[1];
  const reviewed = await tokenReview(work, group, token ?? 'none');
  // An impersonated user is the caller.
  if (impersonation !== undefined) return { ...actingAs(impersonation), ...('refused' in reviewed && { username: reviewed.refused }) };
  const owner = credential.certificate === undefined ? undefined : ownerOf(credential.certificate);
  if ('refused' in reviewed) return owner?.username === reviewed.refused ? owner : { username: reviewed.refused };
  // Servers look at a certificate first.
  const user = owner ?? reviewed.user;
  if (user !== undefined) return user;
  throw new Error('cannot determine your user name: the server gave no answer that has it');
}

/** Undefined if the server does not serve the request. */
async function selfReview(work: Work, group: string): Promise<UserInfo | undefined> {
  for (const version of ['v1', 'v1beta1', 'v1alpha1']) {
    try {
      const body = { kind: 'SelfSubjectReview', apiVersion: joinApiVersion(group, version) };
      return (await post<{ status?: { userInfo?: UserInfo } }>(work, `/apis/${group}/${version}/selfsubjectreviews`, body)).status
        ?.userInfo;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code !== 404 && error.code !== 403) throw error;
    }
  }
  return undefined;
}

async function tokenReview(work: Work, group: string, token: string): Promise<{ user: UserInfo | undefined } | { refused: string }> {
  try {
    const body = { kind: 'TokenReview', apiVersion: joinApiVersion(group, 'v1'), spec: { token } };
    const { status = {} } = await post<{ status?: { authenticated?: boolean; user?: UserInfo } }>(
      work,
      `/apis/${group}/v1/tokenreviews`,
      body,
    );
    return { user: status.authenticated ? status.user : undefined };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const name = /User "((?:\\.|[^"\\])*)" cannot/.exec(error.message)?.[1];
    if (error.code === 403 && name !== undefined) return { refused: JSON.parse(`"${name}"`) as string };
    throw error;
  }
}

function post<T>(work: Work, path: string, body: object): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  return work.session.transport.json<T>({
    method: 'POST',
    path,
    headers,
    body: jsonText(body),
    signal: work.signal,
    ...work.session.timeout,
  });
}

function actingAs(headers: Readonly<Record<string, string | readonly string[]>>): UserInfo {
  const prefix = 'impersonate-extra-';
  const extra = Object.entries(headers).filter(([name]) => name.startsWith(prefix));
  return {
    username: String(headers['impersonate-user']),
    uid: headers['impersonate-uid'] === undefined ? undefined : String(headers['impersonate-uid']),
    groups: [...[headers['impersonate-group'] ?? []].flat(), 'system:authenticated'],
    ...(extra.length > 0 && {
      extra: Object.fromEntries(extra.map(([name, values]) => [decodeURIComponent(name.slice(prefix.length)), [values].flat()])),
    }),
  };
}
/** The common name is the user, organizations are groups. */
function ownerOf(certificate: string): UserInfo | undefined {
  const parts = new X509Certificate(certificate).subject.split('\n').map((line) => line.split(/=(.*)/s));
  const values = (key: string): string[] => parts.filter(([name]) => name === key).map(([, value = '']) => value.replace(/\\(.)/g, '$1'));
  const [username] = values('CN');
  return username === undefined ? undefined : { username, groups: [...values('O'), 'system:authenticated'] };
}
