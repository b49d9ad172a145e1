/** The module of each page; each is loaded when it is first shown. */
import type { ObjectReference } from '../api/kinds.ts';
import type { Load } from './lazy.tsx';
import type { ObjectTabProps } from './object-tab.ts';
import type { PageName } from './routes.ts';

export type PageProps = Record<string, never>;

export const pageModules: Readonly<Record<PageName, { readonly title: string; readonly load: Load<PageProps> }>> = {
  overview: { title: 'Overview', load: () => import('../pages/overview/index.tsx') },
  graph: { title: 'Graph', load: () => import('../pages/graph/index.tsx') },
  now: { title: 'Now', load: () => import('../pages/now/index.tsx') },
  access: { title: 'Access', load: () => import('../pages/access/index.tsx') },
  create: { title: 'Create', load: () => import('../pages/object/create/index.tsx') },
  nodes: { title: 'Nodes', load: () => import('../pages/nodes/index.tsx') },
};

/** The tabs of an object. `isFor`: of which kinds, all where it is left out. `key`: the key that opens it. */
export interface ObjectTab {
  readonly id: string;
  readonly title: string;
  readonly key?: string;
  readonly isFor?: (object: ObjectReference) => boolean;
  readonly load: Load<ObjectTabProps>;
}

const isPod = ({ kind }: ObjectReference): boolean => kind.group === '' && kind.resource === 'pods';

export const objectTabs: readonly ObjectTab[] = [
  { id: 'summary', title: 'Summary', load: () => import('../pages/object/summary/index.tsx') },
  { id: 'yaml', title: 'YAML', key: 'y', load: () => import('../pages/object/yaml/index.tsx') },
  { id: 'events', title: 'Events', load: () => import('../pages/object/events/index.tsx') },
  { id: 'tree', title: 'Tree', load: () => import('../pages/object/tree/index.tsx') },
  { id: 'owners', title: 'Field owners', load: () => import('../pages/object/owners/index.tsx') },
  { id: 'history', title: 'History', load: () => import('../pages/object/history/index.tsx') },
  { id: 'logs', title: 'Logs', key: 'l', isFor: isPod, load: () => import('../pages/logs/index.tsx') },
  { id: 'terminal', title: 'Terminal', key: 't', isFor: isPod, load: () => import('../pages/terminal/index.tsx') },
];
