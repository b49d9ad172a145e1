/**
 * Expressions in configuration files of a server: about the claims of tokens, the users that they name, and requests to authorize.
 *
 *   const rule = compileConfigExpression('1.36', "claims.sub != ''", 'claims', ['bool']);
 *   rule.evaluate({ claims: { sub: 'jane' } })      true
 *   rule.reads('claims', 'email')                   whether it uses that claim
 */
import { type CelType, CostBudget, compile, DYN, listOf, mapOf, objectOf, type Program, STRING, showType } from '@plat-dev/cel';
import { environmentsFor } from './environments.ts';

const texts = listOf(STRING);
const user = objectOf('kubernetes.UserInfo', { username: STRING, uid: STRING, groups: texts, extra: mapOf(STRING, texts) });
const requirement = objectOf('kubernetes.SelectorRequirement', { key: STRING, operator: STRING, values: texts });
const selector = (name: string) => objectOf(`kubernetes.${name}`, { rawSelector: STRING, requirements: listOf(requirement) });
const request = objectOf('kubernetes.SubjectAccessReviewSpec', {
  resourceAttributes: objectOf('kubernetes.ResourceAttributes', {
    namespace: STRING,
    verb: STRING,
    group: STRING,
    version: STRING,
    resource: STRING,
    subresource: STRING,
    name: STRING,
    fieldSelector: selector('FieldSelectorAttributes'),
    labelSelector: selector('LabelSelectorAttributes'),
  }),
  nonResourceAttributes: objectOf('kubernetes.NonResourceAttributes', { path: STRING, verb: STRING }),
  user: STRING,
  groups: texts,
  extra: mapOf(STRING, texts),
  uid: STRING,
});

const variables: Readonly<Record<'claims' | 'user' | 'request', CelType>> = { claims: mapOf(STRING, DYN), user, request };

/** Of one evaluation: what it takes here, and what a stock server counts. */
const MOST_WORK = 1_000_000;
const MOST_COST = 1_000_000;

export interface ConfigExpression {
  readonly source: string;
  /** Throws an Error where it fails. */
  evaluate(values: Readonly<Record<string, unknown>>): unknown;
}

/** Throws an Error that says what is wrong. `results`: the types that the result may have; a result of any type is checked by whoever reads it. */
export function compileConfigExpression(
  release: string,
  source: string,
  about: keyof typeof variables,
  results: readonly string[],
): ConfigExpression {
  let program: Program;
  try {
    program = compile(source, { [about]: variables[about] }, { environment: environmentsFor(release, 'rule').stored });
  } catch (error) {
    throw new Error(`compilation failed: ${(error as Error).message}`);
  }
  const type = program.type.kind === 'null' ? 'null_type' : showType(program.type);
  if (program.type.kind !== 'dyn' && !results.includes(type))
    throw new Error(`must return ${results.length === 1 ? results[0] : `one of ${results.join(', ')}`}, not ${type}`);
  return { source, evaluate: (values) => program.evaluate(values, new CostBudget(MOST_WORK, MOST_COST)) };
}

/** Whether an expression names a field of a variable: `claims.email`, `claims['email']`, `claims.?email`. */
export const readsField = (source: string, variable: string, field: string): boolean =>
  new RegExp(`\\b${variable}\\s*(?:\\.\\s*\\??\\s*${field}\\b(?!_)|\\[\\s*\\??\\s*["']${field}["']\\s*\\])`).test(source);
