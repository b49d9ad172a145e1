/**
 * Questions why a server decides as it does. Most are kinds of its group `explain`, which are created and answered in their status;
 * what admission does with an object is answered by a dry run of it.
 */
import type { DeletionExplanation, PendingExplanation, ReadinessExplanation } from '@plat-dev/kinds/explain/schema/object-explanations';
import type { RefusalSearch } from '@plat-dev/kinds/explain/schema/refusals';
import type { SlowRequestSearch } from '@plat-dev/kinds/explain/schema/slow-requests';
import type { AccessExplanation, SubjectSearch } from '@plat-dev/kinds/explain/schema/v1alpha1';
import { jsonText } from '@plat-dev/lib/json-text';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import type { ApiError } from '@plat-dev/meta/errors';
import { groupName, type Identity, identities } from '@plat-dev/meta/identity';
import { parseExact } from '@plat-dev/schema/json/parse';
import { pathOf, queryOf, type ResourceRef } from './dynamic.ts';

/** The kinds of questions with their answers. */
interface Questions {
  AccessExplanation: AccessExplanation;
  SubjectSearch: SubjectSearch;
  RefusalSearch: RefusalSearch;
  SlowRequestSearch: SlowRequestSearch;
  DeletionExplanation: DeletionExplanation;
  PendingExplanation: PendingExplanation;
  ReadinessExplanation: ReadinessExplanation;
}
export type Question = keyof Questions;
export type QuestionSpec<K extends Question> = NonNullable<Questions[K]['spec']>;
export type AnswerStatus<K extends Question> = NonNullable<Questions[K]['status']>;
export type Answer<K extends Question> = Questions[K] & { readonly status: AnswerStatus<K> };

const plurals: Readonly<Record<Question, string>> = {
  AccessExplanation: 'accessexplanations',
  SubjectSearch: 'subjectsearches',
  RefusalSearch: 'refusalsearches',
  SlowRequestSearch: 'slowrequestsearches',
  DeletionExplanation: 'deletionexplanations',
  PendingExplanation: 'pendingexplanations',
  ReadinessExplanation: 'readinessexplanations',
};

export interface AskedServer {
  /** For errors: `the server at https://127.0.0.1:6443`. */
  readonly name: string;
  /** What to do where it does not serve the group. */
  readonly remedy: string;
  /** Both throw ApiError. */
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body: object): Promise<T>;
}

/** Throws an Error that says what to do where the server has no such kinds, and ApiError where it does not answer. */
export async function askWhy<K extends Question>(server: AskedServer, kind: K, spec: QuestionSpec<K>): Promise<Answer<K>> {
  const group = await findGroup(server, 'explain');
  if (group === undefined) throw new Error(`${server.name} has no group explain: ${server.remedy}`);
  const apiVersion = joinApiVersion(group, 'v1alpha1');
  return server.post<Answer<K>>(`/apis/${apiVersion}/${plurals[kind]}`, { kind, apiVersion, spec });
}

/** What turns the group on, for `--runtime-config`. */
export const explainSetting = (identity: Identity): string => `${groupName(identity, 'explain')}/v1alpha1=true`;

/** The full name of a built-in group as the server has it: `authorization` → `authorization.DOMAIN`; undefined where it has none. */
export async function findGroup({ get }: Pick<AskedServer, 'get'>, base: string): Promise<string | undefined> {
  const { groups = [] } = await get<{ groups?: { name: string }[] }>('/apis');
  const names = groups.map(({ name }) => name);
  const usual = Object.values(identities).map((identity) => groupName(identity, base));
  return usual.find((name) => names.includes(name)) ?? names.find((name) => name.startsWith(`${base}.`));
}

// ---- admission -----------------------------------------------------------------------------------------------------

/** A step of the header `X-Plat-Explain`; `left_out` stands for steps that did not fit. */
export interface AdmissionStep {
  readonly step?: string;
  readonly phase?: string;
  readonly round?: number;
  readonly ms?: number;
  readonly patch?: readonly { readonly op: string; readonly path: string; readonly value?: unknown }[];
  readonly changed?: readonly string[];
  readonly more?: number;
  readonly refused?: string;
  readonly note?: string;
  readonly left_out?: number;
}
export interface AdmissionTrace {
  /** `pod/web`. */
  readonly object: string;
  readonly steps: readonly AdmissionStep[];
  readonly refusal?: {
    readonly code: number;
    readonly reason: string;
    readonly message: string;
    /** Fields that validation found at fault. */
    readonly causes?: readonly { readonly field: string; readonly message: string }[];
  };
}

const EXPLAIN_HEADER = 'X-Plat-Explain';
/** Where the answer has the steps. */
export const explanationHeader = EXPLAIN_HEADER.toLowerCase();

interface ExplainedWrite {
  readonly resource: ResourceRef;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly object: object;
  readonly manager: string;
  /** Create the object rather than apply it. */
  readonly create: boolean;
}
/** The dry run of an object whose answer says what admission did. Conflicts with other managers are another question. */
export function explainedWrite({ resource, namespace, name, object, manager, create }: ExplainedWrite) {
  const query = queryOf({ dryRun: 'All', fieldManager: manager, force: create ? undefined : true });
  return {
    method: create ? 'POST' : 'PATCH',
    path: `${create ? pathOf(resource, namespace) : pathOf(resource, namespace, name)}?${query}`,
    headers: {
      accept: 'application/json',
      'content-type': create ? 'application/json' : 'application/apply-patch+yaml',
      [EXPLAIN_HEADER]: 'patch',
    },
    body: jsonText(object),
  };
}

/** Reads the answer. Throws the refusal of a request that did not come to admission, or whose user may not see its steps. */
export function admissionTrace(object: string, explanation: string | undefined, refusal: ApiError | undefined): AdmissionTrace {
  if (explanation === undefined) throw refusal ?? new Error('the server does not explain admission: it is no plat server');
  return { object, steps: parseExact(explanation) as AdmissionStep[], ...(refusal !== undefined && { refusal: refusalOf(refusal) }) };
}
function refusalOf({ code, reason, message, details }: ApiError): NonNullable<AdmissionTrace['refusal']> {
  const causes = (details?.causes ?? [])
    .filter((cause) => cause.reason !== 'AdmissionStep')
    .map(({ field = '', message: text = '' }) => ({ field, message: text }));
  return { code, reason, message, ...(causes.length > 0 && { causes }) };
}
