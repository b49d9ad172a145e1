/** TaintNodesByCondition: taints a new node until it is ready. */

import type { Node } from '@plat-dev/kinds/core/schema/node';
import { domainName } from '@plat-dev/meta/identity';
import { kinds, type MakePlugin } from '../../plugin.ts';

export const taintNodesByCondition: MakePlugin = ({ identity }) => {
  const key = domainName(identity, 'not-ready', 'node');
  return {
    name: 'TaintNodesByCondition',
    handles: (operation) => operation === 'CREATE',
    concerns: kinds('nodes'),
    admit({ object, subresource }) {
      if (subresource !== '') return;
      const { spec } = object as unknown as Node;
      if (spec.taints?.some((taint) => taint.key === key && taint.effect === 'NoSchedule')) return;
      spec.taints = [...(spec.taints ?? []), { key, effect: 'NoSchedule' }];
    },
  };
};
