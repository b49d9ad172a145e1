/** Labels that a node may not set on itself, so that it cannot attract pods that are meant for others. */
import { own } from '@plat-dev/lib/own';
import { domainName, type Identity, nodeAgentWord, type QualifiedName } from '@plat-dev/meta/identity';

interface Names {
  readonly restricted: string;
  /** Domains of which a node may only set listed labels. */
  readonly owned: readonly string[];
  /** Subdomains that belong to nodes. */
  readonly free: readonly string[];
  readonly allowed: ReadonlySet<string>;
}

const namesByIdentity = new WeakMap<Identity, Names>();

function namesOf(identity: Identity): Names {
  let names = namesByIdentity.get(identity);
  if (names === undefined) {
    const name = (text: string, prefix?: string): QualifiedName => domainName(identity, text, prefix);
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
    namesByIdentity.set(identity, names);
  }
  return names;
}

const within = (domain: string, parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`);

/** The changed labels that a node may not change itself, sorted. */
export function forbiddenLabels(identity: Identity, newLabels: Record<string, string>, old: Record<string, string>): string[] {
  const { restricted, owned, free, allowed } = namesOf(identity);
  const changed = [...new Set([...Object.keys(newLabels), ...Object.keys(old)])].filter((key) => own(newLabels, key) !== own(old, key));
  return changed
    .filter((key) => {
      const domain = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
      if (within(domain, restricted)) return true;
      if (!owned.some((one) => within(domain, one))) return false;
      return !allowed.has(key) && !free.some((one) => within(domain, one));
    })
    .sort();
}
