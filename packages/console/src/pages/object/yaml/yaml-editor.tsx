/** The editor with what stands around it: changes of others, errors, the review before a save. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, asApiError } from '../../../api/api-error.ts';
import { useConsole } from '../../../app/console.ts';
import type { LiveObject } from '../../../app/live-object.ts';
import { useLoaded } from '../../../app/use.ts';
import { ErrorBox } from '../../../parts/error-box.tsx';
import { readSchema } from '../openapi/read-schema.ts';
import type { Schema } from '../openapi/schema.ts';
import { ConflictDialog } from './conflict-dialog.tsx';
import type { EditSession, ServerText } from './edit-session.ts';
import { createEditor, type Editor } from './editor.ts';
import { faultsOfError } from './error-faults.ts';
import { changesOf } from './merge-values.ts';
import { ReviewDialog } from './review-dialog.tsx';

export interface YamlEditorProps {
  readonly live: LiveObject;
  readonly session: EditSession;
}

export function YamlEditor({ live, session }: YamlEditorProps) {
  const { toasts } = useConsole();
  const [error, setError] = useState<ApiError | undefined>(undefined);
  const [preview, setPreview] = useState<ServerText | undefined>(undefined);
  const [conflict, setConflict] = useState<ServerText | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const theirs = useChangesOfOthers(live, session);
  const review = async (): Promise<void> => {
    if (!session.isDirty.peek()) return;
    setBusy(true);
    setError(undefined);
    try {
      setPreview(await previewOnNewest(session));
    } catch (failure) {
      if (failure instanceof ChangedByOthers) setConflict(failure.theirs);
      else setError(asApiError(failure));
    }
    setBusy(false);
  };
  const save = async (): Promise<void> => {
    try {
      await session.save();
    } catch (failure) {
      if (asApiError(failure).code !== 409) throw failure;
      setPreview(undefined);
      return review();
    }
    setPreview(undefined);
    toasts.done(`${live.reference.name} was saved.`);
  };
  const canEdit = live.reference.kind.verbs.includes('update') && live.state.value.phase === 'ready';
  return (
    <div class="yaml">
      <ToolLine session={session} canEdit={canEdit} isBusy={isBusy} onReview={() => void review()} />
      {theirs !== undefined && (
        <p class="notice changed" role="status">
          ◐ Somebody else changed this object while you edit it.{' '}
          <button type="button" class="small" onClick={() => setConflict(theirs)}>
            See the changes
          </button>
        </p>
      )}
      {error !== undefined && <ErrorBox error={error} />}
      <EditorHost live={live} session={session} error={error} canEdit={canEdit} onSave={() => void review()} />
      {preview !== undefined && (
        <ReviewDialog
          title="Review your changes"
          action="Save"
          before={session.base.value.text}
          after={preview.text}
          onConfirm={save}
          onClose={() => setPreview(undefined)}
        />
      )}
      {conflict !== undefined && (
        <ConflictDialog
          session={session}
          theirs={conflict}
          onRebase={(text) => {
            session.rebase(conflict, text);
            setConflict(undefined);
          }}
          onClose={() => setConflict(undefined)}
        />
      )}
    </div>
  );
}

class ChangedByOthers extends Error {
  readonly theirs: ServerText;

  constructor(theirs: ServerText) {
    super('the object was changed by somebody else');
    this.theirs = theirs;
  }
}

/** A dry run. Where only the server itself changed the object, such as its status, the text goes on from the newest version. */
async function previewOnNewest(session: EditSession): Promise<ServerText> {
  try {
    return await session.preview();
  } catch (error) {
    if (asApiError(error).code !== 409) throw error;
    const newest = await session.readNewest();
    if (changesOf(session.base.peek().value, newest.value).length > 0) throw new ChangedByOthers(newest);
    session.rebase(newest, session.merge(newest).text);
    return session.preview();
  }
}

interface ToolLineProps {
  readonly session: EditSession;
  readonly canEdit: boolean;
  readonly isBusy: boolean;
  readonly onReview: () => void;
}
function ToolLine({ session, canEdit, isBusy, onReview }: ToolLineProps) {
  if (!canEdit) return <p class="tool-line quiet">Read only.</p>;
  const isDirty = session.isDirty.value;
  return (
    <p class="tool-line">
      <button type="button" class="primary" disabled={!isDirty || isBusy} onClick={onReview}>
        Review and save
      </button>
      <button type="button" disabled={!isDirty} onClick={() => session.reset(session.base.peek())}>
        Discard
      </button>
      <span class="quiet">
        {isDirty ? 'Not saved.' : 'Edit the text below.'}{' '}
        <span class="wide-only">
          <kbd>Ctrl</kbd> <kbd>Space</kbd> completes, <kbd>Ctrl</kbd> <kbd>S</kbd> reviews; owners of fields stand at the right.
        </span>
      </span>
    </p>
  );
}

/** The newest version where others changed it since it was read. While nothing is written, the text follows it at once. */
function useChangesOfOthers(live: LiveObject, session: EditSession): ServerText | undefined {
  const [theirs, setTheirs] = useState<ServerText | undefined>(undefined);
  const liveVersion = live.value?.metadata.resourceVersion;
  const baseVersion = session.base.value.resourceVersion;
  const isDeleted = live.state.value.phase === 'deleted';
  useEffect(() => {
    setTheirs(undefined);
    if (liveVersion === undefined || liveVersion === baseVersion || isDeleted) return undefined;
    let isCurrent = true;
    session.readNewest().then(
      (newest) => {
        if (!isCurrent || newest.resourceVersion === session.base.peek().resourceVersion) return;
        if (!session.isDirty.peek()) session.reset(newest);
        else if (changesOf(session.base.peek().value, newest.value).length > 0) setTheirs(newest);
      },
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [session, liveVersion, baseVersion, isDeleted]);
  return theirs;
}

interface EditorHostProps extends YamlEditorProps {
  readonly error: ApiError | undefined;
  readonly canEdit: boolean;
  readonly onSave: () => void;
}
function EditorHost({ live, session, error, canEdit, onSave }: EditorHostProps) {
  const { api } = useConsole();
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | undefined>(undefined);
  const saving = useRef(onSave);
  const schema = useRef<Schema | undefined>(undefined);
  saving.current = onSave;
  const { kind, name } = live.reference;
  const loadedSchema = useLoaded((signal) => readSchema(api, kind, signal), [kind]);
  schema.current = loadedSchema.phase === 'ready' ? loadedSchema.value : undefined;
  useEffect(() => {
    if (host.current === null) return undefined;
    const opened = createEditor({
      host: host.current,
      text: session.text.peek(),
      label: `YAML of ${name}`,
      isReadOnly: !canEdit,
      schema: () => schema.current,
      onChange: (text) => {
        session.text.value = text;
      },
      onSave: () => saving.current(),
    });
    editor.current = opened;
    const stop = session.text.subscribe((text) => text !== opened.text && opened.setText(text));
    return () => {
      stop();
      opened.close();
    };
  }, [session]);
  useEffect(() => editor.current?.setReadOnly(!canEdit), [canEdit]);
  // Owners are those of the version that was read.
  const liveValue = live.value;
  const baseVersion = session.base.value.resourceVersion;
  useEffect(() => {
    if (liveValue?.metadata.resourceVersion === baseVersion) editor.current?.setOwners(liveValue);
  }, [liveValue, baseVersion]);
  useEffect(() => {
    if (error !== undefined) editor.current?.setFaults(faultsOfError(error, session.text.peek()));
  }, [error]);
  return <div ref={host} class="yaml-editor" data-own-keys />;
}
