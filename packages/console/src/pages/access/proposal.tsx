/** The smallest role and binding that would allow an action, to copy or to apply. */
import { useState } from 'preact/hooks';
import { type ApiError, asApiError } from '../../api/api-error.ts';
import { collectionPath } from '../../api/kinds.ts';
import { useConsole } from '../../app/console.ts';
import { useLoaded } from '../../app/use.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import type { Explanation, Proposed } from './explanation.ts';

type ProposalObjects = NonNullable<Explanation['proposal']>;

export function Proposal({ proposal }: { readonly proposal: ProposalObjects }) {
  const yaml = useLoaded(async () => {
    const { stringifyYaml } = await import('@plat-dev/schema/yaml');
    return [proposal.role, proposal.binding].map((object) => stringifyYaml(object as never)).join('---\n');
  }, [proposal]);
  if (yaml.phase === 'failed') return <ErrorBox error={yaml.error} />;
  if (yaml.phase === 'loading') return null;
  return (
    <>
      <h3>This role would allow it</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard. */}
      <pre class="proposal" tabIndex={0}>
        {visibleText(yaml.value)}
      </pre>
      <div class="actions">
        <CopyButton text={yaml.value} />
        <ApplyButton proposal={proposal} />
      </div>
    </>
  );
}

function ApplyButton({ proposal: { role, binding } }: { readonly proposal: ProposalObjects }) {
  const { api, discovery, toasts } = useConsole();
  const [state, setState] = useState<'open' | 'busy' | 'done'>('open');
  const [error, setError] = useState<ApiError | undefined>(undefined);
  const create = async (object: Proposed): Promise<void> => {
    const kind = discovery.findKind(object.apiVersion, object.kind);
    if (kind === undefined) throw new Error(`The server has no kind ${object.kind}.`);
    await api.json(collectionPath(kind, object.metadata.namespace), { method: 'POST', body: object });
  };
  const apply = async (): Promise<void> => {
    setState('busy');
    setError(undefined);
    try {
      await create(role);
      await create(binding);
      toasts.done(`${role.kind} and ${binding.kind} ${role.metadata.name} created`);
      setState('done');
    } catch (failure) {
      setError(asApiError(failure));
      setState('open');
    }
  };
  return (
    <>
      <button type="button" class="small" disabled={state !== 'open'} onClick={() => void apply()}>
        {state === 'done' ? 'Created' : 'Create both'}
      </button>
      {error !== undefined && <ErrorBox error={error} />}
    </>
  );
}
