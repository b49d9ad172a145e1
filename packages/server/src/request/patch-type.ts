/** The kinds of patches, by their media types. */
import { own } from '@plat-dev/lib/own';
import { ApiError, unsupportedMediaType } from '@plat-dev/meta/errors';
import type { Context } from '../context.ts';

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

const types: Readonly<Record<string, PatchType>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

const customTypes = Object.entries(types).flatMap(([name, type]) => (type === 'strategic' ? [] : [name]));

/** Strategic merge needs a schema with merge keys, which custom kinds do not have. */
export function patchType(ctx: Context, custom: boolean): PatchType {
  const type = own(types, mediaType(ctx));
  if (custom && (type === undefined || type === 'strategic')) throw unsupportedMediaType(customTypes);
  if (type === undefined) throw new ApiError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
  return type;
}

export const isApply = (ctx: Context): boolean => own(types, mediaType(ctx)) === 'apply';

function mediaType(ctx: Context): string {
  const header = ctx.header('content-type') ?? '';
  const end = header.indexOf(';');
  return (end < 0 ? header : header.slice(0, end)).trim();
}
