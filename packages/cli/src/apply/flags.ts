import { bool, type FlagValues, optionalBool, repeated, text } from '@plat-dev/lib/flags';
import { connectFlags } from '../connect.ts';
import { recordFlag } from '../edit/record.ts';
import { deletingFlags } from '../objects/delete.ts';
import { dryRunFlag, fileFlags, namespaceFlag, resultFlags, validateFlag } from '../objects/object-flags.ts';

type Wait = 'false' | 'true' | 'ready';

const { cascade, 'grace-period': gracePeriod, timeout } = deletingFlags;

export const applyFlags = {
  Objects: {
    ...fileFlags,
    namespace: namespaceFlag,
    selector: text('', 'Apply, and prune, only objects that match this label selector.', { short: 'l', value: 'QUERY' }),
  },
  Applying: {
    'server-side': optionalBool('Let the server merge; false: compare with the last applied object on this side.', {
      defaultText: 'true; false as kubectl',
    }),
    'field-manager': text('', 'Field manager for the changed fields.', { value: 'NAME', defaultText: 'plat' }),
    'force-conflicts': bool(false, 'Take ownership of fields that conflict with other managers.'),
    overwrite: bool(true, 'Without --server-side: set fields that others changed since the last apply; false: refuse.', {
      defaultText: 'true',
    }),
    'openapi-patch': bool(true, 'Without --server-side: ask the server how to merge fields that this program does not know.', {
      defaultText: 'true',
    }),
    force: bool(false, 'Delete and create an object again if a change is refused, for example of an immutable field.'),
    'dry-run': dryRunFlag,
    record: recordFlag,
    // Most servers refuse unknown fields of a server-side apply in any case.
    validate: validateFlag,
  },
  'Pruning and waiting': {
    prune: bool(false, 'Delete objects that were applied before and are not in the files; needs --selector or --all.'),
    all: bool(false, 'Prune all objects, whatever their labels.'),
    'prune-whitelist': repeated<readonly string[]>(
      [],
      'Prune only this kind: core/v1/ConfigMap; may be repeated.',
      'GROUP/VERSION/KIND',
      (values) => values,
    ),
    cascade,
    'grace-period': gracePeriod,
    wait: {
      ...text('false', 'ready: wait until all objects are ready; true: wait until pruned objects are gone.', { value: 'ready|true' }),
      isSwitch: true,
      defaultText: '',
      read: (values: readonly string[]): string => {
        const value = values.at(-1) as string;
        if (['true', 'false', 'ready'].includes(value)) return value;
        throw new Error(`${JSON.stringify(value)} is not one of ready, true, false`);
      },
    },
    timeout: { ...timeout, help: 'Longest wait; 0 is unlimited.' },
  },
  Printing: resultFlags,
  Connecting: connectFlags,
};

type ApplyFlags = FlagValues<typeof applyFlags>;

export interface ApplyOptions extends Omit<ApplyFlags, 'serverSide' | 'wait'> {
  readonly serverSide: boolean;
  readonly wait: Wait;
}
