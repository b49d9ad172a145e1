/** Token reviews as version 1beta1 shows them; webhooks still speak it. */
import type { Infer } from '../../../schema/types.ts';
import { inVersion } from '../../versions.ts';
import * as v1 from './v1.ts';

export const TokenReview = inVersion(v1.TokenReview, 'authentication.v1beta1');
export type TokenReview = Infer<typeof TokenReview>;
