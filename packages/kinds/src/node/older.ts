/** node/v1alpha1. */
import { version } from '../kind.ts';
import type { OlderVersions } from '../older.ts';
import type * as v1 from './schema/v1.ts';
import * as v1alpha1 from './schema/v1alpha1.ts';

export const olderNode: readonly OlderVersions[] = [
  {
    group: 'node',
    plural: 'runtimeclasses',
    versions: {
      v1alpha1: version<v1alpha1.RuntimeClass, v1.RuntimeClass>({
        schema: v1alpha1.RuntimeClass,
        toHub({ spec, ...runtimeClass }) {
          const { runtimeHandler = '', ...fields } = spec ?? {};
          return { ...runtimeClass, handler: runtimeHandler, ...fields };
        },
        fromHub: ({ handler, overhead, scheduling, ...runtimeClass }) => ({
          ...runtimeClass,
          spec: { runtimeHandler: handler, ...(overhead && { overhead }), ...(scheduling && { scheduling }) },
        }),
      }),
    },
  },
];
