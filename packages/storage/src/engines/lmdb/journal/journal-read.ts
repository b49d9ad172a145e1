/**
 * Reads the journal of a server that did not end cleanly. A crash leaves at most the last frame incomplete: it was never acknowledged,
 * and is skipped. Everything else that cannot be read is damage, and is reported, never skipped:
 *
 *   frames 1 2 3 ~              the last write did not finish                        → 1 2 3
 *   frames 1 ~ 3                frame 2 was written, since 3 is there                → damage: frame 2
 *   frames 1 2 3 with a bit flipped in 3                                             → damage: frame 3
 *   a file that is shorter than it was created                                       → damage
 *   frames 1 ~ 3, and the tables have the revisions of 1 and 2                       → 3: nothing is missing
 *
 * A last frame with missing sectors cannot be distinguished from an incomplete write.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, flippedBit } from '../../../crc32.ts';
import type { PendingChange } from '../change.ts';
import { changesOf, FRAME_HEAD, type Frame, type Head, headWithFlippedBit, type Scan, scanFrames } from './frames.ts';
import { JOURNAL_BYTES, JOURNAL_FILES } from './journal.ts';

export interface JournalProblem {
  readonly file: string;
  readonly offset: number;
  /** Revisions that cannot be read; `to` may be unknown. */
  readonly from: number;
  readonly to: number | undefined;
  readonly message: string;
}

export interface JournalContent {
  /** Frames that continue where the tables end, without a gap. */
  readonly frames: readonly Frame[];
  readonly problems: readonly JournalProblem[];
  /** Intact frames behind a gap. */
  readonly beyond: readonly Frame[];
  /** The highest revision that any frame or head names. */
  readonly highest: number;
}

export class JournalDamage extends Error {
  readonly problems: readonly JournalProblem[];
  constructor(directory: string, problems: readonly JournalProblem[]) {
    const [first] = problems as [JournalProblem];
    const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
    super(
      `${first.message}${more}. Nothing was changed. "plat store verify --data-dir ${directory}" lists what is affected; ` +
        `restore the directory from a backup, or run "plat store repair --data-dir ${directory}", which keeps what can be read`,
    );
    this.name = 'JournalDamage';
    this.problems = problems;
  }
}

export const hasJournal = (directory: string): boolean => JOURNAL_FILES.some((name) => existsSync(join(directory, name)));

/**
 * Throws if journals exist and the store file that they belong to is missing: it is created before them, and they contain only
 * changes that were not in it yet.
 */
export function checkNotAlone(directory: string): void {
  const alone = JOURNAL_FILES.filter((name) => existsSync(join(directory, name)));
  if (alone.length === 0) return;
  throw new Error(
    `the store file store.mdb in ${directory} is missing or empty, and ${alone.join(' and ')}, which ${alone.length === 1 ? 'belongs' : 'belong'} to it, ${alone.length === 1 ? 'is' : 'are'} there with the writes of its last moments. Nothing was changed. Put store.mdb back next to them, or restore a backup with "plat store restore --force --data-dir ${directory}", which keeps them aside; to start empty, move them away`,
  );
}

/**
 * The problem if a server did not end cleanly and one of its files is missing: both exist from before its first write
 * until everything is in the tables, and either may hold the last commits. Undefined if both exist.
 */
export function missingFiles(directory: string): string | undefined {
  const missingJournals = JOURNAL_FILES.filter((name) => !existsSync(join(directory, name)));
  if (missingJournals.length === 0) return undefined;
  const files =
    missingJournals.length === JOURNAL_FILES.length
      ? 'the journal files it left are'
      : `the journal file ${missingJournals[0]} that it left is`;
  return `the last server did not end in order, and ${files} missing`;
}

/** The changes after a revision, oldest first. Throws JournalDamage. `old`: the files may be of the format before 3. */
export function readJournal(directory: string, after: number, old = false): PendingChange[] {
  const { frames, problems } = inspectJournal(directory, after, old);
  if (problems.length > 0) throw new JournalDamage(directory, problems);
  return frames.flatMap(changesOf).filter(({ version }) => version.revision > after);
}

export function inspectJournal(directory: string, after: number, old = false): JournalContent {
  const scans = JOURNAL_FILES.map((name) => join(directory, name))
    .filter((path) => existsSync(path))
    .map((path) => scanFrames(path, readFileSync(path)));
  return inspectScans(scans, after, old);
}

/** The same for parsed files; `old` also skips the check of their length. */
export function inspectScans(scans: readonly Scan[], after: number, old = false): JournalContent {
  const problems: JournalProblem[] = [];
  for (const { file, bytes, frames } of scans) {
    if (old || frames[0]?.old || bytes.length >= JOURNAL_BYTES) continue;
    problems.push({
      file,
      offset: bytes.length,
      from: after + 1,
      to: undefined,
      message: `the journal file ${file} was cut short: it has ${bytes.length} bytes instead of at least ${JOURNAL_BYTES}`,
    });
  }
  const framesInOrder = scans
    .flatMap(({ frames }) => frames)
    .filter(({ last }) => last > after)
    .sort((a, b) => a.first - b.first || a.last - b.last);
  const frames: Frame[] = [];
  let reached = after;
  let gap: number | undefined;
  for (const frame of framesInOrder) {
    const previousFrame = frames[frames.length - 1];
    if (previousFrame !== undefined && previousFrame.first === frame.first && previousFrame.sum === frame.sum) continue;
    const joins = frame.first === reached + 1 || (previousFrame === undefined && frame.first <= reached + 1);
    const chained = previousFrame === undefined || frame.previous === undefined || frame.previous === previousFrame.sum;
    if (!joins || !chained) {
      problems.push(missing(scans, reached, frame));
      gap = frames.length;
      break;
    }
    frames.push(frame);
    reached = frame.last;
  }
  if (gap === undefined) problems.push(...tailProblems(scans, reached));
  const beyond = gap === undefined ? [] : framesInOrder.filter(({ first }) => first > reached);
  const heads = [...framesInOrder, ...scans.flatMap(({ broken }) => broken)];
  return { frames, problems, beyond, highest: heads.reduce((highest, { last }) => Math.max(highest, last), after) };
}

/** The gap between a revision and the next readable frame. */
function missing(scans: readonly Scan[], reached: number, next: Frame): JournalProblem {
  const to = Math.max(reached + 1, next.first - 1);
  const revisions = to === reached + 1 ? `revision ${to} is` : `revisions ${reached + 1} to ${to} are`;
  const head = scans.flatMap(({ broken }) => broken).find(({ first }) => first === reached + 1);
  const { stops = [] } = scans.find(({ file }) => file === next.file) ?? {};
  const offset = head?.offset ?? stops.filter((stop) => stop < next.offset).pop();
  const file = head?.file ?? next.file;
  const where = offset === undefined ? `before byte ${next.offset}` : `at byte ${offset}`;
  return {
    file,
    offset: offset ?? next.offset,
    from: reached + 1,
    to,
    message: `the journal file ${file} is damaged ${where}: ${revisions} missing, and later ones are there`,
  };
}

/** Whether the data after the last frame is more than an incomplete write. */
function tailProblems(scans: readonly Scan[], reached: number): JournalProblem[] {
  const problems: JournalProblem[] = [];
  const report = ({ file, offset, last }: Head, what: string): void => {
    const message = `the journal file ${file} is damaged at byte ${offset}: ${what}`;
    problems.push({ file, offset, from: reached + 1, to: last, message });
  };
  for (const { file, bytes, broken, stops } of scans) {
    for (const head of broken) {
      if (head.last <= reached) continue;
      const body = bytes.subarray(head.offset + FRAME_HEAD, head.end);
      // A frame is begun when the one before it is durable.
      if (head.first > reached + 1) report(head, `revisions ${reached + 1} to ${head.last} cannot be read`);
      else if (head.end <= bytes.length && flippedBit(body.length, head.sum, crc32(body)) !== undefined)
        report(head, `a bit of revisions ${head.first} to ${head.last} is flipped`);
    }
    for (const stop of stops) {
      const head = headWithFlippedBit(file, bytes, stop);
      if (head !== undefined && head.last > reached)
        report(head, `a bit in the head of revisions ${head.first} to ${head.last} is flipped`);
    }
  }
  return problems;
}
