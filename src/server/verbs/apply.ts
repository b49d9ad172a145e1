/** apply: a patch that says what its manager wants, and nothing else. */
import type { ApiObject } from '../../kinds/kind.ts';
import { ApiError } from '../../meta/errors.ts';
import type { WriteContext } from '../../registry/context.ts';
import type { UpdateResult } from '../../registry/update.ts';
import type { MessageType } from '../../schema/types.ts';
import type { Context } from '../context.ts';
import type { WriteOptions } from '../options.ts';
import type { Services } from '../services.ts';

export function applyObject(
  _services: Services,
  _ctx: Context,
  _write: WriteContext,
  _options: WriteOptions,
  _body: Buffer,
): Promise<UpdateResult> {
  throw new ApiError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
}
export function viewApply(_schema: MessageType, _type: object, _body: Buffer): Promise<(current: ApiObject) => ApiObject> {
  throw new ApiError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
}
