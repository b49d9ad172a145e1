/** Reads the schema of a kind from the server's OpenAPI v3, which has a document for each group and version. */
import { own } from '@plat-dev/lib/own';
import type { Api } from '../../../api/api.ts';
import type { Kind } from '../../../api/kinds.ts';
import { type OpenApiDocument, rootSchema, type Schema } from './schema.ts';

interface Index {
  readonly paths?: Readonly<Record<string, { readonly serverRelativeURL?: string }>>;
}

/** Undefined where the server has none; an editor without a schema is still an editor. */
export async function readSchema(api: Api, kind: Kind, signal?: AbortSignal): Promise<Schema | undefined> {
  const options = signal === undefined ? {} : { signal };
  const place = kind.group === '' ? `api/${kind.version}` : `apis/${kind.group}/${kind.version}`;
  try {
    const { paths } = await api.json<Index>('/openapi/v3', options);
    const url = own(paths, place)?.serverRelativeURL;
    if (url === undefined || !url.startsWith('/openapi/')) return undefined;
    return rootSchema(await api.json<OpenApiDocument>(url, options), kind);
  } catch {
    return undefined;
  }
}
