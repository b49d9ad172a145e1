/**
 * Validation of the rules of a schema: their expressions compile against the types that the schema declares, they use old
 * values only where these can be matched to new ones, and their estimated cost is within limits.
 */
import type { CostBudget, Environment, Program } from '@plat-dev/cel';
import { jsonText } from '@plat-dev/lib/json-text';
import type { Work } from '@plat-dev/lib/slices';
import { isAtLeast } from '@plat-dev/lib/version';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { invalidText, structText } from '../../validation/go-text.ts';
import type { JSONSchemaProps, ValidationRule } from '../schema/json-schema.ts';
import type { Extensions } from '../values/node.ts';
import { type CompiledRule, compileRule } from './compiled-rule.ts';
import { type Declared, declaredTypeOf, MAX_REQUEST_BYTES } from './declared-type.ts';
import { rulesOf } from './rule-form.ts';
import { budgetOf, type RuleRelease, ruleReleaseOf } from './rule-release.ts';
import { RuleRun } from './rule-run.ts';
import { ruleTreeOf } from './rule-tree.ts';

/** Limits of the estimated cost: of one expression for all values of an object, and of all expressions of a schema. */
const MAX_RULE_COST = 10_000_000;
const MAX_SCHEMA_COST = 100_000_000;
/** Limit of rules of a schema: each is compiled, and kept while the definition is served. The largest public definitions have some hundred. */
export const MAX_RULES = 2000;
/** Limit of rules that the error for the sum names: those with the highest cost, at least a hundredth of the limit. */
const NAMED_RULES = 4;

/** The rules of a definition that is written. */
export interface RuleContext {
  /** The release of the server. */
  readonly release: string;
  /** Expressions of the stored definition: they may use what new ones may not yet. */
  readonly storedTexts: ReadonlySet<string>;
}

interface Walk {
  readonly x: Extensions;
  readonly release: string;
  readonly environmentOf: (text: string) => Environment;
  readonly errors: FieldErrors;
  readonly costs: { readonly at: Path; readonly cost: number }[];
  total: number;
  rules: number;
}
interface Context {
  readonly declared: Declared | undefined;
  /** How many values there may be at this place; undefined where a list or map above it is not bounded. */
  readonly values: number | undefined;
  /** The list above whose items cannot be matched to old ones. */
  readonly unkeyed: Path | undefined;
}

/** The schema is structural, and has rules. */
export function* validateRules(
  schema: JSONSchemaProps,
  at: Path,
  { release, storedTexts }: RuleContext,
  x: Extensions,
  errors: FieldErrors,
): Work<void> {
  const errorsBefore = errors.list.length;
  const rules = ruleReleaseOf(release);
  const { added, stored } = rules.environments;
  const environmentOf = (text: string): Environment => (storedTexts.has(text) ? stored : added);
  yield* validateExpressions(schema, at, { x, release, environmentOf, errors, costs: [], total: 0, rules: 0 });
  // Defaults must satisfy the rules at and below their place, like values that are sent; together they have the budget of one object.
  if (errors.list.length === errorsBefore) yield* defaultChecks(schema, at, x, { rules, errors, budget: budgetOf(rules.object) });
}

function* validateExpressions(schema: JSONSchemaProps, at: Path, walk: Walk): Work<void> {
  const { x, errors } = walk;
  const declared = yield* declaredTypeOf(schema, x, 'selfType', true);
  yield* validateAt(schema, at, { declared, values: 1, unkeyed: undefined }, walk);
  if (walk.rules > MAX_RULES) errors.tooMany(at, walk.rules, MAX_RULES);
  if (walk.total <= MAX_SCHEMA_COST) return;
  const costliest = walk.costs.filter(({ cost }) => cost >= MAX_SCHEMA_COST / 100).sort((a, b) => b.cost - a.cost);
  for (const { at: place } of costliest.slice(0, NAMED_RULES))
    errors.forbidden(place, 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema');
  errors.forbidden(at, overBudget(`${x.validations} estimated rule cost total for entire OpenAPIv3 schema`, walk.total, MAX_SCHEMA_COST));
}

function* validateAt(schema: JSONSchemaProps, at: Path, context: Context, walk: Walk): Work<void> {
  const { declared, values, unkeyed } = context;
  const { properties, additionalProperties, items } = schema;
  const within = values === undefined ? undefined : times(values, elementsOf(schema));
  if (typeof additionalProperties === 'object')
    yield* validateAt(
      additionalProperties,
      at.child('additionalProperties'),
      { declared: declared?.element, values: within, unkeyed },
      walk,
    );
  if (properties !== undefined) {
    const place = at.child('properties');
    for (const [name, field] of Object.entries(properties))
      yield* validateAt(field, place.key(name), { declared: declared?.fields?.get(name), values: within, unkeyed }, walk);
  }
  if (items !== undefined && !Array.isArray(items)) {
    const here = schema[walk.x.listType] === 'map' ? unkeyed : (unkeyed ?? at);
    yield* validateAt(items, at.child('items'), { declared: declared?.element, values: within, unkeyed: here }, walk);
  }
  const rules = rulesOf(schema, walk.x);
  walk.rules += rules.length;
  for (let i = 0; i < rules.length && !walk.errors.full && walk.rules <= MAX_RULES; i++) {
    yield;
    validateRule(rules[i] as ValidationRule, schema, at.child(walk.x.validations).index(i), context, walk);
  }
}

/** The maximum number of values that a schema has below it, for each of its own; undefined if it has no bound. */
function elementsOf({ type, additionalProperties, maxProperties, maxItems }: JSONSchemaProps): number | undefined {
  if (type === 'array') return maxItems === undefined ? undefined : Math.max(0, Number(maxItems));
  if (type !== 'object' || additionalProperties === undefined) return 1;
  return maxProperties === undefined ? undefined : Math.max(0, Number(maxProperties));
}
const times = (one: number, other: number | undefined): number | undefined => (other === undefined ? undefined : one * other);

function validateRule(rule: ValidationRule, schema: JSONSchemaProps, at: Path, context: Context, walk: Walk): void {
  const { errors } = walk;
  const { declared, unkeyed } = context;
  if (declared === undefined) {
    invalidText(
      errors,
      at.child('rule'),
      ruleText(rule, walk.release),
      'the schema does not declare a type here, so that no rule can read the value',
    );
    return;
  }
  const compiled = compileRule(rule, schema, declared.type, {
    rule: walk.environmentOf(rule.rule),
    message: walk.environmentOf(rule.messageExpression ?? ''),
  });
  if (compiled.program !== undefined) validateCost(compiled.program, 'rule', at.child('rule'), context, walk);
  else invalidText(errors, at.child('rule'), ruleText(rule, walk.release), compiled.fault ?? '');
  if (compiled.message !== undefined) validateCost(compiled.message, 'messageExpression', at.child('messageExpression'), context, walk);
  else if (compiled.messageFault !== undefined)
    invalidText(errors, at.child('messageExpression'), ruleText(rule, walk.release), compiled.messageFault);
  validateOldSelf(compiled, at, unkeyed, errors);
}

function validateOldSelf({ rule, transition }: CompiledRule, at: Path, unkeyed: Path | undefined, errors: FieldErrors): void {
  if (transition && unkeyed !== undefined)
    errors.invalid(at.child('rule'), rule.rule, `oldSelf cannot be used on the uncorrelatable portion of the schema within ${unkeyed}`);
  if (!transition && rule.optionalOldSelf !== undefined)
    errors.invalid(at.child('optionalOldSelf'), rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule');
}

/** A message expression runs once for an object that fails, a rule for every value at its place. */
function validateCost(program: Program, what: 'rule' | 'messageExpression', at: Path, { declared, values }: Context, walk: Walk): void {
  const once = program.estimateCost().max;
  const most = values ?? Math.floor(MAX_REQUEST_BYTES / ((declared?.minSize ?? 0) + 1));
  const cost = what === 'rule' ? once * most : once;
  if (cost > MAX_RULE_COST) walk.errors.forbidden(at, overBudget(`estimated ${what} cost`, cost, MAX_RULE_COST));
  walk.total += cost;
  walk.costs.push({ at, cost });
}

function overBudget(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const factorText = factor > 100 ? 'more than 100x' : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`;
  return `${what} exceeds budget by factor of ${factorText} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

/** From 1.34 on structures in errors are JSON. */
const JSON_SINCE = '1.34';
function ruleText(
  { rule, message = '', messageExpression, reason, fieldPath = '', optionalOldSelf }: ValidationRule,
  release: string,
): string {
  if (isAtLeast(release, JSON_SINCE))
    return goJson({
      ...{ Rule: rule, Message: message, MessageExpression: messageExpression ?? '', Reason: reason ?? null },
      ...{ FieldPath: fieldPath, OptionalOldSelf: optionalOldSelf ?? null },
    });
  const ruleFields = { Rule: rule, Message: message, ...(messageExpression !== undefined && { MessageExpression: messageExpression }) };
  return structText('apiextensions.ValidationRule', ruleFields);
}
/** As Go writes it: three characters are escaped that JSON could have as they are. */
const goJson = (value: object): string => jsonText(value).replace(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);

interface DefaultCheck {
  readonly rules: RuleRelease;
  readonly errors: FieldErrors;
  readonly budget: CostBudget;
}
function* defaultChecks(schema: JSONSchemaProps, at: Path, x: Extensions, check: DefaultCheck): Work<void> {
  const { items, properties, default: value } = schema;
  if (value !== undefined && value !== null) {
    const { rules, errors, budget } = check;
    const tree = yield* ruleTreeOf(schema, x, false, rules.environments.stored);
    const rest =
      tree === undefined ? undefined : new RuleRun(tree, value, value, { rules, errors, at: at.child('default'), budget }).begin();
    if (rest !== undefined) yield* rest;
  }
  if (items !== undefined && !Array.isArray(items)) yield* defaultChecks(items, at.child('items'), x, check);
  if (properties === undefined) return;
  const place = at.child('properties');
  for (const [key, field] of Object.entries(properties)) yield* defaultChecks(field, place.key(key), x, check);
  yield;
}
