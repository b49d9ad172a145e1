/** Claims to persistent volumes: those of pods, templates of stateful sets, and claims of their own. */
import { accessModesText } from '@plat-dev/kinds/core/access-modes';
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { PersistentVolumeClaim } from '@plat-dev/kinds/core/schema/volumes/persistent-volume-claims';
import type { ObjectMeta } from '@plat-dev/kinds/meta';
import { ageAt } from '@plat-dev/meta/age';
import { domainName, identities } from '@plat-dev/meta/identity';
import { builtIns } from './cluster.ts';
import type { Describer } from './describer.ts';
import type { Page } from './page.ts';
import { bracketed, type Described, longTime, type ReadForm } from './values.ts';

type Claim = Described<PersistentVolumeClaim>;
type ClaimPart = Pick<Claim, 'metadata' | 'spec' | 'status'>;

/** The annotation that named the class before there was a field for it. */
const classAnnotations = Object.values(identities).map((identity) => domainName(identity, 'storage-class', 'volume.beta'));
export function classOf({
  metadata,
  spec,
}: {
  readonly metadata: ReadForm<ObjectMeta>;
  readonly spec?: { readonly storageClassName?: string };
}): string {
  const annotation = classAnnotations.find((name) => metadata.annotations?.[name] !== undefined);
  return (annotation === undefined ? spec?.storageClassName : metadata.annotations?.[annotation]) ?? '';
}

/** `now` is undefined for the claim of a template, which has no state. */
export function writeClaim(page: Page, claim: ClaimPart, now: number | undefined): void {
  const { metadata, spec = {}, status = {} } = claim;
  const whole = now !== undefined;
  if (whole) page.field('Name', metadata.name).field('Namespace', metadata.namespace);
  page.field('StorageClass', classOf(claim));
  if (whole) page.field('Status', terminating(metadata.deletionTimestamp, now) ?? status.phase);
  page.field('Volume', spec.volumeName).labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations);
  if (whole) page.field('Finalizers', bracketed(metadata.finalizers));
  const bound = (spec.volumeName ?? '') !== '';
  page.field('Capacity', bound ? (status.capacity?.storage ?? '0') : '');
  page.field('Access Modes', bound ? accessModesText(status.accessModes) : '');
  page.fieldIfSet('VolumeMode', spec.volumeMode);
  if (spec.dataSource === undefined) return;
  const { apiGroup, kind, name } = spec.dataSource;
  const source = page.heading('DataSource').at(1);
  if (apiGroup !== undefined) source.field('APIGroup', apiGroup);
  source.field('Kind', kind).field('Name', name);
}
/** `Terminating (lasts 5m)` */
export const terminating = (deletion: string | undefined, now: number): string | undefined =>
  deletion === undefined ? undefined : `Terminating (lasts ${ageAt(now, deletion)})`;

export function writeClaimTemplates(page: Page, templates: readonly ReadForm<PersistentVolumeClaim>[] = []): void {
  if (templates.length === 0) {
    page.field('Volume Claims', '<none>');
    return;
  }
  page.heading('Volume Claims');
  for (const { metadata = {}, spec = {} } of templates) {
    page.at(1).field('Name', metadata.name).field('StorageClass', classOf({ metadata, spec }));
    page.labels('  Labels', metadata.labels).labels('  Annotations', metadata.annotations);
    const capacity = spec.resources?.requests?.storage ?? '<default>';
    page.at(1).field('Capacity', capacity).field('Access Modes', bracketed(spec.accessModes));
  }
}

export const describeClaim: Describer<PersistentVolumeClaim> = {
  async write(page, claim, cluster) {
    writeClaim(page, claim, cluster.now);
    const { name, namespace = '' } = claim.metadata;
    const pods = await cluster.list<Pod>(builtIns.pods, namespace);
    const users = pods.filter(({ spec }) => spec?.volumes?.some((volume) => volume.persistentVolumeClaim?.claimName === name));
    page.list('Used By', users.map(({ metadata }) => metadata.name ?? '').sort());
    const conditions = claim.status?.conditions ?? [];
    if (conditions.length === 0) return;
    page
      .heading('Conditions')
      .at(1)
      .table(
        ['Type', 'Status', 'LastProbeTime', 'LastTransitionTime', 'Reason', 'Message'],
        conditions.map((c) => [
          `${c.type} `,
          `${c.status} `,
          `${longTime(c.lastProbeTime)} `,
          `${longTime(c.lastTransitionTime)} `,
          `${c.reason ?? ''} `,
          c.message,
        ]),
        [4, 6, 17],
      );
  },
};
