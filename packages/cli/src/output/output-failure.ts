/** Output that cannot be written: a full disk, or a reader that went away. */
import { fileErrorText } from '@plat-dev/lib/files/file-errors';

export interface OutputFailure {
  readonly code: number;
  /** Empty if there is nothing to say. */
  readonly message: string;
}

/** A reader may close the output when it has enough, as `head` does; anything else is a failure: what was printed is not there. */
export function outputFailure(error: NodeJS.ErrnoException, code: number): OutputFailure {
  if (error.code === 'EPIPE') return { code, message: '' };
  return { code: code === 0 ? 1 : code, message: `the output could not be written: ${fileErrorText(error) ?? error.message}` };
}
