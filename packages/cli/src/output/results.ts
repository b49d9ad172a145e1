/** Results of commands: a message for each object that was changed, an error for each that was not. */
import { FlagError } from '@plat-dev/lib/flags';
import type { IO } from '../command.ts';
import { ManifestError } from '../objects/manifests.ts';
import type { DryRun } from '../objects/object-flags.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { endsCommand, isStock } from '../program.ts';
import { shownName } from '../work.ts';
import { choosesForm, type FormOptions, type FormPrinter, formPrinter, type Printed, printBytes } from './print-forms.ts';
import type { ApiItem } from './print-objects.ts';

export interface ResultOptions extends FormOptions {
  readonly dryRun: DryRun;
}

/** What is behind the message of a dry run, as kubectl has it. */
const dryRunSuffix: Readonly<Record<DryRun, string>> = { none: '', client: ' (dry run)', server: ' (server dry run)' };

/** Make it before anything is changed: it throws FlagError for a template that is invalid or cannot be read. */
export class Results {
  private readonly io: IO;
  private readonly options: ResultOptions;
  private readonly printer: FormPrinter | undefined;
  /** Several objects are printed as one list at the end; otherwise each as it comes. */
  private readonly asList: boolean;
  private readonly items: Printed[] = [];
  private printing: Promise<void> = Promise.resolve();
  private failures = 0;

  constructor(io: IO, options: ResultOptions, { asList = false }: { readonly asList?: boolean } = {}) {
    this.io = io;
    this.options = options;
    this.asList = asList;
    this.printer = choosesForm(options) ? formPrinter(options, io) : undefined;
  }
  /** `verb` in the past: `created`. */
  done(ref: Pick<ObjectRef, 'resource' | 'name'>, verb: string, object: ApiItem): void {
    const { output, dryRun } = this.options;
    const { printer } = this;
    if (printer === undefined) this.io.out(`${shownName(ref.resource, ref.name)} ${verb}${dryRunSuffix[dryRun]}\n`);
    else if (output === 'name') this.io.out(`${shownName(ref.resource, ref.name)}\n`);
    else if (this.asList) this.items.push({ item: object, resource: ref.resource });
    else this.print(() => printer.one({ item: object, resource: ref.resource }));
  }
  /** Texts are printed in the order of these calls. */
  private print(text: () => Promise<string>): void {
    this.printing = this.printing.then(async () => printBytes(this.io, await text()));
    // An error is thrown by `end`.
    this.printing.catch(() => {});
  }
  /**
   * An error of one object does not stop the others; other errors end the command. `what` is the object, which the stock client
   * does not name with the error; `during` is what it says instead: `error when creating "web.yaml"`.
   */
  failed(what: string, error: unknown, during = ''): void {
    if (endsCommand(error)) throw error;
    this.failures++;
    // An error of a manifest names its place already.
    this.io.fail({ error, during: error instanceof ManifestError ? '' : isStock(this.io) ? during : what });
  }
  /** Changes one object after another: errors of one do not stop the others, wrong usage does. Returns the exit code. */
  async each(refs: readonly ObjectRef[], change: (ref: ObjectRef) => Promise<void>): Promise<number> {
    for (const ref of refs) {
      try {
        await change(ref);
      } catch (error) {
        if (error instanceof FlagError) throw error;
        this.failed(shownName(ref.resource, ref.name), error);
      }
    }
    return this.end();
  }
  /** Prints what is left of -o; returns the exit code. */
  async end(): Promise<number> {
    const { printer, items } = this;
    const [only] = items;
    if (printer !== undefined && only !== undefined) this.print(() => (items.length === 1 ? printer.one(only) : printer.list(items, {})));
    await this.printing;
    return this.failures > 0 ? 1 : 0;
  }
}
