/** `plat apply set-last-applied`: sets the annotation of a client-side apply without any other change. */
import { bool, FlagError } from '@plat-dev/lib/flags';
import type { JsonObject } from '@plat-dev/schema/types';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { firstFaults, manifestsFrom, withNamespace } from '../objects/manifests.ts';
import { dryRunFlag, namespaceFlag, resultFlags, textFileFlags } from '../objects/object-flags.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { refOf } from '../objects/targets.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { Results } from '../output/results.ts';
import { fieldManager, reportFaults } from '../program.ts';
import { type Work, withServer } from '../work.ts';
import { configurationText, lastAppliedAnnotation, lastAppliedText } from './last-applied.ts';

export const setLastApplied = command({
  usage: '-f FILE|DIR|URL|- [flags]',
  summary: 'Set the annotation of a client-side apply to the content of files: plat apply set-last-applied -f web.yaml',
  flags: {
    Objects: { filename: textFileFlags.filename, namespace: namespaceFlag },
    Setting: {
      'create-annotation': bool(false, 'Set it also on objects that do not have it.'),
      'dry-run': dryRunFlag,
    },
    Printing: resultFlags,
    Connecting: connectFlags,
  },
  more: `
Examples:
  plat apply set-last-applied -f web.yaml
  plat apply set-last-applied -f manifests/ --create-annotation
  plat apply set-last-applied -f web.yaml --dry-run=server -o yaml
`,
  async run({ options, args }, io) {
    if (args.length > 0) throw new FlagError(`set-last-applied takes no arguments, but got ${JSON.stringify(args[0])}: name files with -f`);
    if (options.filename.length === 0) throw new FlagError('which objects? For example: plat apply set-last-applied -f web.yaml');
    const manifests = await manifestsFrom({ ...options, recursive: false }, io);
    return withServer(options, io, async (work) => {
      const results = new Results(io, options);
      const changes: { ref: ObjectRef; text: string; object: ApiItem }[] = [];
      // All are checked before any is changed.
      const faults = await firstFaults(manifests, async (manifest) => {
        const resource = await work.resourceOf(manifest);
        const ref = refOf(manifest, resource, work, options.namespace);
        const object = await work.getNamed(ref);
        const previousText = lastAppliedText(object);
        if (previousText === undefined && !options.createAnnotation) {
          throw new Error(
            `no last-applied-configuration annotation found on resource: ${ref.name}, to create the annotation, run the command with --create-annotation`,
          );
        }
        const text = configurationText(ref.namespace === undefined ? manifest.object : withNamespace(manifest.object, ref.namespace));
        if (previousText === text) io.out(`set-last-applied ${ref.name}: no changes required.\n`);
        else changes.push({ ref, text, object });
      });
      if (faults.length > 0) return reportFaults(faults, io);
      for (const { ref, text, object } of changes) {
        const after = options.dryRun === 'client' ? object : await setAnnotation(work, ref, text, options.dryRun === 'server');
        results.done(ref, 'configured', after);
      }
      return results.end();
    });
  },
});

export async function setAnnotation(work: Work, ref: ObjectRef, text: string, dryRun = false, manager?: string): Promise<ApiItem> {
  const body: JsonObject = { metadata: { annotations: { [lastAppliedAnnotation]: text } } };
  const query = { fieldManager: manager ?? fieldManager(work.io, 'apply'), dryRun: dryRun ? 'All' : undefined };
  return (await work.send(ref, { method: 'PATCH', body, contentType: 'application/merge-patch+json', query })).object;
}
