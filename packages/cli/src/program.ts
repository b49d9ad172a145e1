/**
 * What differs by the name that the program was called by: as `kubectl` it behaves as the stock client wherever scripts can
 * notice, as `plat` it may say more. Commands ask here and nowhere else.
 *
 *                        plat                             kubectl
 *   a failure            plat: pods "a" not found         Error from server (NotFound): pods "a" not found
 *   a wrong flag         exit code 2                      exit code 1
 *   field manager        plat                             kubectl-create, kubectl-client-side-apply, …
 *   configuration        a server that was named          KUBECONFIG, else ~/.kube/config
 */
import { ConfigError } from '@plat-dev/client/config';
import { UnknownKind } from '@plat-dev/client/discovery';
import { TransportError } from '@plat-dev/client/http';
import { fileErrorText } from '@plat-dev/lib/files/file-errors';
import { FlagError } from '@plat-dev/lib/flags';
import { own } from '@plat-dev/lib/own';
import { editDistance } from '@plat-dev/lib/suggest';
import { productVersion, stockRelease } from '@plat-dev/lib/version';
import { ApiError } from '@plat-dev/meta/errors';
import type { Failure, IO } from './command.ts';
import { whyHint } from './why/hint.ts';

type CalledProgram = Pick<IO, 'program' | 'repeatedFlags'>;

/** Whether defaults, output and errors are those of the stock client. */
export const isStock = ({ program }: CalledProgram): boolean => program === 'kubectl';

/** The name of the program in help, examples and messages. */
export const programName = ({ program }: CalledProgram): string => program;

/** `plat get pods` in texts that are written once for both names. */
export const asCalled = (text: string, { program }: CalledProgram): string =>
  program === 'plat' ? text : text.replace(/(^|[\s`(:])plat(?= [a-z-])/gm, `$1${program}`);

// ---- field managers ----------------------------------------------------------------------------------------------

/** Managers of the stock client, by command; the others send none, and the server takes the name of the program. */
const stockManagers = {
  annotate: 'kubectl-annotate',
  apply: 'kubectl-client-side-apply',
  'apply --server-side': 'kubectl',
  autoscale: 'kubectl-autoscale',
  create: 'kubectl-create',
  diff: 'kubectl-client-side-apply',
  edit: 'kubectl-edit',
  expose: 'kubectl-expose',
  label: 'kubectl-label',
  patch: 'kubectl-patch',
  replace: 'kubectl-replace',
  rollout: 'kubectl-rollout',
  run: 'kubectl-run',
  set: 'kubectl-set',
  taint: 'kubectl-taint',
} as const;
export type ManagingCommand = keyof typeof stockManagers;

/** The field manager of a command. `givenManager` is the value of --field-manager, '' where it was not given. */
export const fieldManager = (called: CalledProgram, command: ManagingCommand, givenManager = ''): string =>
  givenManager !== '' ? givenManager : isStock(called) ? stockManagers[command] : 'plat';

/** The server takes the part before the slash as the manager of requests that name none. */
export function userAgent(called: CalledProgram): string {
  const own = `plat/${productVersion}`;
  const machine = `(${process.platform}/${process.arch})`;
  return isStock(called) ? `kubectl/v${stockRelease} ${machine} ${own}` : `${own} ${machine}`;
}

// ---- failures ----------------------------------------------------------------------------------------------------

/** Whether an error is not one of a single object: with it there is nothing to go on with. */
export const endsCommand = (error: unknown): boolean =>
  !(error instanceof Error) || error.name === 'AbortError' || error.name === 'TransportError';

const isUsageError = (error: unknown): boolean => error instanceof FlagError || error instanceof ConfigError;

/** Exit code of a command that ended with an error. */
export const exitCodeOf = (error: unknown, called: CalledProgram): number => (isUsageError(error) && !isStock(called) ? 2 : 1);

/**
 * The line about a failure, with its end. `during` says what was done when it happened: `error when creating "web.yaml"`, or
 * which object it is about.
 */
export function errorLine(error: unknown, called: CalledProgram, during = ''): string {
  const text = isStock(called) ? stockError(error, during) : `plat: ${prefixed(during, ownError(error, called))}`;
  return text.endsWith('\n') ? text : `${text}\n`;
}
/** The lines about all failures of a command. The stock client begins an error with `error: ` only where there is no other. */
export function errorLines(failures: readonly Failure[], called: CalledProgram): string {
  const [first] = failures;
  const isList = failures.length > 1 || (first?.asList ?? (first?.error as StockText | undefined)?.asList) === true;
  return failures
    .map(({ error, during }) => {
      const line = errorLine(error, called, during);
      return isList && isStock(called) && !(error instanceof ApiError) ? line.replace(/^error: /, '') : line;
    })
    .join('');
}
/** Reports errors at which the stock client stops rather than going on: one alone is no list there. Returns the exit code. */
export function reportFaults(faults: readonly unknown[], io: Pick<IO, 'program' | 'fail'>): number {
  for (const error of faults) io.fail({ error, asList: false });
  return exitCodeOf(faults[0], io);
}
/** What the stock client says about an error. */
interface StockText {
  readonly stockText?: string;
  /** As in `Failure`. */
  readonly asList?: boolean;
}
/** The error with the line of the stock client about it, which scripts look for. */
export const withStockText = (error: Error, stockText: string, asList = false): Error => Object.assign(error, { stockText, asList });
/** A line that is no failure: a hint or a note. */
export const noteLine = (text: string, called: CalledProgram): string => `${isStock(called) ? '' : 'plat: '}${text}\n`;

const prefixed = (during: string, message: string): string => (during === '' ? message : `${during}: ${message}`);

function ownError(error: unknown, called: CalledProgram): string {
  if (error instanceof ApiError && error.code === 401) {
    return 'invalid, expired or revoked credentials: `plat config view --minify` shows which are sent (Unauthorized)';
  }
  if (error instanceof ApiError && error.reason !== '') return `${error.message} (${error.reason})${hintFor(error, called)}`;
  return messageOf(error);
}
/** What a message of the server means to someone who does not know that nothing runs pods here. */
const hints: readonly (readonly [RegExp, string])[] = [
  [/^no preferred addresses found; known addresses: \[\]/, 'the node of the pod has no address: no node agent runs there'],
  [/^pod \S+ does not have a host assigned/, 'the pod is on no node: no scheduler has placed it'],
];
function hintFor(error: ApiError, { repeatedFlags }: CalledProgram): string {
  const hint = whyHint(error, repeatedFlags) ?? hints.find(([pattern]) => pattern.test(error.message))?.[1];
  return hint === undefined ? '' : `; ${hint}`;
}
const messageOf = (error: unknown): string => fileErrorText(error) ?? (error instanceof Error ? error.message : String(error));

function stockError(error: unknown, during: string): string {
  // Errors that scripts know in the words of the stock client bring them along.
  const { stockText } = error as StockText;
  if (stockText !== undefined) return stockText;
  if (error instanceof ApiError) return statusError(error, during);
  if (error instanceof TransportError) return transportError(error);
  const message = prefixed(during, error instanceof UnknownKind ? unknownKind(error) : messageOf(error));
  return message.startsWith('error: ') ? message : `error: ${message}`;
}
/** The stock client's words about a kind that the server does not have. */
export const unknownKind = ({ kind, apiVersion }: Pick<UnknownKind, 'kind' | 'apiVersion'>): string =>
  `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`;

function statusError({ reason, message, details }: ApiError, during: string): string {
  if (reason === 'Unauthorized') return `error: You must be logged in to the server (${message})`;
  if (reason === 'Invalid' && details !== undefined) {
    const what = details.kind || details.name ? `The ${details.kind ?? ''} ${JSON.stringify(details.name ?? '')}` : 'The request';
    const causes = [...new Set((details.causes ?? []).map((cause) => `${cause.field ?? ''}: ${cause.message ?? ''}`))];
    if (causes.length === 0) return `${what} is invalid`;
    return causes.length === 1
      ? `${what} is invalid: ${causes[0]}`
      : `${what} is invalid: \n${causes.map((line) => `* ${line}`).join('\n')}`;
  }
  return `Error from server${reason === '' ? '' : ` (${reason})`}: ${prefixed(during, message)}`;
}
function transportError(error: TransportError): string {
  if (error.code === 'ECONNREFUSED' && error.server !== undefined) {
    return `The connection to the server ${new URL(error.server).host} was refused - did you specify the right host or port?`;
  }
  return `Unable to connect to the server: ${error.message}`;
}

// ---- unknown commands ----------------------------------------------------------------------------------------------

/** Commands of other tools that the stock client has its own name for. */
const otherNames: Readonly<Record<string, readonly string[]>> = { list: ['get', 'wait'], ps: ['get'], rm: ['delete'] };

/** What the stock client says about a command that it does not have. */
export function unknownCommand(name: string, names: readonly string[], called: CalledProgram): string {
  const givenName = name.toLowerCase();
  const near = names
    .filter((one) => one.startsWith(givenName) || own(otherNames, givenName)?.includes(one) || editDistance(givenName, one) <= 2)
    .sort();
  const question = near.length === 0 ? '' : `\n\nDid you mean this?\n${near.map((one) => `\t${one}\n`).join('')}`;
  return `unknown command ${JSON.stringify(name)} for "${programName(called)}"${question}`;
}
