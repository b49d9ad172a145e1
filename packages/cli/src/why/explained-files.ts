/** Questions about the objects of files, each of which is answered for itself. */
import { choice, FlagError, type FlagValues, text } from '@plat-dev/lib/flags';
import type { JsonObject } from '@plat-dev/schema/types';
import type { IO } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { findManifests, namesManifests, withNamespace } from '../objects/manifests.ts';
import { fileFlags, namespaceFlag } from '../objects/object-flags.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { refOf } from '../objects/targets.ts';
import { fieldManager } from '../program.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { type Work, withServer } from '../work.ts';
import { printAnswer } from './ask.ts';

export const explainedFileFlags = {
  Objects: { ...fileFlags, namespace: namespaceFlag },
  Asking: { 'field-manager': text('', 'Field manager of the apply.', { value: 'NAME', defaultText: 'plat' }) },
  Printing: { output: choice('text', ['text', 'json'], 'Output format.', { short: 'o' }) },
  Connecting: connectFlags,
};
type FileOptions = FlagValues<typeof explainedFileFlags>;

export interface ExplainedObject {
  readonly ref: ObjectRef;
  readonly object: JsonObject;
}

/** One question. */
interface FileQuestion<Explanation> {
  /** The words after `plat`. */
  readonly words: string;
  /** `manager`: who applies. */
  explain(work: Work, target: ExplainedObject, manager: string): Promise<Explanation>;
  text(explanation: Explanation, manager: string): string;
  /** Whether there is what was asked about. */
  holds(explanation: Explanation): boolean;
}

/** Exit code 0 if there is what was asked about in any of the objects. */
export async function explainFiles<Explanation>(
  args: readonly string[],
  options: FileOptions,
  io: IO,
  { words, explain, text: textOf, holds }: FileQuestion<Explanation>,
): Promise<number> {
  checkFiles(words, args, options);
  const manager = fieldManager(io, 'apply --server-side', options.fieldManager);
  return withServer(options, io, async (work) => {
    const objects: Explanation[] = [];
    for (const target of await explainedObjects(work, options)) objects.push(await explain(work, target, manager));
    await printAnswer(io, options.output, { objects }, () => objects.map((one) => textOf(one, manager)).join(''));
    return objects.some(holds) ? 0 : 1;
  });
}

function checkFiles(command: string, args: readonly string[], options: FileOptions): void {
  if (args.length > 0) throw new FlagError(`${command} takes no arguments, but got ${JSON.stringify(args[0])}: name files with -f`);
  if (!namesManifests(options)) throw new FlagError(`which objects? For example: plat ${command} -f web.yaml`);
}
/** Files that cannot be read are reported and left out. */
async function explainedObjects(work: Work, options: FileOptions): Promise<ExplainedObject[]> {
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
