/** `/`: the list of all paths. */
import type { ListedGroup } from '../extension/aggregation/order.ts';
import { send } from '../response/respond.ts';
import type { Endpoint } from './endpoint.ts';
import { compareText, type Groups } from './groups.ts';

/** `paths` are those of endpoints; the groups' own are added. */
export function rootEndpoint(groups: () => Groups, listGroups: () => readonly ListedGroup[], paths: () => Iterable<string>): Endpoint {
  return async (ctx) => {
    const all = new Set(paths());
    for (const group of groups().all) {
      for (const version of group.versions) all.add(version.path);
    }
    for (const { name, versions } of listGroups()) {
      all.add(`/apis/${name}`);
      for (const version of versions) all.add(`/apis/${name}/${version}`);
    }
    const text = JSON.stringify({ paths: [...all].sort(compareText) }, undefined, 2);
    send(ctx, 200, 'application/json', text);
  };
}
