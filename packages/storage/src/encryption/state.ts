/** Counts the stored values of encrypted collections by provider and key. */
import { groupName, type Identity } from '@plat-dev/meta/identity';
import type { EncryptedEngine } from './encrypted.ts';
import { storedFormOf } from './stored-form.ts';
import { isRefused, type Transformer } from './transformer.ts';

export interface CollectionState {
  /** `secrets`, `deployments.apps`, `widgets.example.com` */
  readonly resource: string;
  /** Objects encrypted with the current provider and key. */
  readonly current: number;
  /** Objects that a rewrite would encrypt with them. */
  readonly outdated: number;
  /** Objects that no key of the configuration decrypts. */
  readonly unreadable: number;
  readonly forms: readonly { readonly provider: string; readonly name: string; readonly objects: number }[];
}

const PAGE = 500;

export async function encryptionState(
  { sealed, rules }: Pick<EncryptedEngine, 'sealed' | 'rules'>,
  identity: Identity,
): Promise<CollectionState[]> {
  await rules.see(sealed);
  const states: CollectionState[] = [];
  for (const collection of rules.collections) {
    const transformer = rules.ofCollection(collection) as Transformer;
    const forms = new Map<string, { provider: string; name: string; objects: number }>();
    let [current, outdated, unreadable] = [0, 0, 0];
    let from: string | undefined;
    for (;;) {
      const page = await sealed.range({ prefix: collection, limit: PAGE, uncounted: true, ...(from !== undefined && { from }) });
      for (const { key, value } of page.entries) {
        const { provider, name } = storedFormOf(value) ?? { provider: 'identity', name: '' };
        const id = `${provider}:${name}`;
        const form = forms.get(id) ?? { provider, name, objects: 0 };
        form.objects++;
        forms.set(id, form);
        if (isRefused(await transformer.open(value, key))) unreadable++;
        else if (await transformer.isCurrent(value, key)) current++;
        else outdated++;
      }
      const last = page.entries.at(-1);
      if (!page.more || last === undefined) break;
      from = `${last.key}\u0000`;
    }
    states.push({ resource: resourceOf(collection, identity), current, outdated, unreadable, forms: [...forms.values()] });
  }
  return states;
}

/** `core/secrets/` → `secrets`; `networking/ingresses/` → `ingresses.networking.DOMAIN`; `~example.com/widgets/` → `widgets.example.com`. */
function resourceOf(collection: string, identity: Identity): string {
  const [base = '', plural = ''] = collection.split('/');
  if (base === 'core') return plural;
  return `${plural}.${base.startsWith('~') ? base.slice(1) : groupName(identity, base)}`;
}
