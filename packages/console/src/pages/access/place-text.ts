import { visibleText } from '../../parts/visible-text.ts';
import type { Reference } from './rbac.ts';

/** `RoleBinding team/readers`, `User alice`. */
export const placeText = ({ kind, name, namespace = '' }: Reference): string =>
  visibleText(`${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`);
