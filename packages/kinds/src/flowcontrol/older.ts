/** flowcontrol/v1alpha1, and v1beta3, which came with release 1.26. */
import { type Strategy, version } from '../kind.ts';
import { type OlderVersions, ownParts, sameFields } from '../older.ts';
import { FlowSchemaKind } from './flow-schema.ts';
import { levelFromHub, levelToHub, validateLending } from './lending.ts';
import { PriorityLevelConfigurationKind } from './priority-level-configuration.ts';
import { validatePriorityLevel } from './priority-level-rules.ts';
import type { PriorityLevelConfiguration } from './schema/v1beta2.ts';
import * as v1beta3 from './schema/v1beta3.ts';
import { objectStrategy } from './status-rules.ts';

const group = 'flowcontrol.apiserver';

const rules = objectStrategy<PriorityLevelConfiguration>(validatePriorityLevel);
const lendingStrategy: Strategy<PriorityLevelConfiguration> = {
  ...rules,
  validate(level, errors, env, request) {
    rules.validate?.(level, errors, env, request);
    validateLending(level, errors, env);
  },
  validateUpdate(level, old, errors, env, request) {
    rules.validateUpdate?.(level, old, errors, env, request);
    validateLending(level, errors, env);
  },
};

export const olderFlowControl: readonly OlderVersions[] = [
  {
    group,
    plural: 'flowschemas',
    versions: {
      v1beta3: { schema: v1beta3.FlowSchema },
      v1alpha1: sameFields(FlowSchemaKind, 'flowcontrol.v1alpha1'),
    },
  },
  {
    group,
    plural: 'prioritylevelconfigurations',
    versions: {
      v1beta3: version({
        schema: v1beta3.PriorityLevelConfiguration,
        toHub: levelToHub,
        fromHub: levelFromHub,
        own: ownParts<PriorityLevelConfiguration>({ strategy: lendingStrategy }),
      }),
      v1alpha1: sameFields(PriorityLevelConfigurationKind, 'flowcontrol.v1alpha1'),
    },
  },
];
