/**
 * What the request line says. Clients send the same ones again and again: the routes of the last of them are kept, each with
 * what the steps found out for it, so that they need not find it out again.
 *
 *   GET /api/v1/namespaces/shop/pods?limit=5   → path, query, attributes; its resource while the kinds are the same; its flow
 *                                                and the decision for the user who took it last
 *
 * A note holds what it was made of: a count that grows with every change, or the user. Where that differs the note is made
 * again, so that nothing here outlives a change of kinds, flows or permissions.
 */

import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { TextCache } from '@plat-dev/lib/text-cache';
import type { Attributes, Authorizer, Decision, User } from '../auth/types.ts';
import type { Series } from '../endpoints/series.ts';
import type { Flow } from '../fairness/flow.ts';
import type { Catalog, Resource } from '../registry/catalog.ts';
import type { NotedForm } from './negotiate.ts';
import type { NotedList, NotedOptions } from './parsed-options.ts';
import { type RequestInfo, requestInfo } from './request-info.ts';

/** Maximum routes that are kept, and characters of a URL; others are made for each request. */
const ROUTES = 1000;
const LONGEST = 256;
/** Places for URLs that came once: a power of two. */
const SEEN = 1024;

/** Query parameters, to be read only: requests share them. */
export type Query = Pick<URLSearchParams, 'get' | 'getAll' | 'has'>;

export class Route {
  readonly method: string;
  /** Decoded path. */
  readonly path: string;
  /** Text after the question mark. */
  readonly search: string;
  readonly info: RequestInfo;
  /** The series of the last answer, its number, and the epoch of the series (`request-metrics.ts`). */
  series: Series | undefined;
  seriesNumber = 0;
  seriesEpoch = 0;
  /** The options of a write. */
  noted: NotedOptions | undefined;
  /** What the query of a list says. */
  list: NotedList | undefined;
  /** The form of answers for the last Accept header. */
  form: NotedForm | undefined;
  private namespacedKey: string | undefined;
  private parameters: Query | undefined;
  private cachedResource: Resource | undefined;
  private foundIn = -1;
  private lastUserRoute: RouteOfUser | undefined;

  constructor(method: string, url: string) {
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    this.method = method;
    this.search = mark < 0 ? '' : url.slice(mark + 1);
    this.path = path.includes('%') ? decodePath(path) : path;
    this.info = requestInfo(method, this.path, (name) => this.param(name));
  }

  get query(): Query {
    this.parameters ??= queries.get(this.search, readQuery);
    return this.parameters;
  }
  /** The first value of a query parameter. */
  param(name: string): string | undefined {
    return this.search === '' ? undefined : (this.query.get(name) ?? undefined);
  }
  /** The resource of the path, where it is served. */
  resource(catalog: Catalog): Resource | undefined {
    if (this.foundIn !== catalog.generation) {
      const { group, version, resource } = this.info;
      this.cachedResource = catalog.find(group, version, resource);
      this.foundIn = catalog.generation;
    }
    return this.cachedResource;
  }
  /** The key of the object among those of its kind. */
  key(namespaced: boolean): string {
    if (!namespaced) return this.info.name;
    this.namespacedKey ??= `${this.info.namespace}/${this.info.name}`;
    return this.namespacedKey;
  }
  /** Notes for a user; those of the user before are dropped. */
  of(user: User): RouteOfUser {
    if (this.lastUserRoute?.user !== user) this.lastUserRoute = new RouteOfUser(user, this.info);
    return this.lastUserRoute;
  }
}

/** Notes of a route for one user. */
export class RouteOfUser {
  readonly user: User;
  readonly attributes: Attributes;
  /** The flow, in an epoch of the flows (`flow.ts`). */
  flow: Flow | undefined;
  flowEpoch = 0;
  private allowingDecision: Decision | undefined;
  private changes: (() => number) | undefined;
  private allowedAt = 0;

  constructor(user: User, info: RequestInfo) {
    this.user = user;
    this.attributes = attributesOf(user, info);
  }
  /** The decision that allowed this before, if it would be the same now. */
  stillAllowed(): Decision | undefined {
    return this.changes !== undefined && this.changes() === this.allowedAt ? this.allowingDecision : undefined;
  }
  /** Notes a decision that was just made, if it allows and the authorizer can say until when it holds. */
  note(authorizer: Authorizer, decision: Decision): void {
    if (decision.decision !== 'allow') return;
    this.changes = authorizer.changes?.(this.user);
    this.allowedAt = this.changes?.() ?? 0;
    this.allowingDecision = decision;
  }
}

export function attributesOf(user: User, info: RequestInfo): Attributes {
  return {
    user,
    verb: info.verb,
    group: info.group,
    version: info.version,
    resource: info.resource,
    subresource: info.subresource,
    name: info.name,
    namespace: info.namespace,
    path: info.path,
    resourceRequest: info.resourceRequest,
    ...(info.selectors && { selectors: info.selectors }),
  };
}

/**
 * The routes of one server: their notes are about its objects. A URL is kept when it comes a second time before many others did, since
 * those of single objects often come once.
 */
export class Routes {
  /** Hashes of URLs that came, each in its place until another one takes it. */
  private readonly recentHashes = new Int32Array(SEEN);
  private readonly routesByMethod = new Map<string, BoundedCache<string, Route>>(
    methods.map((method) => [method, new BoundedCache(ROUTES)]),
  );

  of(method: string, url: string): Route {
    const routes = this.routesByMethod.get(method);
    const route = routes?.get(url);
    if (route !== undefined) return route;
    if (routes === undefined || url.length > LONGEST || !this.cameBefore(url)) return new Route(method, url);
    // The URL may be a part of a longer text, which would be kept with it.
    const urlCopy = Buffer.from(url).toString();
    const newRoute = new Route(method, urlCopy);
    routes.set(urlCopy, newRoute);
    return newRoute;
  }

  private cameBefore(url: string): boolean {
    const hash = hashOf(url);
    const slot = hash & (SEEN - 1);
    if (this.recentHashes[slot] === hash) return true;
    this.recentHashes[slot] = hash;
    return false;
  }
}
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  // The low digits, which choose the place, shall depend on all of the others.
  return hash ^ (hash >>> 15);
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

const queries = new TextCache<Query>();
const readQuery = (text: string): Query => new URLSearchParams(text);

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
