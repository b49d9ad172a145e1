/** Questions of a test why the server decided as it did. Answers print as `plat why` prints them. */
import { inspect } from 'node:util';
import {
  accessText,
  conflictsText,
  type ObjectConflicts,
  type ObjectQuestionKind,
  objectText,
  rejectionText,
  slowText,
  subjectsText,
} from '@plat-dev/cli/why/texts';
import { type ApiResource, Discovery } from '@plat-dev/client/discovery';
import { type Client, pathOf, queryOf, resourceKey } from '@plat-dev/client/dynamic';
import { errorFrom } from '@plat-dev/client/http';
import {
  type AdmissionTrace,
  type Answer,
  type AnswerStatus,
  admissionTrace,
  askWhy,
  explainedWrite,
  explainSetting,
  explanationHeader,
  type Question,
  type QuestionSpec,
} from '@plat-dev/client/why';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { ApiError } from '@plat-dev/meta/errors';
import type { Identity } from '@plat-dev/meta/identity';
import type { ManagedFields } from '@plat-dev/patch';
import { fieldConflicts } from '@plat-dev/patch/owners';
import type { Values } from '@plat-dev/patch/shape';
import { stringifyYaml } from '@plat-dev/schema/yaml';
import type { RequestChoice, TestAnswer } from './answers.ts';
import type { ObjectReference } from './requests.ts';
import { userOf } from './users.ts';

/** The action that a question is about: on a resource, or on a path. */
export interface AskedAction {
  readonly verb: string;
  /** As on the command line: `pods`, `deployments.apps`. */
  readonly resource?: string | undefined;
  readonly subresource?: string | undefined;
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** `/metrics`, in place of a resource. */
  readonly path?: string | undefined;
}
/** The same of another user than the one who asks. */
export interface AskedAccess extends AskedAction {
  readonly user?: string | undefined;
  readonly groups?: readonly string[] | undefined;
}
export interface WriteChoice {
  /** Default: `test`. */
  readonly fieldManager?: string | undefined;
}

/** An answer, and its text for a person. */
export type Explained<Status> = Status & { toString(): string };
export type WrittenObject = ObjectReference & { readonly apiVersion: string };

/** Throws ApiError where the user may not ask, and an Error where the server does not serve the group `explain`. */
export interface Why {
  /** What decided about a request, which bindings come nearest, and the role that would allow it. Without an action: about the last refused request of the user who asks. */
  denied(action?: AskedAccess): Promise<Explained<AnswerStatus<'AccessExplanation'>>>;
  /** The binding and rule that allow a request. */
  allowed(action: AskedAccess): Promise<Explained<AnswerStatus<'AccessExplanation'>>>;
  /** Those who may do something. */
  whoCan(action: AskedAction): Promise<Explained<AnswerStatus<'SubjectSearch'>>>;
  /** What keeps an object from going away. */
  notDeleted(object: ObjectReference): Promise<Explained<AnswerStatus<'DeletionExplanation'>>>;
  /** What a pod, or a workload without pods, waits for. */
  pending(object: ObjectReference): Promise<Explained<AnswerStatus<'PendingExplanation'>>>;
  /** The first cause why an object is not ready. */
  notReady(object: ObjectReference): Promise<Explained<AnswerStatus<'ReadinessExplanation'>>>;
  /** What admission does with an object that is applied, or created, in a dry run, and who refuses it. */
  rejected(object: WrittenObject, choice?: WriteChoice & { readonly create?: boolean }): Promise<Explained<AdmissionTrace>>;
  /** Fields of an object that others own, so that an apply of it fails. */
  conflict(object: WrittenObject, choice?: WriteChoice): Promise<Explained<ObjectConflicts>>;
  /** The last requests that took `slowRequestThreshold` or longer. */
  slow(choice?: { readonly allUsers?: boolean }): Promise<Explained<AnswerStatus<'SlowRequestSearch'>>>;
}

const FIELD_MANAGER = 'test';
const DEFAULT_NAMESPACE = 'default';

type Send = (method: string, path: string, choice?: Pick<RequestChoice, 'headers' | 'body'>) => Promise<TestAnswer>;

/** `client` and `send` are those of the user who asks. */
export function whyOf(client: Client, send: Send, identity: Identity): Why {
  return new Questions(client, send, identity);
}

class Questions implements Why {
  private readonly client: Client;
  private readonly send: Send;
  private readonly identity: Identity;
  constructor(client: Client, send: Send, identity: Identity) {
    this.identity = identity;
    this.client = client;
    this.send = send;
  }
  async denied(action?: AskedAccess): Promise<Explained<AnswerStatus<'AccessExplanation'>>> {
    return action === undefined ? this.lastRefusal() : this.access(action);
  }
  async allowed(action: AskedAccess): Promise<Explained<AnswerStatus<'AccessExplanation'>>> {
    return this.access(action);
  }
  async whoCan(action: AskedAction): Promise<Explained<AnswerStatus<'SubjectSearch'>>> {
    const { status } = await this.ask('SubjectSearch', (await this.actionOf(action)).spec);
    return explained(status, () => subjectsText(status));
  }
  notDeleted(object: ObjectReference): Promise<Explained<AnswerStatus<'DeletionExplanation'>>> {
    return this.object('DeletionExplanation', object);
  }
  pending(object: ObjectReference): Promise<Explained<AnswerStatus<'PendingExplanation'>>> {
    return this.object('PendingExplanation', object);
  }
  notReady(object: ObjectReference): Promise<Explained<AnswerStatus<'ReadinessExplanation'>>> {
    return this.object('ReadinessExplanation', object);
  }
  async rejected(
    object: WrittenObject,
    { create = false, fieldManager: manager = FIELD_MANAGER } = {},
  ): Promise<Explained<AdmissionTrace>> {
    const { resource, namespace, name, shownName } = await this.find(object);
    const { method, path, headers, body } = explainedWrite({ resource, namespace, name, object, manager, create });
    const answer = await this.send(method, path, { headers, body });
    const trace = admissionTrace(shownName, answer.headers.get(explanationHeader) ?? undefined, refusalOf(answer));
    return explained(trace, () => rejectionText(trace));
  }
  async conflict(object: WrittenObject, { fieldManager: manager = FIELD_MANAGER }: WriteChoice = {}): Promise<Explained<ObjectConflicts>> {
    const { resource, namespace, name, shownName } = await this.find(object);
    const path = `${pathOf(resource, namespace, name)}?${queryOf({ dryRun: 'All', fieldManager: manager })}`;
    const refusal = refusalOf(
      await this.send('PATCH', path, { headers: { 'content-type': 'application/apply-patch+yaml' }, body: object }),
    );
    const causes = (refusal?.details?.causes ?? []).filter(({ reason }) => reason === 'FieldManagerConflict');
    if (refusal !== undefined && causes.length === 0) throw refusal;
    const existing = causes.length === 0 ? undefined : await this.readable(resource, namespace, name);
    const entries = existing?.metadata.managedFields as ManagedFields | undefined;
    const conflicts = fieldConflicts(causes, entries, existing as Values | undefined, object as unknown as Values);
    const answer: ObjectConflicts = { object: shownName, ...(namespace !== undefined && { namespace }), conflicts };
    return explained(answer, () => conflictsText(answer, { manager, files: '-f FILE' }));
  }
  async slow({ allUsers = false } = {}): Promise<Explained<AnswerStatus<'SlowRequestSearch'>>> {
    const { status } = await this.ask('SlowRequestSearch', allUsers ? { allUsers } : {});
    return explained(status, () => slowText(status));
  }

  /** Who may apply but not read still learns the names of fields and managers. */
  private async readable(resource: ApiResource, namespace: string | undefined, name: string): Promise<ApiObject | undefined> {
    return this.client.get<ApiObject>(resource, namespace ?? '', name).catch((refusal: unknown) => {
      if (refusal instanceof ApiError) return undefined;
      throw refusal;
    });
  }
  private async access(asked: AskedAccess): Promise<Explained<AnswerStatus<'AccessExplanation'>>> {
    const { spec, target } = await this.actionOf(asked);
    const { user, groups } = asked;
    const subject = user === undefined ? {} : { user, groups: [...userOf(user, groups).groups] };
    return this.explainAccess({ ...spec, ...subject }, user ?? 'You', asked.verb, target);
  }
  private async lastRefusal(): Promise<Explained<AnswerStatus<'AccessExplanation'>>> {
    const { status } = await this.ask('RefusalSearch', {});
    const [refusal] = status.refusals ?? [];
    if (refusal === undefined) throw new Error('the test server remembers no refused request of this user: name an action');
    const { resourceAttributes, nonResourceAttributes } = refusal;
    if (nonResourceAttributes != null) {
      const { verb = '', path = '' } = nonResourceAttributes;
      return this.explainAccess({ nonResourceAttributes }, 'You', verb, path);
    }
    const { verb = '', resource = '', name = '' } = resourceAttributes ?? {};
    return this.explainAccess({ resourceAttributes }, 'You', verb, targetText(resource, name));
  }
  private async explainAccess(spec: QuestionSpec<'AccessExplanation'>, who: string, verb: string, target: string) {
    const { status } = await this.ask('AccessExplanation', spec);
    return explained(status, () => accessText({ verb, target, who, status }, stringifyYaml));
  }
  /** The part of a question that names the action. */
  private async actionOf({ verb, resource: type, subresource, namespace, name, path }: AskedAction) {
    if (path !== undefined) return { spec: { nonResourceAttributes: { verb, path } }, target: path };
    if (type === undefined) throw new TypeError('an action needs a resource or a path');
    const { name: resource, group } = await this.discovery().find(type);
    const place = { ...(namespace !== undefined && { namespace }), ...(name !== undefined && { name }) };
    const resourceAttributes = { verb, group, resource, ...(subresource !== undefined && { subresource }), ...place };
    return { spec: { resourceAttributes }, target: targetText(resource, name ?? '') };
  }
  private async object<K extends ObjectQuestionKind>(kind: K, reference: ObjectReference): Promise<Explained<AnswerStatus<K>>> {
    const { resource, namespace, name } = await this.find(reference);
    const spec = { group: resource.group, resource: resource.name, ...(namespace !== undefined && { namespace }), name };
    const { status } = await this.ask(kind, spec as QuestionSpec<K>);
    return explained(status, () => objectText({ kind, name: `${resource.name}/${name}`, status }));
  }
  private async find({ apiVersion, kind, metadata: { name, namespace = DEFAULT_NAMESPACE } }: ObjectReference): Promise<NamedObject> {
    if (name === undefined || name === '') throw new TypeError('the object has no metadata.name');
    const resource = await (apiVersion === undefined ? this.discovery().find(kind) : this.discovery().forKind(apiVersion, kind));
    const shownName = `${resourceKey({ group: resource.group, name: kind.toLowerCase() })}/${name}`;
    return { resource, namespace: resource.namespaced ? namespace : undefined, name, shownName };
  }
  /** Kinds come and go. */
  private discovery(): Discovery {
    return new Discovery(this.client);
  }
  private ask<K extends Question>(kind: K, spec: QuestionSpec<K>): Promise<Answer<K>> {
    const { client } = this;
    const server = {
      name: 'the test server',
      remedy: `start it with { server: { runtimeConfig: ['${explainSetting(this.identity)}'] } }`,
      get: <T>(path: string) => client.json<T>({ path }),
      post: <T>(path: string, body: object) => client.call<T>('POST', path, client.accept('whole'), body),
    };
    return askWhy(server, kind, spec);
  }
}

interface NamedObject {
  readonly resource: ApiResource;
  readonly namespace: string | undefined;
  readonly name: string;
  /** `deployment.apps/web`. */
  readonly shownName: string;
}
const targetText = (resource: string, name: string): string => (name === '' ? resource : `${resource}/${name}`);

const refusalOf = ({ status, text }: TestAnswer): ApiError | undefined =>
  status >= 300 ? errorFrom(status, Buffer.from(text)) : undefined;

/** Runners compare the answer by its fields; a print of it shows the text. */
function explained<Status extends object>(status: Status, text: () => string): Explained<Status> {
  const value = (): string => text().trimEnd();
  return Object.defineProperties(status, { toString: { value }, [inspect.custom]: { value } }) as Explained<Status>;
}
