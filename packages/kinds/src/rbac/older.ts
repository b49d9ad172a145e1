/** rbac.authorization/v1beta1 and v1alpha1. */
import { groupOfApiVersion, joinApiVersion } from '@plat-dev/meta/api-version';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { type Kind, type KindVersion, version } from '../kind.ts';
import { type OlderVersions, sameFields } from '../older.ts';
import { ClusterRoleKind } from './cluster-role.ts';
import { ClusterRoleBindingKind } from './cluster-role-binding.ts';
import { RoleKind } from './role.ts';
import { RoleBindingKind } from './role-binding.ts';
import type * as v1 from './schema/v1.ts';
import * as v1alpha1 from './schema/v1alpha1.ts';

const group = 'rbac.authorization';
const isUserOrGroup = (kind: string): boolean => kind === 'User' || kind === 'Group';

/** In version 1alpha1 the user * means all authenticated users. */
function subjectToHub({ apiVersion = '', ...subject }: v1alpha1.Subject, rbac: string): v1.Subject {
  const { kind, name } = subject;
  if (kind === 'User' && name === '*') return { ...subject, kind: 'Group', apiGroup: rbac, name: 'system:authenticated' };
  const apiGroup = isUserOrGroup(kind) ? rbac : kind === 'ServiceAccount' ? '' : groupOfApiVersion(apiVersion);
  return { ...subject, ...(apiGroup !== '' && { apiGroup }) };
}
function subjectFromHub({ apiGroup = '', ...subject }: v1.Subject, rbac: string): v1alpha1.Subject {
  const { kind } = subject;
  if (kind === 'ServiceAccount' && apiGroup === '') return { ...subject, apiVersion: 'v1' };
  if (isUserOrGroup(kind) && apiGroup === rbac) return { ...subject, apiVersion: joinApiVersion(rbac, 'v1alpha1') };
  return apiGroup === '' ? subject : { ...subject, apiVersion: `${apiGroup}/` };
}

function bindingAlpha(schema: KindVersion['schema']): KindVersion {
  const converted = <T, R>(subjects: T[] | undefined, convert: (subject: T, rbac: string) => R, identity: Identity): { subjects?: R[] } =>
    subjects === undefined ? {} : { subjects: subjects.map((subject) => convert(subject, groupName(identity, group))) };
  return version<v1alpha1.RoleBinding, v1.RoleBinding>({
    schema,
    defaults({ roleRef, subjects }, { identity }) {
      const rbac = groupName(identity, group);
      if (roleRef.apiGroup === '') roleRef.apiGroup = rbac;
      for (const subject of subjects ?? []) {
        if (isUserOrGroup(subject.kind)) subject.apiVersion ??= joinApiVersion(rbac, 'v1alpha1');
        else if (subject.kind === 'ServiceAccount') subject.apiVersion ??= 'v1';
      }
    },
    toHub: ({ subjects, ...binding }, identity) => ({ ...binding, ...converted(subjects, subjectToHub, identity) }),
    fromHub: ({ subjects, ...binding }, identity) => ({ ...binding, ...converted(subjects, subjectFromHub, identity) }),
  });
}

const older = (kind: Kind, alpha: KindVersion): OlderVersions => ({
  group,
  plural: kind.plural,
  versions: { v1beta1: sameFields(kind, 'rbac.v1beta1'), v1alpha1: alpha },
});

export const olderRBAC: readonly OlderVersions[] = [
  older(ClusterRoleBindingKind, bindingAlpha(v1alpha1.ClusterRoleBinding)),
  older(ClusterRoleKind, { schema: v1alpha1.ClusterRole }),
  older(RoleBindingKind, bindingAlpha(v1alpha1.RoleBinding)),
  older(RoleKind, { schema: v1alpha1.Role }),
];
