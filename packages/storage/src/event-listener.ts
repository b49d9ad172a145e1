import type { CollectionEvent } from './recent-events.ts';

export type EventListener = (event: CollectionEvent) => void;
