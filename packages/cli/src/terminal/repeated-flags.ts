/** Flags of a command line that say which server is asked, as whom and where: commands that are named to the user repeat them. */
import { FlagError, type FlagTable, rawFlags } from '@plat-dev/lib/flags';
import { own } from '@plat-dev/lib/own';
import { shellWord } from './shell-word.ts';

/** Each text can be put behind a command: it is empty, or begins with a space. */
export interface RepeatedFlags {
  readonly server: string;
  /** `--as` and what belongs to it. */
  readonly impersonation: string;
  /** The user of `--as`. */
  readonly as: string | undefined;
  readonly namespace: string;
}
export const noFlags: RepeatedFlags = { server: '', impersonation: '', as: undefined, namespace: '' };

/** The same server, asked by the same user. */
export const sameCaller = ({ server, impersonation }: RepeatedFlags = noFlags): string => `${server}${impersonation}`;

/** A switch: its value stands in the same word. */
const INSECURE = 'insecure-skip-tls-verify';
/** Tokens and passwords are not repeated. */
const serverFlags = [
  'kubeconfig',
  'context',
  'cluster',
  'user',
  'server',
  'client-certificate',
  'client-key',
  'certificate-authority',
  'tls-server-name',
  INSECURE,
];
const impersonationFlags = ['as', 'as-group', 'as-uid'];

/** `flags`: those of the command. Nothing is repeated of a command line that is wrong. */
export function repeatedFlags(flags: FlagTable, args: readonly string[]): RepeatedFlags {
  const raw = valuesOf(flags, args);
  // A command's own flag of the same name has another meaning.
  const isGlobal = (name: string): boolean =>
    Object.values(flags).every((group) => own(group, name) === undefined || own(group, name)?.global === true);
  const valuesOfGlobal = (name: string): readonly string[] => (isGlobal(name) ? (raw.get(name) ?? []) : []);
  const words = (name: string): string =>
    (name === 'as-group' ? valuesOfGlobal(name) : valuesOfGlobal(name).slice(-1))
      .map((value) => (name === INSECURE ? ` --${name}=${value}` : ` --${name} ${shellWord(value)}`))
      .join('');
  return {
    server: serverFlags.map(words).join(''),
    impersonation: impersonationFlags.map(words).join(''),
    as: valuesOfGlobal('as').at(-1),
    namespace: words('namespace').replace('--namespace', '-n'),
  };
}
function valuesOf(flags: FlagTable, args: readonly string[]): ReadonlyMap<string, readonly string[]> {
  try {
    return rawFlags(flags, args).raw;
  } catch (error) {
    if (error instanceof FlagError) return new Map();
    throw error;
  }
}
