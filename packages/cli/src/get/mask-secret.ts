/** Secrets in output that people paste into tickets: that a value differs is shown, the value is not. */
import { own } from '@plat-dev/lib/own';
import { lastAppliedAnnotation, lastAppliedText } from '../apply/last-applied.ts';
import type { ApiItem } from '../output/print-objects.ts';

type Data = Readonly<Record<string, unknown>>;
type WithData = ApiItem & { readonly data?: Data; readonly stringData?: Data };
const isSecret = (item: ApiItem | undefined): boolean => item?.kind === 'Secret' && item.apiVersion === 'v1';

/** Two states of an object, either of which may be missing. */
export function masked(before: ApiItem | undefined, after: ApiItem | undefined): [before: ApiItem | undefined, after: ApiItem | undefined] {
  const hide = (item: ApiItem | undefined, other: ApiItem | undefined, differing: string): ApiItem | undefined =>
    item !== undefined && isSecret(item) ? mask(item, other, differing) : item;
  return [hide(before, after, '*** (before)'), hide(after, before, '*** (after)')];
}
function mask(item: WithData, other: WithData | undefined, differing: string): ApiItem {
  const maskText = (value: unknown, another: unknown): string => (another === undefined || another === value ? '***' : differing);
  const hide = (data: Data, others: Data | undefined): Data =>
    Object.fromEntries(Object.entries(data).map(([key, value]) => [key, maskText(value, own(others, key))]));
  // The annotation of a client-side apply repeats the whole object.
  const applied = lastAppliedText(item);
  const repeated = applied && { [lastAppliedAnnotation]: maskText(applied, other && lastAppliedText(other)) };
  const { annotations } = (item.metadata ?? {}) as { annotations?: Data };
  return {
    ...item,
    ...(repeated && { metadata: { ...item.metadata, annotations: { ...annotations, ...repeated } } as ApiItem['metadata'] & object }),
    ...(item.data && { data: hide(item.data, other?.data) }),
    ...(item.stringData && { stringData: hide(item.stringData, other?.stringData) }),
  };
}
