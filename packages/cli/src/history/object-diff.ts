/** The difference between two states of an object as YAML, without what every write changes. */
import type { JsonValue } from '@plat-dev/schema/types';
import { stringifyYaml } from '@plat-dev/schema/yaml';
import { masked } from '../get/mask-secret.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { unifiedDiff } from '../text-diff.ts';
import type { PastObject } from './versions.ts';

/** Empty where they are the same. Values of secrets are not shown. */
export function objectDiff(
  before: PastObject | undefined,
  after: PastObject | undefined,
  names: { readonly before: string; readonly after: string },
): string {
  const [one, other] = masked(tidy(before), tidy(after));
  const yaml = (item: ApiItem | undefined): string => (item === undefined ? '' : stringifyYaml(item as JsonValue));
  return unifiedDiff(yaml(one), yaml(other), names);
}

function tidy(object: PastObject | undefined): ApiItem | undefined {
  if (object === undefined) return undefined;
  const { managedFields: _, resourceVersion: __, generation: ___, ...metadata } = object.metadata;
  return { ...object, metadata } as unknown as ApiItem;
}
