/** A new object, written as YAML: completed and checked by the schema of its kind, and reviewed before it is created. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, asApiError } from '../../../api/api-error.ts';
import { type Kind, kindKey } from '../../../api/kinds.ts';
import { useConsole } from '../../../app/console.ts';
import { objectHref } from '../../../app/routes.ts';
import { useLoaded, useTitle } from '../../../app/use.ts';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { ErrorBox } from '../../../parts/error-box.tsx';
import { Progress } from '../../../parts/progress.tsx';
import { visibleText } from '../../../parts/visible-text.ts';
import { readSchema } from '../openapi/read-schema.ts';
import type { Schema } from '../openapi/schema.ts';
import { createEditor, type Editor } from '../yaml/editor.ts';
import { faultsOfError } from '../yaml/error-faults.ts';
import { ReviewDialog } from '../yaml/review-dialog.tsx';
import { createObject, type NewObject } from './create-object.ts';
import { templateOf } from './templates.ts';
import '../object.css';
import '../yaml/yaml.css';

const USUAL_KIND = 'apps/v1/deployments';

export default function CreatePage() {
  const { discovery, location } = useConsole();
  useTitle('Create');
  const { query, namespace } = location.route.value;
  const kinds = discovery.kinds.value.filter(({ verbs }) => verbs.includes('create'));
  const wanted = query.get('kind') ?? USUAL_KIND;
  const kind = kinds.find((one) => kindKey(one) === wanted);
  if (discovery.state.value.phase === 'loading') return <Progress />;
  return (
    <div class="object">
      <header class="page-head">
        <h1>Create</h1>
        <select
          aria-label="Kind of the new object"
          value={kind === undefined ? '' : wanted}
          onChange={(event) => location.setQuery({ kind: event.currentTarget.value })}
        >
          {kind === undefined && <option value="">Choose a kind</option>}
          {kinds.map((one) => (
            <option key={kindKey(one)} value={kindKey(one)}>
              {one.kind}
              {one.group !== '' && ` of ${one.group}`}
            </option>
          ))}
        </select>
      </header>
      {kind === undefined ? (
        <EmptyState title="Choose a kind">
          <p>Objects of the kind {visibleText(wanted)} cannot be created on this server.</p>
        </EmptyState>
      ) : (
        <NewObjectEditor key={`${kindKey(kind)} ${namespace}`} kind={kind} namespace={namespace ?? 'default'} />
      )}
    </div>
  );
}

function NewObjectEditor({ kind, namespace }: { readonly kind: Kind; readonly namespace: string }) {
  const { api, location, toasts } = useConsole();
  const text = useRef(templateOf(kind, namespace));
  const [preview, setPreview] = useState<NewObject | undefined>(undefined);
  const [error, setError] = useState<ApiError | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const review = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      setPreview(await createObject(api, kind, namespace, text.current, true));
    } catch (failure) {
      setError(asApiError(failure));
    }
    setBusy(false);
  };
  const create = async (): Promise<void> => {
    const created = await createObject(api, kind, namespace, text.current, false);
    toasts.done(`${created.name} was created.`);
    location.navigate(objectHref(kind, created.namespace, created.name));
  };
  return (
    <div class="yaml">
      <p class="tool-line">
        <button type="button" class="primary" disabled={isBusy} onClick={() => void review()}>
          Review and create
        </button>
        <span class="quiet">
          Edit the text below.{' '}
          <span class="wide-only">
            <kbd>Ctrl</kbd> <kbd>Space</kbd> completes, <kbd>Ctrl</kbd> <kbd>S</kbd> reviews.
          </span>
        </span>
      </p>
      {error !== undefined && <ErrorBox error={error} />}
      <EditorHost kind={kind} text={text} error={error} onReview={() => void review()} />
      {preview !== undefined && (
        <ReviewDialog
          title={`Create ${kind.kind} ${visibleText(preview.name)}?`}
          action="Create"
          before=""
          after={preview.text}
          onConfirm={create}
          onClose={() => setPreview(undefined)}
        />
      )}
    </div>
  );
}

interface EditorHostProps {
  readonly kind: Kind;
  readonly text: { current: string };
  readonly error: ApiError | undefined;
  readonly onReview: () => void;
}
function EditorHost({ kind, text, error, onReview }: EditorHostProps) {
  const { api } = useConsole();
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | undefined>(undefined);
  const reviewing = useRef(onReview);
  const schema = useRef<Schema | undefined>(undefined);
  reviewing.current = onReview;
  const loadedSchema = useLoaded((signal) => readSchema(api, kind, signal), [kind]);
  schema.current = loadedSchema.phase === 'ready' ? loadedSchema.value : undefined;
  useEffect(() => {
    const opened = createEditor({
      host: host.current as HTMLElement,
      text: text.current,
      label: `YAML of the new ${kind.kind}`,
      isReadOnly: false,
      schema: () => schema.current,
      onChange: (next) => {
        text.current = next;
      },
      onSave: () => reviewing.current(),
    });
    editor.current = opened;
    opened.focus();
    return () => opened.close();
  }, [kind]);
  useEffect(() => {
    if (error !== undefined) editor.current?.setFaults(faultsOfError(error, text.current));
  }, [error]);
  return <div ref={host} class="yaml-editor" data-own-keys />;
}
