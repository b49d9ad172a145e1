/** The OpenAPI v2 document is assembled from parts, of which unchanged ones are reused. */
import { Slices } from '@plat-dev/lib/slices';
import type { JsonObject } from '@plat-dev/schema/types';
import { parsedText } from '../../registry/versions.ts';
import { binaryV2 } from './binary.ts';

/** Some entries of the paths, the definitions or the shared parameters, in both forms. */
export class Part {
  private readonly map: 'paths' | 'definitions' | 'parameters';
  /** JSON without the braces around it. */
  readonly bytes: Buffer;
  private other: Promise<Buffer> | undefined;

  constructor(map: 'paths' | 'definitions' | 'parameters', entries: string) {
    this.map = map;
    this.bytes = Buffer.from(entries);
  }
  binary(): Promise<Buffer> {
    this.other ??= mapIn([this]).then((map) => binaryV2({ [this.map]: map }));
    return this.other;
  }
}
const COMMA = Buffer.from(',');
/** The content of a map without its braces. */
export const joined = (parts: readonly Part[]): Buffer[] =>
  parts.filter(({ bytes }) => bytes.length > 0).flatMap(({ bytes }, i) => (i === 0 ? [bytes] : [COMMA, bytes]));
/** The map itself. */
export const mapIn = (parts: readonly Part[]): Promise<JsonObject> =>
  parsedText(Buffer.concat([Buffer.from('{'), ...joined(parts), Buffer.from('}')]), new Slices());
