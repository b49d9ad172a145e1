/** The pod template of a workload. */
import type { PodTemplateSpec } from '@plat-dev/kinds/core/schema/pods/pod';
import { writeContainers } from './containers.ts';
import type { Page } from './page.ts';
import type { ReadForm } from './values.ts';
import { writeVolumes } from './volumes.ts';

export function writePodTemplate(page: Page, template: ReadForm<PodTemplateSpec> | undefined): void {
  page.heading('Pod Template');
  if (template === undefined) {
    page.at(1).write('<unset>');
    return;
  }
  const { metadata = {}, spec = {} } = template;
  const space = '  ';
  page.labels(`${space}Labels`, metadata.labels);
  if (Object.keys(metadata.annotations ?? {}).length > 0) page.annotations(`${space}Annotations`, metadata.annotations);
  page.at(1).fieldIfSet('Service Account', spec.serviceAccountName);
  const { initContainers = [], containers = [] } = spec;
  if (initContainers.length > 0) writeContainers(page, { title: 'Init Containers', containers: initContainers, space });
  writeContainers(page, { title: 'Containers', containers, space });
  writeVolumes(page, spec.volumes, space);
  page.at(1).fieldIfSet('Priority Class Name', spec.priorityClassName);
}
