/** Token reviews of version 1beta1, which webhooks may still use. */
import type { Infer } from '@plat-dev/schema/types';
import { inVersion } from '../../versions.ts';
import * as v1 from './v1.ts';

export const TokenReview = inVersion(v1.TokenReview, 'authentication.v1beta1');
export type TokenReview = Infer<typeof TokenReview>;
