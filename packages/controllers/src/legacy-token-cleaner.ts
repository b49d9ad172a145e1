/**
 * Removes tokens of service accounts that servers of earlier releases made without being asked, and that nobody uses:
 *
 *   unused for a year                             → marked invalid: the server refuses the token
 *   invalid and unused for another year           → deleted
 *   used again, or its mark removed in that time  → kept
 *
 * Tokens that people made are no business of it: those that their account does not name, and those that pods mount.
 */
import { unlessGone, unlessGoneOrReplaced } from '@plat-dev/client/http';
import { DAY_MS, dayOf, invalidSinceLabel, lastUsedLabel, readDay, TRACKED_SINCE } from '@plat-dev/kinds/core/legacy-tokens';
import type { ConfigMap, Secret, ServiceAccount } from '@plat-dev/kinds/core/schema/config';
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { Wire } from '@plat-dev/kinds/wire';
import { own } from '@plat-dev/lib/own';
import { domainName, tokenTrackingConfigMap } from '@plat-dev/meta/identity';
import { timeMillis } from '@plat-dev/meta/time';
import { type Controller, refs } from './runtime/controller.ts';

/** How long a token is unused before it is marked, and marked before it is deleted. */
export const CLEAN_UP_MS = 365 * DAY_MS;
/** How often all of them are looked at. */
const PERIOD_MS = DAY_MS;

type SecretObject = Wire<Secret>;

/** What is to be done with a token that nobody mounts. `unusedBefore`: the first day on which use counts. */
export function verdictOf(
  labels: { readonly lastUsed: string | undefined; readonly invalidSince: string | undefined },
  createdMillis: number,
  now: number,
): 'keep' | 'mark' | 'delete' {
  const limit = now - CLEAN_UP_MS;
  const firstDay = readDay(dayOf(limit)) as number;
  const lastUsed = readDay(labels.lastUsed);
  if (createdMillis >= limit || (lastUsed !== undefined && lastUsed >= firstDay)) return 'keep';
  const invalidSince = readDay(labels.invalidSince);
  if (invalidSince === undefined) return 'mark';
  return invalidSince >= firstDay ? 'keep' : 'delete';
}

/** Names of Secrets that a pod mounts. */
const mountedBy = ({ metadata, spec }: Wire<Pod>): string[] =>
  (spec?.volumes ?? []).flatMap(({ secret }) => (secret?.secretName === undefined ? [] : [`${metadata.namespace}/${secret.secretName}`]));

export const legacyTokenCleaner: Controller = {
  name: 'legacy-serviceaccount-token-cleaner',
  account: 'legacy-service-account-token-cleaner',
  start({ informers, queue, client, identity, clock, log }) {
    const { system } = identity.namespaces;
    const type = domainName(identity, 'service-account-token');
    const nameAnnotation = domainName(identity, 'service-account.name');
    const uidAnnotation = domainName(identity, 'service-account.uid');
    const [lastUsed, invalidSince] = [lastUsedLabel(identity), invalidSinceLabel(identity)];
    const secrets = informers.of<SecretObject>(refs.secrets, { fieldSelector: `type=${type}` });
    const accounts = informers.of<Wire<ServiceAccount>>(refs.serviceAccounts);
    const pods = informers.of<Wire<Pod>>(refs.pods);

    /** Only what the server itself made is named by its account. */
    const isGenerated = ({ metadata }: SecretObject): boolean => {
      const account = accounts.get(metadata.namespace ?? '', own(metadata.annotations, nameAnnotation) ?? '');
      const uid = own(metadata.annotations, uidAnnotation);
      return account !== undefined && uid === account.metadata.uid && (account.secrets ?? []).some(({ name }) => name === metadata.name);
    };
    const settle = async (secret: SecretObject): Promise<void> => {
      const { namespace = '', name = '', uid = '', resourceVersion = '', labels, creationTimestamp } = secret.metadata;
      const marks = { lastUsed: own(labels, lastUsed), invalidSince: own(labels, invalidSince) };
      const verdict = verdictOf(marks, timeMillis(creationTimestamp as string), clock.now());
      if (verdict === 'keep') return;
      log.info(verdict === 'mark' ? 'unused service account token marked invalid' : 'unused service account token deleted', {
        namespace,
        secret: name,
      });
      if (verdict === 'delete')
        await client.delete(refs.secrets, namespace, name, { preconditions: { uid, resourceVersion } }).catch(unlessGoneOrReplaced);
      else {
        const marked = { metadata: { uid, resourceVersion, labels: { [invalidSince]: dayOf(clock.now()) } } };
        await client.patch(refs.secrets, namespace, name, marked).catch(unlessGone);
      }
    };
    const work = queue(
      async () => {
        const map = await client.find<Wire<ConfigMap>>(refs.configMaps, system, tokenTrackingConfigMap(identity));
        const since = readDay(own(map?.data, TRACKED_SINCE));
        // Use is noted since some time of that day.
        if (since !== undefined && clock.now() >= since + DAY_MS + CLEAN_UP_MS) {
          const mounted = new Set([...pods.list()].flatMap(mountedBy));
          for (const secret of secrets.list()) {
            const { namespace, name, deletionTimestamp } = secret.metadata;
            if (deletionTimestamp === undefined && !mounted.has(`${namespace}/${name}`) && isGenerated(secret)) await settle(secret);
          }
        }
        return PERIOD_MS;
      },
      { after: [secrets.synced, accounts.synced, pods.synced] },
    );
    work.add('all');
  },
};
