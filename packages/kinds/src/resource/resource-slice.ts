/** Slices of pools: devices that a driver offers on some nodes. */
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { type KindEnv, kind, version } from '../kind.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { sliceFromHub, sliceToHub } from './conversion.ts';
import { stampTaint } from './device-taints.ts';
import type { Device } from './schema/slices.ts';
import { ResourceSlice } from './schema/slices.ts';
import * as v1beta1 from './schema/v1beta1.ts';
import * as v1beta2 from './schema/v1beta2.ts';
import { validateSlice } from './slice-rules.ts';

type DeviceParts = Pick<Device, 'taints' | 'nodeAllocatableResourceMappings'>;

function fillDevice({ taints = [], nodeAllocatableResourceMappings = {} }: DeviceParts, env: KindEnv): void {
  for (const taint of taints) stampTaint(taint, env);
  for (const mapping of Object.values(nodeAllocatableResourceMappings)) mapping.allocationMultiplier ??= '1';
}
function defaults({ spec }: ResourceSlice, env: KindEnv): void {
  for (const device of spec.devices ?? []) fillDevice(device, env);
}

export const ResourceSliceKind = kind<ResourceSlice>({
  group: 'resource',
  kind: 'ResourceSlice',
  plural: 'resourceslices',
  scope: 'Cluster',
  versions: {
    v1: version({ schema: ResourceSlice, defaults }),
    v1beta2: version({ schema: v1beta2.ResourceSlice, defaults }),
    v1beta1: version<v1beta1.ResourceSlice, ResourceSlice>({
      schema: v1beta1.ResourceSlice,
      defaults({ spec }, env) {
        for (const { basic } of spec?.devices ?? []) if (basic !== undefined) fillDevice(basic, env);
      },
      toHub: sliceToHub,
      fromHub: sliceFromHub,
    }),
  },
  hub: 'v1',
  generation: true,
  deleteReturnsObject: true,
  strategy: {
    validate: (slice, errors, env) => validateSlice(slice, undefined, errors, env),
    validateUpdate(slice, old, errors, env) {
      metadataUpdateAgain(slice, old, errors, env);
      validateSlice(slice, old, errors, env);
    },
    warnings: ({ spec: { driver } }) =>
      driver === driver.toLowerCase()
        ? []
        : [`spec.driver: driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`],
  },
  fields: {
    'spec.nodeName': ({ spec }) => spec.nodeName ?? '',
    'spec.driver': ({ spec }) => spec.driver,
  },
  columns: [
    nameColumn,
    { name: 'Node', type: 'string', description: 'The node that has the devices, if they belong to one.' },
    { name: 'Driver', type: 'string', description: 'The driver that offers the devices.' },
    { name: 'Pool', type: 'string', description: 'The pool that the slice is a part of.' },
    ageColumn,
  ],
  cells: (slice, env) => [nameCell(slice), slice.spec.nodeName ?? '', slice.spec.driver, slice.spec.pool.name, ageCell(slice, env)],
});
