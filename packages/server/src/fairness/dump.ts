/** `/debug/api_priority_and_fairness/…`: the current levels, queues and queued requests, in the format of a stock server. */
import { apiVersionOf } from '@plat-dev/meta/api-version';
import type { Context } from '../context.ts';
import { type Endpoint, readOnly } from '../endpoints/endpoint.ts';
import { sendText } from '../response/respond.ts';
import type { Flow } from './flow.ts';
import type { FairQueue, Level, Waiter } from './level.ts';
import type { Flows } from './request-flow.ts';

const ROOT = '/debug/api_priority_and_fairness';

export function dumpEndpoints(flows: Flows, wallClock: () => number): [string, Endpoint][] {
  const page = (rows: (ctx: Context) => readonly (readonly (string | number | boolean)[])[]): Endpoint =>
    readOnly(async (ctx) => {
      flows.refresh();
      sendText(ctx, 200, table(rows(ctx)));
    });
  return [
    [`${ROOT}/dump_priority_levels`, page(() => [levelHead, ...flows.levels.all().map(levelRow)])],
    [`${ROOT}/dump_queues`, page(() => [queueHead, ...flows.levels.all().flatMap(queueRows)])],
    [
      `${ROOT}/dump_requests`,
      page((ctx) => {
        const details = ctx.param('includeRequestDetails') !== undefined && ctx.param('includeRequestDetails') !== '0';
        const rows = flows.levels.all().flatMap((level) => requestRows(level, ctx.started, wallClock(), details));
        return [details ? [...requestHead, ...detailHead] : requestHead, ...rows];
      }),
    ],
  ];
}

/** Cells of a column are aligned; every cell ends in a comma. */
function table(rows: readonly (readonly (string | number | boolean)[])[]): string {
  const texts = rows.map((row) => row.map((cell, i) => `${String(cell).replace(/[\r\n]/g, ' ')}${i < row.length - 1 ? ',' : ''}`));
  const widths = (texts[0] ?? []).map((_, i) => texts.reduce((most, row) => Math.max(most, row[i]?.length ?? 0), 0));
  return `${texts.map((row) => row.map((cell, i) => cell.padEnd(i < row.length - 1 ? (widths[i] as number) + 1 : 0)).join('')).join('\n')}\n`;
}

const levelHead = [
  'PriorityLevelName',
  'ActiveQueues',
  'IsIdle',
  'IsQuiescing',
  'WaitingRequests',
  'ExecutingRequests',
  'DispatchedRequests',
  'RejectedRequests',
  'TimedoutRequests',
  'CancelledRequests',
];
const levelRow = (level: Level) => [
  level.name,
  level.busy.length,
  level.idle,
  level.quiescing,
  level.waiting,
  level.executing,
  level.dispatched,
  level.rejected,
  level.timedOut,
  level.cancelled,
];

const queueHead = [
  'PriorityLevelName',
  'Index',
  'PendingRequests',
  'ExecutingRequests',
  'SeatsInUse',
  'NextDispatchR',
  'InitialSeatsSum',
  'MaxSeatsSum',
  'TotalWorkSum',
];
/** Maximum queues of a level that are shown in addition to the busy ones; the others are idle. */
const IDLE_SHOWN = 1024;
const work = (seatSeconds: number): string => `${seatSeconds.toFixed(8)}ss`;

function queueRows(level: Level) {
  if (level.config.queues === 0) return [[level.name, '<none>', '<none>', '<none>', '<none>', '<none>', '<none>', '<none>', '<none>']];
  const busy = new Map(level.busy.map((queue) => [queue.index, queue]));
  const shownQueues = new Set([...busy.keys(), ...Array.from({ length: Math.min(level.config.queues, IDLE_SHOWN) }, (_, i) => i)]);
  return [...shownQueues].sort((a, b) => a - b).map((index) => queueRow(level, index, busy.get(index)));
}
function queueRow(level: Level, index: number, queue: FairQueue | undefined) {
  const waiting = queue?.waiting ?? [];
  return [
    level.name,
    index,
    waiting.length,
    queue?.executing ?? 0,
    queue?.seatsInUse ?? 0,
    work(queue?.next ?? 0),
    waiting.reduce((sum, { width }) => sum + width.seats, 0),
    waiting.reduce((sum, { width }) => sum + Math.max(width.seats, width.finalSeats), 0),
    work(queue?.waitingWork ?? 0),
  ];
}

const requestHead = [
  'PriorityLevelName',
  'FlowSchemaName',
  'QueueIndex',
  'RequestIndexInQueue',
  'FlowDistingsher',
  'ArriveTime',
  'InitialSeats',
  'FinalSeats',
  'AdditionalLatency',
];
const detailHead = ['UserName', 'Verb', 'APIPath', 'Namespace', 'Name', 'APIVersion', 'Resource', 'SubResource'];

function requestRows(level: Level, now: number, wall: number, details: boolean) {
  return [...level.busy]
    .sort((a, b) => a.index - b.index)
    .flatMap((queue) =>
      queue.waiting.map((waiter, at) => {
        const row = requestRow(level, queue, waiter, at, wall - (now - waiter.arrived));
        return details ? [...row, ...detailsOf((waiter.holder as Context['seating']).request)] : row;
      }),
    );
}
function requestRow(level: Level, queue: FairQueue, { holder, width }: Waiter, at: number, arrived: number) {
  const { schema, distinguisher } = (holder as Context['seating']).request.flow as Flow;
  const { seats, finalSeats, finalMs } = width;
  return [level.name, schema.name, queue.index, at, distinguisher, new Date(arrived).toISOString(), seats, finalSeats, `${finalMs}ms`];
}
const detailsOf = ({ user, info }: Context) => [
  user.name,
  info.verb,
  info.path,
  info.namespace,
  info.name,
  apiVersionOf(info),
  info.resource,
  info.subresource,
];
