/**
 * Which flow schema and priority level a request belongs to, told in two headers of the answer. The in-flight limits do
 * not look at it yet; clients and administrators read the headers to learn how the server sees a request.
 *
 * Rules are sorted out once a user: those whose subjects fit, in the order of precedence, up to the first that fits
 * everything. Most requests then need one look-up and no comparison at all.
 */
import type { User } from '../auth/types.ts';
import { wellKnown } from '../auth/types.ts';
import { flowHeaders } from '../identity.ts';
import type { FlowSchema, PriorityLevelConfiguration, Subject } from '../kinds/flowcontrol/schema/v1beta2.ts';
import type { LiveSource } from '../kinds/live.ts';
import type { Step } from './pipeline.ts';
import type { RequestInfo } from './request-info.ts';

const GROUP = 'flowcontrol.apiserver';
/** Users remembered by name and groups, for methods that make a new value for every request. Beyond it all are forgotten. */
const USER_LIMIT = 1000;

interface Flow {
  readonly schemaUid: string;
  readonly levelUid: string;
}
type ResourceRule = NonNullable<NonNullable<FlowSchema['spec']['rules']>[number]['resourceRules']>[number];
type PathRule = NonNullable<NonNullable<FlowSchema['spec']['rules']>[number]['nonResourceRules']>[number];
interface Candidate {
  readonly flow: Flow;
  /** Fits every request, so that nothing after it is looked at. */
  readonly everything: boolean;
  readonly resources: readonly ResourceRule[];
  readonly paths: readonly PathRule[];
}
interface Schema {
  readonly flow: Flow;
  readonly rules: NonNullable<FlowSchema['spec']['rules']>;
}

export class Flows {
  private readonly schemas;
  private readonly levels;
  private generation = -1;
  private sorted: Schema[] = [];
  private byUser = new WeakMap<User, readonly Candidate[]>();
  private byName = new Map<string, readonly Candidate[]>();

  constructor(live: LiveSource) {
    this.schemas = live<FlowSchema>(GROUP, 'flowschemas');
    this.levels = live<PriorityLevelConfiguration>(GROUP, 'prioritylevelconfigurations');
  }

  readonly step: Step = (ctx) => {
    const flow = this.find(ctx.user, ctx.info);
    if (flow !== undefined) ctx.headers.push(flowHeaders.schema, flow.schemaUid, flowHeaders.level, flow.levelUid);
  };

  find(user: User, info: RequestInfo): Flow | undefined {
    const generation = this.schemas.generation + this.levels.generation;
    if (generation !== this.generation) this.reload(generation);
    const candidates = this.byUser.get(user) ?? this.candidatesOf(user);
    for (let i = 0; i < candidates.length; i++) {
      const candidate = candidates[i] as Candidate;
      if (candidate.everything || matches(candidate, info)) return candidate.flow;
    }
    return undefined;
  }

  private reload(generation: number): void {
    this.generation = generation;
    this.byUser = new WeakMap();
    this.byName = new Map();
    const sorted = [...this.schemas.list()].sort(
      (a, b) => a.spec.matchingPrecedence - b.spec.matchingPrecedence || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1),
    );
    this.sorted = sorted.flatMap(({ metadata, spec }) => {
      // A schema whose level is missing leads nowhere, and is passed over until the level appears.
      const level = this.levels.get('', spec.priorityLevelConfiguration.name);
      if (level === undefined) return [];
      return [{ flow: { schemaUid: metadata.uid ?? '', levelUid: level.metadata.uid ?? '' }, rules: spec.rules ?? [] }];
    });
  }

  private candidatesOf(user: User): readonly Candidate[] {
    const name = `${user.name}\n${user.groups.join('\n')}`;
    let candidates = this.byName.get(name);
    if (candidates === undefined) {
      if (this.byName.size >= USER_LIMIT) this.byName.clear();
      candidates = sortOut(this.sorted, user);
      this.byName.set(name, candidates);
    }
    this.byUser.set(user, candidates);
    return candidates;
  }
}

function sortOut(schemas: readonly Schema[], user: User): Candidate[] {
  const candidates: Candidate[] = [];
  for (const { flow, rules } of schemas) {
    const fitting = rules.filter((rule) => (rule.subjects ?? []).some((subject) => isSubject(subject, user)));
    if (fitting.length === 0) continue;
    const resources = fitting.flatMap((rule) => rule.resourceRules ?? []);
    const paths = fitting.flatMap((rule) => rule.nonResourceRules ?? []);
    const everything = resources.some(fitsAnyResource) && paths.some(fitsAnyPath);
    candidates.push({ flow, everything, resources, paths });
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
const has = (list: readonly string[] | undefined, wanted: string): boolean =>
  list !== undefined && (list.includes('*') || list.includes(wanted));
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

/** Exact, or everything below where the rule ends in a star. */
const fitsPath = (rule: string, path: string): boolean =>
  rule === '*' || rule === path || (rule.endsWith('/*') && path.startsWith(rule.slice(0, -1)));
