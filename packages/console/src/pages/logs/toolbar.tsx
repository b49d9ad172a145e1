/** Which log is shown, and how. */
import type { Clock } from '@plat-dev/lib/clock';
import { useState } from 'preact/hooks';
import type { PodContainer } from '../../api/pod-containers.ts';
import { useConsole } from '../../app/console.ts';
import { visibleText } from '../../parts/visible-text.ts';
import type { PodLog } from './pod-log.ts';

export interface ToolbarProps {
  readonly pod: string;
  readonly log: PodLog;
  readonly containers: readonly PodContainer[];
  readonly chosen: readonly string[];
  readonly most: number;
}

export function Toolbar({ pod, log, containers, chosen, most }: ToolbarProps) {
  return (
    <div class="tool-line">
      {containers.length > 1 && <ContainerMenu containers={containers} chosen={chosen} most={most} />}
      {containers.some(({ name, restarts }) => chosen.includes(name) && restarts > 0) && (
        <Option name="previous" label="The run before" value="true" />
      )}
      <Option name="time" label="Times" value="false" isInverted />
      <Option name="wrap" label="Wrap lines" value="true" />
      <Downloads pod={pod} log={log} />
    </div>
  );
}

interface OptionProps {
  /** The parameter of the URL, and its value where it is not as usual. */
  readonly name: string;
  readonly value: string;
  readonly label: string;
  /** The box is checked where the parameter is absent. */
  readonly isInverted?: boolean;
}
function Option({ name, value, label, isInverted = false }: OptionProps) {
  const { location } = useConsole();
  const isSet = location.route.value.query.get(name) === value;
  return (
    <label>
      <input
        type="checkbox"
        checked={isSet !== isInverted}
        onChange={(event) => location.setQuery({ [name]: event.currentTarget.checked === isInverted ? undefined : value })}
      />{' '}
      {label}
    </label>
  );
}

interface ContainerMenuProps {
  readonly containers: readonly PodContainer[];
  readonly chosen: readonly string[];
  readonly most: number;
}
function ContainerMenu({ containers, chosen, most }: ContainerMenuProps) {
  const { location } = useConsole();
  const choose = (name: string, isChosen: boolean): void => {
    const names = containers.filter((one) => (one.name === name ? isChosen : chosen.includes(one.name))).map((one) => one.name);
    location.setQuery({ container: names.join() || undefined });
  };
  return (
    <fieldset class="containers">
      <legend>Containers</legend>
      {containers.map(({ name, role }) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            disabled={!chosen.includes(name) && chosen.length >= most}
            onChange={(event) => choose(name, event.currentTarget.checked)}
          />{' '}
          {visibleText(name)}
          {role !== '' && <span class="quiet"> {role}</span>}
        </label>
      ))}
      {containers.length > most && <span class="quiet">at most {most} at once</span>}
    </fieldset>
  );
}

/** The lines that are here, as they came, or all that the server has. */
function Downloads({ pod, log }: { readonly pod: string; readonly log: PodLog }) {
  const { toasts, clock } = useConsole();
  const [isBusy, setBusy] = useState(false);
  const download = async (): Promise<void> => {
    setBusy(true);
    try {
      for (const { container, text } of await log.downloads()) saveFile(clock, `${pod}-${container}.log`, text);
    } catch (error) {
      toasts.failed((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <button type="button" disabled={isBusy} onClick={() => void download()}>
      {isBusy ? 'Downloading…' : 'Download'}
    </button>
  );
}

function saveFile(clock: Clock, name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  clock.after(10_000, () => URL.revokeObjectURL(link.href));
}
