/**
 * Exceptions for definitions that are written in version 1beta1, or were stored so: versions without a schema, and schemas that are
 * not structural. Both need `preserveUnknownFields`, because pruning needs a structural schema.
 */
import { equal } from '@plat-dev/lib/equal';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { groupName } from '@plat-dev/meta/identity';
import type { KindEnv, WriteRequest } from '../kind.ts';
import { extensionNames, type JSONSchemaProps } from './schema/json-schema.ts';
import { eachPart } from './schema/parts.ts';
import type { CustomResourceDefinitionSpec, CustomResourceDefinitionVersion } from './schema/v1.ts';

export interface Allowances {
  /** The request is in version 1beta1. */
  readonly beta: boolean;
  /** Versions need no schema. */
  readonly noSchema: boolean;
  /** Why schemas may have no defaults. */
  readonly noDefaults: string | undefined;
  /** Whether the schema of a version need not be structural. */
  isLoose(version: CustomResourceDefinitionVersion): boolean;
}

export function allowancesOf(
  { preserveUnknownFields = false }: CustomResourceDefinitionSpec,
  old: CustomResourceDefinitionSpec | undefined,
  env: KindEnv,
  request: WriteRequest | undefined,
): Allowances {
  const beta = request?.resource.version === 'v1beta1';
  const oldVersions = old?.versions ?? [];
  const { schemaExtensionPrefix: prefix } = env.identity;
  const isKept = ({ name, schema }: CustomResourceDefinitionVersion): boolean =>
    equal(schema, oldVersions.find((version) => version.name === name)?.schema);
  return {
    beta,
    noSchema: beta || oldVersions.some(({ schema }) => schema?.openAPIV3Schema === undefined),
    noDefaults: beta && !oldVersions.some(({ schema }) => has(schema?.openAPIV3Schema, hasDefault)) ? noDefaultsInBeta(env) : undefined,
    isLoose: (version) =>
      preserveUnknownFields &&
      (beta || isKept(version)) &&
      !has(version.schema?.openAPIV3Schema, (part) => extensionsOf(prefix).some((name) => part[name] !== undefined)),
  };
}

function noDefaultsInBeta({ identity }: KindEnv): string {
  const group = groupName(identity, 'apiextensions');
  return `(cannot set default values in ${joinApiVersion(group, 'v1beta1')} CRDs, must use ${joinApiVersion(group, 'v1')})`;
}
const hasDefault = (part: JSONSchemaProps): boolean => part.default !== undefined;
const extensionsOf = (prefix: string): (keyof JSONSchemaProps)[] => Object.values(extensionNames(prefix));

/** Whether the condition holds for a schema or a part of it. */
function has(schema: JSONSchemaProps | undefined, is: (part: JSONSchemaProps) => boolean): boolean {
  if (schema === undefined) return false;
  let isThere = is(schema);
  eachPart(schema, (part) => {
    isThere ||= has(part, is);
  });
  return isThere;
}
