/** Colours on a terminal: off in files and pipes, with NO_COLOR, on a terminal without them, and as kubectl. */
import type { IO } from '../command.ts';
import { isStock } from '../program.ts';

export type Colour = 'green' | 'yellow' | 'red' | 'blue' | 'magenta' | 'cyan' | 'bold' | 'dim';

const codes: Readonly<Record<Colour, string>> = {
  green: '32',
  yellow: '33',
  red: '31',
  blue: '34',
  magenta: '35',
  cyan: '36',
  bold: '1',
  dim: '2',
};

/** Returns the text in a colour, or as it is. */
export type Paint = (text: string, colour: Colour | undefined) => string;

const coloured: Paint = (text, colour) => (colour === undefined || text === '' ? text : `\u001b[${codes[colour]}m${text}\u001b[0m`);
export const plain: Paint = (text) => text;

/** `NO_COLOR` counts when it is set to anything but an empty text (no-color.org). */
export function hasColours(io: Pick<IO, 'program' | 'env' | 'terminal'>): boolean {
  return !isStock(io) && io.terminal.size() !== undefined && !io.env.NO_COLOR && io.env.TERM !== 'dumb';
}
export const paintFor = (io: Pick<IO, 'program' | 'env' | 'terminal'>): Paint => (hasColours(io) ? coloured : plain);

const good =
  /^(Running|Active|Bound|Ready|Available|Complete|Completed|Succeeded|Established|True|Approved(,Issued)?|Healthy|Normal|Deployed|Issued)$/;
const waiting =
  /^(Pending|ContainerCreating|PodInitializing|Terminating|Progressing|Released|Suspended|Unknown|Scheduled|Waiting|Updating|Init:\d+\/\d+|Warning|Ready,SchedulingDisabled)$/;
const bad = /(Fail|Error|BackOff|Killed|Evicted|Lost|NotReady|Invalid|Denied|Unhealthy|Degraded|DeadlineExceeded|^False$|^Expired$)/;

/** The colour of a status: a phase, a condition or a count such as `1/3`; undefined for other texts. */
export function statusColour(text: string): Colour | undefined {
  if (good.test(text)) return 'green';
  if (waiting.test(text)) return 'yellow';
  const count = /^(\d+)\/(\d+)$/.exec(text);
  if (count !== null) return Number(count[1]) >= Number(count[2]) ? 'green' : 'yellow';
  return text.length <= 60 && bad.test(text) ? 'red' : undefined;
}

/** Columns of tables whose cells are coloured by their status. */
const statusColumns = /^(STATUS|READY|PHASE|TYPE|AVAILABLE|CONDITION|STATE|HEALTH|ESTABLISHED|SYNCED)$/;
export const cellColour = (column: string, cell: string): Colour | undefined =>
  statusColumns.test(column.toUpperCase()) ? statusColour(cell.trim()) : undefined;
