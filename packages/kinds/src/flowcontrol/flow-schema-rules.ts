/** Validation of flow schemas. */
import { equal } from '@plat-dev/lib/equal';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { nameIsLabel, nameIsSubdomain } from '@plat-dev/meta/names';
import { each } from '../validation/each.ts';
import { report } from '../validation/field-checks.ts';
import { goList } from '../validation/go-list.ts';
import { invalidText, unsupportedText } from '../validation/go-text.ts';
import { EXEMPT, mandatorySchemas } from './mandatory-objects.ts';
import type {
  FlowSchema,
  FlowSchemaSpec,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  ServiceAccountSubject,
  Subject,
} from './schema/v1beta2.ts';

const spec = Path.of('spec');
const MAX_PRECEDENCE = 10_000;
const methods = ['ByNamespace', 'ByUser'];
const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];
const all = '*';

export function validateFlowSchema(schema: FlowSchema, errors: FieldErrors): void {
  const { name = '' } = schema.metadata;
  validateSpec(name, schema.spec, errors);
  const mandatory = mandatorySchemas.get(name);
  if (mandatory !== undefined && !equal(schema.spec, mandatory))
    errors.invalid(spec, schema.spec, `spec of '${name}' must equal the fixed value`);
}

function validateSpec(name: string, flowSpec: FlowSchemaSpec, errors: FieldErrors): void {
  const { matchingPrecedence: precedence, distinguisherMethod: method, priorityLevelConfiguration: level, rules } = flowSpec;
  const at = spec.child('matchingPrecedence');
  if (precedence <= 0) errors.invalid(at, precedence, 'must be a positive value');
  if (precedence > MAX_PRECEDENCE) errors.invalid(at, precedence, `must not be greater than ${MAX_PRECEDENCE}`);
  if (precedence === 1 && name !== EXEMPT)
    errors.invalid(at, precedence, `only the schema named '${EXEMPT}' may have matchingPrecedence 1`);
  if (method !== undefined && !methods.includes(method.type))
    unsupportedText(
      errors,
      spec.child('distinguisherMethod').child('type'),
      `flowcontrol.FlowDistinguisherMethod{Type:${JSON.stringify(method.type)}}`,
      methods,
    );
  const levelName = spec.child('priorityLevelConfiguration').child('name');
  if (level.name === '') errors.required(levelName, 'must reference a priority level');
  else report(errors, levelName, level.name, nameIsSubdomain(level.name));
  each(rules, spec.child('rules'), (rule, here) => validateRules(rule, here, errors));
}

function validateRules(rules: PolicyRulesWithSubjects, at: Path, errors: FieldErrors): void {
  const { subjects = [], resourceRules = [], nonResourceRules = [] } = rules;
  if (subjects.length === 0) errors.required(at.child('subjects'), 'subjects must contain at least one value');
  each(subjects, at.child('subjects'), (subject, here) => validateSubject(subject, here, errors));
  if (resourceRules.length === 0 && nonResourceRules.length === 0)
    errors.required(at, 'at least one of resourceRules and nonResourceRules has to be non-empty');
  each(resourceRules, at.child('resourceRules'), (rule, here) => validateResourceRule(rule, here, errors));
  each(nonResourceRules, at.child('nonResourceRules'), (rule, here) => validateNonResourceRule(rule, here, errors));
}

// ---- subjects ----------------------------------------------------------------------------------------------------

const subjectFields = { ServiceAccount: 'serviceAccount', User: 'user', Group: 'group' } as const;
type SubjectKind = keyof typeof subjectFields;
const isSubjectKind = (kind: string): kind is SubjectKind => Object.hasOwn(subjectFields, kind);
/** The order in which fields of other kinds of subjects are reported. */
const others: Readonly<Record<SubjectKind, readonly SubjectKind[]>> = {
  ServiceAccount: ['User', 'Group'],
  User: ['ServiceAccount', 'Group'],
  Group: ['ServiceAccount', 'User'],
};

function validateSubject(subject: Subject, at: Path, errors: FieldErrors): void {
  const { kind } = subject;
  if (!isSubjectKind(kind)) {
    errors.notSupported(at.child('kind'), kind, ['Group', 'ServiceAccount', 'User']);
    return;
  }
  const field = subjectFields[kind];
  const here = at.child(field);
  const subjectOfKind = subject[field];
  if (subjectOfKind === undefined) errors.required(here, `${field} is required when subject kind is '${kind}'`);
  else if (kind === 'ServiceAccount') validateServiceAccount(subjectOfKind as ServiceAccountSubject, here, errors);
  else if (subjectOfKind.name === '') errors.required(here.child('name'));
  for (const other of others[kind]) {
    const name = subjectFields[other];
    if (subject[name] !== undefined) errors.forbidden(at.child(name), `${name} is forbidden when subject kind is not '${other}'`);
  }
}

function validateServiceAccount({ name, namespace }: ServiceAccountSubject, at: Path, errors: FieldErrors): void {
  if (name === '') errors.required(at.child('name'));
  else if (name !== all) report(errors, at.child('name'), name, nameIsSubdomain(name));
  if (namespace === '') errors.required(at.child('namespace'), 'must specify namespace for service account');
  else report(errors, at.child('namespace'), namespace, nameIsLabel(namespace));
}

// ---- rules -------------------------------------------------------------------------------------------------------

/** A list in which a star must be the only item. Returns whether there is a star. */
function starAlone(list: readonly string[], at: Path, what: string, errors: FieldErrors): boolean {
  if (!list.includes(all)) return false;
  if (list.length > 1) invalidText(errors, at, goList('string', list), `if '*' is present, must not specify other ${what}`);
  return true;
}

function validateVerbs(ruleVerbs: readonly string[], at: Path, errors: FieldErrors): void {
  if (ruleVerbs.length === 0) errors.required(at, 'verbs must contain at least one value');
  else if (!starAlone(ruleVerbs, at, 'verbs', errors) && !ruleVerbs.every((verb) => verbs.includes(verb)))
    unsupportedText(errors, at, goList('string', ruleVerbs), verbs);
}

function validateResourceRule(rule: ResourcePolicyRule, at: Path, errors: FieldErrors): void {
  const { verbs = [], apiGroups = [], resources = [], namespaces = [], clusterScope = false } = rule;
  validateVerbs(verbs, at.child('verbs'), errors);
  if (apiGroups.length === 0) errors.required(at.child('apiGroups'), 'resource rules must supply at least one api group');
  else starAlone(apiGroups, at.child('apiGroups'), 'api groups', errors);
  if (resources.length === 0) errors.required(at.child('resources'), 'resource rules must supply at least one resource');
  else starAlone(resources, at.child('resources'), 'resources', errors);
  const here = at.child('namespaces');
  if (namespaces.length === 0 && !clusterScope)
    errors.required(here, 'resource rules that are not cluster scoped must supply at least one namespace');
  else if (!starAlone(namespaces, here, 'namespaces', errors))
    each(namespaces, here, (namespace, place) => report(errors, place, namespace, nameIsLabel(namespace)));
}

function validateNonResourceRule({ verbs = [], nonResourceURLs = [] }: NonResourcePolicyRule, at: Path, errors: FieldErrors): void {
  validateVerbs(verbs, at.child('verbs'), errors);
  const here = at.child('nonResourceURLs');
  if (nonResourceURLs.length === 0) errors.required(here, 'nonResourceURLs must contain at least one value');
  else if (!starAlone(nonResourceURLs, here, 'non-resource URLs', errors))
    each(nonResourceURLs, here, (path, place) => {
      const problem = pathProblem(path);
      if (problem !== undefined) errors.invalid(place, path, problem);
    });
}

function pathProblem(path: string): string | undefined {
  if (path === '') return 'must not be empty';
  if (path === '/') return undefined;
  if (!path.startsWith('/')) return 'must start with slash';
  if (path.includes(' ')) return 'must not contain white-space';
  if (path.includes('//')) return 'must not contain double slash';
  const star = path.indexOf(all);
  return star < 0 || (star === path.length - 1 && path.endsWith('/*')) ? undefined : 'wildcard can only do suffix matching';
}
