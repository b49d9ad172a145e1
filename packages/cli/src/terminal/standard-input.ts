/** The standard input as a text, bounded as files of objects are. */
import { collected, textOf } from '../objects/manifests.ts';

const name = 'the standard input';

/** Throws ManifestError for too much of it, and for bytes that are no text. */
export const readStandardInput = async (input: AsyncIterable<Uint8Array>, most?: number): Promise<string> =>
  textOf(await collected(input, name, most), name);
