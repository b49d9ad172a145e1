/** Owners and dependents as they change: the metadata of most kinds is watched, and that of the rest is read again and again. */
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { isAborted } from '../../api/api-error.ts';
import type { CollectionOptions } from '../../api/collection.ts';
import type { Kind } from '../../api/kinds.ts';
import { type KindObjects, SeveralKinds } from '../../api/several-kinds.ts';
import { usualKinds } from '../../api/usual-kinds.ts';
import { type Family, familyKinds, MOST_OF_A_KIND, readFamily } from './family.ts';

export interface LiveFamilyOptions extends Pick<CollectionOptions, 'api' | 'watches'> {
  readonly clock: Pick<Clock, 'after' | 'every'>;
  readonly kinds: readonly Kind[];
  readonly namespace: string | undefined;
}

/** A connection has 64 watches; other parts of the page need some. */
export const MOST_WATCHED = 40;
const REREAD_MILLIS = 30_000;

export class LiveFamily {
  /** Undefined until all kinds were read. */
  readonly family: ReadonlySignal<Family | undefined>;
  readonly #watched: SeveralKinds;
  readonly #rest: Signal<Family | undefined> = signal<Family | undefined>(undefined);
  readonly #abort = new AbortController();
  readonly #cancelRereads: Cancel | undefined;

  /** Follows until `close`. */
  constructor({ api, watches, clock, kinds, namespace }: LiveFamilyOptions) {
    const { watched, rest } = dividedKinds(familyKinds(kinds, namespace));
    const sets = watched.map((kind) => ({ kind, maximum: MOST_OF_A_KIND, isMetadataOnly: true }));
    this.#watched = new SeveralKinds({ api, watches, clock, namespace, sets });
    const reread = (): void => void this.#reread(readFamily(api, rest, namespace, this.#abort.signal));
    reread();
    if (rest.length > 0) this.#cancelRereads = clock.every(REREAD_MILLIS, reread);
    this.family = computed(() => {
      const content = this.#watched.content.value;
      return content === undefined || this.#rest.value === undefined ? undefined : joinedFamily(content, this.#rest.value);
    });
  }

  close(): void {
    this.#abort.abort();
    this.#cancelRereads?.();
    this.#watched.close();
  }

  async #reread(reading: Promise<Family>): Promise<void> {
    try {
      this.#rest.value = await reading;
    } catch (error) {
      if (!isAborted(error)) throw error;
    }
  }
}

function joinedFamily(watched: readonly KindObjects[], rest: Family): Family {
  const namesOf = (isMeant: (one: KindObjects) => boolean): string[] => watched.filter(isMeant).map(({ kind }) => kind.kind);
  return {
    objects: [...watched.flatMap(({ kind, objects }) => objects.map(({ metadata }) => ({ kind, metadata }))), ...rest.objects],
    unread: [...namesOf(({ isUnread }) => isUnread), ...rest.unread],
    truncated: [...namesOf(({ isTruncated }) => isTruncated), ...rest.truncated],
  };
}

/** Usual and custom kinds are watched first. */
function dividedKinds(kinds: readonly Kind[]): { readonly watched: readonly Kind[]; readonly rest: readonly Kind[] } {
  const ordered = [...new Set([...usualKinds(kinds, kinds.length), ...kinds])].filter(({ verbs }) => verbs.includes('watch'));
  const watched = ordered.slice(0, MOST_WATCHED);
  return { watched, rest: kinds.filter((kind) => !watched.includes(kind)) };
}
