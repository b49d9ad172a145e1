/** A time as its age, with the time itself for whoever points at it. */
import { humanDuration } from '@plat-dev/meta/age';
import { useNow } from '../app/use.ts';

export function TimeAgo({ time }: { readonly time: string | undefined }) {
  const now = useNow();
  if (time === undefined || time === '') return <span class="quiet">never</span>;
  return (
    <time dateTime={time} title={time}>
      {humanDuration(now - Date.parse(time))}
    </time>
  );
}
