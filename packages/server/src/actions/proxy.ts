/**
 * pods/proxy, services/proxy and nodes/proxy: HTTP, WebSocket and other upgraded connections to pods, services and nodes
 * by name. A client with this permission reaches the target from this server's network.
 */
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import { NodeProxyOptions, PodProxyOptions, ServiceProxyOptions } from '@plat-dev/kinds/core/schema/pods/pod-options';
import type { Endpoints, Service } from '@plat-dev/kinds/core/schema/service';
import { Slices } from '@plat-dev/lib/slices';
import { badRequest, plainError, serviceUnavailable } from '@plat-dev/meta/errors';
import type { MessageType } from '@plat-dev/schema/types';
import type { Context } from '../context.ts';
import { authorityOf } from '../http-client/connect.ts';
import { head } from '../response/respond.ts';
import type { Action } from '../services.ts';
import { admitConnection, type ConnectDeps, current } from '../tunnels/connect.ts';
import { forward } from '../tunnels/forward.ts';
import { requestHeaders } from '../tunnels/headers.ts';
import { type ProxyPath, rewriteLocation, splitProxyPath } from '../tunnels/proxy-path.ts';
import { portNumber, splitName, type Target, type TargetName } from '../tunnels/target.ts';
import { openTunnel } from '../tunnels/tunnel.ts';

/** Pods and services are reached by address, which is not in their certificates. */
const unverified = { verify: false } as const;
const targetAt = ({ guard }: ConnectDeps, host: string, port: number, scheme: string): Target => ({
  host,
  port,
  tls: scheme === 'https' ? unverified : undefined,
  guard,
});

/** The pod of a simulated node is reached within this process. */
function podTarget(deps: ConnectDeps, pod: Pod, address: string, port: number, scheme: string): Target {
  const { namespace = '', name = '' } = pod.metadata;
  const connect = deps.agents.podOf(pod.spec.nodeName ?? '', namespace, name, port);
  const target = targetAt(deps, address, port, scheme);
  return connect === undefined ? target : { ...target, tls: undefined, connect };
}

type Find = (deps: ConnectDeps, namespace: string, name: TargetName, targetText: string) => Promise<Target>;

export const podProxy = (deps: ConnectDeps): Action => proxy(deps, 'pod', 'PodProxyOptions', PodProxyOptions as MessageType, findPod);
export const serviceProxy = (deps: ConnectDeps): Action =>
  proxy(deps, 'service', 'ServiceProxyOptions', ServiceProxyOptions as MessageType, findService);
export const nodeProxy = (deps: ConnectDeps): Action => proxy(deps, 'node', 'NodeProxyOptions', NodeProxyOptions as MessageType, findNode);

function proxy(deps: ConnectDeps, word: string, kind: string, schema: MessageType, find: Find): Action {
  return async (request) => {
    const { ctx, write } = request;
    // /api/v1/namespaces/NAMESPACE/pods/NAME/proxy, /api/v1/nodes/NAME/proxy
    const where = splitProxyPath(ctx, write.resource.kind.namespaced ? 7 : 5);
    const decoded = ctx.path.slice(decodeURIComponent(where.prefix).length);
    await admitConnection(deps, request, kind, schema, decoded === '' ? {} : { path: decoded });
    const name = splitName(write.name);
    if (name === undefined) throw badRequest(`invalid ${word} request ${JSON.stringify(write.name)}`);
    const target = await find(deps, write.namespace, name, write.name);
    await connect(deps, ctx, target, where);
    return undefined;
  };
}

async function connect(deps: ConnectDeps, ctx: Context, target: Target, { prefix, path, query }: ProxyPath): Promise<void> {
  const upgrade = wantsUpgrade(ctx) ? ctx.upgrade?.protocol : undefined;
  // Relative links of a page need the slash at the end of its address.
  if (path === '' && upgrade === undefined && (ctx.method === 'GET' || ctx.method === 'HEAD')) {
    head(ctx, 301, ['Location', `${prefix}/${query}`, 'Content-Length', '0']);
    ctx.res.end();
    return;
  }
  const forwarded = { target, path: `${path === '' ? '/' : path}${query}` };
  const headers = requestHeaders(ctx, { isCredential: deps.isCredential, forwardedUri: prefix + path });
  if (upgrade !== undefined) {
    const unreachable = (why: string) => plainError(`error dialing backend: ${why}`);
    await openTunnel(deps.open, ctx, { ...forwarded, headers, unreachable, clock: deps.limits.clock });
    return;
  }
  const hosts = [authorityOf(target), ctx.header('host') ?? ctx.header(':authority')];
  await forward(deps.open, ctx, deps.limits, {
    ...forwarded,
    headers,
    unreachable: (why) => serviceUnavailable(`error trying to reach service: ${why}`),
    changeHeader: (name, value) => (name === 'location' ? rewriteLocation(value, prefix, hosts) : value),
  });
}

/** Clients that prefer HTTP/2 without TLS send this upgrade with every request; it is not for the target. */
const wantsUpgrade = (ctx: Context): boolean =>
  ctx.upgrade !== undefined && ctx.upgrade.protocol.toLowerCase() !== 'h2c' && Number(ctx.header('content-length') ?? 0) === 0;

async function findPod(deps: ConnectDeps, namespace: string, { scheme, name, port }: TargetName, targetText: string): Promise<Target> {
  const pod = await current<Pod>(deps, 'pods', namespace, name);
  const address = deps.allowed(pod.status?.podIP ?? pod.status?.podIPs?.[0]?.ip ?? '');
  if (address === undefined) throw badRequest('address not allowed');
  const ports = (pod.spec.containers ?? []).flatMap((container) => container.ports ?? []);
  const usual = ports[0]?.containerPort ?? (scheme === 'https' ? 443 : 80);
  const number = port === '' ? usual : (portNumber(port) ?? ports.find((one) => one.name === port)?.containerPort);
  if (number === undefined) throw badRequest(`invalid pod request ${JSON.stringify(targetText)}`);
  return podTarget(deps, pod, address, number, scheme);
}

async function findNode(deps: ConnectDeps, _namespace: string, { scheme, name, port }: TargetName, targetText: string): Promise<Target> {
  await current(deps, 'nodes', '', name);
  const agent = deps.agents.find(name);
  if (port === '' || port === String(agent.port)) return agent;
  const number = portNumber(port);
  if (number === undefined) throw badRequest(`invalid node request ${JSON.stringify(targetText)}`);
  return targetAt(deps, agent.host, number, scheme);
}

/** One of the ready endpoints of a service, at random; only pods of the same namespace count. */
async function findService(deps: ConnectDeps, namespace: string, { scheme, name, port }: TargetName, targetText: string): Promise<Target> {
  const portName = /^\d+$/.test(port) ? await nameOfPort(deps, namespace, name, Number(port)) : port;
  const { subsets = [] } = await current<Endpoints>(deps, 'endpoints', namespace, name);
  if (subsets.length === 0) throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`);
  const slices = new Slices();
  for (const subset of startingAnywhere(deps, subsets)) {
    const subsetPort = (subset.ports ?? []).find((one) => (one.name ?? '') === portName);
    if (subsetPort === undefined) continue;
    for (const { ip, targetRef } of startingAnywhere(deps, subset.addresses ?? [])) {
      if (slices.due) await slices.pause();
      const pod = await podAt(deps, namespace, ip, targetRef?.namespace, targetRef?.name);
      const address = pod === undefined ? undefined : deps.allowed(ip);
      if (pod !== undefined && address !== undefined) return podTarget(deps, pod, address, subsetPort.port, scheme);
    }
  }
  throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(targetText)}`);
}

async function nameOfPort(deps: ConnectDeps, namespace: string, name: string, port: number): Promise<string> {
  const service = await current<Service>(deps, 'services', namespace, name);
  const servicePort = (service.spec?.ports ?? []).find((one) => one.port === port);
  if (servicePort === undefined) throw serviceUnavailable(`no service port ${port} found for service ${JSON.stringify(name)}`);
  return servicePort.name ?? '';
}

/** Endpoints can be written by users; only those that refer to pods are used. */
async function podAt(deps: ConnectDeps, namespace: string, ip: string, podNamespace?: string, podName?: string): Promise<Pod | undefined> {
  if (podName === undefined || podNamespace !== namespace) return undefined;
  const pods = deps.live<Pod>('', 'pods');
  await pods.look(namespace, podName);
  const pod = pods.get(namespace, podName);
  const { podIP, podIPs = [] } = pod?.status ?? {};
  return podIP === ip || podIPs.some((one) => one.ip === ip) ? pod : undefined;
}

function startingAnywhere<T>(deps: ConnectDeps, list: readonly T[]): T[] {
  const start = list.length < 2 ? 0 : deps.randomBelow(list.length);
  return [...list.slice(start), ...list.slice(0, start)];
}
