/**
 * pods/exec, pods/attach and pods/portforward: the connection switches to a streaming protocol (SPDY or WebSocket) that is
 * between the client and the agent of the pod's node; this server only finds the agent and passes bytes.
 */
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import { PodAttachOptions, PodExecOptions, PodPortForwardOptions } from '@plat-dev/kinds/core/schema/pods/pod-options';
import { badRequest, methodRefused, plainError } from '@plat-dev/meta/errors';
import type { MessageType } from '@plat-dev/schema/types';
import type { Context } from '../context.ts';
import { queryBoolean } from '../request/query-boolean.ts';
import type { Action } from '../services.ts';
import { admitConnection, type ConnectDeps, current } from '../tunnels/connect.ts';
import { containerOf } from '../tunnels/containers.ts';
import { requestHeaders } from '../tunnels/headers.ts';
import { openTunnel } from '../tunnels/tunnel.ts';

interface StreamKind<T extends object> {
  readonly kind: string;
  readonly schema: MessageType;
  read(ctx: Context): T;
  /** Path below the agent, and query. */
  path(pod: Pod, options: T): string;
  query(options: T): URLSearchParams;
}

export const podExec = (deps: ConnectDeps): Action =>
  stream<PodExecOptions>(deps, {
    kind: 'PodExecOptions',
    schema: PodExecOptions as MessageType,
    read: (ctx) => ({ ...readStreams(ctx), command: ctx.query.getAll('command') }),
    path: (pod, options) => `/exec/${pathOf(pod)}/${containerOf(pod, options.container ?? '')}`,
    query: (options) => streamQuery(options, options.command ?? []),
  });

export const podAttach = (deps: ConnectDeps): Action =>
  stream<PodAttachOptions>(deps, {
    kind: 'PodAttachOptions',
    schema: PodAttachOptions as MessageType,
    read: readStreams,
    path: (pod, options) => `/attach/${pathOf(pod)}/${containerOf(pod, options.container ?? '')}`,
    query: (options) => streamQuery(options, []),
  });

export const podPortForward = (deps: ConnectDeps): Action =>
  stream<PodPortForwardOptions>(deps, {
    kind: 'PodPortForwardOptions',
    schema: PodPortForwardOptions as MessageType,
    read: readPorts,
    path: (pod) => `/portForward/${pathOf(pod)}`,
    query: ({ ports = [] }) => new URLSearchParams(ports.length === 0 ? {} : { port: ports.join(',') }),
  });

function stream<T extends object>(deps: ConnectDeps, kind: StreamKind<T>): Action {
  return async (request) => {
    const { ctx, write } = request;
    if (ctx.method !== 'GET' && ctx.method !== 'POST') throw methodRefused();
    const options = await admitConnection(deps, request, kind.kind, kind.schema, kind.read(ctx));
    const pod = await current<Pod>(deps, 'pods', write.namespace, write.name);
    const path = kind.path(pod, options);
    const node = pod.spec.nodeName ?? '';
    if (node === '') throw badRequest(`pod ${write.name} does not have a host assigned`);
    const query = kind.query(options).toString();
    await openTunnel(deps.open, ctx, {
      target: deps.agents.find(node),
      path: query === '' ? path : `${path}?${query}`,
      headers: requestHeaders(ctx, { isCredential: deps.isCredential }),
      unreachable: (why) => plainError(`error dialing backend: ${why}`),
      clock: deps.limits.clock,
    });
    return undefined;
  };
}

const pathOf = (pod: Pod): string => `${pod.metadata.namespace}/${pod.metadata.name}`;

function readStreams(ctx: Context): PodAttachOptions {
  const on = (name: 'stdin' | 'stdout' | 'stderr' | 'tty') => queryBoolean(name, ctx.param(name)) && { [name]: true };
  const container = ctx.param('container') ?? '';
  return { ...on('stdin'), ...on('stdout'), ...on('stderr'), ...on('tty'), ...(container !== '' && { container }) };
}

/** The options as the agent names them, in order of name. */
function streamQuery(options: PodAttachOptions, command: readonly string[]): URLSearchParams {
  const query = new URLSearchParams();
  for (const part of command) query.append('command', part);
  if (options.stderr) query.set('error', '1');
  if (options.stdin) query.set('input', '1');
  if (options.stdout) query.set('output', '1');
  if (options.tty) query.set('tty', '1');
  return query;
}

function readPorts(ctx: Context): PodPortForwardOptions {
  const ports = ctx.query.getAll('ports').flatMap((text) => text.split(','));
  for (const port of ports) {
    if (!/^[+-]?\d+$/.test(port)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(port)}: invalid syntax`);
  }
  return ports.length === 0 ? {} : { ports: ports.map(Number) };
}
