/** The object of a kind that an annotation marks as the default, cached until the kind changes. */

import type { ApiObject } from '@plat-dev/kinds/kind';
import type { LiveView } from '@plat-dev/kinds/live-view';
import { own } from '@plat-dev/lib/own';
import { unprocessable } from '@plat-dev/meta/errors';

/** Throws when there are several. */
export function defaultOf(
  live: LiveView,
  annotations: readonly string[],
  severalText: (count: number) => string,
): () => string | undefined {
  let names: string[] = [];
  let asOf = -1;
  const isDefault = ({ metadata }: ApiObject): boolean => annotations.some((name) => own(metadata.annotations, name) === 'true');
  return () => {
    if (asOf !== live.generation) {
      asOf = live.generation;
      names = live
        .list()
        .filter(isDefault)
        .map(({ metadata }) => metadata.name as string);
    }
    if (names.length > 1) throw unprocessable(severalText(names.length));
    return names[0];
  };
}
