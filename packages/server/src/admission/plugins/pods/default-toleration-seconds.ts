/**
 * DefaultTolerationSeconds: a pod tolerates a node that is not ready or unreachable for a while, unless it has such a
 * toleration itself.
 */

import type { Toleration } from '@plat-dev/kinds/core/schema/pods/scheduling';
import { domainName } from '@plat-dev/meta/identity';
import { kinds, type MakePlugin } from '../../plugin.ts';
import { podOf } from '../../pods.ts';

export const defaultTolerationSeconds: MakePlugin = ({ identity, tolerationSeconds }) => {
  const troubles = [
    [domainName(identity, 'not-ready', 'node'), tolerationSeconds.notReady],
    [domainName(identity, 'unreachable', 'node'), tolerationSeconds.unreachable],
  ] as const;
  return {
    name: 'DefaultTolerationSeconds',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    concerns: kinds('pods'),
    admit(request) {
      const spec = podOf(request)?.spec;
      if (spec === undefined) return;
      for (const [key, seconds] of troubles) {
        if (spec.tolerations?.some((toleration) => tolerates(toleration, key))) continue;
        spec.tolerations ??= [];
        spec.tolerations.push({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds });
      }
    },
  };
};

function tolerates({ key = '', effect = '' }: Toleration, taint: string): boolean {
  return (key === taint || key === '') && (effect === 'NoExecute' || effect === '');
}
