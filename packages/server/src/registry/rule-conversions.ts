/**
 * Conversions for synchronous rules: field ownership is found by comparing the object in every version that a manager
 * wrote it in. If a conversion needs a webhook call, the rule is aborted at that point, the call is made, and the rule runs
 * again with its result. Rules change none of their inputs, so that they can run any number of times.
 */

import type { ApiObject } from '@plat-dev/kinds/kind';
import { rawFromHub, rawFromHubByCall, rawToHub, rawToHubByCall } from '@plat-dev/kinds/served-kind';
import { jsonText } from '@plat-dev/lib/json-text';
import { resultOf, type Slices, type Work } from '@plat-dev/lib/slices';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import { type Convert, checkApplied } from '@plat-dev/patch';
import type { Catalog, Resource } from './catalog.ts';

type Values = Parameters<Convert>[0];

export interface Conversions {
  /** An object of the version of the resource in another version of the kind. */
  readonly convert: Convert;
  /** The opposite direction: an object of another version in the version of the resource. */
  readonly convertBack: (object: Values, apiVersion: string) => Values | undefined;
}

/** A conversion made an object with fields that are not in the schema of its version. */
export class Undeclared extends Error {}

/** A rule needs few objects in few versions; one that exceeds this has a bug. */
const MOST_CALLS = 100;

/** How unknown fields of a custom version are treated. */
export type UndeclaredFields = 'refuse' | 'drop';

/**
 * The result of a rule; that of a large object runs in slices. Rejects with the error of the rule, with Undeclared, with the
 * error of a conversion, or with RequestEnded.
 */
export async function withConversions<T>(
  catalog: Catalog,
  resource: Resource,
  undeclared: UndeclaredFields,
  rule: (conversions: Conversions) => Work<T>,
  slices: Slices | undefined,
): Promise<T> {
  if (!resource.custom) return resultOf(rule(builtInConversions(catalog, resource, undeclared)), slices);
  const callResults: CallResults = new Map();
  const conversions = conversionsOf(catalog, resource, callResults, undeclared);
  for (let calls = 0; ; calls++) {
    try {
      return await resultOf(rule(conversions), slices);
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      if (calls === MOST_CALLS) throw new Error('a rule needs too many conversions');
      callResults.set(error.key, await convertByCalls(error.from, error.to, error.object));
    }
  }
}

/** Built-in kinds need no calls, and so remember no results: the conversions of a resource serve all its writes. */
function builtInConversions(catalog: Catalog, resource: Resource, undeclared: UndeclaredFields): Conversions {
  const conversionsByResource = ofBuiltIns[undeclared];
  let conversions = conversionsByResource.get(resource);
  if (conversions === undefined) {
    conversions = conversionsOf(catalog, resource, noResults, undeclared);
    conversionsByResource.set(resource, conversions);
  }
  return conversions;
}
const ofBuiltIns: Readonly<Record<UndeclaredFields, WeakMap<Resource, Conversions>>> = { refuse: new WeakMap(), drop: new WeakMap() };
const noResults: ReadonlyMap<string, ApiObject> = new Map();

/** Results of calls, by their input. */
type CallResults = Map<string, ApiObject>;

class Missing extends Error {
  readonly key: string;
  readonly object: Values;
  readonly from: Resource;
  readonly to: Resource;

  constructor(key: string, object: Values, from: Resource, to: Resource) {
    super(`a conversion to ${to.apiVersion} is needed`);
    this.key = key;
    this.object = object;
    this.from = from;
    this.to = to;
  }
}

function conversionsOf(
  catalog: Catalog,
  resource: Resource,
  callResults: ReadonlyMap<string, ApiObject>,
  undeclared: UndeclaredFields,
): Conversions {
  const find = (apiVersion: string): Resource | undefined => {
    const { group, version } = splitApiVersion(apiVersion);
    const otherVersion = catalog.find(group, version, resource.kind.plural);
    return otherVersion?.apiVersion === apiVersion ? otherVersion : undefined;
  };
  const between = (object: Values, from: Resource, to: Resource): ApiObject => {
    if (!from.versions.byCalls && !to.versions.byCalls) return convertedNow(from, to, object);
    const key = `${from.apiVersion} ${to.apiVersion} ${jsonText(object)}`;
    const answer = callResults.get(key);
    if (answer === undefined) throw new Missing(key, object, from, to);
    return answer;
  };
  return {
    convert: (object, apiVersion) => {
      const otherVersion = find(apiVersion);
      if (otherVersion === undefined) return undefined;
      const convertedObject = between(object, resource, otherVersion);
      if (undeclared === 'refuse') checkDeclared(otherVersion, convertedObject);
      else otherVersion.definition.prune?.(convertedObject as never);
      return { type: otherVersion.schema, object: convertedObject as never };
    },
    convertBack: (object, apiVersion) => {
      const otherVersion = find(apiVersion);
      return otherVersion === undefined ? undefined : (between(object, otherVersion, resource) as never);
    },
  };
}

function convertedNow(from: Resource, to: Resource, object: Values): ApiObject {
  const copy = structuredClone(object) as unknown as ApiObject;
  const hub = from.isHub ? copy : rawToHub(from, copy);
  return to.isHub ? hub : rawFromHub(to, to.versions.normalize(hub));
}

async function convertByCalls(from: Resource, to: Resource, object: Values): Promise<ApiObject> {
  const copy = structuredClone(object) as unknown as ApiObject;
  const [hub] = !from.versions.byCalls ? [from.isHub ? copy : rawToHub(from, copy)] : await rawToHubByCall(from, [copy]);
  if (to.isHub) return hub as ApiObject;
  const whole = to.versions.normalize(hub as ApiObject);
  const [versionObject] = !to.versions.byCalls ? [rawFromHub(to, whole)] : await rawFromHubByCall(to, [whole]);
  return versionObject as ApiObject;
}

/** Objects of custom kinds may have unknown fields until they are pruned; ownership covers the fields of the schema. */
function checkDeclared(resource: Resource, object: ApiObject): void {
  if (!resource.custom || resource.schema.structure === undefined) return;
  const undeclared = checkApplied(resource.schema, object).find((problem) => problem.endsWith('field not declared in schema'));
  if (undeclared !== undefined) throw new Undeclared(undeclared);
}
