/** apiregistration/v1beta1. */
import { type OlderVersions, sameFields } from '../older.ts';
import { APIServiceKind } from './api-service.ts';

export const olderAPIRegistration: readonly OlderVersions[] = [
  {
    group: 'apiregistration',
    plural: 'apiservices',
    versions: {
      v1beta1: sameFields(APIServiceKind, 'apiregistration.v1beta1'),
    },
  },
];
