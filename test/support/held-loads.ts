/** A store whose large collections are not loaded before the test says so: as one that takes long to read. */
import type { Engine, RangeRequest } from '../../packages/storage/src/engine.ts';
import { storedText, storedValue } from '../../packages/storage/src/item.ts';
import { LOAD_CHUNK } from '../../packages/storage/src/loader.ts';

export interface HeldLoads {
  readonly wrap: (engine: Engine) => Engine;
  release(): void;
}

export function holdLoads(): HeldLoads {
  let release = (): void => {};
  const isOpen = new Promise<void>((resolve) => {
    release = resolve;
  });
  // A start reads from the first key on, and single objects and lists are not read in such pages.
  const isLoad = ({ prefix, limit, uncounted }: RangeRequest): boolean => prefix !== '' && limit === LOAD_CHUNK && uncounted === true;
  return {
    release: () => release(),
    wrap: (engine) =>
      new Proxy(engine, {
        get(target, name) {
          if (name === 'range')
            return async (request: RangeRequest) => {
              if (isLoad(request)) await isOpen;
              return target.range(request);
            };
          const value = Reflect.get(target, name, target) as unknown;
          return typeof value === 'function' ? value.bind(target) : value;
        },
      }),
  };
}

/** Adds copies of the object `one`, `copy0` and so on, each with a name, uid and label of its own. */
export async function multiply(engine: Engine, prefix: string, copies: number): Promise<void> {
  const entry = await engine.get(`${prefix}one`);
  const text = storedText(entry?.value as Buffer).toString();
  const { metadata } = JSON.parse(text) as { metadata: { uid: string } };
  const operations = Array.from({ length: copies }, (_, i) => {
    const uid = metadata.uid.replace(/^.{8}/, String(i).padStart(8, '0'));
    const copy = text.replaceAll(metadata.uid, uid).replaceAll('"one"', `"copy${i}"`);
    return { type: 'put' as const, key: `${prefix}copy${i}`, value: storedValue(copy, uid) };
  });
  // No more than etcd takes at a time.
  for (let from = 0; from < copies; from += 100) await engine.commit(operations.slice(from, from + 100));
}
