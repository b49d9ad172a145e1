/** authorization/v1beta1. */
import { type KindVersion, version } from '../kind.ts';
import { type OlderVersions, sameFields } from '../older.ts';
import type * as v1 from './schema/v1.ts';
import * as v1beta1 from './schema/v1beta1.ts';
import { SelfSubjectAccessReviewKind } from './self-subject-access-review.ts';
import { SelfSubjectRulesReviewKind } from './self-subject-rules-review.ts';

/** The groups of the subject: `spec.group` in version 1beta1, `spec.groups` in version 1. */
const ofSubject = (schema: KindVersion['schema']): KindVersion =>
  version<v1beta1.SubjectAccessReview, v1.SubjectAccessReview>({
    schema,
    toHub({ spec: older, ...review }) {
      const { group, ...spec } = older ?? {};
      return { ...review, spec: { ...spec, ...(group !== undefined && { groups: group }) } };
    },
    fromHub: ({ spec: { groups, ...spec }, ...review }) => ({
      ...review,
      spec: { ...spec, ...(groups !== undefined && { group: groups }) },
    }),
  });

export const olderAuthorization: readonly OlderVersions[] = [
  {
    group: 'authorization',
    plural: 'localsubjectaccessreviews',
    versions: { v1beta1: ofSubject(v1beta1.LocalSubjectAccessReview) },
  },
  {
    group: 'authorization',
    plural: 'selfsubjectaccessreviews',
    versions: { v1beta1: sameFields(SelfSubjectAccessReviewKind, 'authorization.v1beta1') },
  },
  {
    group: 'authorization',
    plural: 'selfsubjectrulesreviews',
    versions: { v1beta1: sameFields(SelfSubjectRulesReviewKind, 'authorization.v1beta1') },
  },
  {
    group: 'authorization',
    plural: 'subjectaccessreviews',
    versions: { v1beta1: ofSubject(v1beta1.SubjectAccessReview) },
  },
];
