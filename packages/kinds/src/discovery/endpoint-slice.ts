/** Endpoint slices. */

import { equal } from '@plat-dev/lib/equal';
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { nextGeneration } from '../generation.ts';
import { kind, version } from '../kind.ts';
import * as v1 from './schema/v1.ts';
import * as v1beta1 from './schema/v1beta1.ts';
import { dropTopology, fromVersion1beta1, toVersion1beta1 } from './topology.ts';
import { sliceWarnings, validateSlice, validateSliceUpdate } from './validate-slice.ts';

/** How many ports and addresses a Table row shows. */
const SHOWN = 3;

/** `80,443`, `10.1.0.4,10.1.0.5,10.1.0.6 + 4 more...` */
function listCell(items: readonly string[]): string {
  const text = items.slice(0, SHOWN).join(',');
  if (items.length > SHOWN) return `${text} + ${items.length - SHOWN} more...`;
  return text === '' ? '<unset>' : text;
}

export const EndpointSliceKind = kind<v1.EndpointSlice>({
  group: 'discovery',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  scope: 'Namespaced',
  versions: {
    v1: { schema: v1.EndpointSlice },
    v1beta1: version({
      schema: v1beta1.EndpointSlice,
      toHub: fromVersion1beta1,
      fromHub: toVersion1beta1,
    }),
  },
  hub: 'v1',
  generation: true,
  strategy: {
    prepareForCreate(slice, env, { resource }) {
      if (resource.version === 'v1') dropTopology(slice, undefined, env.identity);
    },
    prepareForUpdate(slice, old, env, { resource }) {
      // Labels name the service of a slice: their changes count for the generation.
      if (!equal(slice.metadata.labels ?? {}, old.metadata.labels ?? {}))
        slice.metadata.generation = nextGeneration(old.metadata.generation);
      if (resource.version === 'v1') dropTopology(slice, old, env.identity);
    },
    validate: validateSlice,
    validateUpdate: validateSliceUpdate,
    warnings: sliceWarnings,
  },
  columns: [
    nameColumn,
    { name: 'AddressType', type: 'string', description: 'The kind of addresses in the slice.' },
    { name: 'Ports', type: 'string', description: 'The ports in the slice.' },
    { name: 'Endpoints', type: 'string', description: 'The first addresses in the slice.' },
    ageColumn,
  ],
  cells: (slice, env) => [
    nameCell(slice),
    slice.addressType,
    listCell((slice.ports ?? []).map(({ port, name }) => (port === undefined ? (name ?? '*') : String(port)))),
    listCell((slice.endpoints ?? []).flatMap(({ addresses = [] }) => addresses)),
    ageCell(slice, env),
  ],
});
