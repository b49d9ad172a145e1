/** `plat diff TYPE/NAME --from … --to …`: what changed between two states of an object. */
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import type { IO } from '../command.ts';
import type { ConnectOptions } from '../connect.ts';
import { oneTarget } from '../get/arguments.ts';
import { page } from '../output/pager.ts';
import { shownName, withServer } from '../work.ts';
import { readMoment } from './moments.ts';
import { objectDiff } from './object-diff.ts';
import { stateAt } from './past-object.ts';
import type { PastObject } from './versions.ts';

interface Options extends ConnectOptions {
  readonly from: string;
  readonly to: string;
  readonly status: boolean;
}

/** 0: the states are the same, 1: they differ. */
export async function diffVersions(args: readonly string[], options: Options, io: IO): Promise<number> {
  const { type, name } = oneTarget('diff', args);
  const moments = { from: readMoment('from', options.from, io.clock.now()), to: readMoment('to', options.to, io.clock.now()) };
  return withServer(options, io, async (work) => {
    const resource = await work.discovery.find(type);
    const ref = { resource, namespace: resource.namespaced ? work.namespace : undefined, name };
    const from = await stateAt(work, ref, moments.from);
    const to = await stateAt(work, ref, moments.to);
    const shown = shownName(resource, name);
    const names = {
      before: `${from.version?.resourceVersion ?? options.from}/${shown}`,
      after: `${to.version?.resourceVersion ?? options.to}/${shown}`,
    };
    const isOutline = from.version?.withoutValues === true || to.version?.withoutValues === true;
    const compare = (part: (object: PastObject | undefined) => PastObject | undefined): string =>
      objectDiff(part(from.object), part(to.object), names);
    const text = compare(isOutline ? outline : options.status ? (object) => object : withoutStatus);
    await page(io, text);
    if (isOutline) io.err('note: values are not kept in history, and not compared\n');
    else if (text === '' && compare((object) => object) !== '') io.err('note: only the status is different; --status compares it\n');
    return text === '' ? 0 : 1;
  });
}

function withoutStatus(object: PastObject | undefined): PastObject | undefined {
  if (object === undefined) return undefined;
  const { status: _, ...rest } = object;
  return rest as PastObject;
}

/** As history has objects whose values it does not keep: names of annotations and of keys. */
function outline(object: PastObject | undefined): PastObject | undefined {
  if (object === undefined) return undefined;
  const { apiVersion, kind, metadata, type, data } = object;
  const blank = (fields: JsonValue | undefined): JsonObject =>
    Object.fromEntries(Object.keys((fields ?? {}) as JsonObject).map((key) => [key, '']));
  return {
    apiVersion: apiVersion as JsonValue,
    kind: kind as JsonValue,
    metadata: { ...metadata, ...(metadata.annotations !== undefined && { annotations: blank(metadata.annotations) }) },
    ...(type !== undefined && { type }),
    ...(data !== undefined && { data: blank(data) }),
  } as PastObject;
}
