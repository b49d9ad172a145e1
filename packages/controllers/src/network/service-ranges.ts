/**
 * Ranges of service addresses: those that are ready give out addresses. One that is deleted gives out none, and stays until no address
 * needs it.
 */
import { unlessGone } from '@plat-dev/client/http';
import type { IPAddress, ServiceCIDR } from '@plat-dev/kinds/networking/schema/service-addresses';
import type { Wire } from '@plat-dev/kinds/wire';
import { domainName, groupName, type Identity } from '@plat-dev/meta/identity';
import { type CIDR, cidrContains, parseCIDR, parseIP } from '@plat-dev/meta/ip';
import { formatTime, timeMillis } from '@plat-dev/meta/time';
import { builtin, type Controller } from '../runtime/controller.ts';

type ServiceRange = Wire<ServiceCIDR>;

/** How long servers may still give out addresses of a range that is being deleted. */
const GRACE_MS = 10_000;
const kind = { group: 'networking', plural: 'servicecidrs' } as const;

interface Condition {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}
const readyText = (identity: Identity): string => `${identity.word.replace(/^./, (letter) => letter.toUpperCase())} Service CIDR is ready`;
const blocked: Condition = {
  status: 'False',
  reason: 'Terminating',
  message: 'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
};

const cidrsOf = (range: ServiceRange): CIDR[] => (range.spec?.cidrs ?? []).flatMap((text) => parseCIDR(text) ?? []);
const contains = (outer: CIDR, inner: CIDR): boolean =>
  outer.family === inner.family && outer.bits <= inner.bits && cidrContains(outer, inner.first);

/** Whether all that the range gave out would still be in another one. */
function canGo(range: ServiceRange, others: readonly ServiceRange[], addresses: readonly string[]): boolean {
  const otherCidrs = others.flatMap(cidrsOf);
  const orphaned = cidrsOf(range).filter((inner) => !otherCidrs.some((outer) => contains(outer, inner)));
  return !addresses.some((address) => {
    const bytes = parseIP(address);
    if (bytes === undefined || !orphaned.some((cidr) => cidrContains(cidr, bytes))) return false;
    return !otherCidrs.some((cidr) => cidrContains(cidr, bytes));
  });
}

export const serviceRanges: Controller = {
  name: 'service-cidr-controller',
  account: 'service-cidrs-controller',
  needs: kind,
  start({ informers, queue, client, clock, identity }) {
    const ref = builtin(identity, kind.group, 'v1', kind.plural, false);
    const finalizer = `${groupName(identity, 'networking')}/service-cidr-finalizer`;
    const managedBy = domainName(identity, 'managed-by', 'ipaddress');
    const ranges = informers.of<ServiceRange>(ref);
    const addresses = informers.of<Wire<IPAddress>>(builtin(identity, kind.group, 'v1', 'ipaddresses', false), { metadataOnly: true });

    const setReady = async (range: ServiceRange, ready: Condition): Promise<void> => {
      const conditions = range.status?.conditions ?? [];
      const old = conditions.find(({ type }) => type === 'Ready');
      if (old?.status === ready.status && (old.reason ?? '') === ready.reason && old.message === ready.message) return;
      const next = { type: 'Ready', ...ready, lastTransitionTime: formatTime(clock.now()) };
      const status = { conditions: [...conditions.filter(({ type }) => type !== 'Ready'), next] };
      await client.patchBriefly(ref, '', range.metadata.name ?? '', { status }, 'status').catch(unlessGone);
    };
    const setFinalizers = async ({ metadata }: ServiceRange, finalizers: readonly string[]): Promise<void> => {
      const { name = '', resourceVersion } = metadata;
      await client.patchBriefly(ref, '', name, { metadata: { finalizers, resourceVersion } }).catch(unlessGone);
    };
    const end = async (range: ServiceRange, finalizers: readonly string[]): Promise<void> => {
      const { name = '', deletionTimestamp } = range.metadata;
      const given = [...addresses.list()].filter(({ metadata }) => metadata.labels?.[managedBy] !== undefined);
      const others = [...ranges.list()].filter(({ metadata }) => metadata.name !== name);
      if (
        !canGo(
          range,
          others,
          given.map(({ metadata }) => metadata.name ?? ''),
        )
      ) {
        await setReady(range, blocked);
        return;
      }
      const remaining = timeMillis(deletionTimestamp ?? '') + GRACE_MS - clock.now();
      if (remaining > 0) work.addAfter(name, remaining);
      else if (finalizers.includes(finalizer))
        await setFinalizers(
          range,
          finalizers.filter((one) => one !== finalizer),
        );
    };
    const work = queue(
      async (name) => {
        const range = ranges.get('', name);
        if (range === undefined) return;
        const { finalizers = [], deletionTimestamp } = range.metadata;
        if (deletionTimestamp !== undefined) await end(range, finalizers);
        else {
          if (!finalizers.includes(finalizer)) await setFinalizers(range, [...finalizers, finalizer]);
          await setReady(range, { status: 'True', reason: '', message: readyText(identity) });
        }
      },
      { after: [ranges.synced, addresses.synced] },
    );
    /** Ranges that are being deleted may go when an address goes, or when another range comes. */
    const retryDeleted = (): void => {
      for (const { metadata } of ranges.list()) if (metadata.deletionTimestamp !== undefined) work.add(metadata.name ?? '');
    };
    ranges.onChange(({ type, object }) => {
      if (type !== 'deleted') work.add(object.metadata.name ?? '');
      if (type === 'added') retryDeleted();
    });
    addresses.onChange(({ type }) => {
      if (type === 'deleted') retryDeleted();
    });
  },
};
