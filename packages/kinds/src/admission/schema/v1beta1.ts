/** Admission reviews as version 1beta1 shows them: the same fields. */
import type { Infer } from '@plat-dev/schema/types';
import { inVersion } from '../../versions.ts';
import * as v1 from './v1.ts';

export const AdmissionReview = inVersion(v1.AdmissionReview, 'admission.v1beta1');
export type AdmissionReview = Infer<typeof AdmissionReview>;
