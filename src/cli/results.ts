/** Results of commands: a message for each object that was changed, an error for each that was not. */
import { ApiError } from '../meta/errors.ts';
import type { IO } from './command.ts';
import { jsonPathTemplate } from './json-path-template.ts';
import { ManifestError } from './manifests.ts';
import type { DryRun } from './object-flags.ts';
import { type ApiItem, ObjectPrinter } from './print-objects.ts';
import { type ObjectRef, shownName } from './work.ts';

export interface ResultOptions {
  readonly output: string;
  readonly showManagedFields: boolean;
  readonly dryRun: DryRun;
}

export class Results {
  private readonly io: IO;
  private readonly options: ResultOptions;
  private readonly items: ApiItem[] = [];
  private failures = 0;

  constructor(io: IO, options: ResultOptions) {
    this.io = io;
    this.options = options;
  }
  /** `verb` in the past: `created`. */
  done(ref: Pick<ObjectRef, 'resource' | 'name'>, verb: string, object: ApiItem): void {
    const { output, dryRun } = this.options;
    if (output === 'name') this.io.out(`${shownName(ref.resource, ref.name)}\n`);
    else if (output !== '') this.items.push(object);
    else this.io.out(`${shownName(ref.resource, ref.name)} ${verb}${dryRun === 'none' ? '' : ` (${dryRun} dry run)`}\n`);
  }
  /** An error of one object does not stop the others; other errors end the command. */
  failed(what: string, error: unknown): void {
    if (!(error instanceof Error) || error.name === 'AbortError' || error.name === 'TransportError') throw error;
    this.failures++;
    const reason = error instanceof ApiError && error.reason !== '' ? ` (${error.reason})` : '';
    // An error of a manifest names its place already.
    const where = error instanceof ManifestError ? '' : `${what}: `;
    this.io.err(`plat: ${where}${error.message}${reason}\n`);
  }
  /** Prints the objects if -o was given; returns the exit code. */
  async end(): Promise<number> {
    const { output, showManagedFields } = this.options;
    if (this.items.length > 0) {
      if (output.startsWith('jsonpath=')) {
        const print = jsonPathTemplate(output.slice('jsonpath='.length));
        for (const item of this.items) this.io.out(print(item));
      } else {
        const printer = new ObjectPrinter(output as 'yaml' | 'json', showManagedFields);
        const [only] = this.items;
        this.io.out(this.items.length === 1 && only !== undefined ? await printer.one(only) : await printer.list(this.items));
      }
    }
    return this.failures > 0 ? 1 : 0;
  }
}
