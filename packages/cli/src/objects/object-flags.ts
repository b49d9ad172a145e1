/** Flags that commands about objects share. */
import { bool, type Flag, FlagError, flag, list, readChoice, text } from '@plat-dev/lib/flags';
import { readResultForm, resultFormNames } from '../output/print-forms.ts';

export const namespaceFlag = flag<string | undefined>(undefined, 'Namespace of the objects.', 'NAME', (t) => t, {
  short: 'n',
  defaultText: 'that of the context',
  global: true,
});

/** For commands that read texts rather than objects. */
export const textFileFlags = {
  filename: list([], 'File, directory or address with the objects, as YAML or JSON; - is the standard input.', {
    short: 'f',
    value: 'FILE|DIR|URL|-',
  }),
  recursive: bool(false, 'Read the directories of --filename recursively.', { short: 'R' }),
};
export const fileFlags = {
  ...textFileFlags,
  kustomize: text('', 'Directory with a kustomization that makes the objects; instead of -f.', { short: 'k', value: 'DIR' }),
};

export const selectFlags = {
  selector: text('', 'Label selector: app=web,tier!=test.', { short: 'l', value: 'QUERY' }),
  'field-selector': text('', 'Field selector: metadata.name=web.', { value: 'QUERY' }),
  all: bool(false, 'All objects of the type in the namespace.'),
  'all-namespaces': bool(false, 'In all namespaces, with --all or a selector.', { short: 'A' }),
};

export type DryRun = 'none' | 'client' | 'server';
/** `--dry-run` alone means the client's. */
export const dryRunFlag: Flag<DryRun> = {
  ...flag<DryRun>(
    'none',
    'client: only print what would be sent; server: let the server do everything except store it.',
    'none|client|server',
    (t) => (t === 'true' ? 'client' : readChoice(t, ['none', 'client', 'server'])),
  ),
  isSwitch: true,
};
/** Its default is decided by the command and the name of the program: `fieldManager` of program.ts. */
export const commandManagerFlag = text('', 'Field manager for the changed fields.', { value: 'NAME', defaultText: 'plat' });

/** `--validate` alone means strict. */
export const validateFlag: Flag<'Strict' | 'Warn' | 'Ignore'> = {
  ...flag<'Strict' | 'Warn' | 'Ignore'>(
    'Strict',
    'How to treat unknown fields: strict (refuse), warn, or ignore.',
    'strict|warn|ignore',
    readValidation,
    { defaultText: 'strict' },
  ),
  isSwitch: true,
};

const validations = { strict: 'Strict', true: 'Strict', warn: 'Warn', ignore: 'Ignore', false: 'Ignore' } as const;
function readValidation(value: string): 'Strict' | 'Warn' | 'Ignore' {
  try {
    return validations[readChoice(value, ['strict', 'warn', 'ignore', 'true', 'false'])];
  } catch (error) {
    throw new FlagError((error as Error).message, `error: invalid - validate option ${JSON.stringify(value)}`);
  }
}

/** Flags of templates, for all commands that print objects. */
export const templateFlags = {
  template: text('', 'Template, or the file with it, of -o go-template, jsonpath and custom-columns; alone it is a go-template.', {
    value: 'TEMPLATE',
  }),
  'allow-missing-template-keys': bool(true, 'Treat fields that an object does not have as empty; false: as errors.'),
  'show-managed-fields': bool(false, 'Keep managedFields in YAML and JSON.'),
};
export const resultFlags = {
  output: flag<string>('', 'Print the object instead of a message.', resultFormNames, readResultForm, { short: 'o' }),
  ...templateFlags,
};

/** As of the editors of the system. */
export const windowsLineEndingsFlag = (help: string, platform: NodeJS.Platform = process.platform): Flag<boolean> =>
  bool(platform === 'win32', help);
