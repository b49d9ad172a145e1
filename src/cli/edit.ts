/** `plat edit`: opens an object in an editor, and opens it again with the error when the server refuses it. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unifiedDiff } from '../lib/diff.ts';
import { choice, type FlagValues, text } from '../lib/flags.ts';
import { ApiError } from '../meta/errors.ts';
import { DecodeError } from '../schema/errors.ts';
import type { JsonObject, JsonValue } from '../schema/types.ts';
import { parseYaml, stringifyYaml } from '../schema/yaml.ts';
import { FieldChecker } from './check-fields.ts';
import { command, type IO } from './command.ts';
import { connectFlags } from './connect.ts';
import { fileFlags, managerFlag, namespaceFlag, validateFlag } from './object-flags.ts';
import type { ApiItem } from './print-objects.ts';
import { Results } from './results.ts';
import { sameObject } from './same-object.ts';
import { checkTargets, findTargets } from './targets.ts';
import { type ObjectRef, shownName, type Work, withServer } from './work.ts';

const editFlags = {
  Objects: { ...fileFlags, namespace: namespaceFlag },
  Editing: {
    output: choice('yaml', ['yaml', 'json'], 'Format of the file.', { short: 'o' }),
    subresource: text('', 'Edit this subresource: status, scale.', { value: 'NAME' }),
    'field-manager': managerFlag,
    validate: validateFlag,
  },
  Connecting: connectFlags,
};
type EditOptions = FlagValues<typeof editFlags>;

export const edit = command({
  usage: 'TYPE NAME… | TYPE/NAME… | -f FILE [flags]',
  summary: 'Edit objects: plat edit deployment/web, EDITOR="code --wait" plat edit cm a',
  flags: editFlags,
  more: `
The editor is PLAT_EDITOR, else KUBE_EDITOR, EDITOR, or vi. Several objects are edited one after another. A file that is
unchanged or empty changes nothing.

Exit codes:
  0   all edits were stored
  1   some edits were not stored; their files are kept
  2   the command line is wrong
`,
  async run({ options, args }, io) {
    checkTargets('edit', args, options);
    return withServer(options, io, (work) => editAll(work, args, options));
  },
});

async function editAll(work: Work, args: readonly string[], options: EditOptions): Promise<number> {
  const results = new Results(work.io, { output: '', showManagedFields: false, dryRun: 'none' });
  for (const ref of await findTargets(work, args, options)) {
    try {
      await new Editing(work, ref, options, results).run();
    } catch (error) {
      results.failed(shownName(ref.resource, ref.name), error);
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
  /** The file has edits that are not stored yet. */
  private written = false;

  constructor(work: Work, ref: ObjectRef, options: EditOptions, results: Results) {
    this.work = work;
    this.ref = ref;
    this.options = options;
    this.results = results;
    this.fields = new FieldChecker(work, options.validate);
    this.subresource = options.subresource === '' ? undefined : options.subresource;
  }
  async run(): Promise<void> {
    const original = await this.current();
    const directory = await mkdtemp(join(tmpdir(), 'plat-edit-'));
    const file = join(directory, `${this.ref.resource.singularName}-${this.ref.name}.${this.options.output}`);
    try {
      await this.rounds(file, original);
      this.written = false;
    } catch (error) {
      if (!this.written || !(error instanceof Error)) throw error;
      throw new Error(`${error.message}\nYour edits are kept in ${file}`);
    } finally {
      if (!this.written) await rm(directory, { recursive: true, force: true });
    }
  }
  /** Opens the editor until the server accepts the result or the user gives up. */
  private async rounds(file: string, original: ApiItem): Promise<void> {
    let shown = `${introduction}${this.form(original)}`;
    let problem: { readonly error: Error; readonly moved: ApiItem | undefined } | undefined;
    let base = original;
    for (;;) {
      await writeFile(file, shown, { mode: 0o600 });
      await openEditor(file, this.work.io);
      const written = await readFile(file, 'utf8');
      const body = withoutComments(written);
      // After a conflict, saving the file unchanged sends it again.
      const untouched = body === withoutComments(shown) && problem?.moved === undefined;
      if (body.trim() === '' || untouched) {
        if (problem !== undefined) throw new Error(`edit canceled: ${problem.error.message}`);
        return void this.work.io.out(`${shownName(this.ref.resource, this.ref.name)} unchanged\n`);
      }
      this.written = true;
      try {
        return await this.store(this.parse(body, base), base);
      } catch (error) {
        problem = await this.problemOf(error, base);
        shown = `${introduction}${comment(problem.error.message)}${comment(this.whatMoved(base, problem.moved))}${this.rebased(body, problem.moved)}`;
        base = problem.moved ?? base;
      }
    }
  }
  private async current(): Promise<ApiItem> {
    const object = await this.work.get(this.ref, this.subresource);
    const { managedFields: _, ...metadata } = object.metadata ?? {};
    return { ...object, metadata };
  }
  private form(object: unknown): string {
    return this.options.output === 'json' ? `${JSON.stringify(object, undefined, 2)}\n` : stringifyYaml(object as JsonValue);
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
  private async store(object: ApiItem, base: ApiItem): Promise<void> {
    if (sameObject(object, base)) return void this.work.io.out(`${shownName(this.ref.resource, this.ref.name)} unchanged\n`);
    const { fieldManager, validate } = this.options;
    if (this.subresource === undefined) await this.fields.check(this.ref.resource, object).catch(asMistake);
    const query = { fieldManager, fieldValidation: validate };
    const sent = await this.work.send(this.ref, { method: 'PUT', subresource: this.subresource, body: object, query });
    this.results.done(this.ref, 'edited', sent.object);
  }
  /** Errors that an edit can fix go back to the editor; `moved` is the current object after a conflict. */
  private async problemOf(error: unknown, base: ApiItem): Promise<{ error: Error; moved: ApiItem | undefined }> {
    const fixable = error instanceof Mistake || error instanceof DecodeError || isRefusal(error);
    if (!fixable) throw error;
    if (!(error instanceof ApiError) || error.reason !== 'Conflict') return { error: error as Error, moved: undefined };
    const moved = await this.current();
    if (moved.metadata?.resourceVersion === base.metadata?.resourceVersion) return { error, moved: undefined };
    return { error: new Error('the object has changed on the server, as shown below; saving this file overwrites that'), moved };
  }
  private whatMoved(base: ApiItem, moved: ApiItem | undefined): string {
    return moved === undefined ? '' : unifiedDiff(this.form(base), this.form(moved), { before: 'as opened', after: 'current' });
  }
  /** The user's text, rebased onto the newer version. */
  private rebased(body: string, moved: ApiItem | undefined): string {
    if (moved === undefined) return body;
    const value = parseYaml(body) as { metadata?: JsonObject };
    return this.form({ ...value, metadata: { ...value.metadata, resourceVersion: moved.metadata?.resourceVersion } });
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
/** Removes only the comments at the head of the file, which this command wrote: a # within a value must stay. */
const withoutComments = (written: string): string => written.replace(/^(?:[ \t]*#.*(?:\r?\n|$)|[ \t]*\r?\n)*/, '');

function openEditor(file: string, io: IO): Promise<void> {
  const editor = io.env.PLAT_EDITOR || io.env.KUBE_EDITOR || io.env.EDITOR || 'vi';
  return new Promise((resolve, reject) => {
    const child = spawn(`${editor} ${JSON.stringify(file)}`, { shell: true, stdio: 'inherit', env: io.env as NodeJS.ProcessEnv });
    const failed = (why: string): void => reject(new Error(`the editor ${JSON.stringify(editor)} ${why}; set EDITOR to another`));
    child.on('error', (error) => failed(`cannot be started: ${error.message}`));
    child.on('close', (code) => (code === 0 ? resolve() : failed(`ended with ${code}`)));
  });
}
