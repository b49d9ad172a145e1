/** Secrets in output that people paste into tickets: that a value differs is shown, the value is not. */
import type { ApiItem } from './print-objects.ts';

type Data = Readonly<Record<string, unknown>>;
type WithData = ApiItem & { readonly data?: Data; readonly stringData?: Data };
const isSecret = (item: ApiItem | undefined): boolean => item?.kind === 'Secret' && item.apiVersion === 'v1';

export function masked(before: ApiItem | undefined, after: ApiItem): [before: ApiItem | undefined, after: ApiItem] {
  if (!isSecret(after)) return [before, after];
  const [a, b] = [before as WithData | undefined, after as WithData];
  return [a && mask(a, b, '*** (before)'), mask(b, a, '*** (after)')];
}
function mask(item: WithData, other: WithData | undefined, differing: string): ApiItem {
  const hide = (data: Data, others: Data | undefined): Data =>
    Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, others?.[key] === undefined || others[key] === value ? '***' : differing]),
    );
  return {
    ...item,
    ...(item.data && { data: hide(item.data, other?.data) }),
    ...(item.stringData && { stringData: hide(item.stringData, other?.stringData) }),
  };
}
