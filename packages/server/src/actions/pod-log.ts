/** pods/log: the log of a container, streamed from the agent of its node. */

import type { Readable } from 'node:stream';
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { PodLogOptions } from '@plat-dev/kinds/core/schema/pods/pod-options';
import { type ApiError, badRequest, internalError, invalid, methodRefused, plainError, remoteFailure } from '@plat-dev/meta/errors';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import { canonicalTime } from '@plat-dev/meta/time';
import type { Context } from '../context.ts';
import { authorityOf } from '../http-client/connect.ts';
import { queryBoolean } from '../request/query-boolean.ts';
import { queryInteger } from '../request/query-integer.ts';
import { head } from '../response/respond.ts';
import type { Action } from '../services.ts';
import { type ConnectDeps, current } from '../tunnels/connect.ts';
import { containerOf } from '../tunnels/containers.ts';
import { type AnswerLimits, dial } from '../tunnels/dial.ts';
import { answerOf, sendAnswer } from '../tunnels/forward.ts';
import { sendOverSocket, wantsSocket } from '../tunnels/socket-answer.ts';
import { schemeOf, type Target } from '../tunnels/target.ts';

/** Maximum length of an agent's error that is passed on. */
const PROBLEM_BYTES = 50_000;

export function podLog(deps: ConnectDeps): Action {
  return async ({ ctx, write }) => {
    if (ctx.method !== 'GET') throw methodRefused();
    const options = readOptions(ctx);
    validate(options, write.name);
    const pod = await current<Pod>(deps, 'pods', write.namespace, write.name);
    const container = containerOf(pod, options.container ?? '');
    const node = pod.spec.nodeName ?? '';
    // The container has not started, so there is no log.
    if (node === '') {
      head(ctx, 204, []);
      ctx.res.end();
      return undefined;
    }
    const agent = deps.agents.find(node);
    const target = options.insecureSkipTLSVerifyBackend === true ? { ...agent, tls: { ...agent.tls, verify: false } } : agent;
    const query = agentQuery(options);
    const path = `/containerLogs/${write.namespace}/${write.name}/${container}${query === '' ? '' : `?${query}`}`;
    await passOn(deps, ctx, target, path, write.name);
    return undefined;
  };
}

async function passOn({ open, limits, registry }: ConnectDeps, ctx: Context, target: Target, path: string, name: string): Promise<void> {
  const headers = ['Host', authorityOf(target), 'Accept-Encoding', 'identity'];
  const exchange = await dial(target, { method: 'GET', path, headers, ...limits });
  const unreachable = (why: string): ApiError => plainError(`Get "${schemeOf(target)}://${authorityOf(target)}${path}": ${why}`);
  const answer = await answerOf(ctx, exchange, target, unreachable);
  const { status } = answer;
  if (status < 200 || status > 206) {
    const problem = await readProblem(answer, limits);
    answer.destroy();
    throw agentError(status, problem, name);
  }
  if (wantsSocket(ctx)) return sendOverSocket(open, registry.catalog.identity.groupSuffix, ctx, answer);
  // The log is sent as plain text, whatever it contains.
  await sendAnswer({ open, clock: limits.clock }, ctx, answer, ['Content-Type', 'text/plain', 'X-Content-Type-Options', 'nosniff']);
}

/** The text of an error when it ends, breaks off, is too long, or takes too long. */
export async function readProblem(response: Readable, { clock, answerMs }: AnswerLimits): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const cancel = clock.after(answerMs, () => void response.destroy());
  try {
    for await (const chunk of response) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size >= PROBLEM_BYTES) break;
    }
  } catch {
    // The connection broke off.
  } finally {
    cancel();
  }
  return Buffer.concat(chunks).toString('utf8', 0, PROBLEM_BYTES);
}

function agentError(status: number, problem: string, name: string): ApiError {
  if (status === 500) return internalError(problem);
  return status === 400 ? badRequest(problem) : remoteFailure(status, { group: '', resource: 'pods/log' }, name, problem);
}

function readOptions(ctx: Context): PodLogOptions {
  const flag = (name: 'follow' | 'previous' | 'timestamps' | 'insecureSkipTLSVerifyBackend') =>
    queryBoolean(name, ctx.param(name)) && { [name]: true };
  const count = (name: 'sinceSeconds' | 'tailLines' | 'limitBytes') => {
    const text = ctx.param(name);
    return text !== undefined && { [name]: queryInteger(text) };
  };
  const since = time(ctx.param('sinceTime'));
  return {
    container: ctx.param('container') ?? '',
    ...flag('follow'),
    ...flag('previous'),
    ...count('sinceSeconds'),
    ...(since !== undefined && { sinceTime: since }),
    ...flag('timestamps'),
    ...count('tailLines'),
    ...count('limitBytes'),
    ...flag('insecureSkipTLSVerifyBackend'),
  } as PodLogOptions;
}

function time(text: string | undefined): string | undefined {
  if (text === undefined || text === '' || text === 'null') return undefined;
  try {
    return canonicalTime(text);
  } catch (error) {
    throw badRequest((error as Error).message);
  }
}

function validate(options: PodLogOptions, name: string): void {
  const errors = new FieldErrors();
  const { tailLines, limitBytes, sinceSeconds, sinceTime } = options;
  if (tailLines !== undefined && tailLines < 0) errors.invalid(Path.of('tailLines'), tailLines, 'must be greater than or equal to 0');
  if (limitBytes !== undefined && limitBytes < 1) errors.invalid(Path.of('limitBytes'), limitBytes, 'must be greater than 0');
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    errors.add('FieldValueForbidden', '[]', 'Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified');
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) {
    errors.invalid(Path.of('sinceSeconds'), sinceSeconds, 'must be greater than 0');
  }
  if (!errors.empty) throw invalid({ group: '', resource: 'PodLogOptions' }, name, errors.list);
}

/** The options as the agent names them, in order of name. */
function agentQuery(options: PodLogOptions): string {
  const query = new URLSearchParams();
  if (options.follow) query.set('follow', 'true');
  if (options.limitBytes !== undefined) query.set('limitBytes', String(options.limitBytes));
  if (options.previous) query.set('previous', 'true');
  if (options.sinceSeconds !== undefined) query.set('sinceSeconds', String(options.sinceSeconds));
  if (options.sinceTime !== undefined) query.set('sinceTime', options.sinceTime);
  if (options.tailLines !== undefined) query.set('tailLines', String(options.tailLines));
  if (options.timestamps) query.set('timestamps', 'true');
  return query.toString();
}
