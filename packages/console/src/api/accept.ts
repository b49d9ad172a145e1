/** Forms of answers other than whole objects. */
import { metaGroups } from '@plat-dev/meta/identity';

/** Servers know the group of these forms under the name of their identity; those that do not know the form send whole objects. */
export const acceptAs = (form: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'): string =>
  [...metaGroups.map((group) => `application/json;as=${form};v=v1;g=${group}`), 'application/json'].join(',');
