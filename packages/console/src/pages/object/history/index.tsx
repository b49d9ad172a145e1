/** Earlier versions of the object: who changed what, and the way back. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type ApiError, asApiError } from '../../../api/api-error.ts';
import type { ValueMap } from '../../../api/values.ts';
import { useConsole } from '../../../app/console.ts';
import { type LiveObject, useLiveObject } from '../../../app/live-object.ts';
import { useLoaded } from '../../../app/use.ts';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { ErrorBox } from '../../../parts/error-box.tsx';
import { Progress } from '../../../parts/progress.tsx';
import { TimeAgo } from '../../../parts/time-ago.tsx';
import { isOfServer } from '../../../parts/users.ts';
import { visibleText } from '../../../parts/visible-text.ts';
import { ChangeList } from '../yaml/change-list.tsx';
import { ReviewDialog } from '../yaml/review-dialog.tsx';
import {
  changesOfVersion,
  isOfStatus,
  type ObjectVersion,
  presentOf,
  readExactly,
  readVersions,
  restoreVersion,
  type VersionPage,
  versionRuns,
  writableText,
  writerOf,
} from './versions.ts';
import '../yaml/yaml.css';
import './history.css';

export default function HistoryTab() {
  const { api } = useConsole();
  const live = useLiveObject();
  const present = live.state.value.phase === 'ready' ? live.state.value.value.metadata.resourceVersion : undefined;
  const first = useLoaded((signal) => readVersions(api, live.reference, undefined, signal), [live, present]);
  const [shown, setShown] = useState<VersionPage | undefined>(undefined);
  // What was read last stays on the page while a newer version is read.
  if (first.phase === 'ready' && first.value !== shown) setShown(first.value);
  const page = first.phase === 'ready' ? first.value : shown;
  if (first.phase === 'failed') return <ErrorBox error={first.error} />;
  if (first.phase === 'loading' && page === undefined) return <Progress />;
  if (page === undefined)
    return (
      <EmptyState title="This server keeps no history">
        <p>
          Earlier versions can be seen where the server keeps them, as plat does unless its flags say otherwise. New changes are on the
          other tabs.
        </p>
      </EmptyState>
    );
  return <Versions key={page.versions[0]?.resourceVersion ?? ''} live={live} page={page} />;
}

interface Undo {
  readonly version: ObjectVersion;
  readonly before: string;
  readonly after: string;
}

function Versions({ live, page }: { readonly live: LiveObject; readonly page: VersionPage }) {
  const { api, toasts } = useConsole();
  const [more, setMore] = useState<VersionPage>({ versions: [], next: page.next });
  const [error, setError] = useState<ApiError | undefined>(undefined);
  const [undo, setUndo] = useState<Undo | undefined>(undefined);
  const versions = [...page.versions, ...more.versions];
  const runs = versionRuns(versions);
  const isChange = (at: number): boolean => !isOfStatus(versions, at);
  /** Since then nothing but the status has changed. */
  const newest = versions.findIndex((_, at) => isChange(at));
  /** The newest change that was not made by the server itself. */
  const undoable = versions.findIndex(({ user = '' }, at) => isChange(at) && !isOfServer(user));
  const state = live.state.value;
  const present = state.phase === 'ready' ? presentOf(state.value) : undefined;
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setError(undefined);
    try {
      await work();
    } catch (failure) {
      setError(asApiError(failure));
    }
  };
  const readMore = (): Promise<void> =>
    attempt(async () => {
      const next = await readVersions(api, live.reference, more.next);
      setMore({ versions: [...more.versions, ...(next?.versions ?? [])], next: next?.next });
    });
  const preview = (version: ObjectVersion): Promise<void> =>
    attempt(async () => {
      const stored = await restoreVersion(api, live.reference, version.object as ValueMap, present, true);
      const before = present === undefined ? '' : writableText(await readExactly(api, live.reference));
      setUndo({ version, before, after: writableText(stored) });
    });
  const restore = async (): Promise<void> => {
    await restoreVersion(api, live.reference, undo?.version.object as ValueMap, present, false);
    setUndo(undefined);
    toasts.done(`${live.reference.name} is again as it was in version ${undo?.version.resourceVersion}.`);
  };
  return (
    <div class="history">
      {error !== undefined && <ErrorBox error={error} />}
      <ol>
        {runs.map((run) => {
          const items = run.map((at) => (
            <VersionItem
              key={`${versions[at]?.resourceVersion}${versions[at]?.type}`}
              versions={versions}
              at={at}
              isPresent={versions[at]?.resourceVersion === present?.resourceVersion}
              isAsNow={present !== undefined && at <= newest}
              isUndoable={present !== undefined && at === undoable}
              onRestore={(version) => void preview(version)}
            />
          ));
          return run.length === 1 ? (
            items
          ) : (
            <StatusRun key={versions[run.at(-1) ?? 0]?.resourceVersion} versions={versions} run={run} items={items} />
          );
        })}
      </ol>
      {versions.length === 0 && <p class="quiet">No version of this object is kept.</p>}
      {more.next !== undefined && (
        <button type="button" onClick={() => void readMore()}>
          Show older versions
        </button>
      )}
      {undo !== undefined && (
        <ReviewDialog
          title={`Go back to version ${undo.version.resourceVersion}?`}
          action={present === undefined ? 'Create again' : 'Go back'}
          before={undo.before}
          after={undo.after}
          onConfirm={restore}
          onClose={() => setUndo(undefined)}
        />
      )}
    </div>
  );
}

interface StatusRunProps {
  readonly versions: readonly ObjectVersion[];
  readonly run: readonly number[];
  readonly items: ComponentChildren;
}
function StatusRun({ versions, run, items }: StatusRunProps) {
  const writers = new Set(run.map((at) => writerOf(versions[at] as ObjectVersion)));
  return (
    <li>
      <details>
        <summary>
          {run.length} changes of its status <span class="quiet">by {visibleText([...writers].join(', '))}</span>
        </summary>
        <ol>{items}</ol>
      </details>
    </li>
  );
}

interface VersionItemProps {
  readonly versions: readonly ObjectVersion[];
  readonly at: number;
  readonly isPresent: boolean;
  /** Nothing but the status has changed since. */
  readonly isAsNow: boolean;
  readonly isUndoable: boolean;
  readonly onRestore: (version: ObjectVersion) => void;
}
function VersionItem({ versions, at, isPresent, isAsNow, isUndoable, onRestore }: VersionItemProps) {
  const version = versions[at] as ObjectVersion;
  const { time, type, resourceVersion, object, withoutValues, reason, verb, subresource } = version;
  const canRestore = object !== undefined && withoutValues !== true && !isAsNow;
  const before = versions[at + 1];
  const canUndo = isUndoable && type === 'updated' && before?.object !== undefined && before.withoutValues !== true;
  return (
    <li>
      <header>
        <p>
          <strong>{type === 'created' ? 'Created' : type === 'deleted' ? 'Deleted' : 'Changed'}</strong> by {visibleText(writerOf(version))}{' '}
          <span class="quiet">
            <TimeAgo time={time} /> ago, version {resourceVersion}
            {verb !== undefined && `, ${verb}`}
            {subresource !== undefined && subresource !== '' && ` of ${subresource}`}
          </span>
        </p>
        {isPresent && <span class="quiet">as it is now</span>}
        {canRestore && (
          <button type="button" class="small" aria-label={`Go back to version ${resourceVersion}`} onClick={() => onRestore(version)}>
            Go back to this
          </button>
        )}
        {canUndo && (
          <button type="button" class="small" onClick={() => onRestore(before)}>
            Undo this change
          </button>
        )}
      </header>
      <VersionChanges versions={versions} at={at} />
      {reason !== undefined && <p class="quiet">{visibleText(reason)}</p>}
      {withoutValues === true && <p class="quiet">Values of this version were not kept.</p>}
    </li>
  );
}

function VersionChanges({ versions, at }: { readonly versions: readonly ObjectVersion[]; readonly at: number }) {
  const changes = changesOfVersion(versions, at);
  if (changes === undefined) return null;
  if (changes.length === 0) return <p class="quiet">Only its status, or nothing that is shown, changed.</p>;
  return <ChangeList changes={changes} />;
}
