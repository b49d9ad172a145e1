/** Limit ranges. */
import { setOwn } from '@plat-dev/lib/own';
import { kind } from '../kind.ts';
import { validateLimitRange } from '../validation/limits.ts';
import { metadataAgain } from '../validation/repeated-metadata.ts';
import { LimitRange, type LimitRangeItem } from './schema/quota.ts';

/** Limits of containers that follow from others: a default from the maximum, a default request from the default or the minimum. */
function defaultItem(item: LimitRangeItem): void {
  if (item.type !== 'Container') return;
  const fill = (to: Record<string, string>, from: Record<string, string> | undefined): void => {
    for (const name in from) if (!Object.hasOwn(to, name)) setOwn(to, name, from[name]);
  };
  const limits = item.default ?? {};
  fill(limits, item.max);
  if (Object.keys(limits).length > 0) item.default = limits;
  const requests = item.defaultRequest ?? {};
  fill(requests, limits);
  fill(requests, item.min);
  if (Object.keys(requests).length > 0) item.defaultRequest = requests;
}

export const LimitRangeKind = kind<LimitRange>({
  group: '',
  kind: 'LimitRange',
  plural: 'limitranges',
  short: ['limits'],
  scope: 'Namespaced',
  versions: {
    v1: {
      schema: LimitRange,
      defaults: (range: LimitRange) => {
        for (const item of range.spec.limits ?? []) defaultItem(item);
      },
    },
  },
  hub: 'v1',
  createOnUpdate: true,
  strategy: {
    // A limit range without a name is named after its uid.
    prepareForCreate: ({ metadata }) => {
      if ((metadata.name ?? '') === '' && metadata.uid !== undefined) metadata.name = metadata.uid;
    },
    validate: validateLimitRange,
    validateUpdate: (range, _old, errors, env, request) => {
      metadataAgain(range, { namespaced: true }, errors, env);
      validateLimitRange(range, errors, env, request);
    },
  },
});
