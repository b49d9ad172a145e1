/** Selects requests: those that have all the given values; several values of one field are alternatives. */
import { allVerbs } from '@plat-dev/kinds/kind';
import { didYouMean } from '@plat-dev/lib/suggest';
import type { Context } from '@plat-dev/server/context';

type Values = string | readonly string[];

export interface RequestPattern {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  readonly verb?: Values | undefined;
  /** The group, empty for the core one. */
  readonly group?: Values | undefined;
  /** The plural name: `pods`. */
  readonly resource?: Values | undefined;
  /** Empty: the object itself. */
  readonly subresource?: Values | undefined;
  readonly namespace?: Values | undefined;
  readonly name?: Values | undefined;
  /** The name of the user. */
  readonly user?: Values | undefined;
  /** The path without its query. */
  readonly path?: Values | undefined;
}

/** The fields of a request that a pattern is matched against. */
export interface RequestFacts {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: string;
  readonly path: string;
}

export const factsOf = ({ info, user, path }: Context): RequestFacts => ({
  verb: info.verb,
  group: info.group,
  resource: info.resource,
  subresource: info.subresource,
  namespace: info.namespace,
  name: info.name,
  user: user.name,
  path,
});

const fields = ['verb', 'group', 'resource', 'subresource', 'namespace', 'name', 'user', 'path'] as const;

/** Verbs of requests for objects, and those of all other paths, which are the methods of HTTP. */
const verbs: readonly string[] = [...allVerbs, 'post', 'put', 'head', 'options'];

/** Throws if a pattern has a field, or a verb, that no request has. `others`: fields in addition to those of all patterns. */
export function checkPattern(pattern: RequestPattern, others: readonly string[]): void {
  const fieldNames = [...fields, ...others];
  for (const name of Object.keys(pattern))
    if (!fieldNames.includes(name)) throw new TypeError(`unknown field ${name} in a pattern of requests${didYouMean(name, fieldNames)}`);
  const { verb = [] } = pattern;
  for (const name of typeof verb === 'string' ? [verb] : verb)
    if (!verbs.includes(name)) throw new TypeError(`unknown verb ${name} in a pattern of requests${didYouMean(name, verbs)}`);
}

export function fits(pattern: RequestPattern, facts: RequestFacts): boolean {
  return fields.every((field) => {
    const wantedValues = pattern[field];
    return (
      wantedValues === undefined || (typeof wantedValues === 'string' ? wantedValues === facts[field] : wantedValues.includes(facts[field]))
    );
  });
}
export const matches = (pattern: RequestPattern, ctx: Context): boolean => fits(pattern, factsOf(ctx));
