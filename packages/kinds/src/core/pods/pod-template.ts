/** Pod templates. */
import { Path } from '@plat-dev/meta/field';
import { nameCell } from '../../cells.ts';
import { nameColumn } from '../../columns.ts';
import { kind, type Strategy } from '../../kind.ts';
import { podWarnings } from '../../validation/pods/pod-warnings.ts';
import { validateTemplate } from '../../validation/pods/template.ts';
import { metadataUpdateAgain } from '../../validation/repeated-metadata.ts';
import { PodTemplate } from '../schema/pods/pod.ts';
import { podTemplateDefaults, syncServiceAccount } from './pod-defaults.ts';
import { podGates } from './pod-gates.ts';
import { containerCells, labelsCell } from './template-cells.ts';

const templateAt = Path.of('template');

const strategy: Strategy<PodTemplate> = {
  prepareForCreate: ({ template }) => syncServiceAccount(template.spec),
  prepareForUpdate: ({ template }) => syncServiceAccount(template.spec),
  validate: ({ template }, errors, env) => validateTemplate(template, templateAt, errors, env),
  *validateUpdate(object, old, errors, env) {
    metadataUpdateAgain(object, old, errors, env);
    yield* validateTemplate(object.template, templateAt, errors, env);
  },
  warnings: ({ metadata, template }, old, env) =>
    metadata.generation === old?.metadata.generation ? [] : podWarnings(template.metadata, template.spec, env, templateAt),
};

export const PodTemplateKind = kind<PodTemplate>({
  group: '',
  kind: 'PodTemplate',
  plural: 'podtemplates',
  scope: 'Namespaced',
  versions: { v1: { schema: PodTemplate, defaults: (object: PodTemplate, env) => podTemplateDefaults(object.template, env) } },
  hub: 'v1',
  generation: true,
  strategy,
  gated: podGates(({ template }) => template),
  deleteReturnsObject: true,
  columns: [
    nameColumn,
    { name: 'Containers', type: 'string', description: 'The names of the containers in the template.' },
    { name: 'Images', type: 'string', description: 'The images of the containers in the template.' },
    { name: 'Pod Labels', type: 'string', description: 'The labels that pods made from the template get.' },
  ],
  cells: (object) => [nameCell(object), ...containerCells(object.template), labelsCell(object.template.metadata.labels)],
});
