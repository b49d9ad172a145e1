/**
 * The flow schema, priority level and flow of a request. Two response headers name schema and level; the
 * level and the flow decide when the request runs (`fairness/`).
 *
 * Rules are filtered once per user: those whose subjects match, in the order of precedence, up to the first that matches
 * everything. Most requests then need one look-up and no comparison at all.
 */

import type { FlowSchema, PriorityLevelConfiguration, Subject } from '@plat-dev/kinds/flowcontrol/schema/v1beta2';
import type { LiveSource } from '@plat-dev/kinds/live-view';
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { flowHeaders } from '@plat-dev/meta/identity';
import type { User } from '../auth/types.ts';
import { wellKnown } from '../auth/types.ts';
import type { Step } from '../pipeline.ts';
import type { RequestInfo } from '../request/request-info.ts';
import { BodyAccount } from './bodies.ts';
import type { Flow, Schema } from './flow.ts';
import { FlowMetrics } from './flow-metrics.ts';
import type { Level } from './level.ts';
import { Levels } from './levels.ts';
import { dealHand } from './shuffle.ts';
import { UserShare } from './user-shares.ts';

const GROUP = 'flowcontrol.apiserver';
/** Maximum users cached by name and groups, for authenticators that make a new value for every request. Beyond it all are dropped. */
const USER_LIMIT = 1000;
/** Maximum flows by namespace cached for one user and schema. Beyond it all are dropped. */
const NAMESPACE_LIMIT = 256;
/** The level of requests that no schema matches. */
const CATCH_ALL = 'catch-all';

type ResourceRule = NonNullable<NonNullable<FlowSchema['spec']['rules']>[number]['resourceRules']>[number];
type PathRule = NonNullable<NonNullable<FlowSchema['spec']['rules']>[number]['nonResourceRules']>[number];
interface Candidate {
  /** The flow of all matching requests; with flows by namespace, that of the last one. */
  flow: Flow;
  /** Flows by namespace. */
  readonly namespaces: BoundedCache<string, Flow> | undefined;
  /** Matches every request, so that no later rule is evaluated. */
  readonly everything: boolean;
  readonly resources: readonly ResourceRule[];
  readonly paths: readonly PathRule[];
}

export interface FlowsOptions {
  /** Seats of all levels together. */
  readonly total?: number;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
  readonly metrics?: FlowMetrics;
}

export class Flows {
  readonly levels: Levels;
  private readonly schemas;
  private readonly configurations;
  private readonly now: () => number;
  private readonly metrics: FlowMetrics;
  private generation = -1;
  /** Grows when flows are forgotten: requests that kept one look for theirs again. */
  private epoch = 0;
  private sorted: Schema[] = [];
  private fallback!: Flow;
  private byUser = new WeakMap<User, readonly Candidate[]>();
  private byName = new Map<string, readonly Candidate[]>();

  constructor(live: LiveSource, { total = 600, now = () => 0, metrics = new FlowMetrics() }: FlowsOptions = {}) {
    this.levels = new Levels(total);
    this.now = now;
    this.metrics = metrics;
    this.schemas = live<FlowSchema>(GROUP, 'flowschemas');
    this.configurations = live<PriorityLevelConfiguration>(GROUP, 'prioritylevelconfigurations');
  }

  /** Finds the flow of a request and names schema and level in the headers of its response. */
  readonly step: Step = (ctx) => {
    this.refresh();
    const routeOfUser = ctx.route.of(ctx.user);
    let { flow } = routeOfUser;
    if (flow === undefined || routeOfUser.flowEpoch !== this.epoch) {
      flow = this.find(ctx.user, ctx.info);
      routeOfUser.flow = flow;
      routeOfUser.flowEpoch = this.epoch;
    }
    ctx.flow = flow;
    const { uid } = flow.schema;
    if (uid === '') return;
    const { headers } = ctx;
    const levelUid = flow.level.config.uid;
    // A list that grows takes room for many more.
    if (headers.length === 4) {
      const [a, b, c, d] = headers as [string, string, string, string];
      ctx.headers = [a, b, c, d, flowHeaders.schema, uid, flowHeaders.level, levelUid];
    } else headers.push(flowHeaders.schema, uid, flowHeaders.level, levelUid);
  };

  find(user: User, info: RequestInfo): Flow {
    this.refresh();
    const candidates = this.byUser.get(user) ?? this.candidatesOf(user);
    for (let i = 0; i < candidates.length; i++) {
      const candidate = candidates[i] as Candidate;
      if (!candidate.everything && !matches(candidate, info)) continue;
      return candidate.namespaces === undefined || candidate.flow.distinguisher === info.namespace
        ? candidate.flow
        : this.ofNamespace(candidate, candidate.namespaces, info.namespace);
    }
    return this.fallback;
  }

  /** Applies the changes of the objects. */
  refresh(): void {
    const generation = this.schemas.generation + this.configurations.generation;
    if (generation !== this.generation) this.reload(generation);
  }

  private reload(generation: number): void {
    this.generation = generation;
    this.forget();
    this.levels.update(this.configurations.list(), this.now());
    const sorted = [...this.schemas.list()].sort(
      (a, b) => a.spec.matchingPrecedence - b.spec.matchingPrecedence || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1),
    );
    this.sorted = sorted.flatMap(({ metadata, spec }) => {
      // A schema whose level is missing is skipped until the level appears.
      const level = this.levels.get(spec.priorityLevelConfiguration.name);
      if (level === undefined) return [];
      const { name = '', uid = '' } = metadata;
      const distinguisher = spec.distinguisherMethod?.type ?? '';
      return [{ name, uid, level, distinguisher, rules: spec.rules ?? [], metrics: this.metrics.of(level.name, name) }];
    });
    const level = this.levels.get(CATCH_ALL) as Level;
    const schema = { name: CATCH_ALL, uid: '', level, distinguisher: '', rules: [], metrics: this.metrics.of(level.name, CATCH_ALL) };
    this.fallback = flowOf(schema, '', new BodyAccount(level), new UserShare());
    this.metrics.keepLevels(this.levels.all());
  }

  private forget(): void {
    this.epoch++;
    this.byUser = new WeakMap();
    this.byName = new Map();
  }

  private candidatesOf(user: User): readonly Candidate[] {
    const name = `${user.name}\n${user.groups.join('\n')}`;
    let candidates = this.byName.get(name);
    if (candidates === undefined) {
      if (this.byName.size >= USER_LIMIT) {
        this.forget();
        for (const level of this.levels.all()) level.forgetQueues();
      }
      candidates = sortOut(this.sorted, user);
      this.byName.set(name, candidates);
    }
    this.byUser.set(user, candidates);
    return candidates;
  }

  private ofNamespace(candidate: Candidate, flowsByNamespace: BoundedCache<string, Flow>, namespace: string): Flow {
    let flow = flowsByNamespace.get(namespace);
    if (flow === undefined) {
      flow = flowOf(candidate.flow.schema, namespace, candidate.flow.bodies, candidate.flow.share);
      flowsByNamespace.set(namespace, flow);
    }
    candidate.flow = flow;
    return flow;
  }
}

function flowsByNamespace(first: Flow): BoundedCache<string, Flow> {
  const flows = new BoundedCache<string, Flow>(NAMESPACE_LIMIT);
  flows.set('', first);
  return flows;
}

function flowOf(schema: Schema, distinguisher: string, bodies: BodyAccount, share: UserShare): Flow {
  const { level } = schema;
  const { queues, handSize } = level.config;
  const hand = dealHand(`${schema.name}\0${distinguisher}`, queues, handSize).map((index) => level.queue(index));
  return { schema, level, distinguisher, hand, bodies, share };
}

function sortOut(schemas: readonly Schema[], user: User): Candidate[] {
  const candidates: Candidate[] = [];
  const share = new UserShare();
  for (const schema of schemas) {
    const fitting = schema.rules.filter((rule) => (rule.subjects ?? []).some((subject) => isSubject(subject, user)));
    if (fitting.length === 0) continue;
    const resources = fitting.flatMap((rule) => rule.resourceRules ?? []);
    const paths = fitting.flatMap((rule) => rule.nonResourceRules ?? []);
    const everything = resources.some(fitsAnyResource) && paths.some(fitsAnyPath);
    const byNamespace = schema.distinguisher === 'ByNamespace';
    const flow = flowOf(schema, schema.distinguisher === 'ByUser' ? user.name : '', new BodyAccount(schema.level), share);
    candidates.push({ flow, namespaces: byNamespace ? flowsByNamespace(flow) : undefined, everything, resources, paths });
    if (everything) break;
  }
  return candidates;
}

function isSubject(subject: Subject, user: User): boolean {
  switch (subject.kind) {
    case 'User':
      return subject.user?.name === '*' || subject.user?.name === user.name;
    case 'Group':
      return subject.group !== undefined && (subject.group.name === '*' || user.groups.includes(subject.group.name));
    case 'ServiceAccount': {
      if (subject.serviceAccount === undefined) return false;
      const { namespace, name } = subject.serviceAccount;
      const prefix = `${wellKnown.serviceAccountPrefix}${namespace}:`;
      return name === '*' ? user.name.startsWith(prefix) : user.name === prefix + name;
    }
    default:
      return false;
  }
}

const star = (list: readonly string[] | undefined): boolean => list?.includes('*') ?? false;
const has = (list: readonly string[] | undefined, word: string): boolean =>
  list !== undefined && (list.includes('*') || list.includes(word));
const fitsAnyResource = (rule: ResourceRule): boolean =>
  star(rule.verbs) && star(rule.apiGroups) && star(rule.resources) && star(rule.namespaces) && rule.clusterScope === true;
const fitsAnyPath = (rule: PathRule): boolean => star(rule.verbs) && star(rule.nonResourceURLs);

function matches(candidate: Candidate, info: RequestInfo): boolean {
  return info.resourceRequest
    ? candidate.resources.some((rule) => fitsResource(rule, info))
    : candidate.paths.some((rule) => has(rule.verbs, info.verb) && (rule.nonResourceURLs ?? []).some((url) => fitsPath(url, info.path)));
}

function fitsResource(rule: ResourceRule, info: RequestInfo): boolean {
  if (!has(rule.verbs, info.verb) || !has(rule.apiGroups, info.group)) return false;
  if (!has(rule.resources, info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`)) return false;
  return info.namespace === '' ? rule.clusterScope === true : has(rule.namespaces, info.namespace);
}

/** Exact, or a prefix if the rule ends in a star. */
const fitsPath = (rule: string, path: string): boolean =>
  rule === '*' || rule === path || (rule.endsWith('/*') && path.startsWith(rule.slice(0, -1)));
