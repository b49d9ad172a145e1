/** Names, tags and digests of images. */
import type { JsonValue } from '@plat-dev/schema/types';
import { isMap, type Resource } from './resource.ts';

export interface ImageChange {
  readonly name: string;
  readonly newName?: string;
  readonly newTag?: string;
  readonly digest?: string;
}

/** Changes the images of all containers, wherever an object has them. */
export function changeImages({ object }: Resource, change: ImageChange): void {
  if (object.kind !== 'CustomResourceDefinition') walk(object, change);
}
function walk(value: JsonValue, change: ImageChange): void {
  if (Array.isArray(value)) for (const item of value) walk(item, change);
  if (!isMap(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    walk(inner, change);
    if ((key !== 'containers' && key !== 'initContainers') || !Array.isArray(inner)) continue;
    for (const container of inner)
      if (isMap(container) && typeof container.image === 'string') container.image = changedImage(container.image, change);
  }
}

/** `nginx:1.19` with a new tag `1.21` → `nginx:1.21`; unchanged if it has another name. */
export function changedImage(image: string, { name, newName = '', newTag = '', digest = '' }: ImageChange): string {
  const parts = splitImage(image);
  if (parts.name !== name || !/^[a-zA-Z0-9_.{}-]*$/.test(parts.tag) || !/^(?:sha256:[a-zA-Z0-9_.{}-]*)?$/.test(parts.digest)) return image;
  const isTagKept = newTag === '' && digest === '';
  const tag = isTagKept ? parts.tag : newTag;
  const hash = isTagKept ? parts.digest : digest;
  return `${newName || parts.name}${tag === '' ? '' : `:${tag}`}${hash === '' ? '' : `@${hash}`}`;
}
/** A colon before the first slash belongs to the port of a registry. */
function splitImage(image: string): { name: string; tag: string; digest: string } {
  const at = image.indexOf('@');
  const imageName = at === -1 ? image : image.slice(0, at);
  const colon = imageName.indexOf(':', Math.max(imageName.indexOf('/'), 0));
  return {
    name: colon === -1 ? imageName : imageName.slice(0, colon),
    tag: colon === -1 ? '' : imageName.slice(colon + 1),
    digest: at === -1 ? '' : image.slice(at + 1),
  };
}
