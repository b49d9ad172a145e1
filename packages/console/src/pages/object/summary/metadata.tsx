/** What objects of every kind have. */
import type { ApiObject } from '../../../api/objects.ts';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { TimeAgo } from '../../../parts/time-ago.tsx';
import { visibleText } from '../../../parts/visible-text.ts';
import { ObjectLink } from '../parts/object-link.tsx';
import { Labels } from '../parts/shown-value.tsx';

export function Metadata({ object: { metadata } }: { readonly object: ApiObject }) {
  const { labels = {}, annotations = {}, ownerReferences = [], finalizers = [] } = metadata;
  return (
    <section class="wide" aria-label="Metadata">
      <h2>Metadata</h2>
      <dl class="facts">
        <div>
          <dt>Created</dt>
          <dd>
            <TimeAgo time={metadata.creationTimestamp} /> ago
          </dd>
        </div>
        {ownerReferences.length > 0 && (
          <div>
            <dt>Owned by</dt>
            <dd>
              {ownerReferences.map((owner) => (
                <p key={owner.uid}>
                  <ObjectLink {...owner} namespace={metadata.namespace} withKind />
                </p>
              ))}
            </dd>
          </div>
        )}
        {finalizers.length > 0 && (
          <div>
            <dt>Finalizers</dt>
            <dd>
              {finalizers.map((name) => (
                <p key={name}>
                  <code>{visibleText(name)}</code>
                </p>
              ))}
            </dd>
          </div>
        )}
        <div>
          <dt>UID</dt>
          <dd>
            <code>{metadata.uid}</code> <CopyButton text={metadata.uid} />
          </dd>
        </div>
        <div>
          <dt>Version</dt>
          <dd>
            <code>{metadata.resourceVersion}</code>
            {metadata.generation !== undefined && <span class="quiet"> (specification {metadata.generation})</span>}
          </dd>
        </div>
        <div>
          <dt>Labels</dt>
          <dd>{Object.keys(labels).length === 0 ? <span class="quiet">none</span> : <Labels labels={labels} />}</dd>
        </div>
        <div>
          <dt>Annotations</dt>
          <dd>{Object.keys(annotations).length === 0 ? <span class="quiet">none</span> : <Labels labels={annotations} />}</dd>
        </div>
      </dl>
    </section>
  );
}
