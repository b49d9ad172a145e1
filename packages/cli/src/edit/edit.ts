/** `plat edit`: opens an object in an editor, and opens it again with the error when the server refuses it. */

import { bool, FlagError, type FlagValues, text } from '@plat-dev/lib/flags';
import { jsonText } from '@plat-dev/lib/json-text';
import { ApiError } from '@plat-dev/meta/errors';
import type { JsonMap } from '@plat-dev/patch/strategic-lists';
import { twoWayPatch } from '@plat-dev/patch/three-way';
import { DecodeError } from '@plat-dev/schema/errors';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { parseYaml, stringifyYaml } from '@plat-dev/schema/yaml';
import { withLastApplied } from '../apply/last-applied.ts';
import { mergeSchemaOf } from '../apply/merge-schema.ts';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { targetsOf } from '../get/arguments.ts';
import { withObjectHint } from '../get/hints.ts';
import { FieldChecker } from '../objects/check-fields.ts';
import { fileFlags, namespaceFlag, resultFlags, validateFlag, windowsLineEndingsFlag } from '../objects/object-flags.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { checkTargets, findAllTargets } from '../objects/targets.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { Results } from '../output/results.ts';
import { fieldManager, isStock } from '../program.ts';
import { unifiedDiff } from '../text-diff.ts';
import { shownName, type Work, withServer } from '../work.ts';
import { EditedFile, withoutComments } from './editor.ts';
import { changeCause, commandLine, recordFlag, withAnnotations } from './record.ts';
import { sameObject } from './same-object.ts';

export { openEditor } from './editor.ts';

const editFlags = {
  Objects: { ...fileFlags, namespace: namespaceFlag },
  Editing: {
    subresource: text('', 'Edit this subresource: status, scale.', { value: 'NAME' }),
    'save-config': bool(false, 'Keep the edited object in the annotation of a client-side apply.'),
    'output-patch': bool(false, 'Print the patch that the edit makes.'),
    'windows-line-endings': windowsLineEndingsFlag('Write the file with the line endings of Windows.'),
    'field-manager': text('', 'Field manager for the changed fields.', { value: 'NAME', defaultText: 'plat' }),
    record: recordFlag,
    validate: validateFlag,
  },
  Printing: resultFlags,
  Connecting: connectFlags,
};
type EditOptions = FlagValues<typeof editFlags>;

export const edit = command({
  usage: 'TYPE NAME… | TYPE/NAME… | -f FILE | -k DIR [flags]',
  summary: 'Edit objects: plat edit deployment/web, EDITOR="code --wait" plat edit cm a',
  flags: editFlags,
  more: `
The editor is PLAT_EDITOR, else KUBE_EDITOR, EDITOR, or vi (Windows: notepad). Several objects are edited one after another, or in one file
if the program is called as kubectl. A file that is unchanged or empty changes nothing.

Examples:
  plat edit deployment/web -o json              as JSON
  plat edit svc web --output-patch              and print the patch
  plat edit deployment/web --subresource status

Exit codes:
  0   all edits were stored
  1   some edits were not stored; their files are kept
  2   the command line is wrong
`,
  async run({ options: flags, args, raw }, io) {
    // As kubectl a type without names means all of its objects.
    const all = isStock(io) && args.length > 0 && targetsOf(args, '').every(({ names }) => names.length === 0);
    checkTargets('edit', args, { ...flags, all });
    if (flags.output !== '' && !['json', 'yaml', 'name'].includes(flags.output)) throw new FlagError('edit prints -o yaml, json or name');
    const options = { ...flags, fieldManager: fieldManager(io, 'edit', flags.fieldManager) };
    return withServer(options, io, (work) => editAll(work, args, options, commandLine(io, 'edit', args, raw)));
  },
});

async function editAll(work: Work, args: readonly string[], options: EditOptions, line: string): Promise<number> {
  const results = new Results(work.io, { ...options, dryRun: 'none' });
  const cause = await changeCause(work, options.record, line);
  const refs = await findAllTargets(work, args, options);
  if (refs.length > 1 && isStock(work.io)) {
    const { editTogether } = await import('./edit-list.ts');
    const edits = refs.map((ref) => new Editing(work, ref, options, results, cause));
    await editTogether(edits, options, work.io);
    return results.end();
  }
  for (const ref of refs) {
    try {
      await new Editing(work, ref, options, results, cause).run();
    } catch (error) {
      results.failed(shownName(ref.resource, ref.name), await withObjectHint(work, error, ref));
    }
  }
  return results.end();
}

class Editing {
  private readonly work: Work;
  private readonly ref: ObjectRef;
  private readonly options: EditOptions;
  private readonly results: Results;
  private readonly subresource: string | undefined;
  private readonly fields: FieldChecker;
  private readonly form: 'yaml' | 'json';
  /** Annotations of --record. */
  private readonly cause: Readonly<Record<string, string>> | undefined;

  constructor(work: Work, ref: ObjectRef, options: EditOptions, results: Results, cause: Readonly<Record<string, string>> | undefined) {
    this.cause = cause;
    this.work = work;
    this.ref = ref;
    this.options = options;
    this.results = results;
    this.fields = new FieldChecker(work, options.validate);
    this.subresource = options.subresource === '' ? undefined : options.subresource;
    this.form = options.output === 'json' ? 'json' : 'yaml';
  }
  async run(): Promise<void> {
    const original = await this.current();
    const name = `${this.ref.resource.singularName}-${this.ref.name}.${this.form}`;
    const file = await EditedFile.make(name, this.work.io, this.options.windowsLineEndings);
    try {
      await this.rounds(file, original);
      file.keep = false;
    } catch (error) {
      if (!file.keep || !(error instanceof Error)) throw error;
      if (isStock(this.work.io)) {
        this.work.io.err(`A copy of your changes has been stored to ${JSON.stringify(file.path)}\n`);
        throw error;
      }
      throw new Error(`${error.message}\nYour edits are kept in ${file.path}`);
    } finally {
      await file.close();
    }
  }
  /** Opens the editor until the server accepts the result or the user gives up. */
  private async rounds(file: EditedFile, original: ApiItem): Promise<void> {
    const head = this.form === 'json' ? '' : introduction;
    let editorText = `${head}${this.text(original)}`;
    let problem: { readonly error: Error; readonly moved: ApiItem | undefined } | undefined;
    let base = original;
    for (;;) {
      const body = withoutComments(await file.edit(editorText));
      // After a conflict, saving the file unchanged sends it again.
      const untouched = body === withoutComments(editorText) && problem?.moved === undefined;
      if (problem !== undefined && (untouched || body.trim() === '')) throw this.canceled(problem.error);
      if (untouched || body.trim() === '') {
        return this.work.io.err(`Edit cancelled, ${untouched ? 'no changes made' : 'saved file was empty'}.\n`);
      }
      file.keep = true;
      try {
        return await this.store(this.parse(body, base), base);
      } catch (error) {
        problem = await this.problemOf(error, base);
        if (isStock(this.work.io)) this.work.io.err(this.refusalLine(problem.error));
        const notes = `${comment(problem.error.message)}${comment(this.whatMoved(base, problem.moved))}`;
        editorText = `${introduction}${notes}${this.rebased(body, problem.moved)}`;
        base = problem.moved ?? base;
      }
    }
  }
  private canceled(error: Error): Error {
    return new Error(isStock(this.work.io) ? 'Edit cancelled, no valid changes were saved.' : `edit canceled: ${error.message}`);
  }
  private refusalLine(error: Error): string {
    const { resource, name } = this.ref;
    const type = resource.group === '' ? resource.name : `${resource.name}.${resource.group}`;
    return error instanceof ApiError ? `error: ${type} ${JSON.stringify(name)} is invalid\n` : `error: ${error.message}\n`;
  }
  failed(error: unknown): void {
    this.results.failed(shownName(this.ref.resource, this.ref.name), error);
  }
  async current(): Promise<ApiItem> {
    const object = await this.work.get(this.ref, this.subresource);
    if (this.options.showManagedFields) return object;
    const { managedFields: _, ...metadata } = object.metadata ?? {};
    return { ...object, metadata };
  }
  private text(object: unknown): string {
    return this.form === 'json' ? `${jsonText(object, 4)}\n` : stringifyYaml(object as JsonValue);
  }
  private parse(body: string, base: ApiItem): ApiItem {
    const value = parseYaml(body, { single: true });
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Mistake('this is not an object');
    const { apiVersion, kind, metadata } = value as JsonObject;
    const { name } = (metadata ?? {}) as { name?: string };
    if (apiVersion !== base.apiVersion || kind !== base.kind || name !== base.metadata?.name) {
      throw new Mistake('apiVersion, kind and metadata.name identify the object and cannot be changed');
    }
    return value as ApiItem;
  }
  async store(edited: ApiItem, base: ApiItem): Promise<void> {
    const { io } = this.work;
    if (sameObject(edited, base)) return this.results.done(this.ref, 'skipped', edited);
    const { validate, outputPatch, saveConfig } = this.options;
    if (this.subresource === undefined) await this.fields.check(this.ref.resource, edited, 'edited-file').catch(asMistake);
    const recorded = withAnnotations(edited as unknown as JsonObject, this.cause) as unknown as ApiItem;
    const object = saveConfig ? withLastApplied(recorded) : recorded;
    const type = await mergeSchemaOf(this.work, this.ref.resource, object, false);
    const patch = twoWayPatch(type, base as unknown as JsonMap, object as unknown as JsonMap);
    if (outputPatch) io.out(`Patch: ${jsonText(patch)}\n`);
    const query = { fieldManager: this.options.fieldManager, fieldValidation: validate };
    // Called as kubectl, others may change other fields meanwhile; otherwise that is shown in the editor.
    const change = isStock(io)
      ? { method: 'PATCH' as const, body: patch, contentType: `application/${type === undefined ? '' : 'strategic-'}merge-patch+json` }
      : { method: 'PUT' as const, body: object };
    const response = await this.work.send(this.ref, { ...change, subresource: this.subresource, query });
    this.results.done(this.ref, 'edited', response.object);
  }
  /** Errors that an edit can fix go back to the editor; `moved` is the current object after a conflict. */
  private async problemOf(error: unknown, base: ApiItem): Promise<{ error: Error; moved: ApiItem | undefined }> {
    const fixable = error instanceof Mistake || error instanceof DecodeError || isRefusal(error);
    if (!fixable) throw error;
    if (!(error instanceof ApiError) || error.reason !== 'Conflict') return { error: error as Error, moved: undefined };
    const newest = await this.current();
    if (newest.metadata?.resourceVersion === base.metadata?.resourceVersion) return { error, moved: undefined };
    return { error: new Error('the object has changed on the server, as shown below; saving this file overwrites that'), moved: newest };
  }
  private whatMoved(base: ApiItem, newest: ApiItem | undefined): string {
    return newest === undefined ? '' : unifiedDiff(this.text(base), this.text(newest), { before: 'as opened', after: 'current' });
  }
  /** The user's text, rebased onto the newer version. */
  private rebased(body: string, newest: ApiItem | undefined): string {
    if (newest === undefined) return body;
    const value = parseYaml(body) as { metadata?: JsonObject };
    return this.text({ ...value, metadata: { ...value.metadata, resourceVersion: newest.metadata?.resourceVersion } });
  }
}

/** An error in the edited text. */
class Mistake extends Error {}
function asMistake(error: Error): never {
  throw error.name === 'Error' ? new Mistake(error.message) : error;
}

/** The server refused the object. */
const isRefusal = (error: unknown): boolean => error instanceof ApiError && [400, 403, 409, 422].includes(error.code);

const introduction = `# Edit the object below; lines that begin with # do not count. An empty file changes nothing.
# If it cannot be stored, this file is opened again with the reason.
`;
function comment(message: string): string {
  const lines = message.trimEnd();
  return lines === ''
    ? ''
    : `#\n${lines
        .split('\n')
        .map((line) => `# ${line}\n`)
        .join('')}`;
}
