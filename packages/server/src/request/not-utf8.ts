/** Text bodies that are not UTF-8: which field the error names. Loaded with the first such body. */
import { atOnce, inSlices, type Slices } from '@plat-dev/lib/slices';
import { type ApiError, badRequest } from '@plat-dev/meta/errors';
import { DecodeError } from '@plat-dev/schema/errors';
import { parsedJson, parseJson } from '@plat-dev/schema/json/parse';
import { NotUtf8, placeOfText } from '@plat-dev/schema/not-utf8';
import type { JsonValue } from '@plat-dev/schema/types';

/** The replacement character of invalid UTF-8. */
const REPLACEMENT = '\ufffd';

/** The error for a body that is not UTF-8. `slices` are given for a large one. Throws RequestEnded. */
export async function refuseNotUtf8(body: Buffer, media: 'json' | 'yaml', slices: Slices | undefined): Promise<ApiError> {
  let value: JsonValue;
  try {
    value = await parse(withoutOwnReplacements(body), media, slices);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return badRequest('the body is not valid UTF-8');
  }
  const search = placeOfText(value, (text) => text.includes(REPLACEMENT));
  return badRequest(new NotUtf8(slices === undefined ? atOnce(search) : await inSlices(search, slices)).message);
}

/** The body with replacement characters of its sender exchanged, so that the remaining ones mark invalid bytes. */
function withoutOwnReplacements(body: Buffer): Buffer {
  const bytes = body.toString('latin1').replaceAll('\xef\xbf\xbd', '\xee\x80\x80');
  return Buffer.from(bytes.replace(/\\ufffd/gi, '\\ue000'), 'latin1');
}

async function parse(body: Buffer, media: 'json' | 'yaml', slices: Slices | undefined): Promise<JsonValue> {
  if (slices !== undefined) await slices.pause();
  if (media === 'json') return slices === undefined ? parseJson(body) : inSlices(parsedJson(body), slices);
  const { parsedYaml } = await import('@plat-dev/schema/yaml');
  return slices === undefined ? atOnce(parsedYaml(body)) : inSlices(parsedYaml(body), slices);
}
