/**
 * Finds unknown fields by the OpenAPI schema of the server, with a hint at what was meant. A stock server of this version drops
 * them silently, and a mistyped name would go unnoticed.
 */

import type { ApiResource } from '@plat-dev/client/discovery';
import { own } from '@plat-dev/lib/own';
import { didYouMean } from '@plat-dev/lib/suggest';
import { apiVersionOf } from '@plat-dev/meta/api-version';
import { ApiError } from '@plat-dev/meta/errors';
import { type Schema, Schemas } from '../discovery/explain-schema.ts';
import type { Work } from '../work.ts';
import { notValid } from './manifests.ts';

export type Validation = 'Strict' | 'Warn' | 'Ignore';

/** Caches the schemas of the versions that it has seen. */
export class FieldChecker {
  private readonly work: Work;
  private readonly validation: Validation;
  private readonly versions = new Map<string, Promise<Schemas | undefined>>();

  constructor(work: Work, validation: Validation) {
    this.work = work;
    this.validation = validation;
  }
  /** Throws for an object with unknown fields, or warns, by the mode of --validate. `origin` is the file with the object. */
  async check(resource: ApiResource, object: unknown, origin: string): Promise<void> {
    if (this.validation === 'Ignore') return;
    const schemas = await this.schemasOf(resource);
    const root = schemas?.ofKind(resource);
    if (schemas === undefined || root === undefined) return;
    const problems = unknownFields(schemas, root, object);
    if (problems.length === 0) return;
    if (this.validation === 'Strict') {
      throw new UnknownFields(`${problems.join(', ')}; --validate=ignore sends it anyway`, notValid(problems.join(', '), origin));
    }
    for (const problem of problems) {
      this.work.io.err(`Warning: ${problem}\n`);
      // The server warns of the same fields, without a hint.
      this.work.warnings.note(problem.match(withoutHint)?.[0] ?? problem);
    }
  }
  private schemasOf(resource: ApiResource): Promise<Schemas | undefined> {
    const version = apiVersionOf(resource);
    let schemas = this.versions.get(version);
    if (schemas === undefined) {
      schemas = Schemas.load(this.work.session.transport, resource).catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        this.work.io.err(`Warning: fields of ${version} were not checked: ${error.message}\n`);
        return undefined;
      });
      this.versions.set(version, schemas);
    }
    return schemas;
  }
}

/** An object with fields that its kind does not have. */
class UnknownFields extends Error {
  readonly stockText: string;

  constructor(message: string, stockText: string) {
    super(message);
    this.stockText = stockText;
  }
}

const withoutHint = /^unknown field "(?:[^"\\]|\\.)*"/;

/** One message for each unknown field: `unknown field "spec.replcas" (did you mean replicas?)`. */
export function unknownFields(schemas: Schemas, schema: Schema, value: unknown, path = ''): string[] {
  const whole = schemas.resolve(schema);
  if (Array.isArray(value)) {
    const { items } = whole;
    return items === undefined ? [] : value.flatMap((item, i) => unknownFields(schemas, items, item, `${path}[${i}]`));
  }
  if (typeof value !== 'object' || value === null) return [];
  const { properties = {}, additionalProperties } = whole;
  // A schema without properties allows every field, unless it has additionalProperties.
  const open = additionalProperties === true || whole.properties === undefined || isSet(whole, 'preserve-unknown-fields');
  const problems: string[] = [];
  for (const [name, inner] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`;
    const fieldSchema = Object.hasOwn(properties, name)
      ? own(properties, name)
      : typeof additionalProperties === 'object'
        ? additionalProperties
        : undefined;
    if (fieldSchema !== undefined) problems.push(...unknownFields(schemas, fieldSchema, inner, at));
    else if (!open && !(isSet(whole, 'embedded-resource') && ['apiVersion', 'kind', 'metadata'].includes(name))) {
      problems.push(`unknown field ${JSON.stringify(at)}${didYouMean(name, Object.keys(properties))}`);
    }
  }
  return problems;
}
const isSet = (schema: Schema, extension: string): boolean =>
  Object.entries(schema).some(([name, value]) => name.endsWith(`-${extension}`) && value === true);
