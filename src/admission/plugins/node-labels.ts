/** Labels of nodes that a node may not give itself, lest it drew pods that were meant for others. */
import { domainName, type Identity, nodeAgentWord } from '../../meta/identity.ts';

interface Names {
  readonly restricted: string;
  /** Domains of which a node may only set what is listed. */
  readonly owned: readonly string[];
  /** Domains within them that belong to nodes. */
  readonly free: readonly string[];
  readonly allowed: ReadonlySet<string>;
}

const made = new WeakMap<Identity, Names>();

function namesOf(identity: Identity): Names {
  let names = made.get(identity);
  if (names === undefined) {
    const name = (text: string, prefix?: string): string => domainName(identity, text, prefix);
    const domain = (prefix: string): string => `${prefix}.${identity.domain}`;
    names = {
      restricted: domain('node-restriction'),
      owned: [...new Set([identity.domain, identity.groupSuffix])],
      free: [domain(nodeAgentWord(identity)), domain('node')],
      allowed: new Set([
        name('hostname'),
        name('zone', 'topology'),
        name('region', 'topology'),
        name('zone', 'failure-domain.beta'),
        name('region', 'failure-domain.beta'),
        name('instance-type', 'node'),
        name('instance-type', 'beta'),
        name('os'),
        name('arch'),
        name('os', 'beta'),
        name('arch', 'beta'),
      ]),
    };
    made.set(identity, names);
  }
  return names;
}

const within = (domain: string, parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`);

/** The labels among those that change which a node may not change itself, sorted. */
export function forbiddenLabels(identity: Identity, wanted: Record<string, string>, old: Record<string, string>): string[] {
  const { restricted, owned, free, allowed } = namesOf(identity);
  const changed = [...new Set([...Object.keys(wanted), ...Object.keys(old)])].filter((key) => wanted[key] !== old[key]);
  return changed
    .filter((key) => {
      const domain = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
      if (within(domain, restricted)) return true;
      if (!owned.some((one) => within(domain, one))) return false;
      return !allowed.has(key) && !free.some((one) => within(domain, one));
    })
    .sort();
}
