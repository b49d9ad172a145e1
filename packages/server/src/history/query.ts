/** The query of a request for history. Other parameters of lists have no meaning here, and are refused. */
import { parseInstant, TimeError } from '@plat-dev/lib/time';
import { badRequest } from '@plat-dev/meta/errors';
import type { Context } from '../context.ts';
import { queryInteger } from '../request/query-integer.ts';
import { readHistoryToken } from './tokens.ts';

/** Versions of one page, whatever limit is asked for. */
const MAX_PAGE = 1000;

export interface HistoryQuery {
  /** Each version comes with its object. */
  readonly full: boolean;
  readonly limit: number;
  /** Only versions of earlier revisions. */
  readonly before: number | undefined;
  /** Milliseconds since 1970, inclusive. */
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly user: string | undefined;
  readonly manager: string | undefined;
}

const parameters: ReadonlySet<string> = new Set([
  'history',
  'since',
  'until',
  'user',
  'manager',
  'limit',
  'continue',
  'pretty',
  'timeout',
  'includeObject',
]);

/** Whether a read is of history: undefined if the parameter is absent or false. */
export function historyForm(ctx: Context): 'changes' | 'full' | undefined {
  const value = ctx.search === '' ? undefined : ctx.param('history');
  if (value === undefined) return undefined;
  switch (value.toLowerCase()) {
    case 'full':
      return 'full';
    case '':
    case '1':
    case 'true':
      return 'changes';
    case '0':
    case 'false':
      return undefined;
    default:
      throw badRequest(`query parameter "history" must be true, full or false, not ${JSON.stringify(value)}`);
  }
}

/** `place`: what the continue token must be of. */
export function readHistoryQuery(ctx: Context, place: string): HistoryQuery {
  for (const name of new URLSearchParams(ctx.search).keys())
    if (!parameters.has(name)) throw badRequest(`query parameter ${JSON.stringify(name)} cannot be used with history`);
  const limit = Number(queryInteger(ctx.param('limit') || '0'));
  const token = ctx.param('continue') ?? '';
  return {
    full: historyForm(ctx) === 'full',
    limit: limit <= 0 ? MAX_PAGE : Math.min(limit, MAX_PAGE),
    before: token === '' ? undefined : readHistoryToken(token, place),
    since: timeParameter(ctx, 'since'),
    until: timeParameter(ctx, 'until'),
    user: ctx.param('user'),
    manager: ctx.param('manager'),
  };
}

function timeParameter(ctx: Context, name: string): number | undefined {
  const text = ctx.param(name);
  if (text === undefined || text === '') return undefined;
  try {
    const { seconds, nanos } = parseInstant(text);
    return seconds * 1000 + Math.floor(nanos / 1_000_000);
  } catch (error) {
    if (!(error instanceof TimeError)) throw error;
    throw badRequest(`query parameter "${name}" must be a time such as 2024-05-06T07:08:09Z, not ${JSON.stringify(text)}`);
  }
}
