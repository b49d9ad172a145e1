import { objectHref } from '../../app/routes.ts';
import { toneShapes } from '../../parts/tones.ts';
import { shortText, visibleText } from '../../parts/visible-text.ts';
import { type ShownNode, statesOf } from './groups.ts';
import { titleOf } from './relation-texts.ts';

export interface NodeBoxProps {
  readonly node: ShownNode;
  readonly relations: string;
  /** By Tab. */
  readonly isReachable: boolean;
  readonly onOpen: (id: string) => void;
}

/** States of a group that are named. */
const SHOWN_STATES = 2;

export function NodeBox({ node, relations, isReachable, onOpen }: NodeBoxProps) {
  const { id, kind, members } = node;
  const [only] = members;
  const isGroup = members.length > 1;
  const states = statesOf(members);
  const [commonest] = states;
  const content = (
    <>
      <span class="kind">
        {kind.kind}
        {isGroup && ' group'}
      </span>
      <strong title={isGroup ? undefined : shortText(titleOf(node), 300)}>{titleOf(node)}</strong>
      <span class="state">
        {states.slice(0, SHOWN_STATES).map(({ state, count }) => (
          <span key={state.text} class={state.tone}>
            <span aria-hidden="true">{toneShapes[state.tone]}</span> {isGroup && `${count} `}
            {visibleText(state.text)}{' '}
          </span>
        ))}
        {states.length > SHOWN_STATES && <span class="quiet">and others</span>}
      </span>
      {relations !== '' && <span class="unseen">, {relations}</span>}
    </>
  );
  const attributes = { class: `node ${worstTone(states) ?? ''}`, tabIndex: isReachable ? 0 : -1, 'data-node': id };
  if (isGroup)
    return (
      <button type="button" {...attributes} onClick={() => onOpen(id)}>
        {content}
      </button>
    );
  return (
    <a {...attributes} href={objectHref(kind, only?.namespace, only?.name ?? '')} data-state={commonest?.state.text}>
      {content}
    </a>
  );
}

function worstTone(states: ReturnType<typeof statesOf>): string | undefined {
  return (['bad', 'busy', 'good', 'over'] as const).find((tone) => states.some(({ state }) => state.tone === tone));
}
