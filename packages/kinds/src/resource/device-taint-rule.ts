/** Rules that taint devices: an administrator takes them out of use without their driver. */

import { ageAt } from '@plat-dev/meta/age';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { formatTime } from '@plat-dev/meta/time';
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { type KindEnv, kind, version } from '../kind.ts';
import { keepMetadata, status } from '../subresources.ts';
import { validateConditions } from '../validation/conditions.ts';
import { subdomain } from '../validation/field-checks.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { validateSelectors } from './device-selectors.ts';
import { stampTaint, validateTaint } from './device-taints.ts';
import { validateDriverName, validateLabel, validatePoolName } from './names.ts';
import { DeviceTaintRule, DeviceTaintRuleV1beta2, type DeviceTaintSelector } from './schema/device-taint-rule.ts';

const specAt = Path.of('spec');
const conditionsAt = Path.of('status', 'conditions');
const MAX_CONDITIONS = 8;
const defaults = ({ spec }: DeviceTaintRule, env: KindEnv): void => stampTaint(spec.taint, env);

function validateSelector(selector: DeviceTaintSelector, errors: FieldErrors, env: KindEnv): void {
  const at = specAt.child('deviceSelector');
  const { deviceClassName, driver, pool, device, selectors } = selector;
  if (deviceClassName !== undefined) subdomain(deviceClassName, at.child('deviceClassName'), errors);
  if (driver !== undefined) validateDriverName(driver, at.child('driver'), errors);
  if (pool !== undefined) validatePoolName(pool, at.child('pool'), errors);
  if (device !== undefined) validateLabel(device, at.child('device'), errors);
  validateSelectors(selectors, at.child('selectors'), errors, env);
}

function validate({ spec }: DeviceTaintRule, old: DeviceTaintRule | undefined, errors: FieldErrors, env: KindEnv): void {
  if (spec.deviceSelector !== undefined) validateSelector(spec.deviceSelector, errors, env);
  validateTaint(spec.taint, old?.spec.taint, specAt.child('taint'), errors, env);
}

export const DeviceTaintRuleKind = kind<DeviceTaintRule>({
  group: 'resource',
  kind: 'DeviceTaintRule',
  plural: 'devicetaintrules',
  scope: 'Cluster',
  versions: {
    v1beta2: version({ schema: DeviceTaintRuleV1beta2, defaults }),
    v1alpha3: version({ schema: DeviceTaintRule, defaults }),
  },
  hub: 'v1alpha3',
  generation: true,
  strategy: {
    prepareForCreate(rule, env) {
      if (env.since('1.35')) rule.status = {};
    },
    prepareForUpdate(rule, old, env) {
      rule.status = old.status;
      const { taint } = rule.spec;
      // The time is that of the effect, unless the client sets another one.
      if (taint.effect !== old.spec.taint.effect && taint.timeAdded === old.spec.taint.timeAdded) taint.timeAdded = formatTime(env.now());
    },
    validate: (rule, errors, env) => validate(rule, undefined, errors, env),
    validateUpdate(rule, old, errors, env) {
      metadataUpdateAgain(rule, old, errors, env);
      validate(rule, old, errors, env);
    },
    resetFields: [['status']],
  },
  subresources: {
    status: {
      ...status<DeviceTaintRule>({
        prepareForUpdate(rule, old) {
          keepMetadata(rule, old);
          rule.spec = old.spec;
        },
        validateUpdate(rule, old, errors, env) {
          metadataUpdateAgain(rule, old, errors, env);
          const { conditions = [] } = rule.status;
          validateConditions(conditions, conditionsAt, errors);
          if (conditions.length > MAX_CONDITIONS) errors.tooMany(conditionsAt, conditions.length, MAX_CONDITIONS);
        },
        resetFields: [['metadata'], ['spec']],
      }),
      since: '1.35',
    },
  },
  columns: [
    nameColumn,
    { name: 'Key', type: 'string', description: 'The key of the taint.' },
    { name: 'Value', type: 'string', description: 'The value of the taint.' },
    { name: 'Effect', type: 'string', description: 'What the taint does to claims that do not tolerate it.' },
    { name: 'TimeAdded', type: 'string', description: 'Since when the taint has its effect.' },
    ageColumn,
  ],
  cells(rule, env) {
    const { key, value = '', effect, timeAdded } = rule.spec.taint;
    const since = timeAdded === undefined ? '' : ageAt(env.now(), timeAdded);
    return [nameCell(rule), key, value, effect, since, ageCell(rule, env)];
  },
});
