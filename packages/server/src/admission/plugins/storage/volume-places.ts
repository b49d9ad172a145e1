/**
 * Regions and zones of volumes, by the configuration of PersistentVolumeLabel:
 *
 *   apiVersion: apiserver.config.<pd>/v1
 *   kind: PersistentVolumeLabelConfiguration
 *   volumes: { vol-1: { region: eu, zone: eu-a } }   # by the handle of the volume at its provider
 *   zones: { eu-b: eu }                              # the region of a zone that the volume or its class names
 *   storageClassTopology: true                       # zones and region that the storage class allows
 */

import type { PersistentVolume } from '@plat-dev/kinds/core/schema/volumes/persistent-volumes';
import type { LiveSource, LiveView } from '@plat-dev/kinds/live-view';
import type { StorageClass } from '@plat-dev/kinds/storage/schema/v1';
import type { Wire } from '@plat-dev/kinds/wire';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { domainName, groupName, type Identity } from '@plat-dev/meta/identity';
import { checkType, object, refuseUnknown } from '../../configuration.ts';
import type { PluginConfiguration } from '../../plugin.ts';

/** Delimiter between the zones of a volume with several. */
export const ZONE_DELIMITER = '__';

export interface Place {
  readonly region?: string;
  /** One, or several with the delimiter between them. */
  readonly zone?: string;
}

type StorageClassObject = Wire<StorageClass>;

interface Tables {
  readonly volumes: ReadonlyMap<string, Place>;
  readonly zones: ReadonlyMap<string, string>;
  readonly classes: LiveView<StorageClassObject> | undefined;
}

const textOf = (value: unknown, what: string): string => {
  if (typeof value !== 'string' || value === '') throw new Error(`${what} must be a text that is not empty`);
  return value;
};

export function readPlaces(configuration: PluginConfiguration, identity: Identity, live: LiveSource): Tables {
  const value = checkType(configuration.value, 'PersistentVolumeLabelConfiguration', [
    joinApiVersion(groupName(identity, 'apiserver.config'), 'v1'),
  ]);
  refuseUnknown(value, ['apiVersion', 'kind', 'volumes', 'zones', 'storageClassTopology'], 'the configuration');
  const volumes = new Map<string, Place>();
  for (const [handle, entry] of Object.entries(object(value.volumes ?? {}, 'volumes'))) {
    const place = object(entry, `volumes[${handle}]`);
    refuseUnknown(place, ['region', 'zone'], `volumes[${handle}]`);
    volumes.set(handle, {
      region: textOf(place.region, `volumes[${handle}].region`),
      zone: textOf(place.zone, `volumes[${handle}].zone`),
    });
  }
  const zones = new Map<string, string>();
  for (const [zone, region] of Object.entries(object(value.zones ?? {}, 'zones'))) zones.set(zone, textOf(region, `zones[${zone}]`));
  const { storageClassTopology = false } = value;
  if (typeof storageClassTopology !== 'boolean') throw new Error('storageClassTopology must be true or false');
  if (volumes.size === 0 && zones.size === 0 && !storageClassTopology)
    throw new Error('one of volumes, zones and storageClassTopology is needed');
  return { volumes, zones, classes: storageClassTopology ? live<StorageClass>('storage', 'storageclasses') : undefined };
}

/** The handle of a volume at its provider. */
function handleOf({ spec }: PersistentVolume): string | undefined {
  return (
    spec.csi?.volumeHandle ??
    spec.awsElasticBlockStore?.volumeID ??
    spec.gcePersistentDisk?.pdName ??
    spec.azureDisk?.diskName ??
    spec.cinder?.volumeID ??
    spec.vsphereVolume?.volumePath
  );
}

/** The zones of a volume: by its handle, by the zone that it names, or by its class. Undefined if unknown. */
export function placeOf(volume: PersistentVolume, tables: Tables, identity: Identity): Place | undefined {
  const volumePlace = tables.volumes.get(handleOf(volume) ?? '');
  if (volumePlace !== undefined) return volumePlace;
  const zoneLabel = volume.metadata.labels?.[domainName(identity, 'zone', 'topology')];
  const region = zoneLabel === undefined ? undefined : regionOf(zoneLabel.split(ZONE_DELIMITER), tables);
  if (region !== undefined && zoneLabel !== undefined) return { region, zone: zoneLabel };
  return placeOfClass(tables.classes?.get('', volume.spec.storageClassName ?? ''), tables, identity);
}

function regionOf(zones: readonly string[], tables: Tables): string | undefined {
  const regions = new Set(zones.map((zone) => tables.zones.get(zone)));
  return regions.size === 1 ? [...regions][0] : undefined;
}

function placeOfClass(storageClass: StorageClassObject | undefined, tables: Tables, identity: Identity): Place | undefined {
  const values = (name: string): string[] => {
    const keys: string[] = [domainName(identity, name, 'topology'), domainName(identity, name, 'failure-domain.beta')];
    const expressions = (storageClass?.allowedTopologies ?? []).flatMap((term) => term.matchLabelExpressions ?? []);
    return [...new Set(expressions.filter(({ key }) => keys.includes(key)).flatMap((one) => one.values ?? []))].sort();
  };
  const [zones, regions] = [values('zone'), values('region')];
  const region = regions.length === 1 ? regions[0] : regionOf(zones, tables);
  if (zones.length === 0 && region === undefined) return undefined;
  return { ...(region !== undefined && { region }), ...(zones.length > 0 && { zone: zones.join(ZONE_DELIMITER) }) };
}
