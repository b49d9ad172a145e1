/** `plat apply edit-last-applied`: opens what a client-side apply keeps in its annotation in an editor. */
import { isDeepStrictEqual } from 'node:util';
import { FlagError, text } from '@plat-dev/lib/flags';
import type { JsonObject } from '@plat-dev/schema/types';
import { parseYaml, stringifyYaml } from '@plat-dev/schema/yaml';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { EditedFile, withoutComments } from '../edit/editor.ts';
import { changeCause, commandLine, recordFlag, withAnnotations } from '../edit/record.ts';
import { FieldChecker } from '../objects/check-fields.ts';
import { fileFlags, namespaceFlag, resultFlags, validateFlag, windowsLineEndingsFlag } from '../objects/object-flags.ts';
import { checkTargets, findAllTargets } from '../objects/targets.ts';
import { goJson } from '../output/go-json.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { Results } from '../output/results.ts';
import { fieldManager } from '../program.ts';
import { withServer } from '../work.ts';
import { configurationText, lastAppliedOf } from './last-applied.ts';
import { setAnnotation } from './set-last-applied.ts';

const introduction = `# Please edit the 'last-applied-configuration' annotations below.
# Lines beginning with a '#' will be ignored, and an empty file will abort the edit.
#
`;

export const editLastApplied = command({
  usage: 'TYPE NAME… | TYPE/NAME… | -f FILE | -k DIR [flags]',
  summary: 'Edit what a client-side apply keeps in its annotation: plat apply edit-last-applied deployment/web',
  flags: {
    Objects: { ...fileFlags, namespace: namespaceFlag },
    Editing: {
      'field-manager': text('', 'Field manager for the annotation.', { value: 'NAME', defaultText: 'plat' }),
      'windows-line-endings': windowsLineEndingsFlag('Write the file with the line endings of Windows.'),
      record: recordFlag,
      validate: validateFlag,
    },
    Printing: resultFlags,
    Connecting: connectFlags,
  },
  more: `
Examples:
  plat apply edit-last-applied deployment/web
  plat apply edit-last-applied -f web.yaml -o json
  KUBE_EDITOR=nano plat apply edit-last-applied cm a
`,
  async run({ options, args, raw }, io) {
    checkTargets('apply edit-last-applied', args, options);
    if (options.output !== '' && !['json', 'yaml', 'name'].includes(options.output))
      throw new FlagError('edit prints -o yaml, json or name');
    return withServer(options, io, async (work) => {
      const results = new Results(io, { ...options, dryRun: 'none' });
      const cause = await changeCause(work, options.record, commandLine(io, 'apply edit-last-applied', args, raw));
      const fields = new FieldChecker(work, options.validate);
      const form = options.output === 'json' ? 'json' : 'yaml';
      let annotatedCount = 0;
      for (const ref of await findAllTargets(work, args, options)) {
        const applied = lastAppliedOf(await work.getNamed(ref));
        if (applied === undefined) continue;
        annotatedCount++;
        const file = await EditedFile.make(`${ref.resource.singularName}-${ref.name}.${form}`, io, options.windowsLineEndings);
        try {
          const text = form === 'json' ? `${goJson(applied, 4)}\n` : `${introduction}${stringifyYaml(applied)}`;
          const editedText = withoutComments(await file.edit(text));
          if (editedText.trim() === '') io.err('Edit cancelled, saved file was empty.\n');
          else if (editedText === withoutComments(text)) io.err('Edit cancelled, no changes made.\n');
          else {
            file.keep = true;
            const edited = withAnnotations(objectOf(editedText, file.path), cause);
            await fields.check(ref.resource, edited, 'edited-file');
            if (isDeepStrictEqual(edited, applied)) results.done(ref, 'skipped', edited as ApiItem);
            else {
              await setAnnotation(work, ref, configurationText(edited), false, fieldManager(io, 'apply', options.fieldManager));
              results.done(ref, 'edited', edited as ApiItem);
            }
            file.keep = false;
          }
        } finally {
          await file.close();
        }
      }
      if (annotatedCount === 0) {
        throw new Error(
          `no last-applied-configuration annotation found on resources, to create the annotation, use command \`${io.program} apply set-last-applied --create-annotation\``,
        );
      }
      return results.end();
    });
  },
});

function objectOf(text: string, path: string): JsonObject {
  try {
    const value = parseYaml(text, { single: true });
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch (error) {
    throw new Error(`The edited file had a syntax error: ${(error as Error).message}; your edits are kept in ${path}`);
  }
  throw new Error(`${path}: this is not an object; your edits are kept there`);
}
