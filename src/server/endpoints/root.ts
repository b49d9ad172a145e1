/** `/`: every path that leads somewhere. */
import { send } from '../respond.ts';
import type { Endpoint } from './endpoint.ts';
import { compareText, type Groups } from './groups.ts';

/** `paths` are those of endpoints; the groups' own are added. */
export function rootEndpoint(groups: () => Groups, paths: () => Iterable<string>): Endpoint {
  return (ctx) => {
    const all = new Set(paths());
    for (const group of groups().all) {
      if (group.name !== '') all.add(`/apis/${group.name}`);
      for (const version of group.versions) all.add(version.path);
    }
    const text = JSON.stringify({ paths: [...all].sort(compareText) }, undefined, 2);
    send(ctx, 200, 'application/json', text);
  };
}
