/** flowcontrol/v1alpha1, and v1beta3 and v1, which came with releases 1.26 and 1.29. */
import { version } from '../kind.ts';
import { type OlderVersions, sameFields } from '../older.ts';
import { FlowSchemaKind } from './flow-schema.ts';
import { levelFromHub, levelToHub } from './lending.ts';
import { PriorityLevelConfigurationKind } from './priority-level-configuration.ts';
import * as v1beta3 from './schema/v1beta3.ts';

const group = 'flowcontrol.apiserver';

export const olderFlowControl: readonly OlderVersions[] = [
  {
    group,
    plural: 'flowschemas',
    versions: {
      v1: { schema: v1beta3.FlowSchemaV1 },
      v1beta3: { schema: v1beta3.FlowSchema },
      v1alpha1: sameFields(FlowSchemaKind, 'flowcontrol.v1alpha1'),
    },
  },
  {
    group,
    plural: 'prioritylevelconfigurations',
    versions: {
      v1: version({ schema: v1beta3.PriorityLevelConfigurationV1, toHub: levelToHub, fromHub: levelFromHub }),
      v1beta3: version({ schema: v1beta3.PriorityLevelConfiguration, toHub: levelToHub, fromHub: levelFromHub }),
      v1alpha1: sameFields(PriorityLevelConfigurationKind, 'flowcontrol.v1alpha1'),
    },
  },
];
