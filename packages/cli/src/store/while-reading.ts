/** Says how far a backup has been read. */
import { statSync } from 'node:fs';
import type { IO } from '../command.ts';
import { Progress } from '../terminal/progress.ts';

export async function whileReading<T>(io: IO, file: string, work: (file: string, read: (bytes: number) => void) => Promise<T>): Promise<T> {
  const progress = new Progress(io);
  const total = statSync(file, { throwIfNoEntry: false })?.size;
  return work(file, progress.bytes('reading', total)).finally(() => progress.clear());
}
