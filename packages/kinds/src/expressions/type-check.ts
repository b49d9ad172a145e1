/**
 * Checks the expressions of a policy against the types of the kinds that it is for. What is found is shown in its status, and keeps
 * nobody from using the policy: a kind may change.
 */
import { type CelType, type Field, type ObjectType, STRING } from '@plat-dev/cel';
import type { Work } from '@plat-dev/lib/slices';
import type { ApiRelease } from '@plat-dev/lib/version';
import type { MessageType } from '@plat-dev/schema/types';
import type { ValidatingAdmissionPolicy } from '../admissionregistration/schema/policies.ts';
import { declaredTypeOf } from '../apiextensions/cel/declared-type.ts';
import { extensionNames, type JSONSchemaProps } from '../apiextensions/schema/json-schema.ts';
import { ObjectMeta } from '../meta.ts';
import { AdmissionCompiler, COMPILATION_FAILED, results } from './admission-compiler.ts';
import { messageType } from './message-type.ts';

/** What the objects of a kind look like: a built-in message, or the schema of a definition. */
export type KindSchema = { readonly message: MessageType } | { readonly schema: JSONSchemaProps; readonly extensionPrefix: string };

export interface CheckedKind {
  /** `apps/v1, Kind=Deployment` */
  readonly name: string;
  readonly schema: KindSchema;
}
export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

export function* typeWarnings(
  { spec }: ValidatingAdmissionPolicy,
  kinds: readonly CheckedKind[],
  params: KindSchema | undefined,
  release: ApiRelease,
): Work<ExpressionWarning[]> {
  const paramsType = params && (yield* typeOfKind(params));
  const compilers: [name: string, compiler: AdmissionCompiler][] = [];
  for (const { name, schema } of kinds) {
    const object = yield* typeOfKind(schema);
    if (object === undefined) continue;
    const compiler = new AdmissionCompiler(release, 'policy', {
      params: spec.paramKind !== undefined,
      authorizer: true,
      object,
      paramsType,
    });
    for (const variable of spec.variables ?? []) {
      yield;
      compiler.addVariable(variable.name, variable.expression);
    }
    compilers.push([name, compiler]);
  }
  const warnings: ExpressionWarning[] = [];
  for (const [i, { expression, messageExpression = '' }] of (spec.validations ?? []).entries()) {
    const at = `spec.validations[${i}]`;
    yield* check(expression, `${at}.expression`, compilers, warnings);
    if (messageExpression !== '') yield* check(messageExpression, `${at}.messageExpression`, compilers, warnings, false);
  }
  return warnings;
}

function* check(
  expression: string,
  fieldRef: string,
  compilers: readonly (readonly [name: string, compiler: AdmissionCompiler])[],
  warnings: ExpressionWarning[],
  authorizer = true,
): Work<void> {
  let warning = '';
  for (const [name, compiler] of compilers) {
    yield;
    const { fault } = compiler.compile(expression, results.any, { authorizer });
    if (fault !== undefined) warning += `${name}: ${fault.replace(COMPILATION_FAILED, '')}\n`;
  }
  if (warning !== '') warnings.push({ fieldRef, warning });
}

/** Undefined where the schema says nothing. */
function* typeOfKind(kind: KindSchema): Work<CelType | undefined> {
  if ('message' in kind) return messageType(kind.message);
  const declared = yield* declaredTypeOf(kind.schema, extensionNames(kind.extensionPrefix), 'object', true);
  if (declared === undefined) return undefined;
  const { fields, ...object } = declared.type as ObjectType;
  // Rules of a definition see little of metadata; policies see all.
  const all = new Map<string, Field>(fields);
  all.set('metadata', { property: 'metadata', type: messageType(ObjectMeta) });
  for (const property of ['kind', 'apiVersion']) all.set(property, { property, type: STRING });
  return { ...object, fields: all };
}
