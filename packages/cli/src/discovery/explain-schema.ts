/** Kinds as a server describes them in its OpenAPI documents: types, fields and descriptions. */

import type { ApiResource } from '@plat-dev/client/discovery';
import { isNotFound } from '@plat-dev/client/http';
import { versionPath } from '@plat-dev/client/paths';
import type { Transport } from '@plat-dev/client/transport';
import { jsonText } from '@plat-dev/lib/json-text';
import { own } from '@plat-dev/lib/own';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly [extension: string]: unknown;
}
interface Documents {
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
  readonly definitions?: Readonly<Record<string, Schema>>;
}

/** Schemas that refer to each other by name. */
export class Schemas {
  private readonly byName: Readonly<Record<string, Schema>>;

  constructor(byName: Readonly<Record<string, Schema>>) {
    this.byName = byName;
  }
  /** The document of the version, or that of all versions if the server has none. */
  static async load(transport: Transport, resource: ApiResource): Promise<Schemas> {
    const path = `/openapi/v3${versionPath(resource.group, resource.version)}`;
    const document = await transport.json<Documents>({ path }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      return transport.json<Documents>({ path: '/openapi/v2' });
    });
    return new Schemas(document.components?.schemas ?? document.definitions ?? {});
  }
  /** The schema of a kind; undefined where the server does not describe it. */
  ofKind({ group, version, kind }: Pick<ApiResource, 'group' | 'version' | 'kind'>): Schema | undefined {
    return Object.values(this.byName).find((schema) =>
      Object.entries(schema).some(
        ([name, value]) =>
          name.endsWith('group-version-kind') &&
          Array.isArray(value) &&
          value.some((k: Record<string, unknown>) => k.group === group && k.version === version && k.kind === kind),
      ),
    );
  }
  /** The name of the type that a schema refers to, alone or with keywords of its own. */
  referenceOf(schema: Schema): string | undefined {
    return schema.$ref ?? schema.allOf?.find((part) => part.$ref !== undefined)?.$ref;
  }
  /** That type. */
  referred(schema: Schema): Schema | undefined {
    const reference = this.referenceOf(schema);
    return reference === undefined ? undefined : own(this.byName, nameOf(reference));
  }
  /** A schema merged with its reference; its own keywords take precedence. */
  resolve(schema: Schema): Schema {
    const refs = [schema.$ref, ...(schema.allOf ?? []).map((part) => part.$ref)].filter((ref) => ref !== undefined);
    let whole: Schema = { ...schema };
    for (const ref of refs) whole = { ...own(this.byName, nameOf(ref)), ...whole };
    return whole;
  }
  /** The element type of lists and maps: a container for `containers`. */
  element(schema: Schema): Schema {
    let elementSchema = this.resolve(schema);
    for (let depth = 0; depth < 10; depth++) {
      const inner =
        elementSchema.items ?? (typeof elementSchema.additionalProperties === 'object' ? elementSchema.additionalProperties : undefined);
      if (inner === undefined || elementSchema.properties !== undefined) break;
      elementSchema = this.resolve(inner);
    }
    return elementSchema;
  }
  /** `string`, `[]Container`, `map[string]string` */
  typeName(schema: Schema): string {
    const reference = schema.$ref ?? schema.allOf?.find((part) => part.$ref !== undefined)?.$ref;
    const whole = this.resolve(schema);
    if (whole.items !== undefined) return `[]${this.typeName(whole.items)}`;
    if (typeof whole.additionalProperties === 'object' && whole.properties === undefined)
      return `map[string]${this.typeName(whole.additionalProperties)}`;
    if (isIntOrString(whole)) return 'integer or string';
    if (reference !== undefined && whole.properties !== undefined) return nameOf(reference).split('.').at(-1) as string;
    return whole.type ?? 'object';
  }
  /** The reference of a type, or of its elements; undefined for types without a name. */
  identityOf(schema: Schema): string | undefined {
    const inner = schema.items ?? (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);
    return (
      schema.$ref ??
      schema.allOf?.find((part) => part.$ref !== undefined)?.$ref ??
      (inner === undefined ? undefined : this.identityOf(inner))
    );
  }
}

const nameOf = (ref: string): string => decodeURIComponent(ref.slice(ref.lastIndexOf('/') + 1));

function isIntOrString(schema: Schema): boolean {
  return (
    schema.format === 'int-or-string' || Object.entries(schema).some(([name, value]) => name.endsWith('-int-or-string') && value === true)
  );
}

/** Descriptions of the constraints on values. */
export function rulesOf(schema: Schema): string[] {
  const rules: string[] = [];
  if (schema.enum !== undefined) rules.push(`One of ${schema.enum.map((value) => jsonText(value)).join(', ')}.`);
  if (schema.minimum !== undefined) rules.push(`At least ${schema.minimum}.`);
  if (schema.maximum !== undefined) rules.push(`At most ${schema.maximum}.`);
  if (schema.pattern !== undefined) rules.push(`Matches ${schema.pattern}`);
  const initial = schema.default;
  // In the schemas of built-in kinds, an empty object means that there is no default.
  if (initial !== undefined && jsonText(initial) !== '{}') rules.push(`Default: ${jsonText(initial)}.`);
  return rules;
}
