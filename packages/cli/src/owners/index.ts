/** `plat owners`: who owns which field of an object, and commands that repair it. */
import { choice } from '@plat-dev/lib/flags';
import { jsonText } from '@plat-dev/lib/json-text';
import type { ManagedFields } from '@plat-dev/patch';
import { ownedFields } from '@plat-dev/patch/owners';
import type { JsonValue } from '@plat-dev/schema/types';
import { type CommandEntry, command } from '../command.ts';
import { commandLines } from '../command-group.ts';
import { connectFlags } from '../connect.ts';
import { oneTarget } from '../get/arguments.ts';
import { masked } from '../get/mask-secret.ts';
import { namespaceFlag } from '../objects/object-flags.ts';
import { paintFor } from '../output/colours.ts';
import { page } from '../output/pager.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { shownName, withServer } from '../work.ts';
import { annotatedYaml } from './annotated-yaml.ts';

const commands: readonly CommandEntry[] = [
  {
    name: 'release',
    summary: 'Give up fields of a manager, or all that it owns.',
    load: async () => (await import('./repair.ts')).release,
  },
  {
    name: 'rename',
    summary: 'Give the fields of a manager to another name, or make updates of them applied ones.',
    load: async () => (await import('./repair.ts')).rename,
  },
  { name: 'take', summary: 'Make a manager the only owner of fields.', load: async () => (await import('./repair.ts')).take },
];

export const owners = command({
  usage: 'TYPE/NAME | TYPE NAME [flags]',
  summary: 'Show who owns the fields of an object.',
  commands,
  flags: {
    Selecting: { namespace: namespaceFlag },
    Printing: { output: choice('yaml', ['yaml', 'json'], 'Output format: the object as YAML, or a list of its fields.', { short: 'o' }) },
    Connecting: connectFlags,
  },
  more: `
Each field has its managers beside it, with the operation by which they own it and the time of their last change. Values of secrets are
not shown.

Commands that repair ownership:
${commandLines(commands)}

Examples:
  plat owners deployment/web
  plat owners deployment/web -o json
  plat owners take deployment/web .spec.replicas --manager plat
  plat owners release deployment/web --manager old-controller
  plat owners rename deployment/web kubectl-client-side-apply plat --as-apply
`,
  async run({ options, args }, io) {
    const { type, name } = oneTarget('owners', args);
    return withServer(options, io, async (work) => {
      const resource = await work.discovery.find(type);
      const object = await work.getNamed({ resource, namespace: resource.namespaced ? work.namespace : undefined, name });
      const { managedFields, ...metadata } = object.metadata ?? {};
      const shownObject = masked({ ...object, metadata }, undefined)[0] as ApiItem;
      const fields = ownedFields(managedFields as ManagedFields | undefined, shownObject as unknown as Record<string, unknown>);
      if (options.output === 'json') io.out(`${jsonText({ fields: fields.map(fieldJson) }, 4)}\n`);
      else await page(io, annotatedYaml(shownObject as unknown as JsonValue, fields, paintFor(io)));
      if (managedFields === undefined) io.err(`note: no managers are recorded for ${shownName(resource, name)}\n`);
      return 0;
    });
  },
});

function fieldJson({ field, pointer, owners: managers }: ReturnType<typeof ownedFields>[number]): object {
  const entries = managers.map(({ name, operation, apiVersion, subresource, time }) => ({
    manager: name,
    operation,
    apiVersion,
    ...(subresource !== '' && { subresource }),
    ...(time !== undefined && { time }),
  }));
  return { field, pointer, owners: entries };
}
