/** The expressions of a mutating policy, compiled, and the changes that they ask for. */
import { jsonOf } from '@plat-dev/cel/json-value';
import { CelMap, ConstructedObject, isMap, keysOf, lookUp } from '@plat-dev/cel/values';
import type { Work } from '@plat-dev/lib/slices';
import type { ApiRelease } from '@plat-dev/lib/version';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import type { MutatingAdmissionPolicy, MutatingSpec } from '../admissionregistration/schema/policies.ts';
import { AdmissionCompiler, results } from './admission-compiler.ts';
import { AdmissionEvaluation, type CompiledExpression, type CompiledVariable, OutOfBudget, POLICY_COST } from './admission-evaluation.ts';
import type { AdmissionValues } from './admission-values.ts';
import { compiledVariables } from './compiled-variables.ts';

export type Mutation =
  | { readonly type: 'configuration'; readonly configuration: JsonObject }
  | { readonly type: 'patch'; readonly operations: readonly JsonObject[] }
  /** It could not be evaluated: the failure policy decides. */
  | { readonly type: 'fault'; readonly fault: string };

interface CompiledMutation extends CompiledExpression {
  readonly isPatch: boolean;
}

export class PolicyMutations {
  readonly count: number;
  private readonly variables: readonly CompiledVariable[];
  private readonly mutations: readonly CompiledMutation[];

  private constructor(variables: readonly CompiledVariable[], mutations: readonly CompiledMutation[]) {
    this.variables = variables;
    this.mutations = mutations;
    this.count = mutations.length;
  }

  static *compiled({ spec }: MutatingAdmissionPolicy, release: ApiRelease): Work<PolicyMutations> {
    const compiler = new AdmissionCompiler(release, 'mutation', { params: spec.paramKind !== undefined, authorizer: true });
    const variables = yield* compiledVariables(spec.variables, compiler);
    const mutations: CompiledMutation[] = [];
    for (const mutation of spec.mutations ?? []) {
      yield;
      mutations.push(compiledMutation(mutation, compiler));
    }
    return new PolicyMutations(variables, mutations);
  }

  /** Each mutation sees what those before it changed, has all of the cost for itself, and evaluates variables anew. */
  *evaluate(index: number, values: AdmissionValues): Work<Mutation> {
    const mutation = this.mutations[index] as CompiledMutation;
    try {
      const outcome = yield* AdmissionEvaluation.of(values, this.variables, POLICY_COST).run(mutation);
      if (outcome.fault !== undefined) return { type: 'fault', fault: outcome.fault };
      return mutation.isPatch ? patchOf(outcome.value) : configurationOf(outcome.value);
    } catch (error) {
      if (!(error instanceof OutOfBudget)) throw error;
      return { type: 'fault', fault: error.message };
    }
  }
}

type MutationSource = NonNullable<MutatingSpec['mutations']>[number];

function compiledMutation({ patchType, jsonPatch, applyConfiguration }: MutationSource, compiler: AdmissionCompiler): CompiledMutation {
  const isPatch = patchType === 'JSONPatch';
  const source = (isPatch ? jsonPatch : applyConfiguration)?.expression ?? '';
  return { source, isPatch, compiled: compiler.compile(source, isPatch ? results.patches : results.object) };
}

function configurationOf(value: unknown): Mutation {
  const configuration = jsonOf(value);
  if (configuration === undefined) return { type: 'fault', fault: `the ApplyConfiguration ${NO_JSON}` };
  const misnamed = misnamedType(value, 'Object');
  if (misnamed !== undefined) return { type: 'fault', fault: misnamed };
  return { type: 'configuration', configuration: configuration as JsonObject };
}
const NO_JSON = 'is too large, or holds a value that has no JSON form';

/** Objects have the names of their places: `Object.spec` stands in `spec`. */
function misnamedType(value: unknown, place: string): string | undefined {
  if (value instanceof ConstructedObject) {
    if (value.typeName !== place)
      return `type mismatch: unexpected type name ${JSON.stringify(value.typeName)}, expected ${JSON.stringify(place)}, which matches field name path from root Object type`;
    return firstOf(value.fields, ([field, one]) => misnamedType(one, `${place}.${field}`));
  }
  if (Array.isArray(value)) return firstOf(value as readonly unknown[], (one) => misnamedType(one, place));
  // Values of the API hold no such objects.
  return value instanceof CelMap ? firstOf(value.pairs(), ([, one]) => misnamedType(one, place)) : undefined;
}
function firstOf<T>(items: Iterable<T>, find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

const texts = ['op', 'path', 'from'] as const;

function patchOf(value: unknown): Mutation {
  const operations: JsonObject[] = [];
  for (const one of Array.isArray(value) ? (value as readonly unknown[]) : []) {
    const fields = fieldsOf(one);
    const operation: { [key: string]: JsonValue } = {};
    for (const name of texts) {
      const text = fields.get(name);
      if (typeof text === 'string' && text !== '') operation[name] = text;
    }
    const given = fields.get('value');
    if (given !== undefined) {
      const json = jsonOf(given);
      if (json === undefined) return { type: 'fault', fault: `a value of the JSONPatch ${NO_JSON}` };
      const misnamed = given instanceof ConstructedObject ? misnamedType(given, given.typeName) : undefined;
      if (misnamed !== undefined) return { type: 'fault', fault: misnamed };
      operation.value = json as JsonValue;
    }
    operations.push(operation);
  }
  return { type: 'patch', operations };
}
function fieldsOf(operation: unknown): ReadonlyMap<string, unknown> {
  if (operation instanceof ConstructedObject) return operation.fields;
  return isMap(operation) ? new Map([...keysOf(operation)].map((key) => [String(key), lookUp(operation, key)])) : new Map();
}
