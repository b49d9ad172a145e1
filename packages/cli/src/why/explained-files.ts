/** The objects of files that a question is about. */
import type { FlagValues } from '@plat-dev/lib/flags';
import { FlagError, text } from '@plat-dev/lib/flags';
import type { JsonObject } from '@plat-dev/schema/types';
import { connectFlags } from '../connect.ts';
import { findManifests, namesManifests, withNamespace } from '../objects/manifests.ts';
import { fileFlags, namespaceFlag } from '../objects/object-flags.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { refOf } from '../objects/targets.ts';
import { shellWord } from '../terminal/shell-word.ts';
import type { Work } from '../work.ts';

export const explainedFileFlags = {
  Objects: { ...fileFlags, namespace: namespaceFlag },
  Asking: { 'field-manager': text('', 'Field manager of the apply.', { value: 'NAME', defaultText: 'plat' }) },
  Connecting: connectFlags,
};
type FileOptions = FlagValues<typeof explainedFileFlags>;

export interface ExplainedObject {
  readonly ref: ObjectRef;
  readonly object: JsonObject;
}

export function checkFiles(command: string, args: readonly string[], options: FileOptions): void {
  if (args.length > 0) throw new FlagError(`${command} takes no arguments, but got ${JSON.stringify(args[0])}: name files with -f`);
  if (!namesManifests(options)) throw new FlagError(`which objects? For example: plat ${command} -f web.yaml`);
}
/** Files that cannot be read are reported and left out. */
export async function explainedObjects(work: Work, options: FileOptions): Promise<ExplainedObject[]> {
  const { manifests, broken } = await findManifests(options, work.io);
  work.leaveOut(broken);
  return (await work.withResources(manifests)).map(([manifest, resource]) => {
    const ref = refOf(manifest, resource, work, options.namespace);
    return { ref, object: ref.namespace === undefined ? manifest.object : withNamespace(manifest.object, ref.namespace) };
  });
}
/** The flags that name the files, for commands that are proposed. */
export function fileArguments({ filename, kustomize, recursive }: FileOptions): string {
  const files = kustomize === '' ? filename.map((file) => `-f ${shellWord(file)}`) : [`-k ${shellWord(kustomize)}`];
  return [...(recursive ? ['-R'] : []), ...files].join(' ');
}
