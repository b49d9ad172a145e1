/** Owners and dependents of the object as one tree, live. */
import { useState } from 'preact/hooks';
import { useConsole } from '../../../app/console.ts';
import { useLiveObject } from '../../../app/live-object.ts';
import { objectHref } from '../../../app/routes.ts';
import { useOpened } from '../../../app/use.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Progress } from '../../../parts/progress.tsx';
import { TimeAgo } from '../../../parts/time-ago.tsx';
import { visibleText } from '../../../parts/visible-text.ts';
import { type Branch, dependentsOf, type Family, ownersOf, type Relative } from '../family.ts';
import { LiveFamily } from '../live-family.ts';

export default function TreeTab() {
  const { api, watches, clock, discovery } = useConsole();
  const live = useLiveObject();
  const { kind, namespace } = live.reference;
  const kinds = discovery.kinds.value;
  const family = useOpened(() => new LiveFamily({ api, watches, clock, kinds, namespace }), [kinds, namespace]).family.value;
  if (family === undefined || live.value === undefined) return <Progress label="Reading what belongs together…" />;
  const self: Relative = { kind, metadata: live.value.metadata };
  const dependents = dependentsOf(live.value.metadata.uid, family.objects);
  const owners = ownersOf(self, family.objects);
  const whole = owners.reduceRight<Branch>((inner, owner) => ({ object: owner, branches: [inner] }), {
    object: self,
    branches: dependents,
  });
  return (
    <div class="family">
      <p class="tool-line">
        <span class="quiet">By owner references, live.</span>
      </p>
      <ul class="tree">
        <TreeBranch branch={whole} self={self.metadata.uid} />
      </ul>
      {owners.length === 0 && dependents.length === 0 && (
        <p class="quiet">
          Nothing owns this object, and it owns nothing. Objects that only refer to each other are in the graph of the namespace.
        </p>
      )}
      <Gaps family={family} />
    </div>
  );
}

/** More dependents of one owner are shown when they are asked for. */
const SHOWN_AT_ONCE = 50;

function TreeBranch({ branch: { object, branches }, self }: { readonly branch: Branch; readonly self: string }) {
  const [isWhole, setWhole] = useState(false);
  const { kind, metadata } = object;
  const shown = isWhole ? branches : branches.slice(0, SHOWN_AT_ONCE);
  const isSelf = metadata.uid === self;
  return (
    <li>
      <p class={isSelf ? 'self' : undefined} aria-current={isSelf ? 'true' : undefined}>
        <span class="quiet">{kind.kind}</span>{' '}
        {isSelf ? (
          <strong>{visibleText(metadata.name)}</strong>
        ) : (
          <a href={objectHref(kind, kind.isNamespaced ? metadata.namespace : undefined, metadata.name, { tab: 'tree' })}>
            {visibleText(metadata.name)}
          </a>
        )}{' '}
        {metadata.deletionTimestamp !== undefined && <Badge text="Terminating" />}{' '}
        <span class="quiet">
          <TimeAgo time={metadata.creationTimestamp} />
        </span>
      </p>
      {branches.length > 0 && (
        <ul>
          {shown.map((inner) => (
            <TreeBranch key={inner.object.metadata.uid} branch={inner} self={self} />
          ))}
          {shown.length < branches.length && (
            <li>
              <button type="button" class="link" onClick={() => setWhole(true)}>
                {branches.length - shown.length} more
              </button>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

/** What the tree cannot know. */
function Gaps({ family: { unread, truncated } }: { readonly family: Family }) {
  return (
    <>
      {unread.length > 0 && <p class="quiet">Not looked at, as you may not list them or they did not answer: {unread.join(', ')}.</p>}
      {truncated.length > 0 && <p class="quiet">Only the first 1,000 objects were looked at of: {truncated.join(', ')}.</p>}
    </>
  );
}
