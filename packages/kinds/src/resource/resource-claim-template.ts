/** Templates of claims, one of which is made for each pod that names the template. */

import type { FieldErrors } from '@plat-dev/meta/field';
import { Path } from '@plat-dev/meta/field';
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { type KindEnv, kind, version } from '../kind.ts';
import { immutable } from '../validation/field-checks.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { fillFlatRequests, templateFromHub, templateToHub } from './conversion.ts';
import { fillRequests, validateDeviceClaim } from './request-rules.ts';
import { ResourceClaimTemplate } from './schema/claims.ts';
import * as v1beta1 from './schema/v1beta1.ts';
import * as v1beta2 from './schema/v1beta2.ts';

const at = Path.of('spec');
const defaults = ({ spec }: ResourceClaimTemplate): void => fillRequests(spec.spec.devices);
const validate = ({ spec }: ResourceClaimTemplate, errors: FieldErrors, env: KindEnv): void =>
  validateDeviceClaim(spec.spec.devices, at.child('spec').child('devices'), errors, env);

export const ResourceClaimTemplateKind = kind<ResourceClaimTemplate>({
  group: 'resource',
  kind: 'ResourceClaimTemplate',
  plural: 'resourceclaimtemplates',
  scope: 'Namespaced',
  versions: {
    v1: version({ schema: ResourceClaimTemplate, defaults }),
    v1beta2: version({ schema: v1beta2.ResourceClaimTemplate, defaults }),
    v1beta1: version<v1beta1.ResourceClaimTemplate, ResourceClaimTemplate>({
      schema: v1beta1.ResourceClaimTemplate,
      defaults: ({ spec }) => fillFlatRequests(spec?.spec),
      toHub: templateToHub,
      fromHub: templateFromHub,
    }),
  },
  hub: 'v1',
  deleteReturnsObject: true,
  strategy: {
    validate,
    validateUpdate(template, old, errors, env) {
      metadataAgain(template, { namespaced: true }, errors, env);
      validate(template, errors, env);
      metadataUpdateAgain(template, old, errors, env);
      immutable(template.spec, old.spec, at, errors);
    },
  },
  columns: [nameColumn, ageColumn],
  cells: (template, env) => [nameCell(template), ageCell(template, env)],
});
