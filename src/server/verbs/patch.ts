/** patch: JSON patch, merge patch, strategic merge patch, apply. */
import type { ApiObject } from '../../kinds/kind.ts';
import { unsupportedMediaType } from '../../meta/errors.ts';
import type { Resource } from '../../registry/catalog.ts';
import type { MessageType } from '../../schema/types.ts';
import type { Context } from '../context.ts';
import type { WriteOptions } from '../options.ts';
import type { Services } from '../services.ts';

export function patchObject(_services: Services, _ctx: Context, _resource: Resource, _subresource = ''): Promise<void> {
  throw unsupportedMediaType([]);
}

export function patchedView(
  _services: Services,
  _ctx: Context,
  _schema: MessageType,
  _type: { apiVersion: string; kind: string },
): Promise<{ options: WriteOptions; patch: (current: ApiObject) => ApiObject }> {
  throw unsupportedMediaType([]);
}
