/** A node: its state, what it has room for, its pods as a bar, and what can be done with it. */
import { useState } from 'preact/hooks';
import { asApiError } from '../../api/api-error.ts';
import { type Kind, objectPath } from '../../api/kinds.ts';
import { useConsole } from '../../app/console.ts';
import { objectHref, tableHref } from '../../app/routes.ts';
import { Badge } from '../../parts/badge.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import {
  cordonPatch,
  countsText,
  failurePatch,
  isCordoned,
  isFailing,
  type NodeObject,
  type PodCounts,
  simulationPrefix,
  statesOf,
  totalOf,
} from './nodes.ts';

export interface NodeCardProps {
  readonly kind: Kind;
  readonly node: NodeObject;
  /** Null: it has none; undefined: they may not be listed. */
  readonly pods: PodCounts | null | undefined;
}

export function NodeCard({ kind, node, pods }: NodeCardProps) {
  const { name } = node.metadata;
  const { cpu, memory, pods: room } = node.status?.capacity ?? {};
  return (
    <li>
      <header>
        <h2>
          <a href={objectHref(kind, undefined, name)}>{visibleText(name)}</a>
        </h2>
        {statesOf(node).map(({ text, tone }) => (
          <Badge key={text} text={text} tone={tone} />
        ))}
      </header>
      <dl>
        <dt>Processors</dt>
        <dd>{cpu ?? '–'}</dd>
        <dt>Memory</dt>
        <dd>{memory ?? '–'}</dd>
        <dt>Pods</dt>
        <dd>{pods === undefined ? `room for ${room ?? '–'}` : <PodBar node={name} pods={pods} room={Number(room ?? 0)} />}</dd>
      </dl>
      <Taints node={node} />
      <Actions kind={kind} node={node} />
    </li>
  );
}

const tones = ['good', 'busy', 'bad', 'over'] as const;

function PodBar({ node, pods, room }: { readonly node: string; readonly pods: PodCounts | null; readonly room: number }) {
  const counts = pods ?? { good: 0, busy: 0, bad: 0, over: 0 };
  const total = totalOf(counts);
  const most = Math.max(room, total, 1);
  const podKind = { group: '', version: 'v1', resource: 'pods' };
  return (
    <>
      <a href={tableHref(podKind, undefined, { fields: `spec.nodeName=${node}` })}>
        {total} of {room}
      </a>{' '}
      <span class="quiet">{countsText(counts)}</span>
      <span class="pod-bar" aria-hidden="true">
        {tones.map((tone) => (
          <span key={tone} class={tone} style={{ width: `${(100 * counts[tone]) / most}%` }} />
        ))}
      </span>
    </>
  );
}

function Taints({ node }: { readonly node: NodeObject }) {
  const taints = node.spec?.taints ?? [];
  if (taints.length === 0) return null;
  const text = taints.map(({ key, value, effect }) => `${key}${value === undefined ? '' : `=${value}`}:${effect}`).join(', ');
  return <p class="quiet">Taints: {visibleText(text)}</p>;
}

function Actions({ kind, node }: { readonly kind: Kind; readonly node: NodeObject }) {
  const { api, toasts } = useConsole();
  const [isAsking, setAsking] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const { name } = node.metadata;
  const change = async (patch: object, done: string): Promise<void> => {
    setBusy(true);
    try {
      await api.json(objectPath({ kind, namespace: undefined, name }), {
        method: 'PATCH',
        body: patch,
        contentType: 'application/merge-patch+json',
      });
      toasts.done(done);
    } catch (error) {
      toasts.failed(asApiError(error).message);
    } finally {
      setBusy(false);
      setAsking(false);
    }
  };
  const fail = (isOn: boolean): void => void change(failurePatch(node, isOn), isOn ? `${name} fails from now on` : `${name} works again`);
  const cordon = (isOn: boolean): void => void change(cordonPatch(isOn), isOn ? `${name} gets no new pods` : `${name} gets pods again`);
  return (
    <footer>
      <button
        type="button"
        class="small"
        disabled={isBusy}
        aria-label={`${isCordoned(node) ? 'Uncordon' : 'Cordon'} ${name}`}
        onClick={() => cordon(!isCordoned(node))}
      >
        {isCordoned(node) ? 'Uncordon' : 'Cordon'}
      </button>
      {simulationPrefix(node) !== undefined &&
        (isFailing(node) ? (
          <button type="button" class="small" disabled={isBusy} aria-label={`Bring ${name} back`} onClick={() => fail(false)}>
            Bring back
          </button>
        ) : (
          <button type="button" class="small danger" disabled={isBusy} aria-label={`Fail ${name}`} onClick={() => setAsking(true)}>
            Fail
          </button>
        ))}
      {isAsking && (
        <ConfirmDialog
          title={`Let ${name} fail?`}
          action="Fail"
          isBusy={isBusy}
          onConfirm={() => fail(true)}
          onClose={() => setAsking(false)}
        >
          <p>
            The node falls silent, as a machine without power does. After 40 seconds it is not ready, and its pods are evicted when their
            tolerations end, usually after five minutes.
          </p>
        </ConfirmDialog>
      )}
    </footer>
  );
}
