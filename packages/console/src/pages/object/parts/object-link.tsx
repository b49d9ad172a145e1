import { useConsole } from '../../../app/console.ts';
import { objectHref } from '../../../app/routes.ts';
import { visibleText } from '../../../parts/visible-text.ts';

export interface ObjectLinkProps {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly withKind?: boolean;
}

/** Leads to another object; its name alone where the server does not have the kind. */
export function ObjectLink({ apiVersion, kind: kindName, namespace, name, withKind = false }: ObjectLinkProps) {
  const { discovery } = useConsole();
  const kind = discovery.findKind(apiVersion, kindName);
  const label = visibleText(withKind ? `${kindName} ${name}` : name);
  if (kind === undefined || name === '') return <>{label}</>;
  return <a href={objectHref(kind, kind.isNamespaced ? namespace : undefined, name)}>{label}</a>;
}
