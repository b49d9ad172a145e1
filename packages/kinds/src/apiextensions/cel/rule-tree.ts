/**
 * The rules of a schema by place: a tree of the parts that have rules at or below them. Rules are compiled for the first value that
 * needs them, and stay compiled as long as the definition is served.
 */
import type { Environment } from '@plat-dev/cel';
import type { Work } from '@plat-dev/lib/slices';
import type { JSONSchemaProps, ValidationRule } from '../schema/json-schema.ts';
import type { Extensions } from '../values/node.ts';
import { type CompiledRule, compileRule } from './compiled-rule.ts';
import { type Declared, declaredTypeOf } from './declared-type.ts';
import { hasRules, isPlain, rulesOf } from './rule-form.ts';

export interface RuleNode {
  /** Type of the value, as the schema names it. */
  readonly type: string;
  readonly rules: LazyRules | undefined;
  readonly fields: ReadonlyMap<string, RuleNode> | undefined;
  /** Of the values of a map. */
  readonly values: RuleNode | undefined;
  readonly items: RuleNode | undefined;
  /** Keys of a list by which its items are matched to old ones. */
  readonly keys: readonly string[] | undefined;
}

/** Rules of one place, each compiled on first use. */
class LazyRules {
  readonly length: number;
  private readonly schema: JSONSchemaProps;
  private readonly rules: readonly ValidationRule[];
  private readonly declared: Declared;
  private readonly environment: Environment;
  private readonly compiled: CompiledRule[] = [];

  constructor(schema: JSONSchemaProps, rules: readonly ValidationRule[], declared: Declared, environment: Environment) {
    this.length = rules.length;
    this.schema = schema;
    this.rules = rules;
    this.declared = declared;
    this.environment = environment;
  }
  /** Undefined where it has not been compiled yet. */
  compiledAt(i: number): CompiledRule | undefined {
    return this.compiled[i];
  }
  /** Called for one rule after another. */
  compile(i: number): CompiledRule {
    const newRule = compileRule(this.rules[i] as ValidationRule, this.schema, this.declared.type, {
      rule: this.environment,
      message: this.environment,
    });
    this.compiled[i] = newRule;
    return newRule;
  }
}

/** Undefined for a schema without rules. `resource`: the value is an object of the API. */
export function* ruleTreeOf(
  schema: JSONSchemaProps,
  x: Extensions,
  resource: boolean,
  environment: Environment,
): Work<RuleNode | undefined> {
  if (!(yield* hasRules(schema, x))) return undefined;
  return yield* subtreeOf(schema, { x, environment }, yield* declaredTypeOf(schema, x, 'selfType', resource), true);
}
interface TreeUse {
  readonly x: Extensions;
  /** What the expressions may use. */
  readonly environment: Environment;
}

/** Parts whose types are unknown to expressions have no rules that could run. */
function* subtreeOf(schema: JSONSchemaProps, use: TreeUse, declared: Declared | undefined, root: boolean): Work<RuleNode | undefined> {
  const { x, environment } = use;
  if (declared === undefined || (!root && isPlain(schema, x))) return undefined;
  const { properties, additionalProperties, items } = schema;
  let fields: Map<string, RuleNode> | undefined;
  if (properties !== undefined)
    for (const [name, field] of Object.entries(properties)) {
      if (isPlain(field, x)) continue;
      const node = yield* subtreeOf(field, use, declared.fields?.get(name), false);
      if (node === undefined) continue;
      fields ??= new Map();
      fields.set(name, node);
    }
  const values =
    typeof additionalProperties === 'object' ? yield* subtreeOf(additionalProperties, use, declared.element, false) : undefined;
  const item = items === undefined || Array.isArray(items) ? undefined : yield* subtreeOf(items, use, declared.element, false);
  const own = rulesOf(schema, x);
  const rules = own.length > 0 ? new LazyRules(schema, own, declared, environment) : undefined;
  yield;
  if (rules === undefined && fields === undefined && values === undefined && item === undefined) return undefined;
  return {
    type: schema.type ?? '',
    rules,
    fields,
    values,
    items: item,
    keys: schema[x.listType] === 'map' ? (schema[x.listMapKeys] as string[] | undefined) : undefined,
  };
}
